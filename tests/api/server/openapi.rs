//! The interface's description: complete, true, and the committed one up to date.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::support::contract::{self, DOCUMENT, operations, resolved};
use crate::support::{Answer, TestServer};

fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

#[tokio::test]
async fn what_is_served_is_what_is_committed() {
    let committed = std::fs::read_to_string(repository().join("docs/openapi.json")).unwrap();
    let made = toolgate::http::openapi_text();
    assert!(committed == made, "docs/openapi.json is stale: toolgate openapi > docs/openapi.json");
    let server = TestServer::start();
    let answer = server.anonymous().get("/openapi.json").await;
    answer.expect(200);
    assert_eq!(answer.text(), made);
}

#[test]
fn every_reference_leads_somewhere() {
    fn check(value: &Value) -> usize {
        match value {
            Value::Array(items) => items.iter().map(check).sum(),
            Value::Object(map) => {
                let reference = map.get("$ref").and_then(Value::as_str);
                if let Some(reference) = reference {
                    let pointer = reference.strip_prefix('#').unwrap();
                    assert!(DOCUMENT.pointer(pointer).is_some(), "{reference} leads nowhere");
                }
                usize::from(reference.is_some()) + map.values().map(check).sum::<usize>()
            }
            _ => 0,
        }
    }
    assert!(check(&DOCUMENT) > 200);
    for (name, event) in
        DOCUMENT["components"]["schemas"]["Event"]["discriminator"]["mapping"].as_object().unwrap()
    {
        let event = DOCUMENT.pointer(event.as_str().unwrap().strip_prefix('#').unwrap()).unwrap();
        assert_eq!(event["properties"]["type"]["enum"], json!([name]));
        assert!(event["properties"]["seq"].is_object(), "{name}");
    }
}

#[test]
fn every_operation_says_all_of_itself() {
    let mut ids = BTreeSet::new();
    for operation in operations() {
        let (what, described) = (format!("{} {}", operation.method, operation.path), &operation.described);
        let text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
        let id = described["operationId"].as_str().unwrap();
        assert!(ids.insert(id.to_owned()), "{what}: {id} is there twice");
        assert!(
            id.chars().all(|c| c.is_ascii_alphanumeric()) && id.starts_with(|c: char| c.is_lowercase()),
            "{id}"
        );
        let tags = described["tags"].as_array().unwrap();
        let known =
            |tag: &Value| DOCUMENT["tags"].as_array().unwrap().iter().any(|known| known["name"] == *tag);
        assert!(tags.len() == 1 && known(&tags[0]), "{what}: {tags:?}");
        assert!(text(&described["summary"]) && text(&described["description"]), "{what}");
        let role = described["security"].as_array().unwrap().first().map(|needed| &needed["bearer"][0]);
        let said = role.map_or("No token".to_owned(), |role| format!("Role: {}.", role.as_str().unwrap()));
        assert!(described["description"].as_str().unwrap().contains(&said), "{what}: {said}");
        let placed: BTreeSet<_> =
            operation.path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        let mut named = BTreeSet::new();
        for parameter in described["parameters"].as_array().into_iter().flatten() {
            assert!(text(&parameter["description"]), "{what}: {parameter}");
            if parameter["in"] == "path" {
                assert_eq!(parameter["required"], true, "{what}: {parameter}");
                named.insert(parameter["name"].as_str().unwrap());
            }
        }
        assert_eq!(named, placed, "{what}");
        for (status, response) in described["responses"].as_object().unwrap() {
            let response = resolved(&DOCUMENT, response);
            assert!(text(&response["description"]), "{what} {status}");
            assert!(response["headers"]["x-request-id"].is_object(), "{what} {status}");
            let problem = response["content"]["application/problem+json"].is_object();
            assert!(problem || status.starts_with('2'), "{what} {status} is no problem");
        }
        for status in ["500", "503"] {
            assert!(described["responses"][status].is_object(), "{what}: any request can come to {status}");
        }
    }
    assert!(ids.len() >= 27, "{ids:?}");
}

#[test]
fn routes_are_made_with_their_description() {
    let mut seen = 0;
    for (path, text) in sources(&["src/http"]) {
        for way in [".route(", ".route_service(", ".nest(", ".nest_service(", ".merge("] {
            assert!(
                !text.contains(way),
                "{}: {way}…): a route comes from routes!(), with its description",
                path.display()
            );
        }
        seen += text.matches("#[utoipa::path(").count();
    }
    assert_eq!(seen, operations().len(), "a handler is described that the router does not have");
}

#[tokio::test]
async fn every_operation_that_is_described_is_routed() {
    let server = TestServer::start();
    for operation in operations() {
        let path = operation.path.replace(['{', '}'], "");
        let request = server.operator().request(operation.method.clone(), &path);
        let answer = Answer::of(request.header("Accept", "application/json")).await;
        let text = answer.text();
        let missed = answer.status == 405 || (answer.status == 404 && !text.contains("\"not_found\""));
        assert!(!missed, "{path}: {text}");
    }
}

#[test]
fn every_code_that_the_code_uses_is_described_and_the_reverse() {
    let described: BTreeSet<String> =
        serde_json::from_value(DOCUMENT["components"]["schemas"]["ProblemCode"]["enum"].clone()).unwrap();
    let mut used = BTreeSet::new();
    for (path, text) in sources(&["src/http", "src/session"]) {
        if path.ends_with("openapi/problems.rs") {
            continue;
        }
        for makes in [
            "ApiError::new(",
            "Self::new(",
            "bad_request(",
            "conflict(",
            "forbidden(",
            "unprocessable(",
            "refuse(",
        ] {
            for rest in text.split(makes).skip(1) {
                used.extend(code_at(rest));
            }
        }
        // What stands in a table beside its status.
        used.extend(text.split("(StatusCode::").skip(1).filter_map(|rest| code_at(rest.split_once(',')?.1)));
    }
    assert!(used.len() > 30, "{used:?}");
    let unknown: Vec<_> = used.difference(&described).collect();
    assert!(unknown.is_empty(), "not in src/http/openapi/problems.rs: {unknown:?}");
    let unused: Vec<_> = described.difference(&used).collect();
    assert!(unused.is_empty(), "described but never answered: {unused:?}");
}

/// The code that a refusal is made with: its first argument, or the one after the status.
fn code_at(arguments: &str) -> Option<String> {
    let arguments = arguments.trim_start();
    let arguments = match arguments.strip_prefix("StatusCode::") {
        Some(rest) => rest.split_once(',')?.1.trim_start(),
        None => arguments,
    };
    let code = arguments.strip_prefix('"')?.split('"').next()?;
    let is_code = !code.is_empty() && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    is_code.then(|| code.to_owned())
}

/// The sources beneath some folders.
fn sources(folders: &[&str]) -> Vec<(PathBuf, String)> {
    let mut sources = Vec::new();
    for folder in folders {
        for entry in ignore::WalkBuilder::new(repository().join(folder)).build().flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "rs") {
                sources.push((entry.path().to_owned(), std::fs::read_to_string(entry.path()).unwrap()));
            }
        }
    }
    sources
}

#[test]
fn an_answer_that_is_not_as_described_is_seen() {
    let session = json!({
        "session_id": "s", "workspace": "/w", "labels": {}, "status": "active", "runtime": {},
        "created_at": "2026-01-02T03:04:05Z", "last_seq": 1,
    });
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_static("application/json"));
    headers.insert("x-request-id", HeaderValue::from_static("req_0"));
    let fails = |status: u16, headers: &HeaderMap, body: &Value| {
        let (headers, body) = (headers.clone(), body.to_string());
        let held =
            move || contract::hold(&Method::GET, "/v1/sessions/s", status, &headers, Some(body.as_bytes()));
        std::panic::catch_unwind(held).is_err()
    };
    assert!(!fails(200, &headers, &session));
    assert!(fails(201, &headers, &session), "a status");
    assert!(fails(200, &HeaderMap::new(), &session), "headers");
    let mut plain = headers.clone();
    plain.insert("content-type", HeaderValue::from_static("text/plain"));
    assert!(fails(200, &plain, &session), "a media type");
    for (field, value) in [
        ("status", json!("gone")),
        ("secret", json!(1)),
        ("created_at", json!("now")),
        ("last_seq", json!(null)),
    ] {
        let mut other = session.clone();
        other[field] = value;
        assert!(fails(200, &headers, &other), "{field}");
    }
}

#[test]
fn the_tables_of_the_guide_are_up_to_date() {
    let path = repository().join("docs/api.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let mut made = page.clone();
    for (name, table) in [("operations", operations_table()), ("codes", codes_table())] {
        let (begin, end) = (format!("<!-- generated: {name} -->\n"), format!("<!-- end: {name} -->"));
        let (before, rest) = made.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        made = format!("{before}{begin}\n{table}\n{end}{after}");
    }
    if std::env::var("UPDATE_DOCS").is_ok() {
        std::fs::write(&path, &made).unwrap();
    }
    let now = std::fs::read_to_string(&path).unwrap();
    assert!(now == made, "docs/api.md is stale: UPDATE_DOCS=1 cargo test --test api server::openapi");
}

fn operations_table() -> String {
    let mut table = String::from("| operation | role | | `operationId` |\n|---|---|---|---|\n");
    for tag in DOCUMENT["tags"].as_array().unwrap() {
        for operation in operations().iter().filter(|operation| operation.described["tags"][0] == tag["name"])
        {
            let described = &operation.described;
            let role = described["security"][0]["bearer"][0].as_str().unwrap_or("–");
            let (summary, id) =
                (described["summary"].as_str().unwrap(), described["operationId"].as_str().unwrap());
            let (method, path) = (&operation.method, &operation.path);
            let _ = writeln!(table, "| `{method} {path}` | {role} | {summary} | `{id}` |");
        }
    }
    table
}

fn codes_table() -> String {
    let mut table = String::from("| status | code | |\n|---|---|---|\n");
    let codes = &DOCUMENT["components"]["schemas"]["ProblemCode"];
    for code in codes["enum"].as_array().unwrap() {
        let about = &codes["x-codes"][code.as_str().unwrap()];
        let (status, meaning) = (&about["status"], about["meaning"].as_str().unwrap());
        let _ = writeln!(table, "| {status} | `{}` | {meaning} |", code.as_str().unwrap());
    }
    table
}
