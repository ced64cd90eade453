//! `DELETE /v1/sessions/{sid}`.

use serde_json::json;

use crate::support::TestServer;
use crate::support::session::{tool_call, until_there};

#[tokio::test]
async fn an_end_is_recorded_once_and_answered_again() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    let ended = session.end().await.expect(200);
    assert_eq!(ended["status"], "ended");
    assert!(ended["ended_at"].is_string());
    assert_eq!(session.end().await.expect(200), ended);

    let types: Vec<_> = session.events().await.iter().map(|event| event["type"].clone()).collect();
    assert_eq!(types, ["session_started", "tool_start", "tool_complete", "session_ended"]);
    assert_eq!(session.current("c").await["status"], "completed", "records are kept");
    assert_eq!(server.agent().get(&session.path("")).await.expect(200)["status"], "ended");
}

#[tokio::test]
async fn what_is_open_is_cancelled_and_its_processes_end() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let command = format!("echo $$ > pid; {}", until_there("never"));
    session.begin("runs", "Bash", json!({"command": format!("{command}; touch after")})).await.expect(202);
    session.call("asks", "AskUser", json!({"question": "which?"})).await.expect(202);
    let plain = json!({"bypass_permissions": false});
    server.operator().patch(&session.path("/runtime"), &plain).await.expect(200);
    let approval = session.asks("waits", "Bash", json!({"command": "touch x"})).await;
    session.event("runs", "tool_start").await;

    session.end().await.expect(200);
    for id in ["runs", "asks", "waits"] {
        let call = session.current(id).await;
        assert_eq!(call["status"], "cancelled", "{call}");
        assert!(call["result"]["result"].is_string());
        assert_eq!(session.event_types(id).await.last().unwrap(), "tool_cancelled");
    }
    let approval = server.operator().approval(&approval).await;
    assert_eq!(approval["status"], "cancelled");
    assert_eq!(session.events().await.last().unwrap()["type"], "session_ended");
    assert!(!session.file("after").exists() && !session.file("x").exists());
    let pid = std::fs::read_to_string(session.file("pid")).unwrap_or_default();
    let alive = !pid.is_empty() && std::path::Path::new("/proc").join(pid.trim()).exists();
    assert!(!alive, "the command's shell is gone");
}

#[tokio::test]
async fn an_ended_session_takes_nothing_more() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("old", "Glob", json!({"pattern": "*"})).await.expect(200);
    session.end().await.expect(200);
    let call = tool_call("new", "Glob", &json!({"pattern": "*"}));
    let agent = server.agent();
    agent.post(&session.path("/calls"), &call).await.problem(409, "session_ended");
    agent.post(&session.path("/calls/batch"), &json!({"calls": [call]})).await.problem(409, "session_ended");
    agent.get(&session.path("/tools")).await.problem(409, "session_ended");
    agent.get(&session.path("/guidance")).await.problem(409, "session_ended");
    let flags = json!({"no_human_approver": true});
    server.operator().patch(&session.path("/runtime"), &flags).await.problem(409, "session_ended");
    agent.get(&session.call_path("new", "")).await.problem(404, "not_found");
    agent.get(&session.path("/runtime")).await.expect(200);
    session.cancel("old").await.expect(200);
}

#[tokio::test]
async fn a_session_whose_workspace_is_gone_is_read_and_ended() {
    let mut server = TestServer::start();
    let session = server.session().await;
    let approval = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    std::fs::remove_dir_all(&session.workspace).unwrap();
    server.restart_with(&json!({}));
    let operator = server.operator();
    assert_eq!(operator.get(&session.path("")).await.expect(200)["status"], "active");
    assert_eq!(operator.delete(&session.path("")).await.expect(200)["status"], "ended");
    assert_eq!(operator.approval(&approval).await["status"], "cancelled");
}
