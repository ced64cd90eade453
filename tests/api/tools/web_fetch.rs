//! WebFetch through the whole server.

use serde_json::json;

use crate::support::{TestServer, Web};

#[tokio::test]
async fn a_page_is_fetched_where_a_rule_allows_its_host() {
    let html = b"<title>A page</title><nav>menu</nav><h1>Head</h1><ul><li><a href=/next>next</a></ul>";
    let web = Web::answering("200 OK", "text/html", html).await;
    let server = TestServer::with_config(&json!({
        "permissions": {"allow": ["WebFetch(domain:127.0.0.1)"]},
        "network": {"allowed_private_hosts": [web.address.to_string()]},
    }));
    let session = server.session().await;
    let call = session.call("c", "WebFetch", json!({"url": web.url("/page")})).await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
    let expected =
        format!("URL: {}\nTitle: A page\n\n# Head\n\n- [next]({})", web.url("/page"), web.url("/next"));
    assert_eq!(call["result"]["result"], expected);
    assert_eq!(call["details"]["title"], "A page");
    assert_eq!(call["mutability"], "read_only");
    // Another port of the host is allowed by the rule, but not by the network section.
    let other = Web::answering("200 OK", "text/plain", b"x").await;
    let call = session.call("other", "WebFetch", json!({"url": other.url("/")})).await.expect(200);
    assert_eq!(call["status"], "failed", "{call}");
    assert_eq!(other.requests().len(), 0);
}

#[tokio::test]
async fn a_reviewer_sees_the_host_that_will_be_called() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "WebFetch", json!({"url": "https://\u{430}pple.com/"})).await;
    let approval = server.operator().approval(&id).await;
    assert!(approval["reason"]["text"].as_str().unwrap().contains("to xn--pple-43d.com"), "{approval}");
    assert_eq!(approval["offers"][1]["pattern"], "WebFetch(domain:xn--pple-43d.com)");
}

#[tokio::test]
async fn a_url_that_cannot_be_fetched_is_not_asked_about() {
    let server = TestServer::start();
    let session = server.session().await;
    for (id, url) in [("a", "nonsense"), ("b", "ftp://x.example/"), ("c", "http://u:p@x.example/")] {
        let call = session.call(id, "WebFetch", json!({"url": url})).await.expect(200);
        assert!(matches!(call["status"].as_str(), Some("denied" | "failed")), "{call}");
    }
    assert!(server.operator().pending(&session.id).await.is_empty());
}
