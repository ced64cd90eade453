//! `toolgate approvals`, `approve`, `deny`, `answer`, `grants`.

use serde_json::json;

use crate::support::TestServer;

#[test]
fn what_waits_is_listed_shown_and_decided() {
    let server = TestServer::start();
    let first = server.waiting("s", "c1", "touch x");
    let second = server.waiting("s", "c2", "touch y");
    server.run(&["approvals"]).expect(0).shows(&["APPROVAL", &first, &second, "touch x"]);
    let listed = server.run(&["approvals", "--json", "--session", "s"]).expect(0).json_lines();
    assert_eq!(listed.len(), 2);
    let shown = server.run(&["approvals", &first]).expect(0);
    shown.shows(&["tool       Bash\n", "runs       touch x\n", "offer      --scope once\n"]);
    let plain = shown.out.clone();
    let colored = server.run(&["approvals", &first, "--color", "always"]).expect(0);
    assert!(colored.out.contains('\u{1b}') && !plain.contains('\u{1b}'), "{colored:#?}");

    // The beginning of an id is a time, and may be that of what was asked after what was seen.
    for part in [&first[..first.len() - 1], &first[..12], &first[first.len() - 7..]] {
        server.run(&["approve", part]).expect(2).says(&["last 8 characters"]);
        server.run(&["deny", part]).expect(2);
    }
    server.run(&["approve", &first[first.len() - 8..]]).expect(0).shows(&["allowed once", "touch x"]);
    let denied = server.run(&["deny", &second, "--message", "use z", "--json"]).expect(0).json();
    assert_eq!(denied["status"], "denied");
    let late = server.run(&["approve", &second]).expect(6);
    late.says(&["status 409"]);
    let call = server.run(&["call", "--session", "s", "--id", "c2", "Bash", r#"{"command":"touch y"}"#]);
    call.expect(3).shows(&["use z"]);
    let run = server.run(&["approvals"]).expect(0);
    assert!(run.out.is_empty());
    run.says(&["nothing waits"]);
}

#[test]
fn grants_are_listed_and_taken_back() {
    let server = TestServer::start();
    let approval = server.waiting("s", "c1", "make");
    server
        .run(&["approve", &approval, "--scope", "session"])
        .expect(0)
        .shows(&["(session: Bash(make) in .) until 20"]);
    let list = server.run(&["grants"]).expect(0);
    list.shows(&["GRANT", "UNTIL", "session", "Bash(make)", "agent"]);
    let grants = server.run(&["grants", "list", "--session", "s", "--json"]).expect(0).json_lines();
    assert_eq!(grants.len(), 1);
    assert!(server.run(&["grants", "--session", "other", "--json"]).expect(0).out.is_empty());
    // What was granted is part of what explains a session's calls.
    server.run(&["rules", "explain", "Bash(make)", "--session", "s"]).expect(0).shows(&["granted before"]);
    let id = grants[0]["grant_id"].as_str().unwrap();
    server.run(&["grants", "revoke", "grt_nothing"]).expect(2).says(&["toolgate grants"]);
    server.run(&["grants", "revoke", &id[..id.len() - 2]]).expect(2).says(&["last 8 characters"]);
    let run = server.run(&["grants", "revoke", &id[id.len() - 8..]]).expect(0);
    assert_eq!(run.out, format!("revoked {id}: Bash(make) in .\n"));
    assert!(server.run(&["grants", "--json"]).expect(0).out.is_empty());
    server.run(&["rules", "explain", "Bash(make)", "--session", "s"]).expect(4);
}

#[test]
fn a_question_is_shown_and_answered() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    let ask = |id: &str| {
        let arguments = json!({"question": "Which one?", "options": ["red", "blue"]}).to_string();
        let run = server.run(&["call", "--session", "s", "--id", id, "--json", "AskUser", &arguments]);
        assert_eq!(run.expect(4).json()["status"], "awaiting_answer");
    };
    ask("q1");
    let shown = server.run(&["answer", "s", "q1"]).expect(4);
    shown.shows(&["Which one?\n", "   1  red\n", "   2  blue\n"]);
    server.run(&["answer", "s", "q1", "--option", "3"]).expect(2).says(&["has 2 options"]);
    server.run(&["answer", "s", "q1", "--option", "2"]).expect(0).shows(&["answered q1: blue"]);
    server.run(&["answer", "s", "q1"]).expect(2).says(&["does not wait for an answer"]);
    ask("q2");
    let call = server.run(&["answer", "s", "q2", "red", "--json"]).expect(0).json();
    assert_eq!(call["call_id"], "q2");
}

#[test]
fn identical_asks_of_a_worker_are_decided_together() {
    // The SHA-256 of the token below.
    let sha256 = "7b4505bc26b383e0b4cfa3243eb3555ea993ac5974c833005d995b4ab5fe8d56";
    let config = json!({"auth": {"tokens": [{"name": "ci", "role": "worker", "sha256": sha256}]}});
    let server = TestServer::with_config(&config);
    // A session of the server's own that is called like the worker's.
    let own = server.waiting("s", "c", "make");
    let asked = |id: &str| {
        let body = json!({"worker": "build-1", "session_id": "s", "call_id": id, "tool_name": "Bash",
            "arguments": {"command": "make"}, "digest": "0".repeat(64), "reason": {"text": "it runs"},
            "cwd": "/w", "sandbox": "none", "leaves": ["make"], "display": "make", "expires_in_s": 600});
        let answer = put(
            &server.url,
            &format!("/v1/worker/approvals/{id}"),
            "worker-of-the-tests-0123456789abcdef-0123456789",
            &body.to_string(),
        );
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        body["approval_id"].as_str().unwrap().to_owned()
    };
    let (one, two) = (asked("a1"), asked("a2"));
    server.run(&["approve", &one, "--identical"]).expect(0).shows(&["allowed once"]);
    let status = |id: &str| server.run(&["approvals", id, "--json"]).expect(0).json()["status"].clone();
    assert_eq!(
        (status(&one), status(&two), status(&own)),
        (json!("allowed"), json!("allowed"), json!("pending"))
    );
}

/// Sends a request as a worker does; the whole answer.
fn put(url: &str, path: &str, token: &str, body: &str) -> String {
    use std::io::{Read as _, Write as _};
    let mut stream = std::net::TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    let head = format!(
        "PUT {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + body).as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}
