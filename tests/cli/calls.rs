//! `toolgate call`, `batch`, `cancel`.

use serde_json::json;

use crate::support::{Run, TestServer};

fn call(id: &str, tool: &str, arguments: &serde_json::Value) -> serde_json::Value {
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}})
}

#[test]
fn one_call_makes_its_session_and_prints_its_result() {
    let server = TestServer::start();
    let run = server.run(&["call", "Bash", r#"{"command":"ls"}"#]).expect(0);
    run.says(&["session ses_", " in "]);
    let run = server.run(&["call", "Read", r#"{"file_path":"missing.txt"}"#]).expect(1);
    run.shows(&["missing.txt"]).says(&["failed"]);
    let made = server.run(&["call", "--json", "Glob", r#"{"pattern":"*"}"#]).expect(0).json();
    assert_eq!(made["status"], "completed");
}

#[test]
fn a_batch_is_read_in_every_form() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    std::fs::write(server.root().join("s/a.txt"), "inside\n").unwrap();
    let calls = |n: &str| {
        [
            call(&format!("{n}1"), "Read", &json!({"file_path": "a.txt"})),
            call(&format!("{n}2"), "Glob", &json!({"pattern": "*.txt"})),
        ]
    };
    let lines = server.file("calls.jsonl", &calls("l").map(|call| call.to_string()).join("\n"));
    let run = server.run(&["batch", &lines, "--session", "s"]).expect(0);
    run.shows(&["== l1 Read completed\n", "inside", "== l2 Glob completed\n", "a.txt"]);
    let array = json!(calls("a")).to_string();
    let made =
        Run::with_input(server.command(&["batch", "--session", "s", "--json"]), &array).expect(0).json();
    assert_eq!(made["calls"][1]["call_id"], "a2");
    let message = json!({"role": "assistant", "tool_calls": calls("m")}).to_string();
    let run = Run::with_input(server.command(&["batch", "-", "--session", "s", "--turn", "3"]), &message);
    run.expect(0).shows(&["== m1 Read completed"]);
    // The same ids again are the same calls: nothing runs twice.
    let again = server.run(&["batch", &lines, "--session", "s", "--json"]).expect(0).json();
    assert_eq!(again["calls"][0]["call_id"], "l1");
    let broken = server.file("broken.jsonl", "{\"function\":{\"name\":\"Read\"}}\n\n{\"name\":\"Read\"}\n");
    server.run(&["batch", &broken, "--session", "s"]).expect(2).says(&["line 3"]);
    server.run(&["batch", "/does/not/exist"]).expect(2).says(&["cannot read /does/not/exist"]);
}

#[test]
fn a_batch_exits_with_what_says_most() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(curl *)"]}}));
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    let batch = |calls: &[serde_json::Value]| {
        Run::with_input(server.command(&["batch", "--session", "s"]), &json!(calls).to_string())
    };
    let good = call("g", "Glob", &json!({"pattern": "*"}));
    let failed = call("f", "Read", &json!({"file_path": "no"}));
    let denied = call("d", "Bash", &json!({"command": "curl x"}));
    let asked = call("w", "Bash", &json!({"command": "touch x"}));
    batch(std::slice::from_ref(&good)).expect(0);
    batch(&[good.clone(), failed.clone()]).expect(1);
    batch(&[good.clone(), failed.clone(), denied.clone()]).expect(3).shows(&["== d Bash denied"]);
    batch(&[good, failed, denied, asked]).expect(4).says(&["waits for approval: toolgate approve apr_"]);
}

#[test]
fn a_batch_waits_through_decisions_where_asked() {
    let server = TestServer::start();
    let calls = json!([
        call("w1", "Bash", &json!({"command": "touch made"})),
        call("w2", "Glob", &json!({"pattern": "*"})),
    ]);
    let file = server.file("calls.json", &calls.to_string());
    server.run(&["sessions", "create", "--id", "s"]).expect(0);
    let mut waiting = server.command(&["batch", &file, "--session", "s", "--wait", "50", "--json"]);
    let waiting = waiting.stdout(std::process::Stdio::piped()).spawn().unwrap();
    // The stream ends with the head of the first request for approval.
    let line = server.shell("toolgate events s --follow --types tool_approval_requested --json | head -n 1");
    let approval = line.json_lines()[0]["approval"]["approval_id"].as_str().unwrap().to_owned();
    server.run(&["approve", &approval]).expect(0);
    let made = Run::of(&waiting.wait_with_output().unwrap()).expect(0).json();
    assert_eq!(made["calls"][0]["status"], "completed");
    assert!(made["calls"][1]["result"]["result"].as_str().unwrap().contains("made"), "{made}");
}

#[test]
fn a_call_is_cancelled_and_one_that_ended_stays() {
    let server = TestServer::start();
    server.waiting("s", "c1", "touch x");
    assert_eq!(server.run(&["cancel", "s", "c1"]).expect(0).out, "c1 cancelled\n");
    let again = server.run(&["cancel", "s", "c1", "--json"]).expect(0).json();
    assert_eq!(again["status"], "cancelled");
    server.run(&["call", "--session", "s", "--id", "c2", "Glob", r#"{"pattern":"*"}"#]).expect(0);
    server.run(&["cancel", "s", "c2"]).expect(0).shows(&["c2 had ended already (completed)"]);
    server.run(&["cancel", "s", "none"]).expect(6).says(&["status 404"]);
}
