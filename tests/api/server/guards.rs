//! What every request passes first: token, Host, Origin.

use reqwest::Method;

use crate::support::raw::exchange;
use crate::support::{Answer, TestServer};

#[tokio::test]
async fn h2_without_a_token_nothing_is_told() {
    let server = TestServer::start();
    for authorization in
        [None, Some("Bearer"), Some("Bearer "), Some("Bearer wrong"), Some("Basic YTpi"), Some("")]
    {
        let mut request = server.anonymous().request(Method::GET, "/v1/info");
        if let Some(value) = authorization {
            request = request.header("Authorization", value);
        }
        Answer::of(request).await.problem(401, "unauthenticated");
    }
    let token = std::fs::read_to_string(server.data_dir().join("tokens/agent")).unwrap();
    let token = token.trim();
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let request = server.anonymous().request(Method::GET, "/v1/info");
        let answer = Answer::of(request.header("Authorization", format!("{scheme} {token}"))).await;
        answer.expect(200);
    }
    // A token in the query is none: it would stand in logs.
    let path = format!("/v1/info?token={token}");
    server.anonymous().get(&path).await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn h2_a_foreign_origin_is_refused() {
    let server = TestServer::start();
    let port = server.address.port();
    for (origin, status) in [
        (format!("http://127.0.0.1:{port}"), 200),
        ("http://evil.example".to_owned(), 403),
        ("null".to_owned(), 403),
        (format!("http://127.0.0.1:{}", port.wrapping_add(1)), 403),
        (format!("http://127.0.0.1:{port}.evil.example"), 403),
        (format!("http://localhost:{port}"), 403),
    ] {
        let request = server.agent().request(Method::GET, "/v1/info").header("Origin", &origin);
        let answer = Answer::of(request).await;
        assert_eq!(answer.status, status, "{origin}");
        if status == 403 {
            answer.problem(403, "origin_not_allowed");
        }
        assert!(answer.headers.get("access-control-allow-origin").is_none());
    }
    let listed = serde_json::json!({"server": {"allowed_origins": ["https://console.example"]}});
    let server = TestServer::with_config(&listed);
    let request = server.agent().request(Method::GET, "/v1/info");
    Answer::of(request.header("Origin", "https://console.example")).await.expect(200);
}

#[tokio::test]
async fn h2_a_rebinding_host_is_refused() {
    let server = TestServer::start();
    let port = server.address.port();
    let token = std::fs::read_to_string(server.data_dir().join("tokens/agent")).unwrap();
    let ask = async |host: &str, path: &str| {
        let request = format!(
            "GET {path} HTTP/1.1\r\n{host}Authorization: Bearer {}\r\nConnection: close\r\n\r\n",
            token.trim()
        );
        exchange(server.address, request.as_bytes()).await
    };
    for (host, status) in [
        (format!("Host: 127.0.0.1:{port}\r\n"), 200),
        (format!("Host: localhost:{port}\r\n"), 200),
        ("Host: LOCALHOST\r\n".to_owned(), 200),
        ("Host: evil.example\r\n".to_owned(), 403),
        (format!("Host: evil.example:{port}\r\n"), 403),
        (format!("Host: 127.0.0.1.evil.example:{port}\r\n"), 403),
        (format!("Host: localhost.:{port}\r\n"), 403),
        ("Host: \r\n".to_owned(), 400),
        (String::new(), 400),
        (format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"), 400),
    ] {
        let answer = ask(&host, "/v1/info").await;
        assert_eq!(answer.status, status, "{host:?}: {}", answer.text);
    }
    assert!(ask("Host: evil.example\r\n", "/v1/info").await.text.contains("host_not_allowed"));
    // A probe comes with the pod's address.
    assert_eq!(ask("Host: 10.1.2.3:80\r\n", "/healthz").await.status, 200);
    // The absolute form says where it wants to go, too.
    assert_eq!(ask("Host: 127.0.0.1\r\n", "http://evil.example/v1/info").await.status, 403);

    let listed = serde_json::json!({"server": {"allowed_hosts": ["gate.example"]}});
    let server = TestServer::with_config(&listed);
    let request = server.agent().request(Method::GET, "/v1/info").header("Host", "gate.example:8443");
    Answer::of(request).await.expect(200);
}

#[tokio::test]
async fn without_auth_everyone_on_loopback_is_an_operator() {
    let server = TestServer::with_config(&serde_json::json!({"auth": {"mode": "none"}}));
    server.anonymous().get("/v1/config").await.expect(200);
    // The guards against browsers hold all the more.
    let request = server.anonymous().request(Method::GET, "/v1/config");
    let answer = Answer::of(request.header("Origin", "http://evil.example")).await;
    answer.problem(403, "origin_not_allowed");
}
