//! What models get wrong: an HTTP 200 and a failed Call whose text a model can go on with.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

/// Posts a call with this argument text.
async fn post_text(session: &TestSession, id: &str, tool: &str, text: &str) -> Value {
    let call = json!({"id": id, "type": "function", "function": {"name": tool, "arguments": text}});
    session.client.post(&session.path("/calls"), &call).await.expect(200)
}

fn assert_failed(call: &Value, code: &str) {
    assert_eq!(call["status"], "failed", "{call}");
    assert_eq!(call["error"]["code"], code, "{call}");
    assert_eq!(call["result"]["success"], false);
    assert!(!call["result"]["result"].as_str().unwrap().is_empty());
    assert!(call["finished_at"].is_string());
}

#[tokio::test]
async fn a_mistake_is_a_recorded_call_with_one_ending() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for (id, tool, text, code, says) in [
        ("unknown", "Frobnicate", "{}", "unknown_tool", "Frobnicate"),
        ("no json", "Bash", "{\"command\": ", "invalid_arguments", "JSON"),
        ("array", "Bash", "[1]", "invalid_arguments", "object"),
        ("missing", "Bash", "{}", "invalid_arguments", "command"),
        ("empty", "Bash", "", "invalid_arguments", "command"),
        ("kind", "Bash", "{\"command\": 7}", "invalid_arguments", "command"),
        ("nul", "Bash", "{\"command\": \"a\\u0000b\"}", "invalid_arguments", "NUL"),
        ("range", "Bash", "{\"command\": \"true\", \"timeout\": 600001}", "invalid_arguments", "timeout"),
    ] {
        let call = post_text(&session, id, tool, text).await;
        assert_failed(&call, code);
        assert!(call["result"]["result"].as_str().unwrap().contains(says), "{call}");
        assert_eq!(session.event_types(id).await, ["tool_start", "tool_error"]);
        assert_eq!(post_text(&session, id, tool, text).await, call, "recorded");
    }
}

#[tokio::test]
async fn arguments_may_be_an_object_instead_of_its_text() {
    let server = TestServer::start();
    let session = server.session().await;
    let object = json!({"id": "c", "function": {"name": "Glob", "arguments": {"pattern": "*"}}});
    let call = server.agent().post(&session.path("/calls"), &object).await.expect(200);
    assert_eq!(call["status"], "completed");
    // It is the same call as its text.
    assert_eq!(post_text(&session, "c", "Glob", "{\"pattern\":\"*\"}").await, call);
    for wrong in [json!(7), json!([]), json!(null), json!(true)] {
        let body = json!({"id": "w", "function": {"name": "Glob", "arguments": wrong}});
        server.agent().post(&session.path("/calls"), &body).await.problem(400, "invalid_request");
    }
}

#[tokio::test]
async fn p7_arguments_that_claim_an_approval_are_refused_as_unknown() {
    let server = TestServer::start();
    let session = server.session().await;
    for key in ["approved", "dangerouslyDisableSandbox", "pre_approved", "bypass_permissions", "permission"] {
        let mut arguments = json!({"command": "touch x"});
        arguments[key] = json!(true);
        let call = session.call(key, "Bash", arguments).await.expect(200);
        assert_failed(&call, "invalid_arguments");
        assert!(call["result"]["result"].as_str().unwrap().contains(key), "{call}");
    }
    assert!(!session.file("x").exists());
    assert!(server.operator().pending(&session.id).await.is_empty());
}

#[tokio::test]
async fn p13_a_name_resolves_exactly_or_not_at_all() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.write_file("a", "text\n");
    let arguments = json!({"file_path": "a"}).to_string();
    for name in [
        "evil::read_file",
        "READ",
        "read ",
        "Read ",
        " Read",
        "Read\u{200b}",
        "Rеad",
        "evil.Read",
        "Read\n",
        "mcp__x__Read",
        "functions.functions.Read",
        "Read;Write",
        "../Read",
    ] {
        let call = post_text(&session, name.trim_end_matches('\n'), name, &arguments).await;
        assert_failed(&call, "unknown_tool");
    }
    for name in ["Read", "functions.Read"] {
        let call = post_text(&session, &format!("good {name}"), name, &arguments).await;
        assert_eq!(call["status"], "completed", "{call}");
        assert_eq!(call["tool_name"], "Read", "the exact name is told");
    }
    for (name, pointer) in [(String::new(), "/function/name"), ("x".repeat(1025), "/function/name")] {
        let body = json!({"function": {"name": name, "arguments": "{}"}});
        let answer = server.agent().post(&session.path("/calls"), &body).await;
        assert_eq!(answer.problem(400, "invalid_request")["errors"][0]["pointer"], pointer);
    }
}

#[tokio::test]
async fn p20_a_key_twice_is_refused_in_text_and_in_an_object() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let twice = r#"{"command": "true", "command": "touch x"}"#;
    assert_failed(&post_text(&session, "text", "Bash", twice).await, "invalid_arguments");
    let body = format!(r#"{{"id": "object", "function": {{"name": "Bash", "arguments": {twice}}}}}"#);
    let request = server.agent().request(reqwest::Method::POST, &session.path("/calls")).body(body);
    let answer = crate::support::Answer::of(request.header("Content-Type", "application/json")).await;
    assert_failed(&answer.expect(200), "invalid_arguments");
    let alias = r#"{"path": "a", "file_path": "b"}"#;
    assert_failed(&post_text(&session, "alias", "Read", alias).await, "invalid_arguments");
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn f7_truncated_text_is_refused_where_it_could_change_something() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.write_file("a.txt", "one\n");
    for (id, tool, text) in [
        ("write", "Write", r#"{"file_path": "new.txt", "content": "half of"#),
        ("edit", "Edit", r#"{"file_path": "a.txt", "old_string": "one", "new_string": "tw"#),
        ("bash", "Bash", r#"{"command": "touch new.txt"#),
    ] {
        assert_failed(&post_text(&session, id, tool, text).await, "invalid_arguments");
    }
    assert!(!session.file("new.txt").exists());
    assert_eq!(session.read_file("a.txt"), "one\n");

    let read = post_text(&session, "read", "Read", r#"{"file_path": "a.txt"#).await;
    assert_eq!(read["status"], "completed");
    let text = read["result"]["result"].as_str().unwrap();
    assert!(text.contains("one") && text.contains("cut off"), "the repair is said: {text}");
}

#[tokio::test]
async fn f8_content_that_looks_like_json_is_written_as_text() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for content in ["123", "true", "null"] {
        let arguments = json!({"file_path": format!("{content}.txt"), "content": content});
        session.call(content, "Write", arguments).await.expect(200);
        assert_eq!(session.read_file(&format!("{content}.txt")), content);
    }
}

#[tokio::test]
async fn too_much_argument_text_is_a_failed_call() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let text = json!({"command": format!("true {}", "x".repeat(256 * 1024))}).to_string();
    assert_failed(&post_text(&session, "bash", "Bash", &text).await, "invalid_arguments");
    let large = "y".repeat(1024 * 1024);
    let call = session.call("write", "Write", json!({"file_path": "l", "content": large})).await.expect(200);
    assert_eq!(call["status"], "completed");
}

#[tokio::test]
async fn arguments_nested_very_deep_are_a_failed_call() {
    let server = TestServer::start();
    let session = server.session().await;
    let deep = format!("{{\"pattern\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert_failed(&post_text(&session, "c", "Glob", &deep).await, "invalid_arguments");
    server.assert_alive().await;
}
