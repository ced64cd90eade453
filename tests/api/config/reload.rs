//! `POST /v1/config/reload` and SIGHUP; what is judged by which config.

use rustix::process::Signal;
use serde_json::json;

use super::{allowing, events, expect_event, reload, shown};
use crate::support::TestServer;
use crate::support::session::until_there;

#[tokio::test]
async fn an_operator_reloads_and_hears_what_changed() {
    let server = TestServer::start();
    server.replace_config(&json!({"limits": {"streams": 9}, "events": {"heartbeat_ms": 2000}}));
    let answer = reload(&server).await;
    // The watch may have been quicker: then there is nothing left to change.
    assert!(
        answer["changed"] == json!(["events.heartbeat_ms", "limits.streams"])
            || answer["changed"] == json!([]),
        "{answer}"
    );
    assert_eq!((&answer["revision"], &answer["restart_needed"]), (&json!(2), &json!([])));
    assert_eq!(reload(&server).await, json!({"revision": 2, "changed": [], "restart_needed": []}));
    let session = server.session().await;
    for client in [server.agent(), server.second_agent(), server.with_token(&session.token)] {
        client.post("/v1/config/reload", &json!({})).await.problem(403, "operator_required");
    }
    server.anonymous().post("/v1/config/reload", &json!({})).await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_hangup_reloads() {
    let server = TestServer::start();
    let mut stream = events(&server).await;
    // A problem that stays as it is, is told by whoever looks first: the file is unreadable at once by the
    // signal, and only after a while by the watch.
    std::fs::remove_file(server.config_file()).unwrap();
    let began = std::time::Instant::now();
    server.signal(Signal::HUP);
    expect_event(&mut stream, "config_invalid").await;
    assert!(began.elapsed() < std::time::Duration::from_secs(2), "the watch was quicker than the signal");
    server.replace_config(&allowing("Bash(echo *)"));
    server.signal(Signal::HUP);
    expect_event(&mut stream, "config_changed").await;
    server.assert_alive().await;
}

#[tokio::test]
async fn a_call_that_waited_is_judged_by_the_config_in_force_when_it_is_allowed() {
    let server = TestServer::start();
    let (session, operator) = (server.session().await, server.operator());
    let waits = session.asks("c", "Bash", json!({"command": "echo hi > f"})).await;
    server.replace_config(&json!({"permissions": {"deny": ["Bash(echo *)"]}}));
    reload(&server).await;
    operator.decide(&waits, &json!({"decision": "allow"})).await.problem(422, "denied");
    assert_eq!(operator.approval(&waits).await["status"], "pending", "it still waits");
    server.replace_config(&json!({}));
    reload(&server).await;
    operator.allow(&waits).await;
    assert_eq!(session.ended("c").await["status"], "completed");
}

#[tokio::test]
async fn a_call_that_starts_after_its_turn_came_is_judged_by_the_config_then() {
    let config = json!({"permissions": {"allow": ["Bash"]}, "limits": {"running_calls": 1}});
    let server = TestServer::with_config(&config);
    let session = server.session().await;
    session.begin("first", "Bash", json!({"command": until_there("go")})).await.expect(202);
    session.event("first", "tool_start").await;
    session.begin("second", "Bash", json!({"command": "echo hi > f"})).await.expect(202);
    let denying = json!({"permissions": {"deny": ["Bash(echo *)"]}, "limits": {"running_calls": 1}});
    server.replace_config(&denying);
    reload(&server).await;
    session.write_file("go", "");
    assert_eq!(session.ended("first").await["status"], "completed", "what runs is not judged again");
    assert_eq!(session.ended("second").await["status"], "denied");
}

#[tokio::test]
async fn bounds_are_live() {
    let server = TestServer::with_config(&json!({"limits": {"streams": 1}}));
    let session = server.session().await;
    let _stream = events(&server).await;
    session.client.get(&session.path("/events")).await.problem(503, "too_many_streams");
    server.replace_config(&json!({
        "limits": {"streams": 2, "sessions_per_token": 1, "open_calls_per_session": 1},
        "server": {"allowed_hosts": ["gate.example"]},
        "approvals": {"expire_after_s": 7},
    }));
    reload(&server).await;
    session.client.stream(&session.path("/events")).await;
    server.agent().post("/v1/sessions", &json!({})).await.problem(429, "too_many");
    let host = server.agent().request(reqwest::Method::GET, "/v1/info").header("Host", "gate.example");
    assert_eq!(host.send().await.unwrap().status(), 200);
    let approval = session.asks("c", "Bash", json!({"command": "echo hi > f"})).await;
    let approval = server.operator().approval(&approval).await;
    let moment = |key: &str| approval[key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(moment("expires_at").as_millisecond() - moment("created_at").as_millisecond(), 7_000);
    session.call("d", "Glob", json!({"pattern": "*"})).await.problem(429, "too_many");
    assert_eq!(shown(&server).await["revision"], 2);
}
