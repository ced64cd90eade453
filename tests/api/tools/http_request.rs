//! http_request behind the gate, and what it never reaches.

use serde_json::{Value, json};

use crate::support::{TestServer, Web};

/// A server whose sessions may reach loopback.
fn server_with(permissions: &Value) -> TestServer {
    TestServer::with_config(&json!({
        "permissions": permissions,
        "network": {"allowed_private_hosts": ["127.0.0.1", "localhost", "::1", "0.0.0.0", "127.0.0.0/8"]},
    }))
}

#[tokio::test]
async fn every_method_asks_and_a_grant_is_for_the_exact_host() {
    let (server, web) = (server_with(&json!({})), Web::answering("200 OK", "text/plain", b"here").await);
    let session = server.session().await;
    let url = format!("http://LOCALHOST:{}/x", web.address.port());
    for (id, method) in [("g", "GET"), ("h", "HEAD"), ("p", "POST")] {
        session.asks(id, "http_request", json!({"url": url, "method": method})).await;
    }
    let id = session.asks("c", "http_request", json!({"url": url})).await;
    let approval = server.operator().approval(&id).await;
    assert!(
        approval["reason"]["text"].as_str().unwrap().contains("network access to localhost"),
        "{approval}"
    );
    let offers: Vec<&str> =
        approval["offers"].as_array().unwrap().iter().filter_map(|offer| offer["pattern"].as_str()).collect();
    assert_eq!(offers, ["http_request(domain:localhost)"; 2]);
    let decision = json!({"decision": "allow", "scope": "session", "pattern": offers[0]});
    server.operator().decide(&id, &decision).await.expect(200);
    let call = session.ended("c").await;
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!(call["details"]["status"], 200);
    assert!(call["result"]["result"].as_str().unwrap().ends_with("here"));
    // The grant holds for the host, not for another tool, and not for those beneath it or beside it.
    let again =
        session.call("again", "http_request", json!({"url": url, "method": "DELETE"})).await.expect(200);
    assert_eq!(again["status"], "completed", "{again}");
    session.asks("other", "WebFetch", json!({"url": url})).await;
    session.asks("beneath", "http_request", json!({"url": "http://a.localhost/"})).await;
    session.asks("beside", "http_request", json!({"url": web.url("/")})).await;
    assert_eq!(web.requests().len(), 2);
}

#[tokio::test]
async fn plan_mode_denies_it() {
    let server = server_with(&json!({"allow": ["http_request"]}));
    let session = server.session().await;
    server.operator().patch(&session.path("/runtime"), &json!({"permission_mode": "plan"})).await.expect(200);
    let call = session.call("c", "http_request", json!({"url": "http://127.0.0.1:1/"})).await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
}

#[tokio::test]
async fn p12_what_only_looks_like_a_trusted_host_is_not_allowed() {
    let server = server_with(&json!({"allow": ["http_request(domain:trusted.io)"]}));
    let session = server.session().await;
    for (id, url) in [
        ("a", "http://trusted.io.evil.tld/"),
        ("b", "http://eviltrusted.io/"),
        ("c", "http://evil.tld/trusted.io"),
        ("d", "http://evil.tld/?trusted.io"),
        ("e", "http://evil.tld#trusted.io"),
        ("f", "http://tru\u{455}ted.io/"),
    ] {
        session.asks(id, "http_request", json!({"url": url})).await;
    }
    for (id, url) in [
        ("at", "http://trusted.io@evil.tld/"),
        ("nul", "http://evil.tld\0.trusted.io/"),
        ("encoded-nul", "http://evil.tld%00.trusted.io/"),
        ("backslash", "http://evil.tld\\.trusted.io/"),
        ("tab", "http://evil.tld\t.trusted.io/"),
    ] {
        let call = session.call(id, "http_request", json!({"url": url})).await.expect(200);
        assert!(matches!(call["status"].as_str(), Some("denied" | "failed")), "{call}");
    }
}

#[tokio::test]
async fn a_denied_host_is_denied_under_bypass_and_for_every_tool_that_connects() {
    let web = Web::answering("200 OK", "text/plain", b"secret").await;
    let server = server_with(&json!({"deny": ["WebFetch(domain:127.0.0.1)"]}));
    let session = server.bypass_session().await;
    for (id, tool, host) in
        [("a", "WebFetch", "127.0.0.1"), ("b", "http_request", "127.0.0.1"), ("c", "http_request", "0x7f.1")]
    {
        let url = format!("http://{host}:{}/", web.address.port());
        let call = session.call(id, tool, json!({"url": url})).await.expect(200);
        assert_eq!(call["status"], "denied", "{call}");
    }
    assert_eq!(web.requests().len(), 0);
}

#[tokio::test]
async fn h1_private_addresses_are_blocked_in_every_spelling() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for (index, host) in [
        "[::ffff:169.254.169.254]",
        "2852039166",
        "[64:ff9b::a9fe:a9fe]",
        "0x7f.1",
        "localhost",
        "10.0.0.1",
        "[::1]",
        "0",
        "169.254.169.254",
    ]
    .iter()
    .enumerate()
    {
        for tool in ["http_request", "WebFetch"] {
            let arguments = json!({"url": format!("http://{host}/")});
            let call = session.call(&format!("{tool}-{index}"), tool, arguments).await.expect(200);
            assert_eq!(call["status"], "failed", "{call}");
            assert!(call["error"]["message"].as_str().unwrap().contains("allowed_private_hosts"), "{call}");
        }
    }
}

#[tokio::test]
async fn p21_the_server_itself_is_never_reached() {
    let server = server_with(&json!({}));
    let session = server.bypass_session().await;
    let operator = format!("Bearer {}", server.token("operator"));
    for (index, host) in
        ["127.0.0.1", "localhost", "0x7f.1", "0.0.0.0", "[::ffff:127.0.0.1]", "127.0.0.2"].iter().enumerate()
    {
        let url = format!("http://{host}:{}/v1/approvals", server.address.port());
        let arguments = json!({"url": url, "headers": {"Authorization": operator}});
        let call = session.call(&format!("c{index}"), "http_request", arguments).await.expect(200);
        assert_eq!(call["status"], "failed", "{call}");
        assert!(call["error"]["message"].as_str().unwrap().contains("own listener"), "{call}");
        let call = session.call(&format!("f{index}"), "WebFetch", json!({"url": url})).await.expect(200);
        assert!(call["error"]["message"].as_str().unwrap().contains("own listener"), "{call}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_text_is_kept_for_the_client() {
    let body: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let web = Web::answering("200 OK", "application/gzip", &body).await;
    let server = server_with(&json!({"allow": ["http_request(domain:127.0.0.1)"]}));
    let session = server.session().await;
    let call = session.call("c", "http_request", json!({"url": web.url("/")})).await.expect(200);
    let text = call["result"]["result"].as_str().unwrap();
    assert!(text.contains("300000 bytes of application/gzip"), "{text}");
    let artifact = call["details"]["artifact"].as_str().unwrap();
    assert_eq!(server.agent().get(artifact).await.bytes, body);
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() {
    let (server, web) = (server_with(&json!({})), Web::silent().await);
    let session = server.bypass_session().await;
    session.begin("c", "http_request", json!({"url": web.url("/"), "timeout_ms": 300_000})).await.expect(202);
    web.asked.notified().await;
    let call = session.cancel("c").await.expect(200);
    assert_eq!(call["status"], "cancelled", "{call}");
    assert_eq!(session.event_types("c").await.last().unwrap(), "tool_cancelled");
}

#[tokio::test]
async fn the_secrets_of_the_config_stay_out_of_reach() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("password");
    std::fs::write(&file, "hunter2").unwrap();
    let proxy = json!({"url": "http://127.0.0.1:1", "username": "someone", "password_file": file});
    let server = TestServer::with_config(&json!({"network": {"proxy": proxy}}));
    let config = server.operator().get("/v1/config").await.expect(200);
    assert_eq!(config["config"]["network"]["proxy"]["username"], "(redacted)");
    let session = server.bypass_session().await;
    let call = session.call("r", "Read", json!({"file_path": file})).await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
    let call = session.bash("b", &format!("cat {}*", folder.path().join("pass").display())).await.expect(200);
    assert!(!call.to_string().contains("hunter2"), "{call}");
    let call = session.call("h", "http_request", json!({"url": "http://1.1.1.1/"})).await.expect(200);
    assert_eq!(call["status"], "failed", "{call}");
    assert!(!call.to_string().contains("hunter2"), "{call}");
}
