//! `POST /v1/sessions/{sid}/calls/batch`.

use serde_json::{Value, json};

use crate::support::session::{tool_call, until_there};
use crate::support::{Answer, TestServer, TestSession};

fn bash(id: &str, command: &str) -> Value {
    tool_call(id, "Bash", &json!({"command": command}))
}

fn glob(id: &str) -> Value {
    tool_call(id, "Glob", &json!({"pattern": "*"}))
}

async fn post(session: &TestSession, query: &str, calls: &[Value]) -> Answer {
    session.client.post(&session.path(&format!("/calls/batch{query}")), &json!({"calls": calls})).await
}

fn statuses(answer: &Value) -> Vec<&str> {
    answer["calls"].as_array().unwrap().iter().map(|call| call["status"].as_str().unwrap()).collect()
}

/// A time of a call; as text they do not compare, since their fractions differ in length.
fn time(call: &Value, key: &str) -> jiff::Timestamp {
    call[key].as_str().unwrap().parse().unwrap()
}

#[tokio::test]
async fn answers_come_in_the_order_of_the_request() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let calls =
        [bash("z", "echo 1 >> log"), glob("a"), bash("m", "cat log; echo 2 >> log"), bash("b", "cat log")];
    let answer = post(&session, "", &calls).await.expect(200);
    let ids: Vec<_> = answer["calls"].as_array().unwrap().iter().map(|call| &call["call_id"]).collect();
    assert_eq!(ids, ["z", "a", "m", "b"]);
    assert_eq!(statuses(&answer), ["completed"; 4]);
    assert_eq!(answer["calls"][2]["result"]["result"], "1", "a mutating call sees what came before it");
    assert_eq!(answer["calls"][3]["result"]["result"], "1\n2");
    assert_eq!(post(&session, "", &calls).await.expect(200), answer, "a repeat gets what is recorded");
    assert_eq!(session.read_file("log"), "1\n2\n");
}

#[tokio::test]
async fn a_directory_that_one_call_enters_is_the_next_ones() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let calls = [bash("1", "mkdir sub && cd sub"), bash("2", "pwd")];
    let answer = post(&session, "", &calls).await.expect(200);
    assert_eq!(answer["calls"][1]["result"]["result"], session.file("sub").to_str().unwrap());
}

#[tokio::test]
async fn read_only_neighbours_run_side_by_side() {
    // Each takes long enough that, side by side, they begin before the first one ends.
    let server = TestServer::start();
    let session = server.session().await;
    let line = format!(" {}\n", "x".repeat(1000));
    let text = (0..20_000).map(|n| n.to_string() + &line).collect::<String>();
    for name in ["a.txt", "b.txt"] {
        session.write_file(name, &text);
    }
    let grep = |id: &str| tool_call(id, "Grep", &json!({"pattern": "x{900}y", "output_mode": "count"}));
    let answer = post(&session, "", &[grep("1"), grep("2"), grep("3"), grep("4")]).await.expect(200);
    let span = |n: usize| {
        let call = &answer["calls"][n];
        (time(call, "started_at"), time(call, "finished_at"))
    };
    let overlap = (1..4).any(|n| span(n).0 < span(0).1 && span(0).0 < span(n).1);
    assert!(overlap, "{answer}");
}

#[tokio::test]
async fn a_mutating_call_is_a_barrier() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let calls =
        [bash("first", &format!("touch begun; {}; echo x > made", until_there("go"))), glob("second")];
    let answer = post(&session, "?wait_ms=0", &calls).await.expect(202);
    assert!(statuses(&answer)[1] == "queued", "{answer}");
    session.event("first", "tool_start").await;
    assert_eq!(session.current("second").await["status"], "queued");
    session.write_file("go", "");
    let answer = post(&session, "", &calls).await.expect(200);
    assert_eq!(statuses(&answer), ["completed", "completed"]);
    assert!(answer["calls"][1]["result"]["result"].as_str().unwrap().contains("made"));
    assert!(time(&answer["calls"][0], "finished_at") <= time(&answer["calls"][1], "started_at"));
}

#[tokio::test]
async fn a_paused_barrier_answers_202_and_the_same_post_collects_later() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("a.txt", "old\n");
    let read = |id: &str| tool_call(id, "Read", &json!({"file_path": "a.txt"}));
    let write = tool_call("2", "Write", &json!({"file_path": "b.txt", "content": "new\n"}));
    let after = tool_call("3", "Read", &json!({"file_path": "b.txt"}));
    let calls = [read("1"), write, after];
    let answer = post(&session, "", &calls).await.expect(202);
    assert_eq!(statuses(&answer), ["completed", "awaiting_approval", "queued"]);
    server.operator().allow(answer["calls"][1]["approval_id"].as_str().unwrap()).await;
    let answer = post(&session, "", &calls).await.expect(200);
    assert_eq!(statuses(&answer), ["completed"; 3]);
    assert!(answer["calls"][2]["result"]["result"].as_str().unwrap().contains("new"));
}

#[tokio::test]
async fn a_denied_barrier_lets_the_rest_run() {
    let server = TestServer::start();
    let session = server.session().await;
    let calls = [bash("1", "touch x"), glob("2"), tool_call("3", "Nope", &json!({}))];
    let answer = post(&session, "", &calls).await.expect(202);
    let deny = json!({"decision": "deny"});
    server.operator().decide(answer["calls"][0]["approval_id"].as_str().unwrap(), &deny).await.expect(200);
    let answer = post(&session, "", &calls).await.expect(200);
    assert_eq!(statuses(&answer), ["denied", "completed", "failed"]);
}

#[tokio::test]
async fn duplicate_ids_are_refused_before_anything_runs() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let calls = [bash("1", "touch x"), glob("2"), bash("1", "touch x")];
    let problem = post(&session, "", &calls).await.problem(400, "invalid_request");
    assert_eq!(problem["errors"][0]["pointer"], "/calls/2/id");
    let list = server.agent().get(&session.path("/calls")).await.expect(200);
    assert_eq!(list["items"], json!([]));
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn a_conflict_is_refused_before_anything_runs() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("taken", "true").await.expect(200);
    session.call("open", "AskUser", json!({"question": "?"})).await.expect(202);
    for taken in ["taken", "open"] {
        let calls = [bash("1", "touch x"), bash(taken, "touch y")];
        post(&session, "", &calls).await.problem(409, "call_id_conflict");
        server.agent().get(&session.call_path("1", "")).await.problem(404, "not_found");
    }
    assert!(!session.file("x").exists());
    // The ids that were not at fault are free.
    post(&session, "", &[bash("1", "touch other")]).await.expect(200);
}

#[tokio::test]
async fn a_batch_has_1_to_128_calls() {
    let server = TestServer::start();
    let session = server.session().await;
    let calls: Vec<_> = (0..129).map(|n| glob(&n.to_string())).collect();
    post(&session, "", &[]).await.problem(400, "invalid_request");
    post(&session, "", &calls).await.problem(400, "invalid_request");
    let answer = post(&session, "", &calls[..128]).await.expect(200);
    assert_eq!(statuses(&answer), ["completed"; 128]);
    let without_ids = json!({"function": {"name": "Glob", "arguments": {"pattern": "*"}}});
    let answer = post(&session, "", &[without_ids.clone(), without_ids]).await.expect(200);
    assert_ne!(answer["calls"][0]["call_id"], answer["calls"][1]["call_id"]);
}

#[tokio::test]
async fn a_turn_holds_for_the_whole_batch() {
    let server = TestServer::start();
    let session = server.session().await;
    post(&session, "?turn=1", &[glob("call_0")]).await.expect(200);
    let other = tool_call("call_0", "Glob", &json!({"pattern": "**"}));
    post(&session, "?turn=1", std::slice::from_ref(&other)).await.problem(409, "call_id_conflict");
    let answer = post(&session, "?turn=2", &[other]).await.expect(200);
    assert_eq!(answer["calls"][0]["turn"], "2");
}

#[tokio::test]
async fn a_mutating_call_that_a_batch_joins_is_a_barrier_too() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let first = format!("echo begun; {}; echo x > made", until_there("go"));
    session.begin("first", "Bash", json!({"command": first})).await.expect(202);
    session.event("first", "tool_token").await;
    let calls = [bash("first", &first), glob("second"), bash("third", "cat made")];
    let answer = post(&session, "?wait_ms=0", &calls).await.expect(202);
    assert_eq!(statuses(&answer), ["running", "queued", "queued"]);
    // A read of its own ends meanwhile: had the second one been let go, it would have run by now.
    session.call("other", "Glob", json!({"pattern": "*"})).await.expect(200);
    assert_eq!(session.current("second").await["status"], "queued");
    session.write_file("go", "");
    let answer = post(&session, "", &calls).await.expect(200);
    assert_eq!(statuses(&answer), ["completed"; 3]);
    assert!(answer["calls"][1]["result"]["result"].as_str().unwrap().contains("made"), "{answer}");
    assert_eq!(answer["calls"][2]["result"]["result"], "x");
    assert!(time(&answer["calls"][0], "finished_at") <= time(&answer["calls"][1], "started_at"));
    assert_eq!(session.event_types("first").await.iter().filter(|kind| *kind == "tool_start").count(), 1);
}

#[tokio::test]
async fn a_paused_call_that_a_batch_joins_holds_it_up() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("first", "Bash", json!({"command": "touch made"})).await;
    let calls = [bash("first", "touch made"), glob("second")];
    let answer = post(&session, "", &calls).await.expect(202);
    assert_eq!(statuses(&answer), ["awaiting_approval", "queued"]);
    server.operator().allow(&id).await;
    let answer = post(&session, "", &calls).await.expect(200);
    assert_eq!(statuses(&answer), ["completed"; 2]);
    assert!(answer["calls"][1]["result"]["result"].as_str().unwrap().contains("made"), "{answer}");
}
