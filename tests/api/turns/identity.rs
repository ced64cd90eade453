//! Turns that come again, ids that come again, and turns that are another's.

use serde_json::{Value, json};

use super::{Asked, FORMATS, post, said, statuses, texts, told};
use crate::support::{TestServer, TestSession};

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

#[tokio::test]
async fn a_repeat_runs_nothing_again_and_answers_the_same() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for format in FORMATS {
        let ids = [format!("1_{format}"), format!("2_{format}")];
        let command = format!("echo x >> {format}; cat {format}");
        let body = said(format, &[(&ids[0], "Bash", bash(&command)), (&ids[1], "Nope", json!({}))]);
        let answer = post(&session, format, "", &body).await.expect(200);
        let again = post(&session, format, "", &body).await.expect(200);
        assert_eq!(again, answer);
        assert_eq!(session.read_file(format), "x\n");
    }
}

#[tokio::test]
async fn an_object_is_the_same_whatever_its_spaces_and_order() {
    let server = TestServer::start();
    let session = server.session().await;
    for (format, body) in [
        ("anthropic", r#"[{"type":"tool_use","id":"a","name":"Glob","input":INPUT}]"#),
        ("gemini", r#"[{"functionCall":{"id":"g","name":"Glob","args":INPUT}}]"#),
    ] {
        let path = session.path(&format!("/turns?format={format}"));
        let mut answers = Vec::new();
        for input in [r#"{"pattern":"*","limit":5}"#, "{ \"limit\" : 5,\n \"pattern\": \"*\" }"] {
            let request = session.client.request(reqwest::Method::POST, &path);
            let request =
                request.header("content-type", "application/json").body(body.replace("INPUT", input));
            answers.push(crate::support::Answer::of(request).await.expect(200));
        }
        assert_eq!(answers[0], answers[1], "a conversation that was kept in a database comes back like this");
    }
    // A key twice is refused as everywhere, not mended on the way.
    let twice = r#"[{"type":"tool_use","id":"t","name":"Glob","input":{"pattern":"*","pattern":"**"}}]"#;
    let request = session.client.request(reqwest::Method::POST, &session.path("/turns?format=anthropic"));
    let request = request.header("content-type", "application/json").body(twice);
    let answer = crate::support::Answer::of(request).await.expect(200);
    assert_eq!(answer["calls"][0]["error"]["code"], "invalid_arguments");
}

#[tokio::test]
async fn another_call_under_an_id_is_refused_before_anything_runs() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for format in FORMATS {
        let (taken, other) = (format!("taken_{format}"), format!("other_{format}"));
        post(&session, format, "", &said(format, &[(&taken, "Bash", bash("true"))])).await.expect(200);
        let body = said(format, &[(&other, "Bash", bash("touch x")), (&taken, "Bash", bash("touch y"))]);
        post(&session, format, "", &body).await.problem(409, "call_id_conflict");
        server.agent().get(&session.call_path(&other, "")).await.problem(404, "not_found");
        let twice = said(format, &[(&other, "Bash", bash("touch x")), (&other, "Bash", bash("touch x"))]);
        post(&session, format, "", &twice).await.problem(400, "invalid_request");
    }
    assert!(!session.file("x").exists() && !session.file("y").exists());
}

#[tokio::test]
async fn a_turn_is_a_name_space() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for format in FORMATS {
        let body = |n: u32| said(format, &[("call_0", "Bash", bash(&format!("echo {n}")))]);
        for n in [1, 2] {
            let query = format!("&turn={format}-{n}");
            let answer = post(&session, format, &query, &body(n)).await.expect(200);
            assert_eq!(texts(format, &answer), [n.to_string()]);
            assert_eq!(answer["calls"][0]["turn"], format!("{format}-{n}"));
        }
        let query = format!("&turn={format}-1");
        post(&session, format, &query, &body(2)).await.problem(409, "call_id_conflict");
    }
}

/// A turn whose calls have no ids.
fn without_ids(format: &str, calls: &[Asked<'_>]) -> Value {
    let text = said(format, calls).to_string();
    let text = text.replace(r#""call_id":"","#, "").replace(r#""id":"fc_","#, "").replace(r#""id":"","#, "");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn calls_without_ids_need_a_turn_and_are_then_the_same_again() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for format in FORMATS {
        let command = format!("echo x >> {format}; cat {format}");
        let body = without_ids(format, &[("", "Bash", bash(&command)), ("", "Bash", bash(&command))]);
        let problem = post(&session, format, "", &body).await.problem(400, "invalid_request");
        assert!(problem["detail"].as_str().unwrap().contains("?turn="), "{problem}");
        let query = format!("&turn={format}");
        let answer = post(&session, format, &query, &body).await.expect(200);
        assert_eq!(statuses(&answer), ["completed"; 2]);
        assert_eq!(post(&session, format, &query, &body).await.expect(200), answer);
        assert_eq!(session.read_file(format), "x\nx\n", "two calls, each run once");
        // The same words in another turn are another call.
        let answer = post(&session, format, &format!("{query}-2"), &body).await.expect(200);
        assert_eq!(answer["calls"][1]["result"]["result"], "x\nx\nx\nx");
    }
    let appended = post(&session, "gemini", "&turn=gemini", &without_ids("gemini", &[])).await.expect(200);
    assert_eq!(appended["messages"], json!([]));
}

#[tokio::test]
async fn geminis_whole_response_tells_its_turn_itself() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let whole = |id: &str| {
        let parts =
            json!([{"functionCall": {"name": "Bash", "args": {"command": "echo x >> log; cat log"}}}]);
        json!({"candidates": [{"content": {"role": "model", "parts": parts}}], "responseId": id})
    };
    let answer = post(&session, "gemini", "", &whole("r1")).await.expect(200);
    assert_eq!(post(&session, "gemini", "", &whole("r1")).await.expect(200), answer);
    let response = &answer["messages"][0]["parts"][0]["functionResponse"];
    assert!(response.get("id").is_none(), "the API gave none: {response}");
    let answer = post(&session, "gemini", "", &whole("r2")).await.expect(200);
    assert_eq!(answer["calls"][0]["result"]["result"], "x\nx");
}

#[tokio::test]
async fn an_id_of_any_length_comes_back_as_it_was() {
    let server = TestServer::start();
    let session = server.session().await;
    for format in FORMATS {
        let id = format!("{format}__thought__{}", "A/+=".repeat(1000));
        let body = said(format, &[(&id, "Glob", json!({"pattern": "*"}))]);
        let answer = post(&session, format, "", &body).await.expect(200);
        assert_eq!(told(format, &answer)[0].0, id);
        assert_eq!(post(&session, format, "", &body).await.expect(200), answer);
        let recorded = answer["calls"][0]["call_id"].as_str().unwrap();
        assert_eq!(session.current(recorded).await["status"], "completed");
    }
}

#[tokio::test]
async fn a_turn_has_at_most_128_calls() {
    let server = TestServer::start();
    let session = server.session().await;
    for format in FORMATS {
        let ids: Vec<_> = (0..129).map(|n| format!("{format}_{n}")).collect();
        let calls: Vec<Asked<'_>> =
            ids.iter().map(|id| (id.as_str(), "Glob", json!({"pattern": "*"}))).collect();
        let problem = post(&session, format, "", &said(format, &calls)).await.problem(400, "invalid_request");
        assert!(problem["detail"].as_str().unwrap().contains("128"), "{problem}");
        let answer = post(&session, format, "", &said(format, &calls[..128])).await.expect(200);
        assert_eq!(told(format, &answer).len(), 128);
    }
}

#[tokio::test]
async fn another_ones_session_is_not_there() {
    let server = TestServer::start();
    let session = server.session().await;
    let other = server.session().await;
    for format in FORMATS {
        let body = said(format, &[(format, "Glob", json!({"pattern": "*"}))]);
        let path = session.path(&format!("/turns?format={format}"));
        server.second_agent().post(&path, &body).await.problem(404, "not_found");
        server.with_token(&other.token).post(&path, &body).await.problem(404, "not_found");
        server.anonymous().post(&path, &body).await.problem(401, "unauthenticated");
        server.second_agent().post(&path, &said(format, &[])).await.problem(404, "not_found");
        server.with_token(&session.token).post(&path, &body).await.expect(200);
        server.operator().post(&path, &body).await.expect(200);
    }
    session.end().await.expect(200);
    for format in FORMATS {
        let body = said(format, &[("late", "Glob", json!({"pattern": "*"}))]);
        post(&session, format, "", &body).await.problem(409, "session_ended");
    }
}

#[tokio::test]
async fn a_client_that_goes_away_loses_nothing() {
    let server = TestServer::start();
    let session: TestSession = server.bypass_session().await;
    let body = said("anthropic", &[("a", "Bash", bash("echo x >> log; cat log"))]);
    let path = session.path("/turns?format=anthropic");
    let request = session.client.request(reqwest::Method::POST, &path).json(&body);
    let sent = tokio::spawn(request.send());
    session.event("a", "tool_start").await;
    sent.abort();
    let answer = post(&session, "anthropic", "", &body).await.expect(200);
    assert_eq!(texts("anthropic", &answer), ["x"]);
}
