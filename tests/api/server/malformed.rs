//! Heads that never become a request: refused with a problem, and nothing else is taken for one.

use serde_json::Value;

use crate::support::raw::{RawAnswer, RawConnection, exchange};
use crate::support::{TestServer, contract};

/// The one answer of a connection is this problem, and it is the last.
#[track_caller]
fn is_problem(answer: &RawAnswer, status: u16, code: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    let (head, body) = answer.text.split_once("\r\n\r\n").unwrap();
    let problem: Value = serde_json::from_str(body).unwrap();
    assert_eq!(problem["code"], code, "{problem}");
    assert_eq!(problem["status"], status, "{problem}");
    let header = |name: &str| {
        let lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(found, _)| *found == name).map(|(_, value)| value.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(header("x-request-id"), [problem["request_id"].as_str().unwrap()]);
    assert_eq!(header("content-type"), ["application/problem+json"]);
    assert_eq!(header("content-length"), [body.len().to_string()]);
    assert_eq!(header("connection"), ["close"]);
    contract::hold_problem(&problem);
}

#[tokio::test]
async fn a_head_that_is_too_large_or_no_http_is_refused_with_a_problem() {
    let server = TestServer::start();
    let many = "X-More: y\r\n".repeat(200);
    let long = format!("X-Long: {}\r\n", "x".repeat(70_000));
    for more in [many, long] {
        let request = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n{more}\r\n", server.address);
        is_problem(&exchange(server.address, request.as_bytes()).await, 431, "head_too_large");
    }
    for garbage in ["GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET / HTTP/1.1\r\nbad header\r\n\r\n"] {
        is_problem(&exchange(server.address, garbage.as_bytes()).await, 400, "malformed_request");
    }
    server.assert_alive().await;
}

#[tokio::test]
async fn so_is_one_that_comes_after_good_requests() {
    let server = TestServer::start();
    let good = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let mut connection = RawConnection::open(server.address).await;
    for _ in 0..3 {
        connection.send(good.as_bytes()).await;
        let answer = connection.part(b"{\"status\":\"ok\"}").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
    connection.send(b"GET\r\n\r\n").await;
    is_problem(&connection.answer().await, 400, "malformed_request");
}

#[tokio::test]
async fn an_answer_that_looks_like_a_refusal_is_left_alone() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let line = "HTTP/1.1 431 Request Header Fields Too Large";
    let command = format!("yes '{line}' | head -n 20000");
    session.bash("c", &command).await.expect(200);
    let output = session.client.get(&session.call_path("c", "/output")).await;
    assert_eq!(output.status, 200);
    assert_eq!(output.text(), format!("{line}\n").repeat(20_000));
}
