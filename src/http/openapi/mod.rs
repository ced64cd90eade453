//! The OpenAPI document of the interface, made from what the routes say of themselves.
//!
//! Each handler describes what is its own: parameters, bodies, answers, the role, and under
//! `x-problems` the codes of refusals that only it has. What follows from that is added here, in one
//! place: what every request passes, what taking a body or a path can come to, headers, links.

mod events;
mod flatten;
mod links;
mod nulls;
mod operations;
mod problems;

use std::sync::LazyLock;

use bytes::Bytes;
use serde_json::{Value, json};
use utoipa::PartialSchema as _;

pub(super) use events::{EventStreamMessage, EventType, EventsPage};

use super::router::routes;

/// The name of the scheme by which a token is sent.
const BEARER: &str = "bearer";

/// The document as text: JSON in lines, which is how it is served, printed and committed.
pub fn openapi_text() -> String {
    let mut text = format!("{:#}", document());
    text.push('\n');
    text
}

/// The document's bytes, made once: it does not change while the program runs.
pub(super) static SERVED: LazyLock<Bytes> = LazyLock::new(|| Bytes::from(openapi_text()));

/// The whole document.
fn document() -> Value {
    let mut document = json!(routes().into_openapi());
    document["info"] = json!({
        "title": "Toolgate",
        "version": env!("CARGO_PKG_VERSION"),
        "summary": env!("CARGO_PKG_DESCRIPTION"),
        "description": INTRODUCTION.trim(),
        "license": {"name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0"},
    });
    document["servers"] = json!([{"url": "/", "description": "The server that serves this document"}]);
    document["tags"] = TAGS.iter().map(|(name, text)| json!({"name": name, "description": text})).collect();
    document["security"] = json!([{BEARER: []}]);
    let components = &mut document["components"];
    components["securitySchemes"][BEARER] = json!({
        "type": "http",
        "scheme": "bearer",
        "description": "A token of role `agent`, `operator` or `worker`, or a session's own `session_token`. An \
            operator may do all that an agent may; a worker only forwards asks, and nobody else does. Each \
            operation names the least role that may call it.",
    });
    components["headers"] = operations::headers();
    components["schemas"]["EventType"] = json!(EventType::schema());
    components["schemas"]["Problem"] = problems::schema();
    components["schemas"]["ProblemCode"] = problems::code_schema();
    flatten::flatten(&mut document);
    events::name_each(&mut document);
    name_pages(&mut document);
    nulls::leave_out(&mut document);
    operations::complete(&mut document);
    links::add(&mut document);
    prune(&mut document);
    unlink(&mut document);
    document
}

const INTRODUCTION: &str = include_str!("introduction.md");

const TAGS: &[(&str, &str)] = &[
    ("sessions", "A workspace, its flags and its tools."),
    ("calls", "Tool calls: made once, waited for, cancelled, answered."),
    ("turns", "What a model said in its API's form, answered with what to append."),
    ("events", "What happens, in order, as a stream or in pages."),
    ("approvals", "What waits for a person, and the decision."),
    ("workers", "What servers in workers' containers forward to this one."),
    ("grants", "What people allowed for a session or always."),
    ("permissions", "What may run, and why."),
    ("audit", "What the gate said of each call, and what people decided."),
    ("server", "The server itself."),
];

/// Gives pages of lists the name that a client's type should have.
fn name_pages(document: &mut Value) {
    let schemas = document["components"]["schemas"].as_object();
    let names: Vec<String> = schemas.into_iter().flatten().map(|(name, _)| name.clone()).collect();
    for name in names {
        if let Some(item) = name.strip_prefix("List_") {
            document["components"]["schemas"][&name]["properties"]["items"]["items"] =
                json!({"$ref": reference(item)});
            rename(document, &name, &format!("{item}Page"));
        }
    }
}

/// Takes away the schemas that nothing refers to any more.
fn prune(document: &mut Value) {
    loop {
        let text = document.to_string();
        let Some(schemas) = document["components"]["schemas"].as_object_mut() else { return };
        let before = schemas.len();
        schemas.retain(|name, _| text.contains(&format!("\"{}\"", reference(name))));
        if schemas.len() == before {
            return;
        }
    }
}

/// Takes the links of Rust's documentation out of descriptions: they lead nowhere here.
fn unlink(document: &mut Value) {
    walk(document, &mut |value| {
        if let Some(text) = value.get_mut("description")
            && let Some(linked) = text.as_str().filter(|text| text.contains("[`"))
        {
            *text = Value::String(linked.replace("[`", "`").replace("`]", "`"));
        }
    });
}

/// Gives a schema another name, wherever it is referred to.
fn rename(document: &mut Value, from: &str, to: &str) {
    if let Some(schemas) = document["components"]["schemas"].as_object_mut()
        && let Some(schema) = schemas.remove(from)
    {
        schemas.insert(to.to_owned(), schema);
    }
    let (from, to) = (reference(from), reference(to));
    walk(document, &mut |value| {
        if value == from.as_str() {
            *value = Value::String(to.clone());
        }
    });
}

/// The reference to a schema.
fn reference(name: &str) -> String {
    format!("#/components/schemas/{name}")
}

/// The schema that a reference names.
fn referred<'a>(schemas: &'a Value, schema: &Value) -> Option<(&'a str, &'a Value)> {
    let name = schema.get("$ref")?.as_str()?.strip_prefix("#/components/schemas/")?;
    schemas.as_object()?.get_key_value(name).map(|(name, schema)| (name.as_str(), schema))
}

/// Shows every value in a value, the inner ones first.
fn walk(value: &mut Value, see: &mut impl FnMut(&mut Value)) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| walk(item, see)),
        Value::Object(map) => map.values_mut().for_each(|item| walk(item, see)),
        _ => {}
    }
    see(value);
}
