//! `GET` and `PATCH /v1/sessions/{sid}/runtime`, and the file `runtime.json`.

use serde_json::json;

use crate::support::{TestServer, TestSession};

fn runtime_file(server: &TestServer, session: &TestSession) -> std::path::PathBuf {
    server.data_dir().join("sessions").join(&session.id).join("runtime.json")
}

#[tokio::test]
async fn an_agent_sets_only_what_narrows() {
    let server = TestServer::start();
    for narrow in [
        json!({"permission_mode": "plan"}),
        json!({"permission_mode": "dont_ask"}),
        json!({"permission_mode": "default"}),
        json!({"no_human_approver": true}),
        json!({"can_async_resume": true}),
        json!({"bypass_permissions": false}),
    ] {
        let made = server.agent().post("/v1/sessions", &json!({"runtime": narrow})).await.expect(201);
        for (key, value) in narrow.as_object().unwrap() {
            assert_eq!(made["runtime"][key], *value);
        }
    }
    for wide in [
        json!({"bypass_permissions": true}),
        json!({"permission_mode": "accept_edits"}),
        json!({"permission_mode": "sandbox_auto"}),
    ] {
        let body = json!({"runtime": wide});
        server.agent().post("/v1/sessions", &body).await.problem(403, "operator_required");
        server.operator().post("/v1/sessions", &body).await.expect(201);
    }
}

#[tokio::test]
async fn only_an_operator_changes_flags() {
    let server = TestServer::start();
    let session = server.session().await;
    let flags = json!({"permission_mode": "plan"});
    server.agent().patch(&session.path("/runtime"), &flags).await.problem(403, "operator_required");

    let changed = server.operator().patch(&session.path("/runtime"), &flags).await.expect(200);
    assert_eq!(changed["permission_mode"], "plan");
    assert_eq!(server.agent().get(&session.path("/runtime")).await.expect(200), changed);
    let event = session.events().await.last().unwrap().clone();
    assert_eq!(event["type"], "runtime_changed");
    assert_eq!(event["runtime"]["permission_mode"], "plan");
}

#[tokio::test]
async fn the_config_bounds_operators_too() {
    let server = TestServer::with_config(&json!({"permissions": {"max_mode": "default"}}));
    let session = server.session().await;
    for wide in [json!({"bypass_permissions": true}), json!({"permission_mode": "accept_edits"})] {
        server.operator().patch(&session.path("/runtime"), &wide).await.problem(403, "exceeds_max_mode");
        let body = json!({"runtime": wide});
        server.operator().post("/v1/sessions", &body).await.problem(403, "exceeds_max_mode");
    }
    // Nor does the file reach further.
    std::fs::write(runtime_file(&server, &session), r#"{"bypass_permissions": true}"#).unwrap();
    session.asks("c", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn an_edit_by_hand_holds_from_the_next_call_on() {
    let server = TestServer::start();
    let session = server.session().await;
    session.asks("before", "Bash", json!({"command": "touch x"})).await;
    let file = runtime_file(&server, &session);
    std::fs::write(&file, r#"{"bypass_permissions": true, "mine": {"kept": 1}}"#).unwrap();
    let call = session.bash("after", "touch x").await.expect(200);
    assert_eq!(call["status"], "completed");

    let shown = server.agent().get(&session.path("/runtime")).await.expect(200);
    assert_eq!(shown["bypass_permissions"], true);
    assert_eq!(shown["mine"], json!({"kept": 1}), "unknown keys are kept");
    let changed = json!({"can_async_resume": true});
    server.operator().patch(&session.path("/runtime"), &changed).await.expect(200);
    let text = std::fs::read_to_string(&file).unwrap();
    let written: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["mine"], json!({"kept": 1}));
}

#[tokio::test]
async fn a_broken_file_keeps_the_last_good_flags_and_says_so() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let file = runtime_file(&server, &session);
    for broken in ["", "{", r#"{"bypass_permissions": "yes"}"#, r#"{"permission_mode": "none"}"#] {
        std::fs::write(&file, broken).unwrap();
        let call = session.bash(&format!("with {broken}"), "touch x").await.expect(200);
        assert_eq!(call["status"], "completed", "{broken}: {call}");
        let events = session.events().await;
        let said = events.iter().rfind(|event| event["type"] == "runtime_changed").unwrap();
        assert!(said["problem"].as_str().unwrap().contains("runtime.json"), "{said}");
        assert_eq!(said["runtime"]["bypass_permissions"], true);
    }
    std::fs::write(&file, "{}").unwrap();
    session.asks("good again", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn the_file_is_out_of_the_workspace_and_of_the_agents_reach() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let file = runtime_file(&server, &session);
    let before = std::fs::read_to_string(&file).unwrap();
    let command = format!("echo '{{}}' > {}; cat {}", file.display(), file.display());
    let call = session.bash("c", &command).await.expect(200);
    assert_ne!(call["result"]["success"], true, "{call}");
    let write = json!({"file_path": file, "content": "{}"});
    let call = session.call("w", "Write", write).await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
}

#[tokio::test]
async fn an_agent_does_not_leave_the_configured_mode() {
    for (mode, wider) in [("plan", "default"), ("plan", "dont_ask"), ("dont_ask", "default")] {
        let server = TestServer::with_config(&json!({"permissions": {"mode": mode}}));
        let body = json!({"runtime": {"permission_mode": wider}});
        server.agent().post("/v1/sessions", &body).await.problem(403, "operator_required");
        let same = json!({"runtime": {"permission_mode": mode}});
        server.agent().post("/v1/sessions", &same).await.expect(201);
        server.operator().post("/v1/sessions", &body).await.expect(201);
    }
}
