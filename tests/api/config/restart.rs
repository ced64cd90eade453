//! Keys that need a restart wait for it by name; the rest holds at once.

use serde_json::json;

use super::{events, expect_event, reload, shown};
use crate::support::TestServer;

#[tokio::test]
async fn the_rest_is_applied_and_what_waits_is_named() {
    let server = TestServer::start();
    let mut stream = events(&server).await;
    let before = shown(&server).await["config"].clone();
    server.replace_config(&json!({
        "auth": {"mode": "none"},
        "sandbox": {"floor": "none"},
        "limits": {"sessions_per_token": 77},
    }));
    let changed = expect_event(&mut stream, "config_changed").await;
    assert_eq!(changed["keys"], json!(["limits.sessions_per_token"]));
    assert_eq!(changed["restart_needed"], json!(["auth.mode", "sandbox.floor"]));
    let now = shown(&server).await;
    assert_eq!(now["restart_needed"], json!(["auth.mode", "sandbox.floor"]));
    assert_eq!(now["config"]["auth"]["mode"], before["auth"]["mode"], "what is in force is shown: {now}");
    assert_eq!(now["config"]["limits"]["sessions_per_token"], 77);
    server.anonymous().get("/v1/config").await.problem(401, "unauthenticated");

    // Taken back: nothing waits any more.
    server.replace_config(&json!({"limits": {"sessions_per_token": 77}}));
    let changed = expect_event(&mut stream, "config_changed").await;
    assert_eq!((&changed["keys"], &changed["restart_needed"]), (&json!([]), &json!([])));
    assert_eq!(reload(&server).await, json!({"revision": 3, "changed": [], "restart_needed": []}));
}

#[tokio::test]
async fn flags_and_variables_lie_over_a_changed_file_too() {
    let variables = [("TOOLGATE_LIMITS__STREAMS", "5")];
    let server = TestServer::prepared(&variables, |folder| {
        std::fs::write(folder.join("config.json"), "{}").unwrap();
        folder.join("config.json")
    });
    server.replace_config(
        &json!({"server": {"listen": "127.0.0.1:9"}, "limits": {"streams": 9, "requests": 9}}),
    );
    let answer = reload(&server).await;
    assert_eq!(answer["restart_needed"], json!([]), "--listen lies over the file: {answer}");
    let limits = shown(&server).await["config"]["limits"].clone();
    assert_eq!((&limits["streams"], &limits["requests"]), (&json!(5), &json!(9)));
}
