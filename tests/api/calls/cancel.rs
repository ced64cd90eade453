//! `POST /v1/sessions/{sid}/calls/{cid}/cancel`.

use serde_json::json;

use crate::support::TestServer;
use crate::support::session::until_there;

#[tokio::test]
async fn a_running_command_ends_with_all_it_started_and_keeps_what_it_said() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let command = format!("setsid sh -c 'echo $$ > pid; {}' & echo begun; wait", until_there("never"));
    session.begin("c", "Bash", json!({"command": command})).await.expect(202);
    session.event("c", "tool_token").await;
    let call = session.cancel("c").await.expect(200);
    assert_eq!(call["status"], "cancelled");
    assert_eq!(call["error"]["code"], "cancelled");
    assert!(call["result"]["result"].as_str().unwrap().contains("begun"), "{call}");
    assert_eq!(session.current("c").await, call);
    let types = session.event_types("c").await;
    assert_eq!(types, ["tool_start", "tool_token", "tool_cancelled"]);
    if let Ok(pid) = std::fs::read_to_string(session.file("pid")) {
        assert!(!std::path::Path::new("/proc").join(pid.trim()).exists(), "a child of it lives on");
    }
}

#[tokio::test]
async fn a_queued_call_never_runs() {
    let server = TestServer::with_config(&json!({"limits": {"running_calls": 1}}));
    let session = server.bypass_session().await;
    let command = format!("echo begun; {}", until_there("go"));
    session.begin("first", "Bash", json!({"command": command})).await.expect(202);
    session.event("first", "tool_token").await;
    let queued = session.begin("second", "Bash", json!({"command": "touch ran"})).await.expect(202);
    assert_eq!(queued["status"], "queued");
    assert_eq!(session.cancel("second").await.expect(200)["status"], "cancelled");
    session.write_file("go", "");
    session.ended("first").await;
    session.bash("third", "true").await.expect(200);
    assert!(!session.file("ran").exists());
    assert_eq!(session.event_types("second").await, ["tool_start", "tool_cancelled"]);
}

#[tokio::test]
async fn a_waiting_call_and_its_approval_are_cancelled() {
    let server = TestServer::start();
    let session = server.session().await;
    let approval = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    assert_eq!(session.cancel("c").await.expect(200)["status"], "cancelled");
    assert_eq!(server.operator().approval(&approval).await["status"], "cancelled");
    let types = session.event_types("c").await;
    let expected = ["tool_start", "tool_approval_requested", "tool_approval_resolved", "tool_cancelled"];
    assert_eq!(types, expected);
    assert!(!session.file("x").exists());

    session.call("q", "AskUser", json!({"question": "?"})).await.expect(202);
    assert_eq!(session.cancel("q").await.expect(200)["status"], "cancelled");
    let late = json!({"answer": "late"});
    let answer = server.operator().post(&session.call_path("q", "/answer"), &late).await;
    answer.problem(409, "not_waiting");
}

#[tokio::test]
async fn one_that_has_ended_is_unchanged() {
    let server = TestServer::start();
    let session = server.session().await;
    let ended = session.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    assert_eq!(session.cancel("c").await.expect(200), ended);
    let failed = session.call("f", "Nope", json!({})).await.expect(200);
    assert_eq!(session.cancel("f").await.expect(200), failed);
    session.call("q", "AskUser", json!({"question": "?"})).await.expect(202);
    let cancelled = session.cancel("q").await.expect(200);
    assert_eq!(session.cancel("q").await.expect(200), cancelled);
    assert_eq!(session.event_types("q").await.iter().filter(|kind| *kind == "tool_cancelled").count(), 1);
}

#[tokio::test]
async fn a_queued_read_never_runs() {
    let server = TestServer::with_config(&json!({"limits": {"running_calls": 1}}));
    let session = server.bypass_session().await;
    session.write_file("a.txt", "old\n");
    session.begin("first", "Sleep", json!({"seconds": 300})).await.expect(202);
    while session.current("first").await["status"] != "running" {}
    let queued = session.begin("second", "Read", json!({"file_path": "a.txt"})).await.expect(202);
    assert_eq!(queued["status"], "queued");
    let cancelled = session.cancel("second").await.expect(200);
    assert_eq!((&cancelled["status"], &cancelled["started_at"]), (&json!("cancelled"), &json!(null)));
    session.cancel("first").await.expect(200);
    // Had it run, the session would have read the file and might write it.
    let write =
        session.call("third", "Write", json!({"file_path": "a.txt", "content": "new\n"})).await.expect(200);
    assert_eq!(write["status"], "failed", "{write}");
    assert_eq!(session.read_file("a.txt"), "old\n");
    assert_eq!(session.event_types("second").await, ["tool_start", "tool_cancelled"]);
}
