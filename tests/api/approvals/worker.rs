//! `/v1/worker/approvals/{ask}`: what a worker's token may do at the host, and what it may not.

use serde_json::{Value, json};

use super::forwarded::{OTHER_TOKEN, TOKEN, host_with};
use crate::support::raw::exchange;
use crate::support::{Client, within};

fn ask() -> Value {
    json!({"worker": "build-1", "session_id": "s", "call_id": "c", "tool_name": "Bash",
        "arguments": {"command": "make"}, "digest": "0".repeat(64), "reason": {"text": "it runs"},
        "cwd": "/w", "sandbox": "none", "leaves": ["make"], "display": "make", "expires_in_s": 600})
}

async fn put(client: &Client, id: &str, ask: &Value) -> crate::support::Answer {
    client.put(&format!("/v1/worker/approvals/{id}"), ask).await
}

#[tokio::test]
async fn a_repeated_ask_finds_the_same_approval() {
    let host = host_with(&json!({}));
    let (worker, other) = (host.with_token(TOKEN), host.with_token(OTHER_TOKEN));
    let first = put(&worker, "a1", &ask()).await.expect(201);
    assert_eq!((&first["status"], &first["digest"]), (&json!("pending"), &json!("0".repeat(64))));
    let mut again = ask();
    again["expires_in_s"] = json!(5);
    assert_eq!(put(&worker, "a1", &again).await.expect(200), first);
    let mut changed = ask();
    changed["arguments"] = json!({"command": "rm x"});
    put(&worker, "a1", &changed).await.problem(409, "ask_conflict");
    // Another worker's ids are its own.
    let others = put(&other, "a1", &changed).await.expect(201);
    assert_ne!(others["approval_id"], first["approval_id"]);
    host.operator().allow(first["approval_id"].as_str().unwrap()).await;
    let decided = put(&worker, "a1", &ask()).await.expect(200);
    assert_eq!(decided["decision"], json!({"decision": "allow", "by": "operator"}));
    let path = "/v1/worker/approvals/a1";
    assert_eq!(worker.delete(path).await.expect(200), decided, "what is decided stays");
    assert_eq!(other.get(path).await.expect(200)["status"], "pending");
}

#[tokio::test]
async fn a_wait_ends_with_the_decision_or_its_time() {
    let host = host_with(&json!({}));
    let worker = host.with_token(TOKEN);
    let asked = put(&worker, "a1", &ask()).await.expect(201);
    let path = "/v1/worker/approvals/a1";
    assert_eq!(worker.get(&format!("{path}?wait_ms=1")).await.expect(200), asked);
    let waits = tokio::spawn({
        let worker = worker.clone();
        async move { worker.get(&format!("{path}?wait_ms=50000")).await.expect(200) }
    });
    let deny = json!({"decision": "deny", "message": "no"});
    host.operator().decide(asked["approval_id"].as_str().unwrap(), &deny).await.expect(200);
    let heard = within("a decision", waits).await.unwrap();
    assert_eq!(heard["decision"], json!({"decision": "deny", "by": "operator", "message": "no"}));
    worker.get("/v1/worker/approvals/none?wait_ms=50000").await.problem(404, "not_found");
    worker.delete("/v1/worker/approvals/none").await.problem(404, "not_found");
}

#[tokio::test]
async fn a_worker_has_so_many_that_wait() {
    let host = host_with(&json!({"limits": {"approvals_per_worker": 2}}));
    let (worker, other) = (host.with_token(TOKEN), host.with_token(OTHER_TOKEN));
    for id in ["a1", "a2"] {
        put(&worker, id, &ask()).await.expect(201);
    }
    put(&worker, "a3", &ask()).await.problem(429, "too_many");
    put(&worker, "a2", &ask()).await.expect(200);
    put(&other, "a3", &ask()).await.expect(201);
    assert_eq!(worker.delete("/v1/worker/approvals/a1").await.expect(200)["status"], "cancelled");
    put(&worker, "a3", &ask()).await.expect(201);
}

#[tokio::test]
async fn what_a_worker_says_is_bounded_and_escaped() {
    let host = host_with(&json!({}));
    let worker = host.with_token(TOKEN);
    let mut hostile = ask();
    hostile["display"] = json!("ls \u{1b}[2J\u{202e}");
    hostile["reason"] = json!({"text": "a\nb", "rule": "\u{200b}"});
    hostile["cwd"] = json!("/w\r");
    hostile["tool_name"] = json!("Ba\u{200b}sh");
    hostile["leaves"] = json!(["ls \u{202e}\n", "touch a\\nb"]);
    hostile["diff"] = json!("+a\u{1b}[8m\n+b\r\n");
    hostile["sandbox"] = json!("full\u{200b}");
    let asked = put(&worker, "a1", &hostile).await.expect(201);
    let shown = host.operator().approval(asked["approval_id"].as_str().unwrap()).await;
    assert_eq!(shown["display"], "ls \\u{1b}[2J\\u{202e}");
    assert_eq!(shown["reason"], json!({"text": "a\\nb", "rule": "\\u{200b}"}));
    assert_eq!(shown["cwd"], "/w\\r");
    assert_eq!((&shown["tool_name"], &shown["sandbox"]), (&json!("Ba\\u{200b}sh"), &json!("full\\u{200b}")));
    assert_eq!(shown["leaves"], json!(["ls \\u{202e}\\n", "touch a\\nb"]), "what is escaped stays so");
    assert_eq!(shown["diff"], "+a\\u{1b}[8m\n+b\\r\n");
    for (field, bad) in [
        ("worker", json!("<script>")),
        ("session_id", json!("../s")),
        ("digest", json!("no")),
        ("expires_in_s", json!(0)),
        ("arguments", json!("text")),
        ("tool_name", json!("a\u{1b}")),
    ] {
        let mut wrong = ask();
        wrong[field] = bad;
        let problem = put(&worker, "a2", &wrong).await.problem(400, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], format!("/{field}"), "{problem}");
    }
    // Only its head is sent: a client that goes on sending may not see the answer.
    let head = format!(
        "PUT /v1/worker/approvals/a2 HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Length: {}\r\n\r\n",
        host.address,
        4 * 1024 * 1024 + 1
    );
    let answer = exchange(host.address, head.as_bytes()).await;
    assert!(answer.status == 413 && answer.text.contains("\"body_too_large\""), "{}", answer.text);
    // The host's own time is the bound.
    let mut patient = ask();
    patient["expires_in_s"] = json!(30 * 24 * 60 * 60);
    let asked = put(&worker, "a3", &patient).await.expect(201);
    let shown = host.operator().approval(asked["approval_id"].as_str().unwrap()).await;
    let seconds = |name: &str| shown[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
    assert_eq!(seconds("expires_at") - seconds("created_at"), 24 * 60 * 60);
}

#[tokio::test]
async fn a_session_of_the_host_with_the_same_id_has_nothing_to_do_with_it() {
    let host = host_with(&json!({}));
    let session = crate::support::TestSession::create(&host.agent(), &json!({"session_id": "s"})).await;
    let own = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let asked = put(&host.with_token(TOKEN), "a1", &ask()).await.expect(201);
    let of_session = host.operator().pending("s").await;
    assert_eq!(of_session.len(), 1);
    assert_eq!(of_session[0]["approval_id"], json!(own));
    host.operator().allow(asked["approval_id"].as_str().unwrap()).await;
    assert_eq!(session.current("c").await["status"], "awaiting_approval");
    session.end().await.expect(200);
    let foreign = host.operator().approval(asked["approval_id"].as_str().unwrap()).await;
    assert_eq!(foreign["status"], "allowed");
}

#[tokio::test]
async fn asks_of_different_workers_are_never_one() {
    let host = host_with(&json!({}));
    let (worker, other) = (host.with_token(TOKEN), host.with_token(OTHER_TOKEN));
    let mut called_otherwise = ask();
    called_otherwise["worker"] = json!("build-2");
    let mut ids = Vec::new();
    for (client, id, ask) in [
        (&worker, "a1", &ask()),
        (&worker, "a2", &ask()),
        (&worker, "a3", &called_otherwise),
        (&other, "a1", &ask()),
    ] {
        let asked = put(client, id, ask).await.expect(201);
        ids.push(asked["approval_id"].as_str().unwrap().to_owned());
    }
    let page = host.operator().get("/v1/approvals?status=pending&fold=true").await.expect(200);
    let items = page["items"].as_array().unwrap().iter();
    let listed: Vec<_> = items.map(|it| (it["approval_id"].clone(), it["identical"].clone())).collect();
    let want = [(json!(ids[0]), json!([ids[1]])), (json!(ids[2]), Value::Null), (json!(ids[3]), Value::Null)];
    assert_eq!(listed, want);
}
