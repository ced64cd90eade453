//! `GET /v1/sessions/{sid}/calls/{cid}/output`.

use reqwest::Method;
use serde_json::json;

use crate::support::{Answer, TestServer};

#[tokio::test]
async fn all_that_a_command_printed_can_be_had() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let call = session.bash("c", "seq 1 50000").await.expect(200);
    let whole = (1..=50_000).map(|n| n.to_string() + "\n").collect::<String>();
    assert_eq!(call["details"]["total_bytes"], whole.len());
    assert!(call["details"]["omitted_bytes"].as_u64().unwrap() > 0, "the model gets head and tail");
    let shown = call["result"]["result"].as_str().unwrap();
    assert!(shown.starts_with("1\n2\n") && shown.contains("\n50000\n"), "{shown}");

    let artifact = call["details"]["artifact"].as_str().unwrap();
    assert_eq!(artifact, session.path("/calls/c/output"));
    let output = server.agent().get(artifact).await;
    assert_eq!(output.status, 200);
    assert_eq!(output.text(), whole);
}

#[tokio::test]
async fn it_is_served_so_that_no_browser_runs_it() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("c", "echo '<script>alert(1)</script>'").await.expect(200);
    let output = server.agent().get(&session.path("/calls/c/output")).await;
    assert_eq!(output.status, 200);
    assert_eq!(output.header("content-type"), "application/octet-stream");
    assert!(output.header("content-disposition").starts_with("attachment"));
    assert_eq!(output.header("x-content-type-options"), "nosniff");
    assert_eq!(output.header("content-security-policy"), "sandbox");
    assert_eq!(output.header("accept-ranges"), "bytes");
    assert_eq!(output.header("cache-control"), "no-store");
}

#[tokio::test]
async fn ranges_are_parts_of_it() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("c", "printf 0123456789").await.expect(200);
    for (range, status, content_range, body) in [
        ("bytes=0-3", 206, "bytes 0-3/10", "0123"),
        ("bytes=4-", 206, "bytes 4-9/10", "456789"),
        ("bytes=-2", 206, "bytes 8-9/10", "89"),
        ("bytes=8-99", 206, "bytes 8-9/10", "89"),
        ("bytes=0-1,4-5", 200, "", "0123456789"),
        ("lines=1-2", 200, "", "0123456789"),
    ] {
        let request = server.agent().request(Method::GET, &session.path("/calls/c/output"));
        let part = Answer::of(request.header("Range", range)).await;
        assert_eq!(part.status, status, "{range}");
        assert_eq!(part.header("content-range"), content_range, "{range}");
        assert_eq!(part.text(), body, "{range}");
    }
    for range in ["bytes=10-", "bytes=5-3", "bytes=-0", "bytes=x-"] {
        let request = server.agent().request(Method::GET, &session.path("/calls/c/output"));
        let refused = Answer::of(request.header("Range", range)).await;
        refused.problem(416, "range_not_satisfiable");
        assert_eq!(refused.header("content-range"), "bytes */10", "RFC 9110, section 15.5.17: {range}");
    }
}

#[tokio::test]
async fn what_printed_nothing_has_none() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("silent", "true").await.expect(200);
    session.call("other", "Glob", json!({"pattern": "*"})).await.expect(200);
    for id in ["silent", "other", "missing"] {
        server.agent().get(&session.call_path(id, "/output")).await.problem(404, "not_found");
    }
}

#[tokio::test]
async fn it_outlives_the_session() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("c", "echo kept").await.expect(200);
    session.end().await.expect(200);
    assert_eq!(server.agent().get(&session.path("/calls/c/output")).await.text(), "kept\n");
}
