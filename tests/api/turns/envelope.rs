//! What is taken as a turn, and how what is none is refused.

use reqwest::Method;
use serde_json::{Value, json};

use super::{FORMATS, post, said, told};
use crate::support::{Answer, TestServer};

/// The whole response of an API, around a message.
fn response(format: &str, message: &Value) -> Value {
    match format {
        "openai" => json!({"id": "c", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}),
        "openai-responses" => json!({"id": "r", "object": "response", "output": message}),
        "anthropic" => {
            let mut whole = message.clone();
            whole["type"] = json!("message");
            whole["stop_reason"] = json!("tool_use");
            whole
        }
        _ => json!({"candidates": [{"content": message, "finishReason": "STOP"}], "responseId": "r"}),
    }
}

/// The bare list of calls in a message.
fn list(format: &str, message: &Value) -> Value {
    match format {
        "openai" => message["tool_calls"].clone(),
        "openai-responses" => message.clone(),
        "anthropic" => message["content"].clone(),
        _ => message["parts"].clone(),
    }
}

#[tokio::test]
async fn a_message_a_response_and_a_list_are_the_same_turn() {
    let server = TestServer::start();
    let session = server.session().await;
    for format in FORMATS {
        let message = said(format, &[(format, "Glob", json!({"pattern": "*"}))]);
        let answer = post(&session, format, "", &message).await.expect(200);
        for body in [response(format, &message), list(format, &message)] {
            assert_eq!(post(&session, format, "", &body).await.expect(200), answer, "{body}");
        }
        assert_eq!(told(format, &answer).len(), 1);
    }
}

#[tokio::test]
async fn what_is_no_turn_is_said_with_its_place() {
    let server = TestServer::start();
    let session = server.session().await;
    for (format, body, pointer) in [
        ("openai", json!({"role": "assistant", "tool_calls": [{"id": "a"}]}), "/tool_calls/0"),
        ("openai", json!({"choices": [{"message": {"tool_calls": 7}}]}), "/choices/0/message/tool_calls"),
        ("openai-responses", json!({"output": [{"name": "Read"}]}), "/output/0/type"),
        ("anthropic", json!({"role": "user", "content": []}), "/role"),
        ("anthropic", json!({"content": [{"type": "tool_use", "id": 1}]}), "/content/0/id"),
        ("gemini", json!({"candidates": [{"content": {"parts": [7]}}]}), "/candidates/0/content/parts/0"),
        ("anthropic", said("openai", &[("a", "Read", json!({}))]), ""),
    ] {
        let problem = post(&session, format, "", &body).await.problem(400, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}: {problem}");
    }
    for format in FORMATS {
        for body in [json!({}), json!(7), json!("hi"), json!(null)] {
            post(&session, format, "", &body).await.problem(400, "invalid_request");
        }
    }
    let events = session.events().await;
    assert_eq!(events.len(), 1, "nothing of them was accepted: {events:?}");
}

async fn raw(server: &TestServer, path: &str, kind: &str, body: impl Into<reqwest::Body>) -> Answer {
    let request = server.agent().request(Method::POST, path).header("content-type", kind).body(body);
    Answer::of(request).await
}

#[tokio::test]
async fn a_body_is_json_within_its_bound() {
    let server = TestServer::start();
    let session = server.session().await;
    let path = session.path("/turns");
    for broken in ["", "{", "[{}", "{} {}", "[}", "tool"] {
        raw(&server, &path, "application/json", broken).await.problem(400, "invalid_json");
    }
    raw(&server, &path, "application/json", b"[\"\xff\"]".to_vec()).await.problem(400, "invalid_json");
    raw(&server, &path, "text/plain", "{}").await.problem(415, "unsupported_media_type");
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    raw(&server, &path, "application/json", deep).await.problem(400, "invalid_request");
    // A batch's bound, which is more than other bodies have; that there is one, every route's test says.
    let long = format!(r#"{{"role": "assistant", "content": "{}"}}"#, "x".repeat(31 * 1024 * 1024));
    raw(&server, &path, "application/json", long).await.expect(200);
    server.assert_alive().await;
}

#[tokio::test]
async fn a_body_of_many_items_takes_no_more_than_itself() {
    let server = TestServer::start();
    let session = server.session().await;
    let items = format!("[{}0]", "0,".repeat(8 * 1024 * 1024));
    for format in FORMATS {
        let path = session.path(&format!("/turns?format={format}"));
        let problem =
            raw(&server, &path, "application/json", items.clone()).await.problem(400, "invalid_request");
        assert!(problem["detail"].as_str().unwrap().contains("8192"), "{problem}");
    }
    assert!(server.peak_memory() < 300 * 1024 * 1024, "{}", server.peak_memory());
}

#[tokio::test]
async fn unknown_formats_and_parameters_are_refused() {
    let server = TestServer::start();
    let session = server.session().await;
    for query in ["?format=mcp", "?format=", "?format=openai&stream=1", "?wait_ms=300001", "?wait_ms=soon"] {
        let path = session.path(&format!("/turns{query}"));
        server.agent().post(&path, &json!([])).await.problem(400, "invalid_query");
    }
    for turn in ["", "a%00b", &"x".repeat(257)] {
        let path = session.path(&format!("/turns?turn={turn}"));
        let problem = server.agent().post(&path, &json!([])).await.problem(400, "invalid_query");
        assert_eq!(problem["errors"][0]["pointer"], "/turn", "{problem}");
    }
}
