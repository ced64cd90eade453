//! `POST /v1/approvals/{aid}/decision`.

use serde_json::json;

use crate::support::TestServer;
use crate::support::session::until_there;

#[tokio::test]
async fn an_allow_answers_at_once_and_lets_the_call_run() {
    let server = TestServer::start();
    let session = server.session().await;
    let command = format!("touch begun; echo begun; {}", until_there("go"));
    let id = session.asks("c", "Bash", json!({"command": command})).await;
    let approval = server.operator().allow(&id).await;
    assert_eq!(approval["status"], "allowed");
    assert_eq!(approval["decision"]["decision"], "allow");
    assert_eq!(approval["decision"]["scope"], "once");
    assert_eq!(approval["decision"]["by"], "operator");
    assert!(approval["decision"]["at"].is_string());
    session.event("c", "tool_token").await;
    assert_eq!(session.current("c").await["status"], "running");
    session.write_file("go", "");
    let call = session.ended("c").await;
    assert_eq!((&call["status"], &call["approval_id"]), (&json!("completed"), &json!(id)));
    let resolved = session.event("c", "tool_approval_resolved").await;
    assert_eq!(resolved["decision"], "allow");
    assert_eq!((&resolved["scope"], &resolved["by"]), (&json!("once"), &json!("operator")));
    let types = session.event_types("c").await;
    let expected =
        ["tool_start", "tool_approval_requested", "tool_approval_resolved", "tool_token", "tool_complete"];
    assert_eq!(types, expected);
}

#[tokio::test]
async fn whoever_asks_after_a_decision_is_not_told_that_it_still_waits() {
    let server = TestServer::start();
    let session = server.session().await;
    for round in 0..20 {
        let (id, arguments) = (round.to_string(), json!({"command": format!("touch {round}")}));
        let approval = session.asks(&id, "Bash", arguments.clone()).await;
        server.operator().allow(&approval).await;
        let call = session.call(&id, "Bash", arguments).await.expect(200);
        assert_eq!(call["status"], "completed", "{call}");
    }
}

#[tokio::test]
async fn a_deny_reaches_the_model_with_its_message() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let deny = json!({"decision": "deny", "message": "Use the Write tool."});
    assert_eq!(server.operator().decide(&id, &deny).await.expect(200)["status"], "denied");
    let call = session.ended("c").await;
    assert_eq!(call["status"], "denied");
    assert_eq!(call["result"]["success"], false);
    assert!(call["result"]["result"].as_str().unwrap().contains("Use the Write tool."));
    let event = session.event("c", "tool_denied").await;
    assert_eq!(event["by"], "reviewer");
    assert!(event["message"].as_str().unwrap().contains("Use the Write tool."));
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn p14_an_agents_token_does_not_decide() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    for client in [server.agent(), server.with_token(&session.token), server.second_agent()] {
        for decision in ["allow", "deny"] {
            let answer = client.decide(&id, &json!({"decision": decision})).await;
            answer.problem(403, "operator_required");
        }
        client.get("/v1/approvals").await.problem(403, "operator_required");
        client.get(&format!("/v1/approvals/{id}")).await.problem(403, "operator_required");
    }
    let allow = json!({"decision": "allow"});
    server.anonymous().decide(&id, &allow).await.problem(401, "unauthenticated");
    assert_eq!(server.operator().approval(&id).await["status"], "pending");
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn p15_the_same_decision_is_answered_again_and_another_one_is_not() {
    let server = TestServer::start();
    let session = server.session().await;
    let operator = server.operator();
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let first = operator.allow(&id).await;
    session.ended("c").await;
    assert_eq!(operator.allow(&id).await, first);
    for other in [
        json!({"decision": "deny"}),
        json!({"decision": "allow", "message": "other"}),
        json!({"decision": "allow", "scope": "session", "pattern": "Bash(touch x)"}),
    ] {
        let problem = operator.decide(&id, &other).await.problem(409, "already_decided");
        assert_eq!(problem["approval"], first, "the decision that stands is told");
    }

    let id = session.asks("cancelled", "Bash", json!({"command": "touch y"})).await;
    session.cancel("cancelled").await.expect(200);
    let problem = operator.decide(&id, &json!({"decision": "allow"})).await.problem(409, "already_decided");
    assert_eq!(problem["approval"]["status"], "cancelled");
    assert!(!session.file("y").exists());
}

#[tokio::test]
async fn opposite_decisions_at_once_leave_one() {
    let server = TestServer::start();
    let session = server.session().await;
    for round in 0..10 {
        let (call, file) = (format!("c{round}"), format!("f{round}"));
        let id = session.asks(&call, "Bash", json!({"command": format!("touch {file}")})).await;
        let decide = |decision: &str| {
            let (operator, id, body) = (server.operator(), id.clone(), json!({"decision": decision}));
            tokio::spawn(async move { operator.decide(&id, &body).await.status.as_u16() })
        };
        let (allow, deny) = (decide("allow"), decide("deny"));
        let (allow, deny) = (allow.await.unwrap(), deny.await.unwrap());
        assert!((allow == 200) != (deny == 200), "{allow} {deny}");
        let ended = session.ended(&call).await;
        assert_eq!(ended["status"], if allow == 200 { "completed" } else { "denied" });
        assert_eq!(session.file(&file).exists(), allow == 200);
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_decision_leaves_it_pending() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let operator = server.operator();
    for (body, status, code) in [
        (json!({}), 400, "invalid_request"),
        (json!({"decision": "maybe"}), 400, "invalid_request"),
        (json!({"decision": "allow", "scope": "forever"}), 400, "invalid_request"),
        (json!({"decision": "allow", "approved": true}), 400, "invalid_request"),
        (json!({"decision": "deny", "message": "x".repeat(16 * 1024 + 1)}), 400, "invalid_request"),
        (json!({"decision": "allow", "scope": "session", "pattern": "Bash(*)"}), 422, "not_offered"),
        (json!({"decision": "allow", "scope": "once", "pattern": "Bash(touch x)"}), 422, "not_offered"),
        (json!({"decision": "deny", "scope": "session"}), 422, "not_offered"),
        (json!({"decision": "deny", "pattern": "Bash(touch x)"}), 422, "not_offered"),
        (json!({"decision": "deny", "arguments": {"command": "x"}}), 422, "not_offered"),
    ] {
        let problem = operator.decide(&id, &body).await.problem(status, code);
        assert!(problem["errors"][0]["pointer"].is_string(), "{problem}");
    }
    assert_eq!(operator.approval(&id).await["status"], "pending");
    operator.decide("apr_none", &json!({"decision": "allow"})).await.problem(404, "not_found");
}

#[tokio::test]
async fn an_approval_that_nobody_decides_denies() {
    let server = TestServer::with_config(&json!({"approvals": {"expire_after_s": 1}}));
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let call = session.ended("c").await;
    assert_eq!(call["status"], "denied");
    assert_eq!(session.event("c", "tool_denied").await["by"], "expired");
    assert_eq!(session.event("c", "tool_approval_resolved").await["decision"], "expired");
    assert_eq!(server.operator().approval(&id).await["status"], "expired");
    let late = server.operator().decide(&id, &json!({"decision": "allow"})).await;
    assert_eq!(late.problem(409, "already_decided")["approval"]["status"], "expired");
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn a_waiting_call_waits_on_over_a_restart() {
    let mut server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    server.restart_with(&json!({}));
    assert_eq!(server.operator().pending(&session.id).await.len(), 1);
    server.operator().allow(&id).await;
    let call = server.agent().get(&session.call_path("c", "?wait_ms=50000")).await.expect(200);
    assert_eq!(call["status"], "completed");
    assert!(session.file("x").exists());
}
