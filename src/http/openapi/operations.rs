//! What every operation has without saying it: refusals that follow from what it takes, headers, roles.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::BEARER;
use super::problems::{self, Code};

/// The methods that an operation can have.
const METHODS: [&str; 5] = ["get", "put", "post", "delete", "patch"];

/// What every request can come to, whatever it asks for.
const ALWAYS: &[&str] = &["internal", "overloaded"];
/// What comes of the guards against browsers, which probes do not pass.
const GUARDED: &[&str] = &["host_required", "host_not_allowed", "origin_not_allowed"];
/// What comes of asking who calls.
const AUTHENTICATED: &[&str] = &["unauthenticated", "invalid_query", "busy"];
const PATH: &[&str] = &["invalid_path", "not_found"];
const BODY: &[&str] = &[
    "invalid_json",
    "invalid_request",
    "body_broken",
    "body_timeout",
    "body_too_large",
    "unsupported_media_type",
];
/// Where a handler names the codes that only it has.
const OWN_CODES: &str = "x-problems";

/// Headers that several answers have.
pub(super) fn headers() -> Value {
    let header = |text: &str, schema: Value| json!({"description": text, "schema": schema});
    let text = || json!({"type": "string"});
    json!({
        "x-request-id": {
            "description": "The id of this request, as in the server's log",
            "required": true,
            "schema": {"type": "string", "pattern": "^req_[0-9a-f]{32}$"},
        },
        "retry-after": header("When to try again, in seconds", json!({"type": "integer", "minimum": 1})),
        "www-authenticate": header("`Bearer`", text()),
        "content-range": header("`bytes */SIZE`", text()),
    })
}

/// All operations, each with path and method.
pub(super) fn all(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    let paths = document["paths"].as_object().into_iter().flatten();
    paths.flat_map(|(path, item)| {
        let operations = METHODS.iter().filter_map(|method| Some((*method, item.get(*method)?)));
        operations.map(|(method, operation)| (path.as_str(), method, operation))
    })
}

/// Shows every operation, to be changed.
pub(super) fn each(document: &mut Value, mut see: impl FnMut(&str, &mut Value)) {
    for (path, item) in document["paths"].as_object_mut().into_iter().flatten() {
        for method in METHODS {
            if let Some(operation) = item.get_mut(method) {
                see(path, operation);
            }
        }
    }
}

/// Adds to every operation what follows from what it is.
pub(super) fn complete(document: &mut Value) {
    let mut uses = BTreeMap::<String, usize>::new();
    for (path, _, operation) in all(document) {
        for (status, answer) in problems::answers(&codes(path, operation)) {
            *uses.entry(shared_name(status, &answer)).or_default() += 1;
        }
    }
    let mut shared = json!({});
    each(document, |path, operation| {
        tell_role(operation);
        settle_parameters(operation);
        let answers = problems::answers(&codes(path, operation));
        if let Some(operation) = operation.as_object_mut() {
            operation.remove(OWN_CODES);
        }
        for (status, mut answer) in answers {
            let name = shared_name(status, &answer);
            answer["headers"]["x-request-id"] = json!({"$ref": "#/components/headers/x-request-id"});
            let place = &mut operation["responses"][status.to_string()];
            if place.is_object() {
                // The operation answers this status in a way of its own, too.
                place["content"]["application/problem+json"] =
                    answer["content"]["application/problem+json"].take();
                place["description"] = json!(format!(
                    "{}\n\n{}",
                    place["description"].as_str().unwrap_or_default(),
                    answer["description"].as_str().unwrap_or_default()
                ));
                place["headers"]["retry-after"] = json!({"$ref": "#/components/headers/retry-after"});
            } else if uses.get(&name).is_some_and(|uses| *uses > 1) {
                *place = json!({"$ref": format!("#/components/responses/{name}")});
                shared[name] = answer;
            } else {
                *place = answer;
            }
        }
        let responses = operation["responses"].as_object_mut().into_iter().flatten();
        for (_, response) in responses.filter(|(_, response)| response.get("$ref").is_none()) {
            response["headers"]["x-request-id"] = json!({"$ref": "#/components/headers/x-request-id"});
        }
    });
    document["components"]["responses"] = shared;
}

/// The name of an answer that several operations have: its status and codes.
fn shared_name(status: u16, answer: &Value) -> String {
    let codes =
        &answer["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]["code"]["enum"];
    let codes = codes.as_array().into_iter().flatten().filter_map(Value::as_str);
    codes.fold(status.to_string(), |name, code| name + "." + code)
}

/// The codes of all refusals that an operation can answer with.
fn codes(path: &str, operation: &Value) -> Vec<&'static Code> {
    let mut names: Vec<&str> = ALWAYS.to_vec();
    let is_probe = super::super::guard::PROBES.contains(&path);
    if !is_probe {
        names.extend(GUARDED);
    }
    if let Some(role) = role(operation) {
        names.extend(AUTHENTICATED);
        names.extend(match role {
            "operator" => Some("operator_required"),
            "worker" => Some("worker_required"),
            _ => Some("agent_required"),
        });
    }
    if path.contains('{') {
        names.extend(PATH);
    }
    if operation.get("requestBody").is_some() {
        names.extend(BODY);
    }
    let own = operation[OWN_CODES].as_array().into_iter().flatten().filter_map(Value::as_str);
    names.into_iter().chain(own).filter_map(problems::find).collect()
}

/// The least role that may call.
fn role(operation: &Value) -> Option<&str> {
    operation["security"][0][BEARER][0].as_str()
}

/// A parameter is there or not, never null.
fn settle_parameters(operation: &mut Value) {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        if let Some(types) = parameter["schema"]["type"].as_array() {
            let kind = types.iter().find(|kind| *kind != "null").cloned();
            parameter["schema"]["type"] = kind.unwrap_or_default();
        }
    }
}

/// Says the role in the description too.
fn tell_role(operation: &mut Value) {
    let said = role(operation).map(|role| format!("Role: {role}."));
    let said = said.unwrap_or_else(|| {
        operation["security"] = json!([]);
        "No token is needed.".to_owned()
    });
    let description = match operation["description"].as_str() {
        Some(text) if !text.is_empty() => format!("{text}\n\n{said}"),
        _ => said,
    };
    operation["description"] = json!(description);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_that_a_handler_names_is_known() {
        let document = json!(crate::http::router::routes().into_openapi());
        let mut named = 0;
        for (path, method, operation) in all(&document) {
            for code in operation[OWN_CODES].as_array().into_iter().flatten() {
                assert!(code.as_str().and_then(problems::find).is_some(), "{method} {path}: {code}");
                named += 1;
            }
        }
        assert!(named > 20, "only {named}");
        for names in [ALWAYS, GUARDED, AUTHENTICATED, PATH, BODY] {
            assert!(names.iter().all(|name| problems::find(name).is_some()), "{names:?}");
        }
    }
}
