//! Who reaches a session: its agent, its own token, every operator, and nobody else.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, Client, TestServer, TestSession};

/// Each route under a session that an agent may call, with a body that would be right.
fn routes(session: &TestSession) -> Vec<(Method, String, Option<Value>)> {
    let call = json!({"id": "x", "function": {"name": "Glob", "arguments": "{\"pattern\":\"*\"}"}});
    let get = |path: &str| (Method::GET, session.path(path), None);
    let post = |path: &str, body: Value| (Method::POST, session.path(path), Some(body));
    vec![
        get(""),
        get("/runtime"),
        get("/tools"),
        get("/guidance"),
        get("/calls"),
        get("/calls/c"),
        get("/calls/c?wait_ms=1000"),
        get("/calls/c/output"),
        get("/events"),
        get("/events?wait_ms=1000"),
        post("/calls", call.clone()),
        post("/calls/batch", json!({"calls": [call]})),
        post("/calls/c/cancel", json!({})),
        post("/calls/c/result", json!({"result": "forged"})),
        (Method::DELETE, session.path(""), None),
    ]
}

async fn send(
    client: &Client,
    (method, path, body): &(Method, String, Option<Value>),
    accept: &str,
) -> Answer {
    let mut request = client.request(method.clone(), path).header("Accept", accept);
    if let Some(body) = body {
        request = request.json(body);
    }
    Answer::of(request).await
}

async fn with_an_open_call(server: &TestServer) -> TestSession {
    let session = server.session().await;
    session.call("c", "AskUser", json!({"question": "?"})).await.expect(202);
    session
}

#[tokio::test]
async fn p22_another_agents_token_finds_nothing_on_any_route() {
    let server = TestServer::start();
    let session = with_an_open_call(&server).await;
    let before = session.events().await;
    for route in routes(&session) {
        for accept in ["application/json", "text/event-stream"] {
            let answer = send(&server.second_agent(), &route, accept).await;
            let problem = answer.problem(404, "not_found");
            assert!(!problem.to_string().contains(session.workspace.to_str().unwrap()), "{route:?}");
        }
    }
    // A session that does not exist is answered alike.
    let missing = TestSession { id: "missing".to_owned(), ..session.clone() };
    for (there, not) in routes(&session).iter().zip(routes(&missing)) {
        let there = send(&server.second_agent(), there, "application/json").await.expect(404);
        let not = send(&server.second_agent(), &not, "application/json").await.expect(404);
        assert_eq!(there["detail"], not["detail"]);
    }
    let list = server.second_agent().get("/v1/sessions").await.expect(200);
    assert_eq!(list["items"], json!([]));
    assert_eq!(session.events().await, before, "nothing happened in it");
    assert_eq!(session.current("c").await["status"], "awaiting_answer");
}

#[tokio::test]
async fn a_sessions_own_token_reaches_that_session_alone() {
    let server = TestServer::start();
    let mine = with_an_open_call(&server).await;
    let other = with_an_open_call(&server).await;
    let client = server.with_token(&mine.token);

    for route in routes(&other) {
        send(&client, &route, "application/json").await.problem(404, "not_found");
    }
    client.post("/v1/sessions", &json!({})).await.problem(403, "forbidden");
    let list = client.get("/v1/sessions").await.expect(200);
    let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| &item["session_id"]).collect();
    assert_eq!(ids, [&json!(mine.id)]);
    for operators in ["/v1/events", "/v1/approvals", "/v1/grants", "/v1/config"] {
        client.get(operators).await.problem(403, "operator_required");
    }
    client.get("/v1/info").await.expect(200);
    client.get(&mine.path("")).await.expect(200);
    let call = json!({"id": "x", "function": {"name": "Glob", "arguments": "{\"pattern\":\"*\"}"}});
    client.post(&mine.path("/calls"), &call).await.expect(200);
    client.delete(&mine.path("")).await.expect(200);
}

#[tokio::test]
async fn a_forged_session_token_is_no_token() {
    let server = TestServer::start();
    let session = server.session().await;
    let (other, mine) = (server.session().await, &session.token);
    let secret = mine.rsplit('.').next().unwrap();
    for forged in [
        format!("{mine}0"),
        mine[..mine.len() - 1].to_owned(),
        format!("tgs_{}.{secret}", other.id),
        format!("tgs_{}.", session.id),
        "tgs_.".to_owned(),
    ] {
        server.with_token(&forged).get(&session.path("")).await.problem(401, "unauthenticated");
    }
}

#[tokio::test]
async fn an_operator_reaches_every_session() {
    let server = TestServer::start();
    let session = with_an_open_call(&server).await;
    let operator = server.operator();
    operator.get(&session.path("")).await.expect(200);
    operator.event_page(&session.path("/events")).await;
    let call = json!({"id": "x", "function": {"name": "Glob", "arguments": "{\"pattern\":\"*\"}"}});
    operator.post(&session.path("/calls"), &call).await.expect(200);
    operator.post(&session.call_path("c", "/cancel"), &json!({})).await.expect(200);
    operator.delete(&session.path("")).await.expect(200);
}
