//! A worker's server forwards its asks to a host's: two real servers, people at the host, kills on both sides.

use serde_json::{Value, json};

use crate::support::relay::Relay;
use crate::support::server::SECOND_AGENT;
use crate::support::sse::Stream;
use crate::support::{TestServer, TestSession, within};

/// The token that the worker has of its host.
pub(crate) const TOKEN: &str = "worker-of-the-tests-0123456789abcdef-0123456789";

/// A host that knows the worker.
pub(crate) fn host_with(config: &Value) -> TestServer {
    let mut config = config.clone();
    TestServer::prepared(&[], |folder| {
        let token = folder.join("ci-token");
        std::fs::write(&token, TOKEN).unwrap();
        config["auth"] = json!({"tokens": [
            {"name": "ci", "role": "worker", "file": token},
            {"name": "second", "role": "agent", "sha256": sha256(SECOND_AGENT)},
            {"name": "other-ci", "role": "worker", "sha256": sha256(OTHER_TOKEN)},
        ]});
        std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
        folder.join("config.json")
    })
}

/// Another worker's token.
pub(super) const OTHER_TOKEN: &str = "another-worker-of-the-tests-0123456789abcdef-01";

/// A token as a config names it.
pub(super) fn sha256(text: &str) -> String {
    use sha2::{Digest as _, Sha256};
    use std::fmt::Write as _;
    Sha256::digest(text).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A server that forwards to this URL with this token.
pub(super) fn worker_with(url: &str, token: &str, change: &Value, config: &Value) -> TestServer {
    let mut config = config.clone();
    TestServer::prepared(&[], |folder| {
        let file = folder.join("host-token");
        std::fs::write(&file, format!("{token}\n")).unwrap();
        let mut to = json!({"url": url, "token_file": file, "name": "build-1"});
        to.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        config["approvals"]["forward_to"] = to;
        std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
        folder.join("config.json")
    })
}

/// A host, its worker, a session there, and what the host tells of approvals.
struct Pair {
    host: TestServer,
    relay: Relay,
    worker: TestServer,
    session: TestSession,
    told: Stream,
}

impl Pair {
    async fn new() -> Self {
        Self::with(&json!({}), &json!({}), &json!({})).await
    }

    async fn with(host: &Value, change: &Value, worker: &Value) -> Self {
        let host = host_with(host);
        let relay = Relay::to(host.address).await;
        let worker = worker_with(&format!("http://{}", relay.address), TOKEN, change, worker);
        let session = worker.session().await;
        let told = told(&host).await;
        Self { host, relay, worker, session, told }
    }

    /// The next that the host tells of an approval.
    async fn tells(&mut self) -> Value {
        self.told.next().await.unwrap().data.unwrap()
    }

    /// The id of the approval that waits at the host next.
    async fn waits(&mut self) -> String {
        let event = self.tells().await;
        assert_eq!(event["type"], "tool_approval_requested", "{event}");
        event["approval"]["approval_id"].as_str().unwrap().to_owned()
    }

    async fn at_host(&self, approval_id: &str) -> Value {
        self.host.operator().approval(approval_id).await
    }
}

async fn told(host: &TestServer) -> Stream {
    host.operator().stream("/v1/events?types=tool_approval_requested,tool_approval_resolved").await
}

fn touch(file: &str) -> Value {
    json!({"command": format!("touch {file}")})
}

#[tokio::test]
async fn an_ask_is_shown_at_the_host_as_the_workers_and_runs_once_it_is_allowed_there() {
    let mut pair = Pair::new().await;
    let own = pair.session.asks("c", "Bash", touch("x")).await;
    let here = pair.worker.operator().approval(&own).await;
    assert_eq!((&here["status"], &here["forwarded"]), (&json!("pending"), &json!(true)));
    let event = pair.tells().await;
    assert!(event.get("session_id").is_none(), "the worker's session is none of the host's: {event}");
    assert_eq!(event["tool_call_id"], "c");
    let shown = &event["approval"];
    assert_eq!(shown["worker"], json!({"token": "ci", "name": "build-1"}));
    assert_eq!(shown["session_id"], pair.session.id);
    for same in ["tool_name", "arguments", "digest", "display", "cwd", "leaves", "reason", "sandbox"] {
        assert_eq!(shown[same], here[same], "{same}");
    }
    assert_eq!(shown["offers"], json!([]));
    let waiting = pair.host.operator().get("/v1/approvals?status=pending").await.expect(200);
    assert_eq!(waiting["items"], json!([shown]));
    let id = shown["approval_id"].as_str().unwrap().to_owned();
    assert_eq!(pair.host.operator().allow(&id).await["status"], "allowed");
    let call = pair.session.ended("c").await;
    assert_eq!(call["status"], "completed", "{call}");
    assert!(pair.session.file("x").exists());
    let decided = pair.worker.operator().approval(&own).await;
    assert_eq!(
        (&decided["status"], &decided["decision"]["by"]),
        (&json!("allowed"), &json!("host:operator"))
    );
    let told = pair.tells().await;
    assert_eq!((&told["decision"], &told["by"]), (&json!("allow"), &json!("operator")));
    // The same decision again is the same, another one is not; and nothing runs again.
    pair.host.operator().allow(&id).await;
    let deny = json!({"decision": "deny"});
    pair.host.operator().decide(&id, &deny).await.problem(409, "already_decided");
}

#[tokio::test]
async fn a_host_sees_what_the_session_changed_in_what_will_run() {
    let mut pair = Pair::with(&json!({}), &json!({}), &json!({"permissions": {"allow": ["Write"]}})).await;
    let write = json!({"file_path": "run.sh", "content": "echo one\n"});
    pair.session.begin("w", "Write", write).await;
    assert_eq!(pair.session.ended("w").await["status"], "completed");
    let own = pair.session.asks("c", "Bash", json!({"command": "sh run.sh"})).await;
    let here = pair.worker.operator().approval(&own).await;
    let id = pair.waits().await;
    let there = pair.at_host(&id).await;
    assert!(there["changed_files"][0]["diff"].as_str().unwrap().contains("+echo one\n"), "{there}");
    assert_eq!(there["changed_files"], here["changed_files"]);
}

#[tokio::test]
async fn a_denial_reaches_the_model_with_its_message() {
    let mut pair = Pair::new().await;
    pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    let deny = json!({"decision": "deny", "message": "Not on a Friday."});
    assert_eq!(pair.host.operator().decide(&id, &deny).await.expect(200)["status"], "denied");
    let call = pair.session.ended("c").await;
    assert_eq!(call["status"], "denied");
    assert!(call["result"]["result"].as_str().unwrap().contains("Not on a Friday."), "{call}");
    assert_eq!(pair.session.event("c", "tool_denied").await["by"], "reviewer");
    assert!(!pair.session.file("x").exists());
}

#[tokio::test]
async fn a_host_allows_once_and_what_was_asked() {
    let mut pair = Pair::new().await;
    pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    for more in [
        json!({"decision": "allow", "scope": "session"}),
        json!({"decision": "allow", "scope": "always", "pattern": "Bash(touch x)"}),
        json!({"decision": "allow", "arguments": {"command": "rm x"}}),
    ] {
        pair.host.operator().decide(&id, &more).await.problem(422, "not_offered");
    }
    assert_eq!(pair.at_host(&id).await["status"], "pending");
    assert_eq!(pair.session.current("c").await["status"], "awaiting_approval");
}

#[tokio::test]
async fn a_cancelled_call_takes_its_ask_back() {
    let mut pair = Pair::new().await;
    pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    assert_eq!(pair.session.cancel("c").await.expect(200)["status"], "cancelled");
    let told = pair.tells().await;
    assert_eq!((&told["approval_id"], &told["decision"]), (&json!(id), &json!("cancelled")));
    let allow = json!({"decision": "allow"});
    pair.host.operator().decide(&id, &allow).await.problem(409, "already_decided");
    // So does a session that ends.
    pair.session.asks("d", "Bash", touch("x")).await;
    let id = pair.waits().await;
    pair.session.end().await.expect(200);
    assert_eq!(pair.tells().await["approval_id"], json!(id));
    assert!(!pair.session.file("x").exists());
}

#[tokio::test]
async fn an_ask_is_taken_back_also_where_host_and_worker_were_down_meanwhile() {
    let mut pair = Pair::new().await;
    pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    pair.session.asks("d", "Bash", touch("y")).await;
    let other = pair.waits().await;
    pair.host.kill();
    assert_eq!(pair.session.cancel("c").await.expect(200)["status"], "cancelled");
    pair.worker.kill();
    pair.host.start_again();
    pair.relay.turn_to(pair.host.address);
    pair.told = told(&pair.host).await;
    assert_eq!((pair.waits().await, pair.waits().await), (id.clone(), other.clone()));
    pair.worker.start_again();
    let event = pair.tells().await;
    assert_eq!((&event["approval_id"], &event["decision"]), (&json!(id), &json!("cancelled")));
    assert_eq!(pair.at_host(&other).await["status"], "pending", "what waits is left");
    pair.host.operator().allow(&other).await;
    let session = pair.session.with(pair.worker.agent());
    assert_eq!(session.ended("d").await["status"], "completed");
}

#[tokio::test]
async fn an_ask_outlives_a_host_that_is_killed() {
    let mut pair = Pair::new().await;
    pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    pair.host.kill();
    // What is asked meanwhile arrives once it is back.
    pair.session.asks("d", "Bash", touch("y")).await;
    pair.host.start_again();
    pair.relay.turn_to(pair.host.address);
    pair.told = told(&pair.host).await;
    assert_eq!(pair.waits().await, id, "it still waits, and was asked once");
    let later = pair.waits().await;
    pair.host.operator().allow(&id).await;
    pair.host.operator().allow(&later).await;
    for call in ["c", "d"] {
        assert_eq!(pair.session.ended(call).await["status"], "completed");
    }
}

#[tokio::test]
async fn a_worker_that_is_killed_finds_its_ask_again() {
    let mut pair = Pair::new().await;
    let own = pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    pair.worker.kill();
    pair.worker.start_again();
    let session = pair.session.with(pair.worker.agent());
    assert_eq!(session.current("c").await["status"], "awaiting_approval");
    pair.host.operator().allow(&id).await;
    assert_eq!(session.ended("c").await["status"], "completed");
    assert_eq!(pair.worker.operator().approval(&own).await["decision"]["by"], "host:operator");
    // Decided while the worker is away: the decision waits for it.
    session.asks("d", "Bash", touch("y")).await;
    assert_eq!(pair.tells().await["decision"], "allow", "and no ask between");
    let id = pair.waits().await;
    pair.worker.kill();
    pair.host.operator().decide(&id, &json!({"decision": "deny", "message": "no"})).await.expect(200);
    pair.worker.start_again();
    let session = session.with(pair.worker.agent());
    assert_eq!(session.ended("d").await["status"], "denied");
    let all = pair.host.operator().get("/v1/approvals").await.expect(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_allow_holds_for_nothing_but_what_was_shown() {
    let mut pair = Pair::new().await;
    pair.session.write_file("f", "one\n");
    pair.session.call("r", "Read", json!({"file_path": "f"})).await.expect(200);
    let edit = json!({"file_path": "f", "old_string": "one", "new_string": "two"});
    pair.session.asks("c", "Edit", edit).await;
    let event = pair.tells().await;
    assert!(event["approval"]["diff"].as_str().unwrap().contains("+two"), "{event}");
    pair.session.write_file("f", "one\nand more\n");
    pair.host.operator().allow(event["approval"]["approval_id"].as_str().unwrap()).await;
    assert_eq!(pair.tells().await["decision"], "allow");
    // It is asked anew, with what would happen now.
    let anew = pair.tells().await;
    assert!(anew["approval"]["diff"].as_str().unwrap().contains("and more"), "{anew}");
    assert_ne!(anew["approval"]["digest"], event["approval"]["digest"]);
    assert_eq!(pair.session.read_file("f"), "one\nand more\n");
    let deny = json!({"decision": "deny"});
    let id = anew["approval"]["approval_id"].as_str().unwrap();
    pair.host.operator().decide(id, &deny).await.expect(200);
    assert_eq!(pair.session.ended("c").await["status"], "denied");
}

#[tokio::test]
async fn what_the_worker_denies_by_then_does_not_run() {
    let mut pair = Pair::new().await;
    pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    let mut config: Value =
        serde_json::from_str(&std::fs::read_to_string(pair.worker.config_file()).unwrap()).unwrap();
    config["permissions"] = json!({"deny": ["Bash(touch *)"]});
    std::fs::write(pair.worker.config_file(), config.to_string()).unwrap();
    pair.worker.operator().post("/v1/config/reload", &json!({})).await.expect(200);
    pair.host.operator().allow(&id).await;
    let call = pair.session.ended("c").await;
    assert_eq!(call["status"], "denied", "{call}");
    assert!(!pair.session.file("x").exists());
}

#[tokio::test]
async fn a_workers_own_operator_denies_but_allows_nothing() {
    let mut pair = Pair::new().await;
    let own = pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    let operator = pair.worker.operator();
    let allow = json!({"decision": "allow"});
    operator.decide(&own, &allow).await.problem(403, "host_decides");
    for wider in [
        json!({"bypass_permissions": true}),
        json!({"permission_mode": "accept_edits"}),
        json!({"permission_mode": "sandbox_auto"}),
    ] {
        operator.patch(&pair.session.path("/runtime"), &wider).await.problem(403, "exceeds_max_mode");
        let session = json!({"runtime": wider});
        operator.post("/v1/sessions", &session).await.problem(403, "exceeds_max_mode");
    }
    // What outlasts a call could only be granted here.
    let rules = json!({"permissions": ["Bash(touch x)"], "reason": "r"});
    let call = pair.session.call("p", "request_permissions", rules).await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
    operator.decide(&own, &json!({"decision": "deny", "message": "stop"})).await.expect(200);
    assert_eq!(pair.session.ended("c").await["status"], "denied");
    let told = pair.tells().await;
    assert_eq!((&told["approval_id"], &told["decision"]), (&json!(id), &json!("cancelled")));
}

#[tokio::test]
async fn a_workers_operator_allows_where_the_config_says_so() {
    let mut pair = Pair::with(&json!({}), &json!({"local_decisions": true}), &json!({})).await;
    let own = pair.session.asks("c", "Bash", touch("x")).await;
    let id = pair.waits().await;
    pair.worker.operator().allow(&own).await;
    assert_eq!(pair.session.ended("c").await["status"], "completed");
    let told = pair.tells().await;
    assert_eq!((&told["approval_id"], &told["decision"]), (&json!(id), &json!("cancelled")));
    let flags = json!({"bypass_permissions": true});
    pair.worker.operator().patch(&pair.session.path("/runtime"), &flags).await.expect(200);
}

#[tokio::test]
async fn a_batch_is_answered_while_a_call_of_it_waits_at_the_host() {
    let mut pair = Pair::new().await;
    let call = |id: &str, name: &str, arguments: &str| json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}});
    let calls = [call("a", "Bash", r#"{"command":"touch x"}"#), call("b", "Glob", r#"{"pattern":"*"}"#)];
    let path = pair.session.path("/calls/batch");
    let body = json!({"calls": calls});
    let post = pair.session.client.post(&path, &body);
    let answer = within("a batch that waits", post).await.expect(202);
    assert_eq!(answer["calls"][0]["status"], "awaiting_approval");
    let id = pair.waits().await;
    pair.host.operator().allow(&id).await;
    for id in ["a", "b"] {
        assert_eq!(pair.session.ended(id).await["status"], "completed");
    }
}

#[tokio::test]
async fn an_ask_that_nobody_decides_is_denied() {
    // By the host's time, and by the worker's.
    let mut pair = Pair::with(&json!({"approvals": {"expire_after_s": 1}}), &json!({}), &json!({})).await;
    pair.session.asks("c", "Bash", touch("x")).await;
    pair.waits().await;
    assert_eq!(pair.tells().await["decision"], "expired");
    let call = pair.session.ended("c").await;
    assert_eq!(call["status"], "denied");
    assert!(call["result"]["result"].as_str().unwrap().contains("in time"), "{call}");
    let own = json!({"approvals": {"expire_after_s": 1}});
    let pair = Pair::with(&json!({}), &json!({}), &own).await;
    pair.session.asks("c", "Bash", touch("x")).await;
    assert_eq!(pair.session.ended("c").await["status"], "denied");
    assert_eq!(pair.session.event("c", "tool_denied").await["by"], "expired");
}
