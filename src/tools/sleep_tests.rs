//! Sleeps as the server calls them, and what they tell.

use serde_json::json;
use tokio::sync::mpsc;

use super::super::testing::Session;
use super::*;
use crate::domain::event::AgentEvent;

fn telling(events: mpsc::Sender<AgentEvent>) -> ToolCtx {
    ToolCtx {
        session_id: None,
        tool_call_id: "call".to_owned(),
        event_tx: Some(events),
        available_tool_schemas: None,
        bypass_permissions: false,
        can_async_resume: false,
        bash_completion_sink: None,
        scope: None,
    }
}

#[tokio::test]
async fn it_takes_as_long_as_was_asked() {
    let session = Session::new();
    let begun = Instant::now();
    assert_eq!(session.ok(&Sleep, json!({"seconds": 0.03})).await, "Slept 0.03 seconds.");
    assert!(begun.elapsed() >= Duration::from_millis(30));
    assert_eq!(session.ok(&Sleep, json!({"seconds": 0})).await, "Slept 0 seconds.");
    // Without a checker too: it changes nothing.
    assert!(session.confined(&Sleep, json!({"seconds": 0})).await.unwrap().success);
    for wrong in [json!({"seconds": 301}), json!({"seconds": -0.1}), json!({"seconds": "1"}), json!({})] {
        session.error(&Sleep, wrong).await;
    }
}

#[tokio::test]
async fn a_cancel_ends_it_and_says_how_long_it_slept() {
    let session = Session::new();
    session.scope.cancel.cancel();
    let error = session.call(&Sleep, json!({"seconds": 300})).await.unwrap_err();
    let message = "Cancelled after 0.0 of 300 seconds.".to_owned();
    assert_eq!(error, ToolError::Cancelled { message });
}

#[tokio::test]
async fn a_long_one_says_how_far_it_is_and_waits_for_no_reader() {
    let (sender, mut receiver) = mpsc::channel(2);
    let every = Duration::from_millis(5);
    // More than the channel takes, and nobody reads.
    pass(Instant::now(), every * 10, every, &telling(sender)).await;
    let mut told = Vec::new();
    while let Some(event) = receiver.recv().await {
        told.push(event);
    }
    let progress = |event: &AgentEvent| match event {
        AgentEvent::ToolProgress { progress, total, .. } => (*progress, *total),
        other => panic!("{other:?}"),
    };
    let told: Vec<_> = told.iter().map(progress).collect();
    assert_eq!(told, [(0.005, Some(0.05)), (0.01, Some(0.05))]);
    let (sender, mut receiver) = mpsc::channel(2);
    pass(Instant::now(), every, every, &telling(sender)).await;
    assert!(receiver.recv().await.is_none(), "a short one tells nothing");
}
