//! The interface's own description, and answers held against it.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use jsonschema::Validator;
use reqwest::Method;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};

/// The document, as the library makes it.
pub(crate) static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&toolgate::http::openapi_text()).unwrap());

/// The same, but that answers have no field that is not described. (A client must take more: a later
/// version may have more.)
static CLOSED: LazyLock<Value> = LazyLock::new(|| {
    let mut document = DOCUMENT.clone();
    for (name, schema) in document["components"]["schemas"].as_object_mut().unwrap() {
        // Problems are described in two parts, the general one and that of the answer.
        if name != "Problem" {
            close(schema);
        }
    }
    document
});

fn close(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close),
        Value::Object(map) => {
            map.values_mut().for_each(close);
            if map.contains_key("properties") && !map.contains_key("additionalProperties") {
                map.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        _ => {}
    }
}

/// One operation of the document.
pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) described: Value,
}

/// All operations.
pub(crate) fn operations() -> Vec<Operation> {
    let mut operations = Vec::new();
    for (path, item) in DOCUMENT["paths"].as_object().unwrap() {
        for (method, described) in item.as_object().unwrap() {
            let method = method.to_ascii_uppercase().parse().unwrap();
            operations.push(Operation { method, path: path.clone(), described: described.clone() });
        }
    }
    operations
}

/// The operation that a request is for; fixed segments win over parameters, as in the router.
fn operation<'a>(all: &'a [Operation], method: &Method, path: &str) -> Option<&'a Operation> {
    let fits = |template: &str| {
        let (mut wanted, mut given) = (template.split('/'), path.split('/'));
        loop {
            match (wanted.next(), given.next()) {
                (None, None) => return true,
                (Some(wanted), Some(given)) if wanted == given => {}
                (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() => {}
                _ => return false,
            }
        }
    };
    let candidates = all.iter().filter(|operation| operation.method == *method && fits(&operation.path));
    candidates.min_by_key(|operation| operation.path.matches('{').count())
}

/// What is referred to, or the value itself.
pub(crate) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
        None => value,
    }
}

/// Holds an answer against the description of its operation: status, media type, body, headers. What no
/// operation is described for (an unknown path, a method that a path does not take) has to be a problem.
#[track_caller]
pub(crate) fn hold(method: &Method, path: &str, status: u16, headers: &HeaderMap, body: Option<&[u8]>) {
    static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(operations);
    let what = format!("{method} {path}: {status}");
    let media = headers.get("content-type").map(|value| value.to_str().unwrap());
    let parsed = || -> Value {
        let body = body.unwrap_or_default();
        serde_json::from_slice(body).unwrap_or_else(|error| panic!("{what}: {error}"))
    };
    let Some(operation) = operation(&OPERATIONS, method, path) else {
        assert!([400, 403, 404, 405].contains(&status), "{what}: no operation is described");
        assert_eq!(media, Some("application/problem+json"), "{what}");
        hold_problem(&parsed());
        return;
    };
    let responses = &operation.described["responses"];
    let described = responses.get(status.to_string()).unwrap_or_else(|| panic!("{what} is not described"));
    let described = resolved(&CLOSED, described);
    for (name, header) in described["headers"].as_object().into_iter().flatten() {
        let required = resolved(&CLOSED, header)["required"] == true;
        assert!(!required || headers.contains_key(name), "{what}: no header {name}");
    }
    let Some(content) = described.get("content") else {
        assert!(body.is_none_or(<[u8]>::is_empty), "{what}: no body is described");
        return;
    };
    let media = media.unwrap_or_else(|| panic!("{what}: no content-type"));
    // Parameters, such as the version of a format, are not described (OpenAPI 3.1, Media Types).
    let essence = media.split(';').next().unwrap_or(media);
    let media = if content.get(media).is_some() { media } else { essence };
    let described = content.get(media).unwrap_or_else(|| panic!("{what}: {media} is not described"));
    if media.ends_with("json") && body.is_some() {
        let key = format!("{} {} {status} {media}", operation.method, operation.path);
        valid(&key, &described["schema"], &parsed(), &what);
    }
}

#[track_caller]
fn valid(key: &str, schema: &Value, value: &Value, what: &str) {
    let validator = validator(key, schema);
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|error| format!("{} at {:?}: {error}", error.schema_path(), error.instance_path().to_string()))
        .collect();
    assert!(errors.is_empty(), "{what}: {}\n{value:#}", errors.join("\n"));
}

/// A compiled schema, made once.
fn validator(key: &str, schema: &Value) -> Arc<Validator> {
    static MADE: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap();
    let compile = || {
        let mut whole = schema.clone();
        whole["components"] = json!({"schemas": CLOSED["components"]["schemas"]});
        Arc::new(jsonschema::draft202012::options().should_validate_formats(true).build(&whole).unwrap())
    };
    Arc::clone(made.entry(key.to_owned()).or_insert_with(compile))
}

/// Holds one event against its description.
#[track_caller]
pub(crate) fn hold_event(event: &Value) {
    valid("Event", &json!({"$ref": "#/components/schemas/Event"}), event, "an event");
}

/// Holds a problem against its description.
#[track_caller]
pub(crate) fn hold_problem(problem: &Value) {
    valid("Problem", &json!({"$ref": "#/components/schemas/Problem"}), problem, "a problem");
}
