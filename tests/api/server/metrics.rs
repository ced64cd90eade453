//! `GET /metrics`: the numbers move as calls run, pause and are refused; labels stay few.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::json;

use crate::support::exposition::Scrape;
use crate::support::raw::exchange;
use crate::support::session::until_there;
use crate::support::{Answer, TestServer, TestSession};

#[track_caller]
fn assert_value(scrape: &Scrape, series: &str, value: f64) {
    let found = scrape.value(series);
    assert!((found - value).abs() < 1e-9, "{series} is {found}, not {value}\n{}", scrape.text);
}

#[tokio::test]
async fn calls_are_counted_as_they_end() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(rm *)"]}}));
    let session = server.session().await;
    session.write_file("a.txt", "text\n");
    session.call("r", "Read", json!({"file_path": "a.txt"})).await.expect(200);
    session.call("m", "Read", json!({"file_path": "missing"})).await.expect(200);
    session.bash("d", "rm a.txt").await.expect(200);
    session.call("u", "NoSuchTool", json!({})).await.expect(200);
    let scrape = Scrape::of(&server.anonymous()).await;
    assert_value(&scrape, "toolgate_calls_total{tool=\"Read\",status=\"completed\"}", 1.0);
    assert_value(&scrape, "toolgate_calls_total{tool=\"Read\",status=\"failed\"}", 1.0);
    assert_value(&scrape, "toolgate_calls_total{tool=\"Bash\",status=\"denied\"}", 1.0);
    assert_value(&scrape, "toolgate_calls_total{tool=\"other\",status=\"failed\"}", 1.0);
    assert_value(&scrape, "toolgate_call_duration_seconds_count{tool=\"Read\"}", 2.0);
    assert_value(&scrape, "toolgate_verdicts_total{decision=\"deny\",by=\"rule\"}", 1.0);
    assert_value(&scrape, "toolgate_events_total{type=\"tool_denied\"}", 1.0);
    assert_value(&scrape, "toolgate_sessions_active", 1.0);
    let calls =
        "toolgate_http_requests_total{route=\"/v1/sessions/{sid}/calls\",method=\"POST\",status=\"200\"}";
    assert_value(&scrape, calls, 4.0);
    assert!(scrape.value("toolgate_store_commit_duration_seconds_count") > 0.0);
    assert!(scrape.value("toolgate_store_database_bytes") > 0.0);
    assert!(scrape.value("process_resident_memory_bytes") > 1e6);
    // The request that asks is under way itself.
    assert_value(&scrape, "toolgate_http_requests_open", 1.0);
    session.end().await.expect(200);
    assert_value(&Scrape::of(&server.anonymous()).await, "toolgate_sessions_active", 0.0);
}

#[tokio::test]
async fn what_waits_shows_and_how_long_people_took() {
    let server = TestServer::start();
    let session = server.session().await;
    let allowed = session.asks("a", "Bash", json!({"command": "touch x"})).await;
    let denied = session.asks("b", "Bash", json!({"command": "touch y"})).await;
    session.asks("c", "Bash", json!({"command": "touch z"})).await;
    let waiting = Scrape::of(&server.anonymous()).await;
    assert_value(&waiting, "toolgate_calls_open{status=\"awaiting_approval\"}", 3.0);
    assert_value(&waiting, "toolgate_events_total{type=\"tool_approval_requested\"}", 3.0);
    assert_value(&waiting, "toolgate_approval_wait_seconds_count{decision=\"allow\"}", 0.0);
    server.operator().allow(&allowed).await;
    server.operator().decide(&denied, &json!({"decision": "deny"})).await.expect(200);
    session.ended("a").await;
    session.ended("b").await;
    session.cancel("c").await.expect(200);
    let scrape = Scrape::of(&server.anonymous()).await;
    assert_value(&scrape, "toolgate_calls_open{status=\"awaiting_approval\"}", 0.0);
    for decision in ["allow", "deny"] {
        let waits = format!("toolgate_approval_wait_seconds_count{{decision=\"{decision}\"}}");
        assert_value(&scrape, &waits, 1.0);
    }
    for resolution in ["allow", "deny", "cancelled"] {
        let count = format!("toolgate_approvals_resolved_total{{resolution=\"{resolution}\"}}");
        assert_value(&scrape, &count, 1.0);
    }
    for status in ["completed", "denied", "cancelled"] {
        assert_value(&scrape, &format!("toolgate_calls_total{{tool=\"Bash\",status=\"{status}\"}}"), 1.0);
    }
    assert!(scrape.value("toolgate_verdicts_total{decision=\"ask\",by=\"class\"}") >= 3.0);
}

#[tokio::test]
async fn what_runs_and_who_listens_shows_while_it_does() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let command = format!("printf 0123456789; {}", until_there("go"));
    session.begin("run", "Bash", json!({"command": command})).await.expect(202);
    let stream = server.agent().stream(&session.path("/events")).await;
    session.event("run", "tool_token").await;
    let during = Scrape::of(&server.anonymous()).await;
    assert_value(&during, "toolgate_calls_open{status=\"running\"}", 1.0);
    assert_value(&during, "toolgate_call_places_in_use", 1.0);
    assert_value(&during, "toolgate_process_trees", 1.0);
    assert_value(&during, "toolgate_http_streams_open", 1.0);
    assert!(during.value("toolgate_http_connections_open") >= 2.0);
    session.write_file("go", "");
    session.ended("run").await;
    let after = Scrape::of(&server.anonymous()).await;
    assert_value(&after, "toolgate_calls_open{status=\"running\"}", 0.0);
    assert_value(&after, "toolgate_process_trees", 0.0);
    assert_value(&after, "toolgate_output_bytes_total", 10.0);
    assert_value(&after, "toolgate_artifact_bytes_total", 10.0);
    assert_value(&after, "toolgate_command_start_duration_seconds_count", 1.0);
    drop(stream);
}

#[tokio::test]
async fn no_client_makes_series() {
    let server = TestServer::start();
    let tools = json!({"tools": [{"name": "mine", "description": "d", "parameters": {"type": "object"}, "kind": "client"}]});
    let session = TestSession::create(&server.agent(), &tools).await;
    let warm = async || {
        session.call("warm", "NoSuchTool", json!({})).await.expect(200);
        server.anonymous().get("/warm").await.problem(404, "no_route");
        let request = server.anonymous().request(Method::from_bytes(b"WARM").unwrap(), "/v1/info");
        Answer::of(request).await;
    };
    warm().await;
    let before = Scrape::of(&server.anonymous()).await.series().count();
    for n in 0..50 {
        let name = format!("hostile-{n}\"}} 1\nforged_total{{x=\"");
        session.call(&format!("hostile-{n}"), &name, json!({})).await.expect(200);
        server.anonymous().get(&format!("/hostile-{n}/%0Aforged%22")).await.problem(404, "no_route");
        let method = Method::from_bytes(format!("HOSTILE{n}").as_bytes()).unwrap();
        Answer::of(server.anonymous().request(method, "/v1/info")).await;
    }
    session.asks("mine", "mine", json!({})).await;
    session.cancel("mine").await.expect(200);
    let scrape = Scrape::of(&server.anonymous()).await;
    for text in ["hostile", "HOSTILE", "forged", "mine", &session.id] {
        assert!(!scrape.text.contains(text), "{text} in\n{}", scrape.text);
    }
    assert_value(&scrape, "toolgate_calls_total{tool=\"other\",status=\"failed\"}", 51.0);
    assert_value(&scrape, "toolgate_calls_total{tool=\"other\",status=\"cancelled\"}", 1.0);
    // The session's own tool asked and was cancelled: a verdict, three types of events, three series of
    // a route; nothing that grows with what was sent.
    assert!(scrape.series().count() <= before + 80, "{} after {before}", scrape.series().count());
    let tools = scrape.label_values("tool");
    let info = server.agent().get("/v1/info").await.expect(200);
    let listed = info["tools"].as_array().unwrap();
    assert!(tools.iter().all(|tool| tool == "other" || listed.contains(&json!(tool))), "{tools:?}");
}

#[tokio::test]
async fn it_takes_no_token_answers_any_host_and_shows_no_secret() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("c", "echo hello").await.expect(200);
    let host = b"GET /metrics HTTP/1.1\r\nHost: 10.1.2.3:9\r\nConnection: close\r\n\r\n";
    let answer = exchange(server.address, host).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let scrape = Scrape::of(&server.anonymous()).await;
    let data = server.data_dir().display().to_string();
    let root = server.root().display().to_string();
    for secret in
        [&server.token("agent"), &server.token("operator"), &session.token, &session.id, &data, &root]
    {
        assert!(!scrape.text.contains(secret.as_str()), "{secret}");
    }
    server.anonymous().post("/metrics", &json!({})).await.problem(405, "method_not_allowed");
}

#[tokio::test]
async fn who_asks_for_openmetrics_gets_it() {
    let server = TestServer::start();
    let request = server.anonymous().request(Method::GET, "/metrics");
    let accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5";
    let answer = Answer::of(request.header("Accept", accept)).await;
    assert!(answer.header("content-type").starts_with("application/openmetrics-text; version=1.0.0"));
    assert!(answer.text().ends_with("# EOF\n"));
}

/// The rows of the documentation: name, type, labels.
fn documented() -> Vec<(String, String, BTreeSet<String>)> {
    let text = include_str!("../../../docs/observability.md");
    let rows =
        text.lines().filter(|line| line.starts_with("| `toolgate_") || line.starts_with("| `process_"));
    let words = |cell: &str| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<BTreeSet<_>>();
    rows.map(|row| {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(!cells[4].is_empty(), "{row}");
        (cells[1].trim_matches('`').to_owned(), cells[2].to_owned(), words(cells[3]))
    })
    .collect()
}

#[tokio::test]
async fn the_documentation_has_each_metric_and_no_other() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("c", "echo hello").await.expect(200);
    let scrape = Scrape::of(&server.anonymous()).await;
    let found: Vec<_> = scrape
        .families
        .iter()
        .map(|(name, kind)| (name.clone(), kind.clone(), scrape.labels_of(name)))
        .collect();
    let mut documented = documented();
    documented.sort();
    assert_eq!(documented, found);
}

#[tokio::test]
async fn sessions_of_the_run_before_are_counted() {
    let mut server = TestServer::start();
    server.session().await;
    server.restart_with(&json!({}));
    assert_value(&Scrape::of(&server.anonymous()).await, "toolgate_sessions_active", 1.0);
}
