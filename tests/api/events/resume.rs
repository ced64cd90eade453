//! Going on where a stream broke off.

use serde_json::json;

use crate::support::TestServer;
use crate::support::session::until_there;
use crate::support::sse::Frame;

fn ids(frames: &[Frame]) -> Vec<u64> {
    frames.iter().map(|frame| frame.id.unwrap()).collect()
}

#[tokio::test]
async fn h5_a_client_that_drops_and_resumes_sees_each_event_once() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    // Four commands print while the stream is cut again and again, until the last one ends.
    let command = "for i in $(seq 60); do echo $i; sleep 0.01; done";
    for id in ["1", "2", "3", "4"] {
        session.begin(id, "Bash", json!({"command": command})).await.expect(202);
    }
    let ending = {
        let session = session.clone();
        tokio::spawn(async move {
            for id in ["1", "2", "3", "4"] {
                session.ended(id).await;
            }
            session.end().await.expect(200)
        })
    };
    let mut seen: Vec<Frame> = Vec::new();
    let mut cuts = 0;
    'connections: loop {
        let last = seen.last().map_or(0, |frame| frame.id.unwrap());
        // `after` says something else: the header wins.
        let mut stream = server.agent().resume(&session.path("/events?after=999999"), last).await;
        for _ in 0..=cuts % 7 {
            match stream.next().await {
                Some(frame) => seen.push(frame),
                None => break 'connections,
            }
        }
        cuts += 1;
    }
    ending.await.unwrap();
    let pages = session.events().await;
    assert!(cuts > 10, "{cuts}");
    assert_eq!(ids(&seen), (1..=pages.len() as u64).collect::<Vec<_>>());
    let data: Vec<_> = seen.into_iter().map(|frame| frame.data.unwrap()).collect();
    assert_eq!(data, pages);
}

#[tokio::test]
async fn after_is_for_who_cannot_set_the_header() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    session.end().await.expect(200);
    let rest = server.agent().stream(&session.path("/events?after=2")).await.rest().await;
    assert_eq!(ids(&rest), [3, 4]);
    let rest = server.agent().resume(&session.path("/events?after=1"), 3).await.rest().await;
    assert_eq!(ids(&rest), [4]);
}

#[tokio::test]
async fn events_are_there_after_the_server_was_started_again() {
    let mut server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("c", "echo x").await.expect(200);
    let before = session.events().await;
    server.restart_with(&json!({}));
    let path = session.path("/events");
    let mut stream = server.agent().stream(&path).await;
    let frames = stream.until("tool_complete").await;
    assert_eq!(frames.into_iter().map(|frame| frame.data.unwrap()).collect::<Vec<_>>(), before);

    let call = json!({"id": "d", "function": {"name": "Glob", "arguments": {"pattern": "*"}}});
    server.agent().post(&session.path("/calls"), &call).await.expect(200);
    let next = stream.next().await.unwrap();
    assert_eq!(next.id, Some(before.len() as u64 + 1), "numbers go on");
}

#[tokio::test]
async fn what_retention_dropped_is_said() {
    let server = TestServer::with_config(&json!({"events": {"kept_per_session": 1000}}));
    let session = server.session().await;
    for round in 0..12 {
        let calls: Vec<_> = (0..100)
            .map(|n| json!({"id": format!("{round}-{n}"), "function": {"name": "Glob", "arguments": {"pattern": "*"}}}))
            .collect();
        server.agent().post(&session.path("/calls/batch"), &json!({"calls": calls})).await.expect(200);
    }
    session.end().await.expect(200);
    let page = server.agent().event_page(&session.path("/events?after=1")).await;
    let earliest = page["resync_required"]["earliest"].as_u64().unwrap();
    assert!(earliest > 2, "{earliest}");
    assert_eq!(page["events"][0]["seq"], earliest);

    let mut stream = server.agent().resume(&session.path("/events"), 1).await;
    let resync = stream.next().await.unwrap();
    assert!(resync.is("resync_required") && resync.id.is_none(), "{resync:?}");
    assert_eq!(resync.data.unwrap()["earliest"], earliest);
    let rest = stream.rest().await;
    let last = page["latest_seq"].as_u64().unwrap();
    assert_eq!(ids(&rest), (earliest..=last).collect::<Vec<_>>());
    // Who is past it goes on without a word.
    let mut stream = server.agent().resume(&session.path("/events"), earliest).await;
    assert_eq!(stream.next().await.unwrap().id, Some(earliest + 1));
}

#[tokio::test]
async fn a_stream_that_waits_is_told_at_once() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let mut stream = server.agent().stream(&session.path("/events?types=tool_token")).await;
    let command = format!("echo one; {}; echo two", until_there("go"));
    session.begin("c", "Bash", json!({"command": command})).await.expect(202);
    assert_eq!(stream.next().await.unwrap().data.unwrap()["content"], "one\n");
    session.write_file("go", "");
    assert_eq!(stream.next().await.unwrap().data.unwrap()["content"], "two\n");
}
