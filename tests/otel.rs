//! Traces of a real server, at a collector that takes them, one that is gone, and one that never answers.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "api/support/mod.rs"]
#[expect(dead_code, unused_imports, reason = "the support of the interface's tests: these need a part of it")]
mod support;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, Sender, channel};

use reqwest::Method;
use serde_json::{Value, json};
use support::session::tool_call;
use support::{Answer, FAILSAFE, TestServer};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A collector of OTLP over HTTP with JSON.
struct Collector {
    address: SocketAddr,
    requests: Receiver<Value>,
}

impl Collector {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let sender = sender.clone();
                std::thread::spawn(move || serve(stream, &sender));
            }
        });
        Self { address, requests }
    }

    /// All spans that have come, once one of this name is among them.
    fn spans_with(&self, name: &str) -> Vec<Value> {
        let mut spans = Vec::new();
        while !spans.iter().any(|span: &Value| span["name"] == name) {
            let request =
                self.requests.recv_timeout(FAILSAFE).unwrap_or_else(|_| panic!("{name}: {spans:#?}"));
            spans.extend(spans_of(&request));
        }
        spans
    }
}

/// Answers requests of one connection.
fn serve(stream: TcpStream, sender: &Sender<Value>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let (mut length, mut path) = (0, None);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            path = path.or_else(|| line.split(' ').nth(1).map(str::to_owned));
            let (name, value) = line.trim().split_once(':').unwrap_or_default();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        assert_eq!(path.as_deref(), Some("/v1/traces"));
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
        writer.write_all(answer.as_bytes()).unwrap();
        let _ = sender.send(serde_json::from_slice(&body).unwrap());
    }
}

fn spans_of(request: &Value) -> Vec<Value> {
    let lists = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let resources = lists(request, "resourceSpans");
    let scopes = resources.iter().flat_map(|resource| lists(resource, "scopeSpans"));
    scopes.flat_map(|scope| lists(&scope, "spans")).collect()
}

fn attribute(span: &Value, key: &str) -> Option<String> {
    let found = span["attributes"].as_array()?.iter().find(|attribute| attribute["key"] == key)?;
    let value = &found["value"];
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    text("stringValue").or_else(|| text("intValue")).or_else(|| Some(value["intValue"].as_i64()?.to_string()))
}

#[track_caller]
fn named<'a>(spans: &'a [Value], name: &str) -> &'a Value {
    spans.iter().find(|span| span["name"] == name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
}

fn server(address: SocketAddr, more: &Value) -> TestServer {
    let mut telemetry = json!({"otlp_endpoint": format!("http://{address}"), "service_name": "gate"});
    telemetry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    TestServer::logging(&json!({"telemetry": telemetry}), &[], Stdio::inherit())
}

async fn call_in_trace(server: &TestServer, path: &str, flags: &str) -> Value {
    let call = tool_call("call_1", "Bash", &json!({"command": "echo $TRACEPARENT"}));
    let request = server.agent().request(Method::POST, path).json(&call);
    Answer::of(request.header("traceparent", format!("00-{TRACE}-{CALLER}-{flags}"))).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_one_trace_from_its_caller_to_its_process() {
    let collector = Collector::start();
    let mut server = server(collector.address, &json!({}));
    let session = server.bypass_session().await;
    let call = call_in_trace(&server, &session.path("/calls"), "01").await;
    // The end sends what waits, without its usual delay.
    server.terminate();
    let route = "POST /v1/sessions/{sid}/calls";
    let spans = collector.spans_with(route);
    let request = named(&spans, route);
    let tool = named(&spans, "execute_tool Bash");
    let (judge, run, process) = (named(&spans, "judge"), named(&spans, "run"), named(&spans, "process"));
    assert_eq!((&request["parentSpanId"], &request["kind"]), (&json!(CALLER), &json!(2)), "{request}");
    for (child, parent) in [(tool, request), (judge, tool), (run, tool), (process, run)] {
        assert_eq!(child["parentSpanId"], parent["spanId"], "{child} {parent}");
    }
    for span in [request, tool, judge, run, process] {
        assert_eq!(span["traceId"], TRACE, "{span}");
    }
    for (span, key, value) in [
        (request, "http.request.method", "POST"),
        (request, "http.route", "/v1/sessions/{sid}/calls"),
        (request, "http.response.status_code", "200"),
        (tool, "gen_ai.operation.name", "execute_tool"),
        (tool, "gen_ai.tool.name", "Bash"),
        (tool, "gen_ai.tool.call.id", "call_1"),
        (tool, "session.id", session.id.as_str()),
        (tool, "toolgate.call.status", "completed"),
        (process, "process.exit.code", "0"),
    ] {
        assert_eq!(attribute(span, key).as_deref(), Some(value), "{key} of {span}");
    }
    let printed = call["result"]["result"].as_str().unwrap();
    let own = run["spanId"].as_str().unwrap();
    assert!(printed.contains(&format!("00-{TRACE}-{own}-01")), "{printed} is not within {own}");
    let secrets = [server.token("agent"), server.token("operator"), session.token.clone()];
    assert!(!secrets.iter().any(|secret| json!(spans).to_string().contains(secret.as_str())));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_ends_in_its_trace_when_it_is_answered() {
    let collector = Collector::start();
    let mut server = server(collector.address, &json!({}));
    let session = server.bypass_session().await;
    let command = support::session::until_there("go");
    session.begin("long", "Bash", json!({"command": command})).await.expect(202);
    // It comes although its call still runs.
    let spans = collector.spans_with("POST /v1/sessions/{sid}/calls");
    assert!(!spans.iter().any(|span| span["name"] == "execute_tool Bash"), "{spans:#?}");
    session.write_file("go", "");
    session.ended("long").await;
    server.terminate();
    collector.spans_with("execute_tool Bash");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_caller_decides_what_is_sampled_and_the_ratio_does_else() {
    let collector = Collector::start();
    let mut server = server(collector.address, &json!({"trace_ratio": 0.0}));
    let session = server.bypass_session().await;
    let other = server.bypass_session().await;
    call_in_trace(&server, &other.path("/calls"), "00").await;
    call_in_trace(&server, &session.path("/calls"), "01").await;
    server.terminate();
    let spans = collector.spans_with("POST /v1/sessions/{sid}/calls");
    assert_eq!(spans.len(), 5, "one request and what is within: {spans:#?}");
    assert_eq!(attribute(named(&spans, "execute_tool Bash"), "session.id").as_deref(), Some(&*session.id));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_gone_or_never_answers_holds_nothing_up() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    for address in [gone, silent.local_addr().unwrap()] {
        let mut server = server(address, &json!({}));
        let session = server.session().await;
        let agent = server.agent();
        for _ in 0..100 {
            // More spans than the queue has places for, by far.
            let requests = (0..64).map(|_| agent.get("/v1/info"));
            for answer in futures_util::future::join_all(requests).await {
                answer.expect(200);
            }
        }
        session.write_file("a", "text");
        session.call("r", "Read", json!({"file_path": "a"})).await.expect(200);
        assert!(server.peak_memory() < 400 * 1024 * 1024);
        let asked = std::time::Instant::now();
        server.terminate();
        assert!(asked.elapsed().as_secs() < 5, "{:?}", asked.elapsed());
    }
}
