//! Requests that are meant to hurt: refused early, in bounds, and the server lives.

use std::time::Duration;

use serde_json::json;

use crate::support::raw::{RawConnection, exchange};
use crate::support::{TestServer, TestSession};

fn head(server: &TestServer, session: &TestSession, path: &str, more: &str) -> String {
    format!(
        "POST {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n{more}\r\n",
        session.path(path),
        server.address,
        session.token
    )
}

#[tokio::test]
async fn h4_a_body_of_1_gb_is_refused_before_it_is_sent() {
    let server = TestServer::start();
    let session = server.session().await;
    for path in ["/calls", "/calls/batch", "/turns", "/calls/c/cancel", "/calls/c/result"] {
        let request = head(&server, &session, path, "Content-Length: 1073741824\r\n");
        let answer = exchange(server.address, request.as_bytes()).await;
        if path.ends_with("cancel") {
            // It takes no body, and does not wait for one.
            assert_eq!(answer.status, 404, "{}", answer.text);
            continue;
        }
        assert_eq!(answer.status, 413, "{path}: {}", answer.text);
        assert!(answer.text.contains("\"body_too_large\""), "{}", answer.text);
    }
    server.assert_alive().await;
}

#[tokio::test]
async fn h4_a_body_without_a_length_is_cut_at_the_bound() {
    let server = TestServer::start();
    let session = server.session().await;
    let mut connection = RawConnection::open(server.address).await;
    let request = head(&server, &session, "/calls", "Transfer-Encoding: chunked\r\n");
    connection.send(request.as_bytes()).await;
    let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 0x10_0000], b"\r\n"].concat();
    let mut sent = 0;
    while sent < 1024 && connection.send(&chunk).await {
        sent += 1;
    }
    assert!(sent < 100, "it took {sent} MiB");
    let answer = connection.answer().await;
    // The answer may be lost when the server closes on what is still sent.
    assert!([413, 0].contains(&answer.status), "{}", answer.text);
    assert!(server.peak_memory() < 400 * 1024 * 1024);
    server.assert_alive().await;
}

#[tokio::test]
async fn h4_json_nested_very_deep_is_refused() {
    let server = TestServer::start();
    let session = server.session().await;
    let deep = |open: &str, close: &str| format!("{}{}", open.repeat(100_000), close.repeat(100_000));
    for (path, body) in [
        ("/calls", deep("[", "]")),
        ("/calls", deep("{\"function\":", "}")),
        ("/calls/batch", format!("{{\"calls\":{}}}", deep("[", "]"))),
        ("/calls/c/result", format!("{{\"result\":{}}}", deep("[", "]"))),
    ] {
        let length = format!("Content-Length: {}\r\nConnection: close\r\n", body.len());
        let request = head(&server, &session, path, &length) + &body;
        let answer = exchange(server.address, request.as_bytes()).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text);
    }
    let runtime = json!({"runtime": 1}).to_string().replace('1', &deep("[", "]"));
    let request = server.agent().request(reqwest::Method::POST, "/v1/sessions").body(runtime);
    let answer = crate::support::Answer::of(request.header("Content-Type", "application/json")).await;
    assert_eq!(answer.status, 400, "{}", answer.text());
    server.assert_alive().await;
}

#[tokio::test]
async fn h4_a_header_of_1_mb_is_refused() {
    let server = TestServer::start();
    let session = server.session().await;
    let long = "x".repeat(1024 * 1024);
    let many = (0..5000).map(|n| "X-".to_owned() + &n.to_string() + ": y\r\n").collect::<String>();
    for more in [format!("X-Long: {long}\r\n"), many] {
        let answer = exchange(server.address, head(&server, &session, "/calls", &more).as_bytes()).await;
        assert!([431, 400, 0].contains(&answer.status), "{}", answer.text);
    }
    let line = format!("GET /{long} HTTP/1.1\r\nHost: {}\r\n\r\n", server.address);
    let answer = exchange(server.address, line.as_bytes()).await;
    assert!([414, 431, 400, 0].contains(&answer.status), "{}", answer.text);
    server.assert_alive().await;
}

#[tokio::test]
async fn h4_a_client_that_sends_its_head_byte_by_byte_is_cut() {
    let server = TestServer::with_config(&json!({"limits": {"head_timeout_ms": 500}}));
    let mut connection = RawConnection::open(server.address).await;
    let mut clock = tokio::time::interval(Duration::from_millis(50));
    let mut sent = 0;
    for byte in b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ".iter().chain(std::iter::repeat(&b'x'))
    {
        clock.tick().await;
        if sent > 400 || !connection.send(&[*byte]).await {
            break;
        }
        sent += 1;
    }
    assert!(sent < 400, "it was never cut");
    let mut silent = RawConnection::open(server.address).await;
    silent.send(b"GET /healthz HTTP/1.1\r\n").await;
    let answer = silent.answer().await;
    assert!([408, 0].contains(&answer.status), "{}", answer.text);
    server.assert_alive().await;
}

#[tokio::test]
async fn h4_a_client_that_sends_its_body_byte_by_byte_is_told() {
    let server = TestServer::with_config(&json!({"limits": {"body_timeout_ms": 500}}));
    let session = server.session().await;
    let mut connection = RawConnection::open(server.address).await;
    let request = head(&server, &session, "/calls", "Content-Length: 1000\r\n");
    connection.send(request.as_bytes()).await;
    let mut clock = tokio::time::interval(Duration::from_millis(50));
    for _ in 0..8 {
        clock.tick().await;
        connection.send(b" ").await;
    }
    let answer = connection.answer().await;
    assert_eq!(answer.status, 408, "{}", answer.text);
    assert!(answer.text.contains("\"body_timeout\""), "{}", answer.text);
    server.assert_alive().await;
}

#[tokio::test]
async fn bytes_that_are_no_http_are_answered_or_closed() {
    let server = TestServer::with_config(&json!({"limits": {"head_timeout_ms": 500}}));
    for garbage in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".as_slice(),
        b"GET\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET /%zz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        b"GET /v1/sessions/%ff HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
        b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        b"POST /v1/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let answer = exchange(server.address, garbage).await;
        assert!(answer.status == 0 || (400..500).contains(&answer.status), "{garbage:?}: {}", answer.text);
    }
    server.assert_alive().await;
}

#[tokio::test]
async fn a_body_that_ends_early_runs_nothing() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let body = r#"{"id":"c","function":{"name":"Bash","arguments":{"command":"touch x"}}}"#;
    let length = format!("Content-Length: {}\r\n", body.len() + 1);
    let mut connection = RawConnection::open(server.address).await;
    connection.send((head(&server, &session, "/calls", &length) + body).as_bytes()).await;
    drop(connection);
    server.agent().get(&session.call_path("c", "")).await.problem(404, "not_found");
    session.bash("after", "true").await.expect(200);
    assert!(!session.file("x").exists());
}
