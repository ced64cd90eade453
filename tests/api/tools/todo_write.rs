//! TodoWrite and `GET /v1/sessions/{sid}/todos`.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

fn list() -> Value {
    json!([
        {"content": "Find the test", "status": "completed", "activeForm": "Finding the test", "id": "1"},
        {"content": "Fix it", "status": "in_progress", "id": "2", "priority": "high"},
        {"content": "Run all", "status": "pending"},
    ])
}

async fn kept(session: &TestSession) -> Value {
    session.client.get(&session.path("/todos")).await.expect(200)["todos"].clone()
}

#[tokio::test]
async fn a_list_replaces_the_one_before_and_survives_a_restart() {
    let mut server = TestServer::start();
    let session = server.session().await;
    assert_eq!(kept(&session).await, json!([]));
    let call = session.call("c", "TodoWrite", json!({"todos": list()})).await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!(call["mutability"], "mutating");
    assert_eq!(call["details"], json!({"todos": list()}));
    assert_eq!(
        call["result"]["result"],
        "1 of 3 completed:\n1. [x] Find the test\n2. [>] Fix it\n3. [ ] Run all"
    );
    assert_eq!(kept(&session).await, list());
    server.restart_with(&json!({}));
    let session = TestSession { client: server.agent(), ..session };
    assert_eq!(kept(&session).await, list());
    let shorter = json!([{"content": "One\nline", "status": "pending"}]);
    let call = session.call("d", "todo_write", json!({"todos": shorter})).await.expect(200);
    assert_eq!(call["result"]["result"], "0 of 1 completed:\n1. [ ] One line");
    assert_eq!(kept(&session).await, shorter);
    session.call("e", "TodoWrite", json!({"todos": []})).await.expect(200);
    assert_eq!(kept(&session).await, json!([]));
    // It is the session's, and neither its workspace's nor another's.
    assert_eq!(std::fs::read_dir(&session.workspace).unwrap().count(), 0);
    assert_eq!(kept(&server.session().await).await, json!([]));
    let other = TestSession { client: server.second_agent(), ..session.clone() };
    other.client.get(&other.path("/todos")).await.problem(404, "not_found");
    session.end().await.expect(200);
    assert_eq!(kept(&session).await, json!([]));
}

#[tokio::test]
async fn what_does_not_fit_changes_nothing() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("c", "TodoWrite", json!({"todos": list()})).await.expect(200);
    let item = |content: &str| json!({"content": content, "status": "pending"});
    let twice = json!([{"content": "a", "status": "pending", "id": "1"}, {"content": "b", "status": "pending", "id": "1"}]);
    let many: Vec<Value> = (0..201).map(|index| item(&format!("{index}"))).collect();
    for (id, todos, says) in [
        ("twice", twice, "/todos/1/id"),
        ("many", json!(many), "todos"),
        ("long", json!([item(&"x".repeat(2001))]), "content"),
        ("empty", json!([item("")]), "content"),
        ("status", json!([{"content": "a", "status": "done"}]), "status"),
        ("unknown", json!([{"content": "a", "status": "pending", "owner": "me"}]), "owner"),
        ("no list", json!({}), "todos"),
    ] {
        let call = session.call(id, "TodoWrite", json!({"todos": todos})).await.expect(200);
        assert_eq!(call["error"]["code"], "invalid_arguments", "{call}");
        assert!(call["result"]["result"].as_str().unwrap().contains(says), "{call}");
    }
    assert_eq!(kept(&session).await, list());
}

#[tokio::test]
async fn nobody_is_asked_and_more_than_one_under_way_is_advised_against() {
    let server = TestServer::start();
    let runtime = json!({"runtime": {"permission_mode": "plan"}});
    let session = TestSession::create(&server.agent(), &runtime).await;
    let both = json!([{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}]);
    let call = session.call("c", "TodoWrite", json!({"todos": both})).await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
    assert!(call["result"]["result"].as_str().unwrap().contains("2 items are in_progress"), "{call}");
    assert_eq!(kept(&session).await, both);
}
