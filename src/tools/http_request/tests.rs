//! Requests to real servers on loopback: what is reached, what comes back, and what it costs.

use std::io::Write as _;

use serde_json::{Value, json};

use super::HttpRequest;
use crate::domain::result::{ToolError, ToolResult};
use crate::tools::Tool as _;
use crate::tools::net::testing::{Names, Reply, Server, Way, answer, authority};
use crate::tools::testing::Session;

struct Caller {
    session: Session,
    tool: HttpRequest,
    way: Way,
}

impl Caller {
    fn new(way: Way) -> Self {
        Self { session: Session::new(), tool: HttpRequest::new(way.outbound.clone()), way }
    }

    fn local() -> Self {
        Self::new(Way::local())
    }

    async fn call(&self, arguments: Value) -> Result<ToolResult, ToolError> {
        self.session.call(&self.tool, arguments).await
    }

    async fn get(&self, url: impl Into<String>) -> ToolResult {
        self.call(json!({"url": url.into()})).await.unwrap()
    }

    async fn error(&self, arguments: Value) -> String {
        self.call(arguments).await.unwrap_err().to_string()
    }
}

fn details(result: &ToolResult) -> &Value {
    result.details.as_ref().unwrap()
}

fn redirect(status: &str, location: &str) -> Vec<u8> {
    answer(status, &format!("Location: {location}\r\n"), "moved")
}

#[tokio::test]
async fn an_answer_is_text_for_a_model_and_facts_for_programs() {
    let reply = answer(
        "200 OK",
        "Content-Type: application/json\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-Other: y\r\nDate: today\r\n",
        "{\"a\": 1}",
    );
    let (server, caller) = (Server::answering(reply).await, Caller::local());
    let arguments = json!({
        "url": server.url("/x?y=z"), "method": "POST", "headers": {"X-Mine": "1", "accept": "application/json"},
        "body": "gr\u{fc}n",
    });
    let result = caller.call(arguments).await.unwrap();
    assert!(result.success);
    let expected = "HTTP/1.1 200 OK\ncontent-length: 8\ncontent-type: application/json\nset-cookie: a=1\n\
                    set-cookie: b=2\n\n{\"a\": 1}";
    assert_eq!(result.result, expected);
    let details = details(&result);
    assert_eq!(details["status"], 200);
    assert_eq!(details["bytes"], 8);
    assert_eq!(details["url"], server.url("/x?y=z"));
    assert_eq!(details["headers"]["set-cookie"], json!(["a=1", "b=2"]));
    assert_eq!(details["headers"]["x-other"], "y");
    assert_eq!((&details["truncated"], &details["timed_out"]), (&json!(false), &json!(false)));
    let request = &server.requests()[0];
    for part in [
        "post /x?y=z http/1.1\r\n",
        "x-mine: 1\r\n",
        "accept: application/json\r\n",
        "content-length: 5\r\n",
        "user-agent: toolgate\r\n",
        &format!("host: {}\r\n", server.address),
    ] {
        assert!(request.contains(part), "{part} in {request}");
    }
    assert!(!request.contains("br,") && !request.contains("cookie"), "{request}");
}

#[tokio::test]
async fn a_status_of_failure_is_one_and_shows_its_body() {
    let server =
        Server::answering(answer("404 Not Found", "Content-Type: text/plain\r\n", "no such thing")).await;
    let result = Caller::local().get(server.url("/")).await;
    assert!(!result.success);
    assert!(
        result.result.starts_with("HTTP/1.1 404 Not Found\n") && result.result.ends_with("no such thing")
    );
}

#[tokio::test]
async fn a_head_request_reads_no_body() {
    let (server, caller) =
        (Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n").await, Caller::local());
    let result = caller.call(json!({"url": server.url("/"), "method": "HEAD"})).await.unwrap();
    assert!(result.success);
    assert_eq!(result.result, "HTTP/1.1 200 OK\ncontent-length: 9");
    let said = caller.error(json!({"url": server.url("/"), "method": "HEAD", "body": ""})).await;
    assert!(said.contains("body"), "{said}");
}

#[tokio::test]
async fn only_what_is_safe_is_scheduled_as_a_read() {
    use crate::domain::schema::ToolMutability::{Mutating, ReadOnly};
    let tool = Caller::local().tool;
    for (method, is) in [("GET", (ReadOnly, true)), ("HEAD", (ReadOnly, true)), ("POST", (Mutating, false))] {
        assert_eq!(tool.classify(&json!({"url": "x", "method": method})), is);
    }
    assert_eq!(tool.classify(&json!({"url": "x"})), (ReadOnly, true));
    assert_eq!(tool.classify(&json!({"url": "x", "method": "OPTIONS"})), (Mutating, false));
    assert_eq!(tool.mutability(), Mutating);
}

#[tokio::test]
async fn h1_private_hosts_are_not_reached_in_any_spelling() {
    let server = Server::answering(answer("200 OK", "", "secret")).await;
    let names = Names::default()
        .with("intra.example", &["127.0.0.1"])
        .with("both.example", &["1.1.1.1 127.0.0.1"])
        .with("empty.example", &[""]);
    let caller = Caller::new(Way::new(&[], names));
    let port = server.address.port();
    for (host, says) in [
        ("127.0.0.1", "loopback"),
        ("2130706433", "loopback"),
        ("0x7f.1", "loopback"),
        ("017700000001", "loopback"),
        ("127.1", "loopback"),
        ("[::ffff:127.0.0.1]", "loopback"),
        ("0.0.0.0", "of this network"),
        ("[64:ff9b::7f00:1]", "translation"),
        ("[::ffff:169.254.169.254]", "metadata"),
        ("2852039166", "metadata"),
        ("[64:ff9b::a9fe:a9fe]", "metadata"),
        ("intra.example", "loopback"),
        ("both.example", "loopback"),
        ("empty.example", "no address"),
        ("nowhere.example", "could not be resolved"),
    ] {
        let said = caller.error(json!({"url": format!("http://{host}:{port}/")})).await;
        assert!(said.contains(says), "{host}: {said}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn a_change_of_the_config_holds_for_the_next_call() {
    let server = Server::answering(answer("200 OK", "", "here")).await;
    let caller = Caller::new(Way::new(&[], Names::default().with("intra.example", &["127.0.0.1"])));
    let url = json!({"url": format!("http://intra.example:{}/", server.address.port())});
    assert!(caller.error(url.clone()).await.contains("allowed_private_hosts"));
    caller.way.change(|network| network.allowed_private_hosts = vec!["intra.example".parse().unwrap()]);
    assert!(caller.call(url.clone()).await.unwrap().success);
    caller.way.change(|network| network.allowed_private_hosts.clear());
    assert!(caller.error(url).await.contains("loopback"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_connected_to_where_it_was_checked() {
    let server = Server::answering(answer("200 OK", "", "here")).await;
    let port = server.address.port();
    // The second lookup would lead to loopback without being allowed to: there is none.
    let names = Names::default().with("rebind.example", &["127.0.0.1", "127.0.0.2"]);
    let caller = Caller::new(Way::new(&["127.0.0.1"], names));
    let url = json!({"url": format!("http://rebind.example:{port}/")});
    assert!(caller.call(url.clone()).await.unwrap().success);
    // The next call looks it up anew, and checks what it finds.
    assert!(caller.error(url).await.contains("127.0.0.2"));
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn each_redirect_is_checked_from_the_start() {
    let names = Names::default().with("rebind.example", &["127.0.0.1", "169.254.169.254"]);
    let caller = Caller::new(Way::new(&["127.0.0.1"], names));
    let server = Server::answering(redirect("302 Found", "/again")).await;
    let said =
        caller.error(json!({"url": format!("http://rebind.example:{}/", server.address.port())})).await;
    assert!(said.contains("metadata"), "{said}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn redirects_are_followed_within_the_origin_with_all_that_was_set() {
    let server = Server::start(|request| {
        Reply::Whole(match request.split(' ').nth(1).unwrap() {
            "/a" => redirect("307 Temporary Redirect", "b"),
            "/b" => redirect("303 See Other", "/c"),
            _ => answer("200 OK", "Content-Type: text/plain\r\n", "end"),
        })
    })
    .await;
    let arguments = json!({
        "url": server.url("/a"), "method": "POST", "body": "text", "headers": {"Authorization": "Bearer x", "Content-Type": "text/plain"},
    });
    let result = Caller::local().call(arguments).await.unwrap();
    assert!(
        result.success && result.result.contains(&format!("url: {}\n", server.url("/c"))),
        "{}",
        result.result
    );
    assert_eq!(details(&result)["redirects"], 2);
    let requests = server.requests();
    assert!(requests[1].starts_with("post /b") && requests[1].ends_with("text"));
    assert!(requests[2].starts_with("get /c") && !requests[2].contains("content-type"));
    assert!(requests.iter().all(|request| request.contains("authorization: bearer x")));
}

#[tokio::test]
async fn redirects_elsewhere_are_told_and_not_followed() {
    let target = Server::answering(answer("200 OK", "", "secret")).await;
    let decimal = format!("http://2130706433:{}/x", target.address.port());
    let metadata = "http://169.254.169.254/latest/meta-data/".to_owned();
    let other_name = format!("http://localhost:{}/x", target.address.port());
    for (location, told) in [
        (decimal, format!("http://127.0.0.1:{}/x", target.address.port())),
        (metadata.clone(), metadata),
        (other_name.clone(), other_name),
        ("gopher://x/".to_owned(), "gopher://x/".to_owned()),
    ] {
        let server = Server::answering(redirect("302 Found", &location)).await;
        let arguments = json!({"url": server.url("/"), "headers": {"Cookie": "a=b"}});
        let result = Caller::local().call(arguments).await.unwrap();
        assert_eq!(details(&result)["status"], 302);
        assert_eq!(details(&result)["redirect"], told);
        assert!(
            result.result.contains(&format!("[a redirect to {told} was not followed")),
            "{}",
            result.result
        );
    }
    assert_eq!(target.requests().len(), 0);
}

#[tokio::test]
async fn redirects_that_do_not_end_are_given_up() {
    let server = Server::answering(redirect("301 Moved Permanently", "/")).await;
    let said = Caller::local().error(json!({"url": server.url("/")})).await;
    assert!(said.contains("10 redirects"), "{said}");
    assert_eq!(server.requests().len(), 11);
}

#[tokio::test]
async fn p21_the_own_listener_is_never_reached() {
    let own = Server::answering(answer("200 OK", "", "secret")).await;
    let names = Names::default().with("own.example", &["127.0.0.1"]).with("rebind.example", &["127.0.0.1"]);
    let caller =
        Caller::new(Way::new(&["127.0.0.1", "0.0.0.0", "own.example", "127.0.0.0/8", "[::1]"], names));
    caller.way.own.set(own.address);
    let port = own.address.port();
    for host in [
        "127.0.0.1",
        "0.0.0.0",
        "0x7f.1",
        "127.0.0.2",
        "own.example",
        "[::ffff:127.0.0.1]",
        "[::1]",
        "own.example.",
    ] {
        let arguments = json!({"url": format!("http://{host}:{port}/v1/approvals")});
        let said = caller.error(arguments).await;
        assert!(said.contains("own listener") || host.ends_with('.'), "{host}: {said}");
    }
    // Nor through a proxy that would do it.
    let proxy = Server::start(move |_| Reply::Whole(answer("200 OK", "", "through the proxy"))).await;
    let proxy_url = serde_json::from_value(json!({"url": proxy.url("")})).unwrap();
    caller.way.change(|network| network.proxy = Some(proxy_url));
    let said = caller.error(json!({"url": format!("http://own.example:{port}/")})).await;
    assert!(said.contains("own listener"), "{said}");
    assert_eq!((own.requests().len(), proxy.requests().len()), (0, 0));
}

#[tokio::test]
async fn bodies_are_bounded_once_decompressed() {
    let bomb = {
        let mut encoder = GzipOfOneByte::default();
        encoder.fill(64 * 1024 * 1024);
        encoder.bytes
    };
    assert!(bomb.len() < 1024 * 1024);
    let endless = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    let servers = [
        Server::answering(answer("200 OK", "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", bomb))
            .await,
        Server::start(move |_| Reply::Endless(endless.clone(), b"0123456789abcde\n".repeat(64))).await,
    ];
    for server in &servers {
        let arguments = json!({"url": server.url("/"), "max_bytes": 1000});
        let result = Caller::local().call(arguments).await.unwrap();
        assert!(result.success);
        assert_eq!(details(&result)["bytes"], 1000);
        assert_eq!(details(&result)["truncated"], true);
        assert!(result.result.ends_with(
            "[cut after 1000 bytes; there is more: ask for it with a larger max_bytes, or a Range header]"
        ));
    }
    let caller = Caller::local();
    caller.way.change(|network| (network.max_bytes, network.max_bytes_limit) = (100, 200));
    assert_eq!(details(&caller.get(servers[1].url("/")).await)["bytes"], 100);
    let said = caller.error(json!({"url": servers[1].url("/"), "max_bytes": 201})).await;
    assert!(said.contains("200"), "{said}");
    let exact = Server::answering(answer("200 OK", "Content-Type: text/plain\r\n", "x".repeat(100))).await;
    assert_eq!(details(&caller.get(exact.url("/")).await)["truncated"], false);
}

/// Gzip (RFC 1952) of many an `A`, made by hand: fixed Huffman codes, each a run of 258 (RFC 1951).
#[derive(Default)]
struct GzipOfOneByte {
    bytes: Vec<u8>,
}

impl GzipOfOneByte {
    fn fill(&mut self, count: usize) {
        self.bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
        let mut bits = Vec::new();
        // Last block, fixed codes; the literal is 01110001.
        bits.extend([true, true, false, false, true, true, true, false, false, false, true]);
        for _ in 0..count / 258 {
            // Length 258 is code 285 (11000101), distance 1 is code 0 (00000).
            bits.extend([
                true, true, false, false, false, true, false, true, false, false, false, false, false,
            ]);
        }
        bits.extend([false; 7]);
        for byte in bits.chunks(8) {
            let value = byte.iter().enumerate().fold(0_u8, |value, (at, bit)| value | u8::from(*bit) << at);
            self.bytes.write_all(&[value]).unwrap();
        }
    }
}

#[tokio::test]
async fn one_deadline_holds_for_all_of_it() {
    let begun = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\npartial".to_vec();
    let caller = Caller::local();
    for (first, shown) in [(Vec::new(), "without an answer"), (begun, "partial")] {
        let server = Server::start(move |_| Reply::Silent(first.clone())).await;
        let result = caller.call(json!({"url": server.url("/"), "timeout_ms": 300})).await.unwrap();
        assert!(!result.success);
        assert_eq!(details(&result)["timed_out"], true);
        assert!(result.result.contains(shown) && result.result.contains("timed out"), "{}", result.result);
    }
    // Drops that keep coming do not stretch it.
    let drip = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n".to_vec();
    let server = Server::start(move |_| Reply::Endless(drip.clone(), b"x".to_vec())).await;
    let arguments = json!({"url": server.url("/"), "timeout_ms": 300, "max_bytes": 1_000_000});
    let result = caller.call(arguments).await.unwrap();
    assert!(
        details(&result)["timed_out"] == true || details(&result)["truncated"] == true,
        "{}",
        result.result
    );
    // And the config's holds where the call names none.
    caller.way.change(|network| network.timeout_ms = 100);
    let server = Server::start(|_| Reply::Silent(Vec::new())).await;
    assert!(caller.get(server.url("/")).await.result.contains("100 ms"));
}

#[tokio::test]
async fn a_cancel_ends_it_at_once() {
    for first in [Vec::new(), b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\npartial".to_vec()] {
        let server = Server::start(move |_| Reply::Silent(first.clone())).await;
        let caller = Caller::local();
        let cancel = async {
            server.asked.notified().await;
            caller.session.scope.cancel.cancel();
        };
        let call = caller.call(json!({"url": server.url("/"), "timeout_ms": 300_000}));
        let (result, ()) = tokio::join!(call, cancel);
        assert!(matches!(result, Err(ToolError::Cancelled { .. })), "{result:?}");
    }
}

#[tokio::test]
async fn requests_at_once_are_bounded_and_the_rest_waits_within_its_time() {
    let server = Server::start(|_| Reply::Silent(Vec::new())).await;
    let (caller, second) = (Caller::local(), Server::answering(answer("200 OK", "", "x")).await);
    caller.way.change(|network| network.concurrent = 1);
    let waits = async {
        server.asked.notified().await;
        let result = caller.call(json!({"url": second.url("/"), "timeout_ms": 50})).await.unwrap();
        caller.session.scope.cancel.cancel();
        result
    };
    let (_, result) = tokio::join!(caller.call(json!({"url": server.url("/")})), waits);
    assert_eq!(details(&result)["timed_out"], true);
    assert_eq!(second.requests().len(), 0);
}

#[tokio::test]
async fn what_is_no_text_is_said_with_type_and_size() {
    let reply = answer("200 OK", "Content-Type: image/png\r\n", b"\x89PNG\r\n\x1a\n\0\0");
    let server = Server::answering(reply).await;
    let result = Caller::local().get(server.url("/")).await;
    assert!(
        result.success && result.result.ends_with("[the body is no text: 10 bytes of image/png]"),
        "{}",
        result.result
    );
    let reply =
        answer("200 OK", "Content-Type: text/plain\r\nContent-Encoding: br\r\n", b"\x0b\x02\x80abc\x03");
    let server = Server::answering(reply).await;
    let result = Caller::local().get(server.url("/")).await;
    assert!(result.result.contains("text/plain, encoded as br"), "{}", result.result);
}

#[tokio::test]
async fn answers_that_break_are_said_to() {
    for (reply, says) in [
        (&b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 100\r\n\r\nhalf"[..], "broke off after 4 bytes"),
        (b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nxxxx", "broke off"),
    ] {
        let server = Server::answering(reply).await;
        let result = Caller::local().get(server.url("/")).await;
        assert!(!result.success && result.result.contains(says), "{}", result.result);
    }
    for reply in [b"nonsense\r\n\r\n".to_vec(), Vec::new(), many_headers(200), huge_header()] {
        let server = Server::answering(reply).await;
        let said = Caller::local().error(json!({"url": server.url("/")})).await;
        assert!(said.contains("127.0.0.1 did not answer"), "{said}");
    }
    let gone = Server::answering("").await.address;
    let said = Caller::local().error(json!({"url": format!("http://{gone}/")})).await;
    assert!(said.contains("did not answer"), "{said}");
}

fn many_headers(count: usize) -> Vec<u8> {
    answer("200 OK", &"x: y\r\n".repeat(count), "")
}

fn huge_header() -> Vec<u8> {
    answer("200 OK", &format!("x: {}\r\n", "y".repeat(2 * 1024 * 1024)), "")
}

#[tokio::test]
async fn headers_and_urls_that_smuggle_are_refused() {
    let (server, caller) = (Server::answering(answer("200 OK", "", "")).await, Caller::local());
    for (name, value) in
        [("Host", "evil"), ("X", "a\r\nHost: evil"), ("Transfer-Encoding", "chunked"), ("X\r\nY", "z")]
    {
        let mut arguments = json!({"url": server.url("/")});
        arguments["headers"] = json!({name: value});
        assert!(matches!(caller.call(arguments).await, Err(ToolError::InvalidArguments(_))), "{name}");
    }
    for url in [
        "ftp://127.0.0.1/",
        "http://u:p@127.0.0.1/",
        "http://127.0.0.1/a b",
        "http://a\\@127.0.0.1",
        "file:///etc/passwd",
        "unix:/x",
    ] {
        assert!(
            matches!(caller.call(json!({"url": url})).await, Err(ToolError::InvalidArguments(_))),
            "{url}"
        );
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test]
async fn https_trusts_what_the_config_says_for_the_next_call() {
    let authority = authority();
    let server = Server::encrypted(&authority, &["127.0.0.1", "secure.example"], |_| {
        Reply::Whole(answer("200 OK", "Content-Type: text/plain\r\n", "encrypted"))
    })
    .await;
    let names = Names::default().with("secure.example", &["127.0.0.1"]).with("other.example", &["127.0.0.1"]);
    let caller = Caller::new(Way::new(&["127.0.0.1"], names));
    let port = server.address.port();
    let url = |host: &str| json!({"url": format!("https://{host}:{port}/")});
    let said = caller.error(url("secure.example")).await;
    assert!(said.contains("https does not work") || said.to_lowercase().contains("certificate"), "{said}");
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    caller.way.change(|network| network.ca_files = vec![file.path().to_path_buf()]);
    for host in ["secure.example", "127.0.0.1"] {
        assert!(caller.call(url(host)).await.unwrap().result.ends_with("encrypted"));
    }
    let said = caller.error(url("other.example")).await;
    assert!(said.to_lowercase().contains("certificate"), "{said}");
    // A file that is missing says so, and http goes on.
    caller.way.change(|network| network.ca_files = vec!["/nowhere/ca.pem".into()]);
    assert!(caller.error(url("secure.example")).await.contains("/nowhere/ca.pem"));
    let plain = Server::answering(answer("200 OK", "", "")).await;
    assert!(caller.get(plain.url("/")).await.success);
}

#[tokio::test]
async fn a_proxy_of_the_config_is_used_for_all_but_what_is_refused_here() {
    let authority = authority();
    let secure = Server::encrypted(&authority, &["secure.example"], |_| {
        Reply::Whole(answer("200 OK", "Content-Type: text/plain\r\n", "tunnelled"))
    })
    .await;
    let tunnel = secure.address;
    let proxy = Server::start(move |request| match request.split(' ').next().unwrap() {
        "CONNECT" => Reply::Tunnel(tunnel),
        _ => Reply::Whole(answer("200 OK", "Content-Type: text/plain\r\n", "by the proxy")),
    })
    .await;
    let names = Names::default()
        .with("intra.example", &["10.0.0.1"])
        .with("public.example", &["1.1.1.1"])
        .with("proxy.example", &["127.0.0.1"]);
    let caller = Caller::new(Way::new(&[], names));
    let folder = tempfile::tempdir().unwrap();
    let (password, ca) = (folder.path().join("password"), folder.path().join("ca.pem"));
    std::fs::write(&password, "hunter2\n").unwrap();
    std::fs::write(&ca, authority.pem()).unwrap();
    let url = format!("http://proxy.example:{}", proxy.address.port());
    let config = json!({"url": url, "username": "us", "password_file": password});
    caller.way.change(|network| {
        network.proxy = Some(serde_json::from_value(config).unwrap());
        network.ca_files = vec![ca];
    });
    // Names that only the proxy knows, and public ones.
    for host in ["only-there.example", "public.example", "1.1.1.1"] {
        let result = caller.get(format!("http://{host}/x")).await;
        assert!(result.result.ends_with("by the proxy"), "{}", result.result);
    }
    assert!(caller.get("https://secure.example/").await.result.ends_with("tunnelled"));
    for url in ["http://127.0.0.1/", "http://169.254.169.254/", "http://intra.example/", "https://0x7f.1/"] {
        assert!(caller.error(json!({"url": url})).await.contains("allowed_private_hosts"), "{url}");
    }
    let requests = proxy.requests();
    assert_eq!(requests.len(), 4);
    assert!(requests[0].starts_with("get http://only-there.example/x http/1.1\r\n"), "{}", requests[0]);
    assert!(requests[3].starts_with("connect secure.example:443 "), "{}", requests[3]);
    // us:hunter2
    assert!(
        requests.iter().all(|request| request.contains("proxy-authorization: basic dxm6ahvudgvymg==")),
        "{requests:?}"
    );
    assert!(!secure.requests()[0].contains("proxy-authorization"));
    std::fs::remove_file(&password).unwrap();
    let said = caller.error(json!({"url": "http://public.example/"})).await;
    assert!(said.contains("password_file") && !said.contains("hunter2"), "{said}");
}

#[tokio::test]
async fn headers_do_not_cross_over_to_https() {
    let authority = authority();
    let caller = Caller::new(Way::new(&["127.0.0.1"], Names::default().with("up.example", &["127.0.0.1"])));
    // The ports of an upgrade are 80 and 443, which a proxy can stand for.
    let secure = Server::encrypted(&authority, &["up.example"], |_| {
        Reply::Whole(answer("200 OK", "Content-Type: text/plain\r\n", "upgraded"))
    })
    .await;
    let tunnel = secure.address;
    let proxy = Server::start(move |request| match request.split(' ').next().unwrap() {
        "CONNECT" => Reply::Tunnel(tunnel),
        _ => Reply::Whole(redirect("301 Moved Permanently", "https://up.example/")),
    })
    .await;
    let ca = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(ca.path(), authority.pem()).unwrap();
    caller.way.change(|network| {
        network.proxy = Some(serde_json::from_value(json!({"url": proxy.url("")})).unwrap());
        network.ca_files = vec![ca.path().to_path_buf()];
    });
    let arguments =
        json!({"url": "http://up.example/", "headers": {"Authorization": "Bearer x", "X-Key": "y"}});
    let result = caller.call(arguments).await.unwrap();
    assert!(
        result.result.contains("upgraded") && result.result.contains("were not sent there"),
        "{}",
        result.result
    );
    let request = &secure.requests()[0];
    assert!(!request.contains("bearer") && !request.contains("x-key"), "{request}");
}
