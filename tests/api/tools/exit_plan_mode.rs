//! ExitPlanMode: an approval that shows the plan, whose allow ends plan mode.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

fn plan() -> Value {
    json!({"plan": "1. Write a test.\n2. Fix it.\u{1b}[2J"})
}

async fn planning(server: &TestServer) -> TestSession {
    TestSession::create(&server.agent(), &json!({"runtime": {"permission_mode": "plan"}})).await
}

async fn mode(session: &TestSession) -> Value {
    session.client.get(&session.path("/runtime")).await.expect(200)["permission_mode"].clone()
}

async fn set_mode(server: &TestServer, session: &TestSession, mode: &str) {
    let flags = json!({"permission_mode": mode});
    server.operator().patch(&session.path("/runtime"), &flags).await.expect(200);
}

/// The types of all events from the call on.
async fn told(session: &TestSession) -> Vec<String> {
    let events = session.events().await;
    let kinds = events.iter().map(|event| event["type"].as_str().unwrap().to_owned());
    kinds.skip_while(|kind| kind != "tool_start").collect()
}

#[tokio::test]
async fn an_allow_shows_the_plan_and_ends_plan_mode() {
    let server = TestServer::start();
    let (session, operator) = (planning(&server).await, server.operator());
    let write = json!({"file_path": "new.txt", "content": "text"});
    assert_eq!(session.call("early", "Write", write.clone()).await.expect(200)["status"], "denied");
    let id = session.asks("c", "ExitPlanMode", plan()).await;
    let shown = operator.approval(&id).await;
    assert_eq!(shown["arguments"], plan());
    assert_eq!(shown["display"], "leave plan mode with this plan: 1. Write a test.\\n2. Fix it.\\u{1b}[2J");
    assert_eq!(shown["offers"], json!([{"scope": "once"}]));
    let allow = json!({"decision": "allow"});
    server.agent().decide(&id, &allow).await.problem(403, "operator_required");
    assert_eq!(mode(&session).await, "plan");
    operator.allow(&id).await;
    let call = session.ended("c").await;
    assert_eq!(call["status"], "completed", "{call}");
    assert!(call["result"]["result"].as_str().unwrap().contains("1. Write a test."), "{call}");
    assert_eq!(mode(&session).await, "default");
    let file = server.data_dir().join("sessions").join(&session.id).join("runtime.json");
    let flags: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    assert_eq!(flags["permission_mode"], "default");
    let events = session.events().await;
    let changed = events.iter().find(|event| event["type"] == "runtime_changed").unwrap();
    assert_eq!(changed["runtime"]["permission_mode"], "default");
    assert_eq!(
        session.event_types("c").await,
        ["tool_start", "tool_approval_requested", "tool_approval_resolved", "tool_complete"]
    );
    let order = told(&session).await;
    assert_eq!(order[order.len() - 3..], ["tool_approval_resolved", "runtime_changed", "tool_complete"]);
    // Now a change asks, as in default.
    session.asks("write", "Write", write).await;
    assert_eq!(operator.allow(&id).await["status"], "allowed", "again the same");
}

#[tokio::test]
async fn a_denial_keeps_plan_mode_and_tells_the_model_why() {
    let server = TestServer::start();
    let session = planning(&server).await;
    let id = session.asks("c", "exit_plan_mode", plan()).await;
    let deny = json!({"decision": "deny", "message": "add a rollback"});
    server.operator().decide(&id, &deny).await.expect(200);
    let call = session.ended("c").await;
    assert_eq!((&call["tool_name"], &call["status"]), (&json!("ExitPlanMode"), &json!("denied")));
    assert!(call["result"]["result"].as_str().unwrap().contains("add a rollback"), "{call}");
    assert_eq!(mode(&session).await, "plan");
    assert!(!told(&session).await.contains(&"runtime_changed".to_owned()));
    // The next plan is another call.
    let id = session.asks("d", "ExitPlanMode", plan()).await;
    assert_eq!(session.cancel("d").await.expect(200)["status"], "cancelled");
    let allow = json!({"decision": "allow"});
    server.operator().decide(&id, &allow).await.problem(409, "already_decided");
    assert_eq!(mode(&session).await, "plan");
}

#[tokio::test]
async fn an_edited_plan_is_the_plan() {
    let server = TestServer::start();
    let session = planning(&server).await;
    let id = session.asks("c", "ExitPlanMode", plan()).await;
    let edited = json!({"decision": "allow", "arguments": {"plan": "1. Only the test."}});
    server.operator().decide(&id, &edited).await.expect(200);
    let call = session.ended("c").await;
    let text = call["result"]["result"].as_str().unwrap();
    assert!(text.contains("Only the test") && !text.contains("Fix it"), "{text}");
    assert_eq!(mode(&session).await, "default");
}

#[tokio::test]
async fn outside_of_plan_mode_there_is_no_plan_to_leave() {
    let server = TestServer::start();
    for runtime in
        [json!({}), json!({"bypass_permissions": true}), json!({"permission_mode": "accept_edits"})]
    {
        let session = TestSession::create(&server.operator(), &json!({"runtime": runtime})).await;
        let call = session.call("c", "ExitPlanMode", plan()).await.expect(200);
        assert_eq!((&call["status"], &call["error"]["code"]), (&json!("failed"), &json!("tool_failed")));
        assert!(call["result"]["result"].as_str().unwrap().contains("not in plan mode"), "{call}");
        assert_eq!(session.event_types("c").await, ["tool_start", "tool_error"]);
        assert!(server.operator().pending(&session.id).await.is_empty());
    }
}

#[tokio::test]
async fn a_mode_that_was_set_meanwhile_stays() {
    let server = TestServer::start();
    let session = planning(&server).await;
    let id = session.asks("c", "ExitPlanMode", plan()).await;
    set_mode(&server, &session, "accept_edits").await;
    server.operator().allow(&id).await;
    assert_eq!(session.ended("c").await["status"], "completed");
    assert_eq!(mode(&session).await, "accept_edits");
}

#[tokio::test]
async fn plan_mode_holds_under_bypass_until_a_person_ends_it() {
    let server = TestServer::start();
    let runtime = json!({"runtime": {"permission_mode": "plan", "bypass_permissions": true}});
    let session = TestSession::create(&server.operator(), &runtime).await;
    let id = session.asks("c", "ExitPlanMode", plan()).await;
    assert_eq!(session.bash("early", "touch x").await.expect(200)["status"], "denied");
    server.operator().allow(&id).await;
    session.ended("c").await;
    assert_eq!(session.bash("later", "touch x").await.expect(200)["status"], "completed");
    let runtime = json!({"runtime": {"permission_mode": "plan", "no_human_approver": true}});
    let session = TestSession::create(&server.agent(), &runtime).await;
    let call = session.call("c", "ExitPlanMode", plan()).await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
    assert_eq!(session.event("c", "tool_denied").await["by"], "no_human");
    assert_eq!(mode(&session).await, "plan");
}

#[tokio::test]
async fn it_holds_up_its_batch_and_survives_a_restart() {
    let mut server = TestServer::start();
    let session = planning(&server).await;
    let call =
        |id: &str, tool: &str, arguments: Value| crate::support::session::tool_call(id, tool, &arguments);
    let batch = json!({"calls": [
        call("c", "ExitPlanMode", plan()),
        call("after", "Glob", json!({"pattern": "*"})),
    ]});
    let answer = session.client.post(&session.path("/calls/batch"), &batch).await.expect(202);
    assert_eq!(answer["calls"][0]["status"], "awaiting_approval");
    assert_eq!(answer["calls"][1]["status"], "queued");
    let id = answer["calls"][0]["approval_id"].as_str().unwrap();
    server.restart_with(&json!({}));
    let session = TestSession { client: server.agent(), ..session };
    assert_eq!(session.current("c").await["status"], "awaiting_approval");
    server.operator().allow(id).await;
    assert_eq!(session.ended("c").await["status"], "completed");
    assert_eq!(mode(&session).await, "default");
}
