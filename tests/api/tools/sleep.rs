//! Sleep: time passes, a cancel ends it at once, nobody is asked.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

#[tokio::test]
async fn it_sleeps_fractions_and_is_never_asked() {
    let server = TestServer::start();
    for mode in ["default", "plan", "dont_ask"] {
        let runtime = json!({"runtime": {"permission_mode": mode}});
        let session = TestSession::create(&server.agent(), &runtime).await;
        let call = session.call("c", "Sleep", json!({"seconds": 0.01})).await.expect(200);
        assert_eq!(call["status"], "completed", "{mode}: {call}");
        assert_eq!(call["result"]["result"], "Slept 0.01 seconds.");
        assert_eq!(session.event_types("c").await, ["tool_start", "tool_complete"]);
    }
    let session = server.session().await;
    let legacy = session.call("legacy", "sleep", json!({"seconds": 0})).await.expect(200);
    assert_eq!((&legacy["tool_name"], &legacy["status"]), (&json!("Sleep"), &json!("completed")));
    for (id, wrong) in [
        ("long", json!({"seconds": 300.1})),
        ("negative", json!({"seconds": -1})),
        ("text", json!({"seconds": "5"})),
        ("nothing", json!({})),
        ("more", json!({"seconds": 1, "minutes": 1})),
    ] {
        let call = session.call(id, "Sleep", wrong).await.expect(200);
        assert_eq!(call["error"]["code"], "invalid_arguments", "{call}");
    }
}

#[tokio::test]
async fn a_cancel_ends_it_at_once() {
    let server = TestServer::start();
    let session = server.session().await;
    session.begin("c", "Sleep", json!({"seconds": 300})).await.expect(202);
    let call = session.cancel("c").await.expect(200);
    assert_eq!(call["status"], "cancelled", "{call}");
    assert_eq!(session.event_types("c").await, ["tool_start", "tool_cancelled"]);
}

#[tokio::test]
async fn sleepers_of_a_batch_sleep_side_by_side() {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["Bash"]}}));
    let session = server.session().await;
    let call =
        |id: &str, tool: &str, arguments: Value| crate::support::session::tool_call(id, tool, &arguments);
    let sleeps = (0..4).map(|index| call(&format!("s{index}"), "Sleep", json!({"seconds": 300})));
    let calls: Vec<Value> =
        sleeps.chain([call("after", "Bash", json!({"command": "touch after"}))]).collect();
    let path = session.path("/calls/batch?wait_ms=0");
    session.client.post(&path, &json!({"calls": calls})).await.expect(202);
    // All four run at once: none could be cancelled while it runs if it waited for another.
    for index in 0..4 {
        let id = format!("s{index}");
        let mut call = session.current(&id).await;
        while call["status"] == "queued" {
            call = session.current(&id).await;
        }
        assert_eq!(call["status"], "running", "{call}");
    }
    assert_eq!(session.current("after").await["status"], "queued");
    for index in 0..4 {
        session.cancel(&format!("s{index}")).await.expect(200);
    }
    assert_eq!(session.ended("after").await["status"], "completed");
}
