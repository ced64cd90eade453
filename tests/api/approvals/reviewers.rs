//! Several reviewers at once: one decides, the others hear who and how, and the call runs at most once.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::Barrier;

use super::forwarded::sha256;
use crate::support::{Answer, Client, TestServer, TestSession, within};

const NAMES: [&str; 3] = ["anna", "bert", "cleo"];

fn token(name: &str) -> String {
    format!("{name}-of-the-tests-0123456789abcdef-0123456789abcdef")
}

/// A server with three operators.
fn server_with(mut config: Value) -> TestServer {
    let tokens = NAMES.map(|name| json!({"name": name, "role": "operator", "sha256": sha256(&token(name))}));
    config["auth"] = json!({"tokens": tokens});
    TestServer::with_config(&config)
}

fn reviewers(server: &TestServer) -> [Client; 3] {
    NAMES.map(|name| server.with_token(&token(name)))
}

/// All decisions at once, each by the reviewer at its place; their answers.
async fn decide_at_once(server: &TestServer, decisions: Vec<(String, Value)>) -> Vec<Answer> {
    let barrier = Arc::new(Barrier::new(decisions.len()));
    let reviewers = reviewers(server);
    let deciding = decisions.into_iter().enumerate().map(|(n, (id, body))| {
        let (reviewer, barrier) = (reviewers[n % reviewers.len()].clone(), Arc::clone(&barrier));
        tokio::spawn(async move {
            barrier.wait().await;
            reviewer.decide(&id, &body).await
        })
    });
    let deciding: Vec<_> = deciding.collect();
    let mut answers = Vec::new();
    for decision in deciding {
        answers.push(within("a decision", decision).await.unwrap());
    }
    answers
}

/// How often a line was written.
fn lines(session: &TestSession, line: &str) -> usize {
    let log = std::fs::read_to_string(session.file("log")).unwrap_or_default();
    log.lines().filter(|found| *found == line).count()
}

/// Who ended an approval of a call, and how.
async fn ends(server: &TestServer, session: &TestSession, call: &str) -> Vec<(Value, Value)> {
    let path = format!("/v1/audit?kind=approval&session_id={}&call_id={call}", session.id);
    let page = server.operator().get(&path).await.expect(200);
    page["items"].as_array().unwrap().iter().map(|it| (it["decision"].clone(), it["by"].clone())).collect()
}

#[tokio::test]
async fn one_of_several_decides_and_the_others_hear_who_and_how() {
    let server = server_with(json!({}));
    let session = server.session().await;
    let mut winners = [0; 3];
    for round in 0..12 {
        let (call, command) = (format!("c{round}"), |what: &str| format!("echo {what}{round} >> log"));
        let id = session.asks(&call, "Bash", json!({"command": command("asked")})).await;
        let mut bodies = [
            json!({"decision": "allow"}),
            json!({"decision": "deny", "message": "no"}),
            json!({"decision": "allow", "arguments": {"command": command("edited")}}),
        ];
        // Each of them is the quickest now and then.
        bodies.rotate_left(round % 3);
        let answers =
            decide_at_once(&server, bodies.iter().map(|body| (id.clone(), body.clone())).collect()).await;
        let won: Vec<usize> = (0..3).filter(|n| answers[*n].status == 200).collect();
        let [won] = won[..] else { panic!("{won:?} decided") };
        winners[won] += 1;
        let decided = answers[won].expect(200);
        assert_eq!(decided["decision"]["by"], NAMES[won]);
        for (n, answer) in answers.iter().enumerate().filter(|(n, _)| *n != won) {
            let problem = answer.problem(409, "already_decided");
            assert_eq!(problem["approval"], decided, "reviewer {n} hears what stands");
        }
        let ended = session.ended(&call).await;
        let (denied, edited) = (bodies[won]["decision"] == "deny", bodies[won]["arguments"].is_object());
        assert_eq!(ended["status"], if denied { "denied" } else { "completed" });
        assert_eq!(lines(&session, &format!("asked{round}")), usize::from(!denied && !edited));
        assert_eq!(lines(&session, &format!("edited{round}")), usize::from(edited));
        let choice = if denied { "deny" } else { "allow" };
        assert_eq!(ends(&server, &session, &call).await, [(json!(choice), json!(NAMES[won]))]);
    }
    assert_eq!(winners.iter().sum::<usize>(), 12);
}

#[tokio::test]
async fn a_decision_in_the_last_moment_stands_or_the_expiry_does() {
    let server = server_with(json!({"approvals": {"expire_after_s": 1}}));
    let session = server.session().await;
    let mut calls = Vec::new();
    for n in 0..12 {
        let asked = json!({"command": format!("echo {n} >> log")});
        calls.push((n.to_string(), session.asks(&n.to_string(), "Bash", asked).await));
    }
    // The first one's end is the moment at which the others are about to end.
    session.event("0", "tool_approval_resolved").await;
    let decisions =
        calls[1..].iter().map(|(_, id)| (id.clone(), json!({"decision": "allow"}))).collect::<Vec<_>>();
    let answers = decide_at_once(&server, decisions).await;
    for ((call, id), answer) in calls[1..].iter().zip(&answers) {
        let ended = session.ended(call).await;
        let decided = answer.status == 200;
        if !decided {
            assert_eq!(answer.problem(409, "already_decided")["approval"]["status"], "expired");
        }
        let (status, stands) = if decided { ("completed", "allowed") } else { ("denied", "expired") };
        assert_eq!(ended["status"], status);
        assert_eq!(server.operator().approval(id).await["status"], stands);
        assert_eq!(lines(&session, call), usize::from(decided), "{call}");
        assert_eq!(ends(&server, &session, call).await.len(), 1, "it ended once");
    }
}

#[tokio::test]
async fn identical_asks_are_decided_one_by_one_by_whoever_is_first() {
    let server = server_with(json!({}));
    let session = server.session().await;
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(session.asks(&n.to_string(), "Bash", json!({"command": "echo same >> log"})).await);
    }
    let folded = "/v1/approvals?status=pending&fold=true";
    let listed = server.operator().get(folded).await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed}");
    let other = json!({"command": "echo other >> log"});
    let decisions = vec![
        (ids[0].clone(), json!({"decision": "allow"})),
        (ids[1].clone(), json!({"decision": "deny"})),
        (ids[2].clone(), json!({"decision": "allow", "arguments": other})),
    ];
    for (n, answer) in decide_at_once(&server, decisions).await.iter().enumerate() {
        let decided = answer.expect(200);
        assert_eq!((&decided["approval_id"], &decided["decision"]["by"]), (&json!(ids[n]), &json!(NAMES[n])));
    }
    for (call, status) in [("0", "completed"), ("1", "denied"), ("2", "completed")] {
        assert_eq!(session.ended(call).await["status"], status, "{call}");
    }
    assert_eq!((lines(&session, "same"), lines(&session, "other")), (1, 1));
    assert_eq!(server.operator().get(folded).await.expect(200)["items"], json!([]));
}
