//! `POST /v1/sessions`, `GET /v1/sessions`, `GET /v1/sessions/{sid}`.

use serde_json::{Value, json};

use crate::support::TestServer;

#[tokio::test]
async fn a_new_session_has_a_fresh_workspace_and_a_token_of_its_own() {
    let server = TestServer::start();
    let body = json!({"session_id": "first", "labels": {"job": "42"}});
    let answer = server.agent().post("/v1/sessions", &body).await;
    assert_eq!(answer.header("location"), "/v1/sessions/first");
    let made = answer.expect(201);

    assert_eq!(made["session_id"], "first");
    assert_eq!(made["workspace"], server.root().join("first").to_str().unwrap());
    assert_eq!(made["status"], "active");
    assert_eq!(made["labels"], json!({"job": "42"}));
    assert_eq!(made["runtime"]["permission_mode"], "default");
    assert_eq!(made["runtime"]["bypass_permissions"], false);
    assert_eq!(made["last_seq"], 1);
    assert!(made["created_at"].as_str().unwrap().ends_with('Z'));
    assert!(made["session_token"].as_str().unwrap().len() > 32);
    assert_eq!(server.root().join("first").read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn the_same_body_again_finds_the_session_and_another_body_is_a_conflict() {
    let server = TestServer::start();
    let agent = server.agent();
    let body = json!({"session_id": "s", "labels": {"a": "1", "b": "2"}});
    let made = agent.post("/v1/sessions", &body).await.expect(201);
    // The order of keys is not part of what a body says.
    let again = json!({"labels": {"b": "2", "a": "1"}, "session_id": "s"});
    let found = agent.post("/v1/sessions", &again).await.expect(200);
    assert_eq!(found, made, "the repeat gets the session's token too");

    let other = json!({"session_id": "s", "labels": {"a": "1"}});
    agent.post("/v1/sessions", &other).await.problem(409, "session_id_conflict");
    server.second_agent().post("/v1/sessions", &body).await.problem(409, "session_id_conflict");
}

#[tokio::test]
async fn an_id_is_never_used_again() {
    let server = TestServer::start();
    let body = json!({"session_id": "once"});
    server.agent().post("/v1/sessions", &body).await.expect(201);
    server.agent().delete("/v1/sessions/once").await.expect(200);
    let found = server.agent().post("/v1/sessions", &body).await.expect(200);
    assert_eq!(found["status"], "ended");
    let other = json!({"session_id": "once", "labels": {"x": "y"}});
    server.agent().post("/v1/sessions", &other).await.problem(409, "session_id_conflict");
}

#[tokio::test]
async fn ids_have_few_letters_since_they_become_folder_names() {
    let server = TestServer::start();
    let long = "a".repeat(129);
    for id in ["", ".", "..", "../x", "a/b", "-a", "_a", "a b", "é", "a\u{0}", long.as_str()] {
        let answer = server.agent().post("/v1/sessions", &json!({"session_id": id})).await;
        let problem = answer.problem(400, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], "/session_id", "{id:?}");
    }
    let fits = "a".repeat(128);
    for id in ["a", "A.b_c-9", "0", fits.as_str()] {
        server.agent().post("/v1/sessions", &json!({"session_id": id})).await.expect(201);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_body_is_named() {
    let server = TestServer::start();
    let many: Value =
        (0..65).map(|n| (format!("l{n}"), json!("x"))).collect::<serde_json::Map<_, _>>().into();
    for (body, pointer) in [
        (json!({"labels": {"a": 1}}), "/labels/a"),
        (json!({"labels": {"a": "x".repeat(257)}}), "/labels"),
        (json!({"labels": many}), "/labels"),
        (json!({"runtime": {"permission_mode": "yolo"}}), "/runtime/permission_mode"),
        (json!({"runtime": {"approved": true}}), "/runtime/approved"),
        (json!({"workspace": 7}), "/workspace"),
        (json!({"workspace": ""}), "/workspace"),
        (json!({"workspace": "not/there"}), "/workspace"),
        (json!({"session": "typo"}), "/session"),
        (json!([]), ""),
    ] {
        let problem = server.agent().post("/v1/sessions", &body).await.problem(400, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], pointer, "{body}: {problem}");
    }
    assert_eq!(server.root().read_dir().unwrap().count(), 0, "a refused session leaves nothing");
}

#[tokio::test]
async fn a_list_goes_through_its_pages_oldest_first() {
    let server = TestServer::start();
    for id in ["c", "a", "b"] {
        server.agent().post("/v1/sessions", &json!({"session_id": id})).await.expect(201);
    }
    server.second_agent().post("/v1/sessions", &json!({"session_id": "other"})).await.expect(201);

    let mut seen = Vec::new();
    let mut path = "/v1/sessions?limit=1".to_owned();
    loop {
        let page = server.agent().get(&path).await.expect(200);
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 1);
        seen.extend(items.iter().map(|item| item["session_id"].as_str().unwrap().to_owned()));
        assert!(items.iter().all(|item| item.get("session_token").is_none()));
        let Some(cursor) = page["next_cursor"].as_str() else { break };
        path = format!("/v1/sessions?limit=1&cursor={cursor}");
    }
    assert_eq!(seen, ["c", "a", "b"], "each once, and nothing of the other agent's");
    let all = server.operator().get("/v1/sessions").await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn one_session_is_shown_without_its_token() {
    let server = TestServer::start();
    let session = server.session().await;
    let shown = server.agent().get(&session.path("")).await.expect(200);
    assert_eq!(shown["session_id"], session.id.as_str());
    assert!(shown.get("session_token").is_none());
    assert!(shown.get("ended_at").is_none());
}

#[tokio::test]
async fn active_sessions_are_bounded_for_each_token() {
    let server = TestServer::with_config(&json!({"limits": {"sessions_per_token": 2}}));
    let first = server.session().await;
    server.session().await;
    let answer = server.agent().post("/v1/sessions", &json!({})).await;
    answer.problem(429, "too_many");
    assert!(!answer.header("retry-after").is_empty());
    server.second_agent().post("/v1/sessions", &json!({})).await.expect(201);
    first.end().await.expect(200);
    server.session().await;
}
