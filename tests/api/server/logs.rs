//! The log of a real server: who it is about, what it never says, and a reader that never reads it.

use std::io::Read as _;

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::exposition::Scrape;
use crate::support::server::{SECOND_AGENT, refusal};
use crate::support::session::segment;
use crate::support::{Answer, TestServer};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A server whose log is read once it has ended.
struct Logged {
    server: TestServer,
    log: std::fs::File,
}

impl Logged {
    fn start(config: &Value, variables: &[(&str, &str)]) -> Self {
        let log = tempfile::tempfile().unwrap();
        let server = TestServer::logging(config, variables, log.try_clone().unwrap());
        Self { server, log }
    }

    /// All that was logged.
    fn end(mut self) -> String {
        use std::io::Seek as _;
        self.server.terminate();
        let mut text = String::new();
        self.log.rewind().unwrap();
        self.log.read_to_string(&mut text).unwrap();
        text
    }
}

/// Lines of JSON that have this value under a name.
fn lines_with(text: &str, name: &str, value: &Value) -> Vec<Value> {
    let lines =
        text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
    lines.filter(|line| line[name] == *value).collect()
}

#[tokio::test]
async fn each_request_has_a_line_that_says_whose_it_was() {
    let logged = Logged::start(&json!({"telemetry": {"log_level": "debug"}}), &[("RUST_LOG", "")]);
    let server = &logged.server;
    let good = server.agent().request(Method::GET, "/v1/info");
    let good = good
        .header("X-Request-Id", "mine-7")
        .header("traceparent", format!("00-{TRACE}-00f067aa0ba902b7-01"));
    let good = Answer::of(good).await;
    let bad =
        Answer::of(server.agent().request(Method::GET, "/v1/config").header("X-Request-Id", "a b")).await;
    bad.problem(403, "operator_required");
    let text = logged.end();
    let of = |answer: &Answer| {
        lines_with(&text, "request_id", &json!(answer.header("x-request-id"))).pop().unwrap()
    };
    let line = of(&good);
    assert_eq!(line["level"], "debug", "{line}");
    assert_eq!(
        (&line["method"], &line["path"], &line["status"]),
        (&json!("GET"), &json!("/v1/info"), &json!(200))
    );
    assert_eq!((&line["principal"], &line["client_request_id"]), (&json!("agent"), &json!("mine-7")));
    assert_eq!(line["trace_id"], TRACE);
    assert!(line["ms"].is_u64() && line["time"].is_string() && line["target"].is_string(), "{line}");
    let line = of(&bad);
    assert_eq!((&line["level"], &line["status"]), (&json!("info"), &json!(403)), "{line}");
    assert!(line.get("client_request_id").is_none() && line.get("trace_id").is_none(), "{line}");
}

#[tokio::test]
async fn a_line_within_a_call_says_which() {
    let logged = Logged::start(&json!({}), &[("RUST_LOG", "error,toolgate=trace")]);
    let session = logged.server.bypass_session().await;
    let answer = session.bash("call 1", "echo hi").await;
    answer.expect(200);
    let (id, request) = (session.id.clone(), answer.header("x-request-id").to_owned());
    let text = logged.end();
    let lines = lines_with(&text, "call_id", &json!("call 1"));
    assert!(!lines.is_empty(), "{text}");
    for line in lines {
        assert_eq!((&line["session_id"], &line["tool"]), (&json!(id), &json!("Bash")), "{line}");
        assert_eq!(line["request_id"], request, "{line}");
    }
}

#[tokio::test]
async fn outside_texts_forge_no_lines() {
    for (format, json) in [("text", false), ("json", true)] {
        let config = json!({"telemetry": {"log_format": format, "log_level": "debug"}});
        let logged = Logged::start(&config, &[("RUST_LOG", "")]);
        let session = logged.server.session().await;
        let forged = "2026-01-01T00:00:00.000Z ERROR forged: line";
        for hostile in [format!("x\n{forged}"), "x\r\u{1b}[2J".to_owned(), "x\" status=\"999".to_owned()] {
            let path = format!("/{}", segment(&hostile));
            logged.server.anonymous().get(&path).await.problem(404, "no_route");
            session.client.get(&session.call_path(&hostile, "")).await;
            session.call("c", &hostile, json!({})).await;
        }
        let raw = b"GET /x\x1b[31m\xff HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
        crate::support::raw::exchange(logged.server.address, raw).await;
        let text = logged.end();
        for line in text.lines() {
            assert!(!line.starts_with(forged) && !line.contains(char::is_control), "{line:?}");
            if json {
                assert!(
                    serde_json::from_str::<Value>(line).is_ok_and(|line| line["status"] != 999),
                    "{line}"
                );
            } else {
                assert!(line.starts_with("20") && line.contains("Z "), "{line}");
            }
        }
    }
}

#[tokio::test]
async fn no_secret_is_logged_at_any_level() {
    let logged = Logged::start(&json!({"telemetry": {"log_format": "json"}}), &[("RUST_LOG", "trace")]);
    let server = &logged.server;
    let session = server.bypass_session().await;
    let own = server.with_token(&session.token);
    own.get(&session.path("")).await.expect(200);
    own.get(&format!("/v1/info?token={}", session.token)).await.problem(400, "invalid_query");
    server.with_token("guessed-0123456789abcdef").get("/v1/info").await.problem(401, "unauthenticated");
    server.second_agent().get("/v1/info").await.expect(200);
    session.bash("c", "echo $PATH").await.expect(200);
    server.operator().get("/v1/config").await.expect(200);
    let secrets = [
        server.token("agent"),
        server.token("operator"),
        session.token.clone(),
        SECOND_AGENT.to_owned(),
        "guessed-0123456789abcdef".to_owned(),
        "Bearer".to_owned(),
    ];
    let text = logged.end();
    assert!(text.lines().count() >= 8, "each request is there: {text}");
    for secret in secrets {
        let line = text.lines().find(|line| line.contains(&secret));
        assert_eq!(line, None, "{secret}");
    }
}

#[tokio::test]
async fn a_reader_that_never_reads_holds_nothing_up() {
    let (unread, log) = rustix::pipe::pipe().unwrap();
    let config = json!({"telemetry": {"log_level": "debug"}});
    let mut server = TestServer::logging(&config, &[("RUST_LOG", "")], log);
    let session = server.session().await;
    // Paths make lines long; a pipe holds 64 KiB, the queue 4 MiB.
    let path = format!("/{}", "x".repeat(400));
    let (agent, mut sent) = (server.agent(), 0);
    let dropped = loop {
        let requests = (0..64).map(|_| agent.get(&path));
        for answer in futures_util::future::join_all(requests).await {
            answer.problem(404, "no_route");
            sent += 1;
        }
        let scrape = Scrape::of(&server.anonymous()).await;
        let dropped = scrape.value("toolgate_log_lines_dropped_total");
        if dropped > 0.0 {
            break dropped;
        }
        assert!(sent < 100_000, "nothing was dropped after {sent} lines");
    };
    assert!(dropped > 0.0);
    session.write_file("a", "text");
    session.call("r", "Read", json!({"file_path": "a"})).await.expect(200);
    assert!(server.peak_memory() < 400 * 1024 * 1024);
    // It leaves, too, and within its time.
    let asked = std::time::Instant::now();
    server.terminate();
    assert!(asked.elapsed().as_secs() < 10);
    drop(unread);
}

#[test]
fn what_cannot_be_logged_as_asked_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    std::fs::create_dir(path("root")).unwrap();
    let (data, root, file) = (path("data"), path("root"), path("config.json"));
    let arguments = ["--data-dir", &data, "--workspace-root", &root, "--config", &file];
    for (config, says) in [
        (json!({"telemetry": {"log_level": "loud"}}), "telemetry.log_level"),
        (json!({"telemetry": {"trace_ratio": 2}}), "telemetry.trace_ratio"),
        (json!({"telemetry": {"otlp_endpoint": "nowhere"}}), "telemetry.otlp_endpoint"),
    ] {
        std::fs::write(&file, config.to_string()).unwrap();
        let said = refusal(home.path(), &arguments);
        assert!(said.contains(says) && said.contains("line 1"), "{config}: {said}");
    }
}

#[tokio::test]
async fn a_command_gets_the_trace_of_its_request() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let call =
        |id: &str| crate::support::session::tool_call(id, "Bash", &json!({"command": "env | grep ^TRACE"}));
    let post = |id: &str, parent: Option<String>| {
        let request = server.agent().request(Method::POST, &session.path("/calls")).json(&call(id));
        let parents =
            parent.into_iter().fold(request, |request, parent| request.header("traceparent", parent));
        Answer::of(parents.header("tracestate", "vendor=1"))
    };
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let with = post("with", Some(parent.clone())).await.expect(200);
    let text = with["result"]["result"].as_str().unwrap();
    assert!(text.contains(TRACE) && text.contains("TRACESTATE=vendor=1"), "{text}");
    for (id, parent) in [("none", None), ("wrong", Some(format!("{parent}\u{7f}").replace('\u{7f}', "x")))] {
        let without = post(id, parent).await.expect(200);
        let text = without["result"]["result"].as_str().unwrap();
        assert!(!text.contains(TRACE) && !text.contains("vendor"), "{text}");
    }
}
