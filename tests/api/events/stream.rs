//! Streams of events: their form, their heartbeat, their end.

use serde_json::json;

use crate::support::sse::Frame;
use crate::support::{Answer, TestServer};

#[tokio::test]
async fn a_stream_begins_at_the_beginning_and_ends_with_its_session() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("c", "echo x").await.expect(200);
    let mut stream = server.agent().stream(&session.path("/events")).await;
    let first = stream.frame().await.unwrap();
    assert!(first.retry.is_some() && first.id.is_none(), "{first:?}");
    stream.until("tool_complete").await;
    session.end().await.expect(200);
    assert!(stream.rest().await.last().unwrap().is("session_ended"));
    assert_eq!(stream.frame().await, None);

    // After the end it is there still, and closes at once.
    let frames = server.agent().stream(&session.path("/events")).await.rest().await;
    let pages = session.events().await;
    assert_eq!(frames.len(), pages.len());
    for (frame, event) in frames.iter().zip(&pages) {
        assert_eq!(frame.data.as_ref(), Some(event), "the stream says what the page says");
        assert_eq!(frame.id, event["seq"].as_u64());
        assert_eq!(frame.event.as_deref(), event["type"].as_str());
    }
    let last = pages.last().unwrap()["seq"].as_u64().unwrap();
    let path = session.path(&format!("/events?after={last}"));
    assert_eq!(server.agent().stream(&path).await.rest().await, []);
}

#[tokio::test]
async fn it_is_not_to_be_kept_by_caches() {
    let server = TestServer::start();
    let session = server.session().await;
    session.end().await.expect(200);
    let answer = server.agent().get(&session.path("/events")).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    assert!(answer.header("cache-control").contains("no-"), "{:?}", answer.headers);
}

#[tokio::test]
async fn filters_hold_for_streams_too() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let mut stream =
        server.agent().stream(&session.path("/events?call_id=2&types=tool_token,tool_complete")).await;
    session.bash("1", "echo a").await.expect(200);
    session.bash("2", "echo b").await.expect(200);
    let frames = stream.until("tool_complete").await;
    let of_two = |frame: &Frame| frame.data.as_ref().unwrap()["tool_call_id"] == "2";
    assert!(frames.len() == 2 && frames.iter().all(of_two), "{frames:?}");
    // It ends with the session although that event is filtered out.
    session.end().await.expect(200);
    assert_eq!(stream.rest().await, []);
}

#[tokio::test]
async fn a_silent_stream_sends_comments() {
    let server = TestServer::with_config(&json!({"events": {"heartbeat_ms": 1000}}));
    let session = server.session().await;
    let mut stream = server.agent().stream(&session.path("/events")).await;
    stream.until("session_started").await;
    for _ in 0..2 {
        let frame = stream.frame().await.unwrap();
        assert!(frame.comment && frame.id.is_none() && frame.event.is_none(), "{frame:?}");
    }
}

#[tokio::test]
async fn an_id_that_is_no_number_is_refused() {
    let server = TestServer::start();
    let session = server.session().await;
    for id in ["x", "-1", "1.5", ""] {
        let request = server.agent().request(reqwest::Method::GET, &session.path("/events"));
        let answer = Answer::of(request.header("Last-Event-ID", id)).await;
        answer.problem(400, "invalid_last_event_id");
    }
}

#[tokio::test]
async fn outside_text_breaks_no_frame() {
    let server = TestServer::start();
    let session = server.session().await;
    let hostile = "a\r\n\r\nevent: tool_complete\ndata: {}\n\nid: 99\u{2028}";
    session.call("c", "Grep", json!({"pattern": hostile, "path": hostile})).await.expect(200);
    session.end().await.expect(200);
    let frames = server.agent().stream(&session.path("/events")).await.rest().await;
    assert_eq!(frames.len(), session.events().await.len());
    let start = frames.iter().find(|frame| frame.is("tool_start")).unwrap();
    assert_eq!(start.data.as_ref().unwrap()["arguments"]["pattern"], hostile);
}

#[tokio::test]
async fn streams_are_bounded_in_number() {
    let server = TestServer::with_config(&json!({"limits": {"streams": 2}}));
    let session = server.session().await;
    let one = server.agent().stream(&session.path("/events")).await;
    let two = server.agent().stream(&session.path("/events")).await;
    let refused = server.agent().get(&session.path("/events")).await;
    refused.problem(503, "too_many_streams");
    assert!(!refused.header("retry-after").is_empty());
    session.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    drop((one, two));
    // The server notices when it next writes: the session's end closes what is left.
    session.end().await.expect(200);
    server.assert_alive().await;
}
