//! Pages from real servers on loopback.

use serde_json::{Value, json};

use super::{PAGE_BYTES_MAX, WebFetch};
use crate::domain::result::{ToolError, ToolResult};
use crate::tools::net::testing::{Reply, Server, Way, answer};
use crate::tools::testing::Session;

async fn fetch(arguments: Value) -> Result<ToolResult, ToolError> {
    let tool = WebFetch::new(Way::local().outbound);
    Session::new().call(&tool, arguments).await
}

async fn page(kind: &str, body: impl AsRef<[u8]>) -> (Server, Result<ToolResult, ToolError>) {
    let server = Server::answering(answer("200 OK", &format!("Content-Type: {kind}\r\n"), body)).await;
    let result = fetch(json!({"url": server.url("/dir/page")})).await;
    (server, result)
}

#[tokio::test]
async fn a_page_is_markdown_with_title_and_url() {
    let html = b"<title>T\xe9</title><h1>Head</h1><p>See <a href='next'>this</a>.</p><script>x()</script>";
    let (server, result) = page("text/html; charset=latin1", html).await;
    let result = result.unwrap();
    assert!(result.success);
    let url = server.url("/dir");
    assert_eq!(
        result.result,
        format!("URL: {url}/page\nTitle: T\u{e9}\n\n# Head\n\nSee [this]({url}/next).")
    );
    let details = result.details.unwrap();
    assert_eq!((&details["title"], &details["status"]), (&json!("T\u{e9}"), &json!(200)));
    assert!(server.requests()[0].contains("accept: text/markdown, text/html"));
}

#[tokio::test]
async fn text_passes_and_the_rest_is_refused() {
    for (kind, body) in [
        ("text/plain", "a <b> c"),
        ("text/markdown", "# a"),
        ("application/json", "{\"a\":\"<b>\"}"),
        ("application/ld+json", "{}"),
        ("text/css", "p{}"),
    ] {
        let text = page(kind, body).await.1.unwrap().result;
        assert!(text.ends_with(&format!("\n\n{body}")), "{text}");
    }
    for (kind, body) in
        [("application/pdf", &b"%PDF"[..]), ("image/png", b"\x89PNG"), ("text/html", b"\0\0\0")]
    {
        let said = page(kind, body).await.1.unwrap_err().to_string();
        assert!(said.contains(kind) && said.contains(&format!("{} bytes", body.len())), "{said}");
    }
}

#[tokio::test]
async fn long_pages_are_cut_and_say_how_to_go_on() {
    let body = format!("<p>{}", "word ".repeat(1000));
    let server = Server::answering(answer("200 OK", "Content-Type: text/html\r\n", body)).await;
    let result = fetch(json!({"url": server.url("/"), "max_chars": 9})).await.unwrap();
    assert!(
        result
            .result
            .contains("word word\n\n[cut after 9 characters; fetch it again with a larger max_chars")
    );
    assert_eq!(result.details.unwrap()["truncated"], true);
    let endless = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n".to_vec();
    let server = Server::start(move |_| Reply::Endless(endless.clone(), b"x".repeat(100_000))).await;
    let result = fetch(json!({"url": server.url("/")})).await.unwrap();
    assert!(result.result.contains(&format!("more than {PAGE_BYTES_MAX} bytes")), "{}", result.result);
    let text = page("text/html", "<div id=app></div><script>start()</script>").await.1.unwrap().result;
    assert!(text.contains("no readable text"), "{text}");
}

#[tokio::test]
async fn a_failure_shows_its_page_and_a_redirect_where_it_leads() {
    let server =
        Server::answering(answer("404 Not Found", "Content-Type: text/html\r\n", "<h1>Gone</h1>")).await;
    let result = fetch(json!({"url": server.url("/")})).await.unwrap();
    assert!(
        !result.success
            && result.result.contains("Status: 404 Not Found")
            && result.result.ends_with("# Gone")
    );
    let server = Server::answering(answer("302 Found", "Location: http://other.example/x\r\n", "")).await;
    let result = fetch(json!({"url": server.url("/")})).await.unwrap();
    assert!(!result.success && result.result.contains("redirect to http://other.example/x was not followed"));
    assert_eq!(result.details.unwrap()["redirect"], "http://other.example/x");
}

#[tokio::test]
async fn a_page_that_does_not_come_is_given_up_in_time() {
    let way = Way::local();
    way.change(|network| network.timeout_ms = 100);
    let server = Server::start(|_| Reply::Silent(Vec::new())).await;
    let tool = WebFetch::new(way.outbound);
    let result = Session::new().call(&tool, json!({"url": server.url("/")})).await.unwrap();
    assert!(!result.success && result.result.contains("100 ms"), "{}", result.result);
    assert_eq!(result.details.unwrap()["timed_out"], true);
}

#[tokio::test]
async fn private_hosts_are_refused() {
    let tool = WebFetch::new(Way::new(&[], crate::tools::net::testing::Names::default()).outbound);
    let said = Session::new().error(&tool, json!({"url": "http://0x7f.1/"})).await;
    assert!(said.contains("loopback"), "{said}");
}
