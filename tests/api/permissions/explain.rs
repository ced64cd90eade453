//! `POST /v1/permissions/explain`: the gate's verdict, told and nothing more.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::server::SECOND_AGENT;
use crate::support::{Client, TestServer, TestSession};

const EXPLAIN: &str = "/v1/permissions/explain";

async fn explained(client: &Client, body: Value) -> Value {
    client.post(EXPLAIN, &body).await.expect(200)
}

async fn in_session(session: &TestSession, call: &str) -> Value {
    explained(&session.client, json!({"call": call, "session_id": session.id})).await
}

fn sources(told: &Value) -> Vec<&str> {
    told["matched"].as_array().unwrap().iter().map(|rule| rule["source"].as_str().unwrap()).collect()
}

fn rules() -> Value {
    json!({"permissions": {
        "deny": ["Read(**/.env)", "Bash(curl *)", "WebFetch(domain:evil.example)"],
        "always_ask": ["Bash(git push *)"],
        "ask": ["Edit(docs/**)"],
        "allow": ["Bash(mkdir *)", "Bash(mkdir -p *)", "Edit(**)"],
    }})
}

#[tokio::test]
async fn a_call_is_said_in_three_ways() {
    let server = TestServer::with_config(&rules());
    let agent = server.agent();
    let written = explained(&agent, json!({"call": "Bash(git push origin)"})).await;
    assert_eq!((&written["decision"], &written["forced"]), (&json!("ask"), &json!(true)));
    assert_eq!(written["reason"]["by"], "rule");
    assert_eq!(written["reason"]["rule"], "Bash(git push *)");
    assert_eq!(written["reason"]["source"], "permissions.always_ask[0]");
    assert_eq!((&written["class"], &written["leaves"]), (&json!("run"), &json!(["git push origin"])));
    assert_eq!(
        written["matched"],
        json!([{"list": "always_ask", "rule": "Bash(git push *)", "source": "permissions.always_ask[0]",
                "leaf": "git push origin"}])
    );
    assert_eq!((&written["revision"], &written["known_tool"]), (&json!(1), &json!(true)));
    assert_eq!((&written["workspace"], &written["cwd"]), (&json!("/workspace"), &json!("/workspace")));
    assert!(written.get("session_id").is_none());
    let arguments = json!({"command": "git push origin"});
    for body in [
        json!({"tool_name": "Bash", "arguments": arguments}),
        json!({"tool_name": "Bash", "arguments": arguments.to_string()}),
        json!({"function": {"name": "Bash", "arguments": arguments.to_string()}}),
        json!({"id": "c1", "type": "function", "function": {"name": "functions.Bash", "arguments": arguments}}),
    ] {
        assert_eq!(explained(&agent, body.clone()).await, written, "{body}");
    }
}

#[tokio::test]
async fn every_rule_that_matches_is_told_and_what_would_allow_it() {
    let server = TestServer::with_config(&rules());
    let agent = server.agent();
    let told = explained(&agent, json!({"call": "Bash(mkdir -p x)"})).await;
    assert_eq!(told["decision"], "allow");
    assert_eq!(sources(&told), ["permissions.allow[0]", "permissions.allow[1]"]);
    let told = explained(&agent, json!({"call": "Edit(docs/.env)"})).await;
    assert_eq!(told["decision"], "deny");
    assert_eq!(sources(&told), ["permissions.deny[0]", "permissions.ask[0]", "permissions.allow[2]"]);
    let told = explained(&agent, json!({"call": "WebFetch(https://docs.rs/x)"})).await;
    assert_eq!((&told["decision"], &told["class"]), (&json!("ask"), &json!("network")));
    assert_eq!(told["would_allow"], json!(["WebFetch(domain:docs.rs)"]));
    let told = explained(&agent, json!({"call": "WebFetch(https://a.evil.example/)"})).await;
    assert_eq!((&told["decision"], &told["would_allow"]), (&json!("deny"), &json!([])));
}

#[tokio::test]
async fn circumstances_are_the_ones_that_are_named() {
    let server = TestServer::with_config(&json!({"permissions": {"mode": "plan"}}));
    let agent = server.agent();
    for (more, decision, by) in [
        (json!({}), "deny", "mode"),
        (json!({"mode": "default"}), "ask", "class"),
        (json!({"mode": "accept_edits"}), "allow", "class"),
        (json!({"mode": "dont_ask"}), "deny", "mode"),
        (json!({"mode": "default", "no_human_approver": true}), "deny", "no_human"),
        (json!({"mode": "default", "bypass": true}), "allow", "bypass"),
        (json!({"mode": "accept_edits", "workspace": "/elsewhere", "cwd": "/src"}), "ask", "class"),
        (json!({"mode": "accept_edits", "workspace": "/src", "cwd": "a/../b"}), "allow", "class"),
    ] {
        let mut body = json!({"call": "Edit(a.rs)"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let told = explained(&agent, body.clone()).await;
        assert_eq!((&told["decision"], &told["reason"]["by"]), (&json!(decision), &json!(by)), "{body}");
    }
}

#[tokio::test]
async fn in_a_session_it_is_what_the_call_then_comes_to() {
    let server = TestServer::with_config(&rules());
    let session = server.session().await;
    session.write_file("a.txt", "x");
    session.write_file(".env", "x");
    symlink(session.file(".env"), session.file("innocent")).unwrap();
    symlink("/etc/hostname", session.file("away")).unwrap();
    for (number, (tool, arguments)) in [
        ("Read", json!({"file_path": "a.txt"})),
        ("Read", json!({"file_path": ".env"})),
        ("Read", json!({"file_path": "innocent"})),
        ("Read", json!({"file_path": "away"})),
        ("Bash", json!({"command": "cat a.txt"})),
        ("Bash", json!({"command": "cat innocent"})),
        ("Bash", json!({"command": "mkdir made"})),
        ("Bash", json!({"command": "true; curl x"})),
        ("Bash", json!({"command": "git push"})),
        ("Bash", json!({"command": "cat a.txt", "workdir": "/etc"})),
        ("Write", json!({"file_path": "docs/a.md", "content": "x"})),
        ("Write", json!({"file_path": "b.txt", "content": "x"})),
        ("Write", json!({"file_path": ".git/config", "content": "x"})),
        ("TodoWrite", json!({"todos": []})),
        ("request_permissions", json!({"permissions": ["Bash(touch x)"], "reason": "often"})),
    ]
    .into_iter()
    .enumerate()
    {
        let body = json!({"tool_name": tool, "arguments": arguments, "session_id": session.id});
        let before = session.events().await.len();
        let told = explained(&session.client, body).await;
        assert_eq!(session.events().await.len(), before, "telling is no event: {tool} {arguments}");
        assert_eq!(told["workspace"], session.workspace.to_str().unwrap());
        let id = format!("c{number}");
        let call: Value =
            serde_json::from_slice(&session.call(&id, tool, arguments.clone()).await.bytes).unwrap();
        let came = match call["status"].as_str().unwrap() {
            "awaiting_approval" => "ask",
            "denied" => "deny",
            "completed" => "allow",
            other => panic!("{other}: {call}"),
        };
        assert_eq!(told["decision"], came, "{tool} {arguments}: {told} {call}");
        if came == "ask" {
            let approval = server.operator().approval(call["approval_id"].as_str().unwrap()).await;
            assert_eq!(approval["reason"]["text"], told["reason"]["text"]);
            session.cancel(&id).await;
        }
    }
}

#[tokio::test]
async fn telling_leaves_nothing_behind() {
    let server = TestServer::start();
    let session = server.session().await;
    let last_seq = session.client.get(&session.path("")).await.expect(200)["last_seq"].clone();
    for call in ["Bash(touch made)", "Edit(made)", "WebFetch(http://127.0.0.1:9/)", "mcp__a__b"] {
        assert_eq!(in_session(&session, call).await["decision"], "ask", "{call}");
    }
    assert!(!session.file("made").exists());
    assert_eq!(session.client.get(&session.path("/calls")).await.expect(200)["items"], json!([]));
    assert_eq!(server.operator().pending(&session.id).await, Vec::<Value>::new());
    assert_eq!(session.client.get(&session.path("")).await.expect(200)["last_seq"], last_seq);
}

#[tokio::test]
async fn grants_flags_and_a_reload_count() {
    let server = TestServer::start();
    let session = server.session().await;
    let told = in_session(&session, "Bash(touch x)").await;
    assert_eq!((&told["decision"], &told["would_allow"]), (&json!("ask"), &json!(["Bash(touch x)"])));
    let approval = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let decision = json!({"decision": "allow", "scope": "session", "pattern": "Bash(touch x)"});
    server.operator().decide(&approval, &decision).await.expect(200);
    session.ended("c").await;
    let told = in_session(&session, "Bash(touch x)").await;
    assert_eq!((&told["decision"], &told["reason"]["by"]), (&json!("allow"), &json!("grant")));
    assert_eq!(told["matched"], json!([{"list": "grant", "rule": "Bash(touch x)", "leaf": "touch x"}]));
    // On paper, and in another session, it was not granted.
    assert_eq!(explained(&session.client, json!({"call": "Bash(touch x)"})).await["decision"], "ask");
    assert_eq!(in_session(&server.session().await, "Bash(touch x)").await["decision"], "ask");

    let flags = json!({"bypass_permissions": true});
    server.operator().patch(&session.path("/runtime"), &flags).await.expect(200);
    let told = in_session(&session, "Bash(touch y)").await;
    assert_eq!((&told["decision"], &told["bypass"]), (&json!("allow"), &json!(true)));
    let unbypassed = json!({"call": "Bash(touch y)", "session_id": session.id, "bypass": false});
    assert_eq!(explained(&session.client, unbypassed).await["decision"], "ask");

    server.replace_config(&json!({"permissions": {"deny": ["Bash(touch *)"]}}));
    server.operator().post("/v1/config/reload", &json!({})).await.expect(200);
    let told = in_session(&session, "Bash(touch x)").await;
    assert_eq!((&told["decision"], &told["revision"]), (&json!("deny"), &json!(2)));
}

#[tokio::test]
async fn an_agent_learns_of_its_own_sessions_only() {
    let server = TestServer::start();
    let session = server.session().await;
    let other = server.session().await;
    let body = json!({"call": "Bash(ls)", "session_id": session.id});
    for client in [server.agent(), server.operator(), server.with_token(&session.token)] {
        assert_eq!(explained(&client, body.clone()).await["session_id"], session.id);
    }
    for client in [server.with_token(SECOND_AGENT), server.with_token(&other.token)] {
        client.post(EXPLAIN, &body).await.problem(404, "not_found");
    }
    session.end().await.expect(200);
    server.agent().post(EXPLAIN, &body).await.problem(409, "session_ended");
}

#[tokio::test]
async fn a_tool_that_is_not_here_is_judged_as_a_foreign_one() {
    let server = TestServer::with_config(&json!({"permissions": {
        "allow": ["mcp__tracker__read_*"], "deny": ["mcp__tracker__delete_*"],
    }}));
    let session = server.session().await;
    for (tool, decision) in [
        ("mcp__tracker__read_issue", "allow"),
        ("mcp__tracker__delete_issue", "deny"),
        ("mcp__tracker__write_issue", "ask"),
        ("Deploy", "ask"),
    ] {
        for more in [json!(null), json!(session.id)] {
            let body = json!({"tool_name": tool, "arguments": {"any": 1}, "session_id": more});
            let told = explained(&server.agent(), body).await;
            assert_eq!((&told["decision"], &told["known_tool"]), (&json!(decision), &json!(false)), "{tool}");
            assert_eq!(told["class"], "foreign");
        }
    }
    // A name that is nearly that of a tool would be judged as something else than what is meant.
    for name in ["bash", "BASH", "ba_sh", "functions.bash", "Bash "] {
        let body = json!({"tool_name": name, "arguments": {"command": "rm -r /"}, "bypass": true});
        server.agent().post(EXPLAIN, &body).await.problem(422, "cannot_run");
    }
}

#[tokio::test]
async fn what_cannot_be_judged_is_no_verdict() {
    let server = TestServer::start();
    let session = server.session().await;
    symlink("loop", session.file("loop")).unwrap();
    let agent = server.agent();
    let sid = &session.id;
    for (body, status, code) in [
        (json!({}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "tool_name": "Bash"}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "arguments": {}}), 400, "invalid_request"),
        (json!({"call": ""}), 400, "invalid_request"),
        (json!({"call": "Bash(ls"}), 400, "invalid_request"),
        (json!({"call": "Bash"}), 400, "invalid_request"),
        (json!({"call": "x".repeat(300_000)}), 400, "invalid_request"),
        (json!({"call": "Bash(a\u{0}b)"}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "workspace": "relative"}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "cwd": "a\u{0}"}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "mode": "bypass"}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "sessionid": sid}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "session_id": sid, "workspace": "/x"}), 400, "invalid_request"),
        (json!({"call": "Bash(ls)", "session_id": sid, "cwd": "/x"}), 400, "invalid_request"),
        (json!({"call": "Read(~/.ssh/id)", "session_id": sid}), 400, "invalid_request"),
        (json!({"tool_name": ""}), 400, "invalid_request"),
        (json!({"tool_name": "a\u{7}"}), 400, "invalid_request"),
        (json!({"tool_name": "Bash", "arguments": 7}), 400, "invalid_request"),
        (json!({"tool_name": "Bash", "arguments": "{"}), 422, "invalid_arguments"),
        (json!({"tool_name": "Bash", "arguments": {"comand": "ls"}}), 422, "invalid_arguments"),
        (json!({"tool_name": "Bash"}), 422, "invalid_arguments"),
        (json!({"call": "Read(loop)", "session_id": sid}), 422, "cannot_run"),
        (
            json!({"tool_name": "ExitPlanMode", "arguments": {"plan": "x"}, "session_id": sid}),
            422,
            "cannot_run",
        ),
        (json!({"call": "Bash(ls)", "session_id": "none"}), 404, "not_found"),
    ] {
        agent.post(EXPLAIN, &body).await.problem(status, code);
    }
    let twice = r#"{"tool_name":"Bash","arguments":{"command":"ls","command":"rm -r /"}}"#;
    let request = agent.request(reqwest::Method::POST, EXPLAIN).header("content-type", "application/json");
    crate::support::Answer::of(request.body(twice)).await.problem(422, "invalid_arguments");
}
