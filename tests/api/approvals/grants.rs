//! Grants: what a person allowed for a session or always, `GET` and `DELETE /v1/grants`.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

const TOUCH: &str = "Bash(touch x)";

/// Lets `touch x` of this session pass with this scope; the grant.
async fn grant(server: &TestServer, session: &TestSession, scope: &str) -> Value {
    let id = session.asks("granted", "Bash", json!({"command": "touch x"})).await;
    let decision = json!({"decision": "allow", "scope": scope, "pattern": TOUCH});
    server.operator().decide(&id, &decision).await.expect(200);
    assert_eq!(session.ended("granted").await["status"], "completed");
    let grants = server.operator().get("/v1/grants").await.expect(200);
    grants["items"].as_array().unwrap().last().unwrap().clone()
}

async fn passes(session: &TestSession, id: &str) {
    let call = session.bash(id, "touch x").await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
}

#[tokio::test]
async fn a_grant_for_the_session_holds_in_it_alone() {
    let server = TestServer::start();
    let session = server.session().await;
    let grant = grant(&server, &session, "session").await;
    assert_eq!(grant["pattern"], TOUCH);
    assert_eq!(grant["scope"], "session");
    assert_eq!(grant["session_id"], session.id.as_str());
    assert_eq!(grant["granted_by"], "operator");
    passes(&session, "again").await;
    session.asks("other", "Bash", json!({"command": "touch y"})).await;
    server.session().await.asks("c", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn a_grant_for_always_holds_for_the_same_agent() {
    let server = TestServer::start();
    let session = server.session().await;
    let grant = grant(&server, &session, "always").await;
    assert_eq!(grant["scope"], "always");
    assert_eq!(grant["workspace_root"], server.root().to_str().unwrap());
    passes(&server.session().await, "c").await;
    let other = TestSession::create(&server.second_agent(), &json!({})).await;
    other.asks("c", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn a_grant_survives_a_restart_and_ends_when_it_is_revoked() {
    let mut server = TestServer::start();
    let session = server.session().await;
    let grant = grant(&server, &session, "always").await;
    server.restart_with(&json!({}));
    let session = server.session().await;
    passes(&session, "c").await;
    let path = format!("/v1/grants/{}", grant["grant_id"].as_str().unwrap());
    server.agent().delete(&path).await.problem(403, "operator_required");
    assert_eq!(server.operator().delete(&path).await.status, 204);
    session.asks("revoked", "Bash", json!({"command": "touch x"})).await;
    server.operator().delete(&path).await.problem(404, "not_found");
    assert_eq!(server.operator().get("/v1/grants").await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_grant_does_not_outlive_a_new_deny() {
    let mut server = TestServer::start();
    let session = server.session().await;
    grant(&server, &session, "always").await;
    server.restart_with(&json!({"permissions": {"deny": ["Bash(touch *)"]}}));
    let call = server.session().await.bash("c", "touch x").await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
    server.restart_with(&json!({"permissions": {"always_ask": ["Bash(touch *)"]}}));
    server.session().await.asks("c", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn only_what_is_offered_is_granted() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("run.sh", "true\n");
    for (id, command) in [
        ("interpreter", "python3 -c 'print(1)'"),
        ("script", "sh ./run.sh"),
        ("not understood", "touch $(date)"),
    ] {
        let approval = session.asks(id, "Bash", json!({"command": command})).await;
        let shown = server.operator().approval(&approval).await;
        assert_eq!(shown["offers"], json!([{"scope": "once"}]), "{command}");
        for scope in ["session", "always"] {
            let body = json!({"decision": "allow", "scope": scope});
            server.operator().decide(&approval, &body).await.problem(422, "not_offered");
        }
    }
    // A single offer needs no pattern.
    let id = session.asks("touch", "Bash", json!({"command": "touch x"})).await;
    let decision = json!({"decision": "allow", "scope": "session"});
    let approval = server.operator().decide(&id, &decision).await.expect(200);
    assert_eq!(approval["decision"]["pattern"], TOUCH);
    assert_eq!(server.operator().decide(&id, &decision).await.expect(200), approval);
}
