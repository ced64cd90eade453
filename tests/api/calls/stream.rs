//! `POST /v1/sessions/{sid}/calls` with `Accept: text/event-stream`: the call's events to its end.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::session::{tool_call, until_there};
use crate::support::sse::Stream;
use crate::support::{TestServer, TestSession};

async fn post(session: &TestSession, call: &Value) -> Stream {
    let request = session.client.request(Method::POST, &session.path("/calls")).json(call);
    Stream::open(request).await
}

fn kinds(frames: &[crate::support::sse::Frame]) -> Vec<&str> {
    frames.iter().map(|frame| frame.event.as_deref().unwrap()).collect()
}

#[tokio::test]
async fn events_come_while_it_runs_and_the_stream_ends_with_it() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.call("other", "Glob", json!({"pattern": "*"})).await.expect(200);
    let command = format!("echo first; {}; echo second", until_there("go"));
    let mut stream = post(&session, &tool_call("c", "Bash", &json!({"command": command}))).await;
    let start = stream.until("tool_token").await;
    assert_eq!(kinds(&start), ["tool_start", "tool_token"]);
    assert_eq!(start[1].data.as_ref().unwrap()["content"], "first\n");
    session.write_file("go", "");
    let rest = stream.rest().await;
    assert_eq!(kinds(&rest), ["tool_token", "tool_complete"]);
    for frame in start.iter().chain(&rest) {
        let data = frame.data.as_ref().unwrap();
        assert_eq!(data["tool_call_id"], "c", "no other call's events");
        assert_eq!(data["seq"].as_u64(), frame.id);
        assert_eq!(data["type"].as_str(), frame.event.as_deref());
    }
}

#[tokio::test]
async fn it_goes_on_through_a_pause() {
    let server = TestServer::start();
    let session = server.session().await;
    let mut stream = post(&session, &tool_call("c", "Bash", &json!({"command": "touch x"}))).await;
    let asked = stream.until("tool_approval_requested").await.pop().unwrap();
    let approval = asked.data.unwrap()["approval"].clone();
    assert_eq!(approval["status"], "pending");
    server.operator().allow(approval["approval_id"].as_str().unwrap()).await;
    assert_eq!(kinds(&stream.rest().await), ["tool_approval_resolved", "tool_complete"]);
}

#[tokio::test]
async fn a_repeat_gets_the_same_events_again() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let call = tool_call("c", "Bash", &json!({"command": "echo once; echo ran >> log"}));
    let first = post(&session, &call).await.rest().await;
    assert_eq!(post(&session, &call).await.rest().await, first);
    assert_eq!(session.read_file("log"), "ran\n");
}

#[tokio::test]
async fn a_mistake_of_the_models_is_a_stream_too() {
    let server = TestServer::start();
    let session = server.session().await;
    let frames = post(&session, &tool_call("c", "Nope", &json!({}))).await.rest().await;
    assert_eq!(kinds(&frames), ["tool_start", "tool_error"]);
}

#[tokio::test]
async fn a_refusal_before_the_call_is_a_problem_and_no_stream() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("c", "Glob", json!({"pattern": "a"})).await.expect(200);
    let body = tool_call("c", "Glob", &json!({"pattern": "b"}));
    let request = server.agent().request(Method::POST, &session.path("/calls")).json(&body);
    let request = request.header("Accept", "text/event-stream");
    crate::support::Answer::of(request).await.problem(409, "call_id_conflict");
}
