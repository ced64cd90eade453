//! `GET /v1/events`: all sessions on one stream, for operators.

use serde_json::json;

use crate::support::{TestServer, TestSession};

#[tokio::test]
async fn an_operator_follows_every_session_on_one_cursor() {
    let server = TestServer::start();
    let mut stream = server.operator().stream("/v1/events").await;
    let one = server.session().await;
    let two = TestSession::create(&server.second_agent(), &json!({})).await;
    one.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    two.end().await.expect(200);
    let frames = stream.until("session_ended").await;
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.unwrap()).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    for session in [&one, &two] {
        let own: Vec<_> = frames
            .iter()
            .filter(|frame| frame.data.as_ref().unwrap()["session_id"] == session.id.as_str())
            .map(|frame| frame.data.clone().unwrap())
            .collect();
        assert_eq!(own, session.events().await, "the same events, with their sessions' numbers");
    }
    // A session's end does not close it.
    one.end().await.expect(200);
    stream.until("session_ended").await;
}

#[tokio::test]
async fn it_resumes_by_its_own_cursor() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    session.end().await.expect(200);
    let mut stream = server.operator().stream("/v1/events").await;
    let all = stream.until("session_ended").await;
    let mut resumed = server.operator().resume("/v1/events", all[1].id.unwrap()).await;
    assert_eq!(resumed.until("session_ended").await, all[2..]);
    let page = server.operator().event_page(&format!("/v1/events?after={}", all[2].id.unwrap())).await;
    assert_eq!(page["events"].as_array().unwrap().len(), all.len() - 3);
    assert_eq!(page["next_after"].as_u64(), all.last().unwrap().id);
    assert_eq!(page["latest_seq"], page["next_after"]);
}

#[tokio::test]
async fn it_is_for_operators_alone() {
    let server = TestServer::start();
    let session = server.session().await;
    for client in [server.agent(), server.second_agent(), server.with_token(&session.token)] {
        client.get("/v1/events").await.problem(403, "operator_required");
    }
    server.anonymous().get("/v1/events").await.problem(401, "unauthenticated");
}
