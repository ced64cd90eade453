//! Grants: what a person allowed for a session or always, `GET` and `DELETE /v1/grants`.

use serde_json::{Value, json};

use crate::support::session::tool_call;
use crate::support::{TestServer, TestSession, within};

const TOUCH: &str = "Bash(touch x)";

/// Lets `touch x` of this session pass with this scope; the grant.
async fn grant(server: &TestServer, session: &TestSession, scope: &str) -> Value {
    let id = session.asks("granted", "Bash", json!({"command": "touch x"})).await;
    let decision = json!({"decision": "allow", "scope": scope, "pattern": TOUCH});
    server.operator().decide(&id, &decision).await.expect(200);
    assert_eq!(session.ended("granted").await["status"], "completed");
    let grants = server.operator().get("/v1/grants").await.expect(200);
    grants["items"].as_array().unwrap().last().unwrap().clone()
}

async fn passes(session: &TestSession, id: &str) {
    let call = session.bash(id, "touch x").await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
}

#[tokio::test]
async fn a_grant_for_the_session_holds_in_it_alone() {
    let server = TestServer::start();
    let session = server.session().await;
    let grant = grant(&server, &session, "session").await;
    assert_eq!(grant["pattern"], TOUCH);
    assert_eq!(grant["scope"], "session");
    assert_eq!(grant["session_id"], session.id.as_str());
    assert_eq!(grant["granted_by"], "operator");
    passes(&session, "again").await;
    session.asks("other", "Bash", json!({"command": "touch y"})).await;
    server.session().await.asks("c", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn a_grant_for_always_holds_for_the_same_agent() {
    let server = TestServer::start();
    let session = server.session().await;
    let grant = grant(&server, &session, "always").await;
    assert_eq!(grant["scope"], "always");
    assert_eq!(grant["workspace_root"], server.root().to_str().unwrap());
    passes(&server.session().await, "c").await;
    let other = TestSession::create(&server.second_agent(), &json!({})).await;
    other.asks("c", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn a_grant_survives_a_restart_and_ends_when_it_is_revoked() {
    let mut server = TestServer::start();
    let session = server.session().await;
    let grant = grant(&server, &session, "always").await;
    server.restart_with(&json!({}));
    let session = server.session().await;
    passes(&session, "c").await;
    let path = format!("/v1/grants/{}", grant["grant_id"].as_str().unwrap());
    server.agent().delete(&path).await.problem(403, "operator_required");
    assert_eq!(server.operator().delete(&path).await.status, 204);
    session.asks("revoked", "Bash", json!({"command": "touch x"})).await;
    server.operator().delete(&path).await.problem(404, "not_found");
    assert_eq!(server.operator().get("/v1/grants").await.expect(200)["items"], json!([]));
}

#[tokio::test]
async fn a_grant_does_not_outlive_a_new_deny() {
    let mut server = TestServer::start();
    let session = server.session().await;
    grant(&server, &session, "always").await;
    server.restart_with(&json!({"permissions": {"deny": ["Bash(touch *)"]}}));
    let call = server.session().await.bash("c", "touch x").await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
    server.restart_with(&json!({"permissions": {"always_ask": ["Bash(touch *)"]}}));
    server.session().await.asks("c", "Bash", json!({"command": "touch x"})).await;
}

#[tokio::test]
async fn only_what_is_offered_is_granted() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("run.sh", "true\n");
    for (id, command) in [
        ("interpreter", "python3 -c 'print(1)'"),
        ("script", "sh ./run.sh"),
        ("not understood", "touch $(date)"),
    ] {
        let approval = session.asks(id, "Bash", json!({"command": command})).await;
        let shown = server.operator().approval(&approval).await;
        assert_eq!(shown["offers"], json!([{"scope": "once"}]), "{command}");
        for scope in ["session", "always"] {
            let body = json!({"decision": "allow", "scope": scope});
            server.operator().decide(&approval, &body).await.problem(422, "not_offered");
        }
    }
    // A single offer needs no pattern.
    let id = session.asks("touch", "Bash", json!({"command": "touch x"})).await;
    let decision = json!({"decision": "allow", "scope": "session"});
    let approval = server.operator().decide(&id, &decision).await.expect(200);
    assert_eq!(approval["decision"]["pattern"], TOUCH);
    assert_eq!(server.operator().decide(&id, &decision).await.expect(200), approval);
}

/// What is offered beyond this once: rules with their directories.
async fn offers(server: &TestServer, approval: &str) -> Vec<(Value, Value)> {
    let shown = server.operator().approval(approval).await;
    let offers = shown["offers"].as_array().unwrap().iter();
    offers.skip(1).map(|offer| (offer["pattern"].clone(), offer["directory"].clone())).collect()
}

#[tokio::test]
async fn a_command_is_granted_for_the_directory_that_it_was_seen_in() {
    let server = TestServer::start();
    let session = server.session().await;
    for directory in ["build", "sub/build"] {
        std::fs::create_dir_all(session.file(directory)).unwrap();
    }
    let remove = json!({"command": "rm -r build", "workdir": "sub"});
    let id = session.asks("seen", "Bash", remove.clone()).await;
    assert_eq!(offers(&server, &id).await, vec![(json!("Bash(rm -r build)"), json!("sub")); 2]);
    server.operator().decide(&id, &json!({"decision": "allow", "scope": "session"})).await.expect(200);
    assert_eq!(session.ended("seen").await["status"], "completed");
    let grants = server.operator().get("/v1/grants").await.expect(200);
    assert_eq!(grants["items"][0]["directory"], "sub");
    let told = server.operator().get("/v1/audit?kind=grant").await.expect(200);
    assert_eq!(told["items"][0]["directory"], "sub");

    session.asks("elsewhere", "Bash", json!({"command": "rm -r build"})).await;
    assert!(session.file("build").exists());
    for (id, arguments) in [("again", remove), ("by cd", json!({"command": "cd sub && rm -r build"}))] {
        std::fs::create_dir(session.file("sub/build")).unwrap();
        let call = session.call(id, "Bash", arguments).await.expect(200);
        assert_eq!(call["status"], "completed", "{call}");
        assert!(!session.file("sub/build").exists());
    }
    // Where `sub` leads elsewhere by now, it is another directory.
    let outside = server.outside().join("linked");
    std::fs::create_dir_all(outside.join("build")).unwrap();
    std::fs::remove_dir(session.file("sub")).unwrap();
    std::os::unix::fs::symlink(&outside, session.file("sub")).unwrap();
    let id = session.asks("linked", "Bash", json!({"command": "cd sub && rm -r build"})).await;
    assert_eq!(offers(&server, &id).await, [], "outside of the workspace");
}

#[tokio::test]
async fn no_more_is_offered_than_was_shown() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::create_dir_all(server.outside().join("dir")).unwrap();
    std::fs::write(server.outside().join("dir/file"), "secret").unwrap();
    let (dir, file) = (server.outside().join("dir"), server.outside().join("dir/file"));
    let (dir, file) = (dir.to_str().unwrap(), file.to_str().unwrap());
    for (id, tool, arguments) in [
        ("list", "ListDir", json!({"path": dir})),
        ("info", "FileInfo", json!({"path": file})),
        ("glob", "Glob", json!({"path": dir, "pattern": "*"})),
        ("grep", "Grep", json!({"path": file, "pattern": "nothing"})),
        ("ls", "Bash", json!({"command": "ls", "workdir": dir})),
        ("fed", "Bash", json!({"command": "patch -p1 <<'E'\nx\nE"})),
    ] {
        let id = session.asks(id, tool, arguments).await;
        assert_eq!(offers(&server, &id).await, [], "{tool}");
    }
    let id = session.asks("read", "Read", json!({"file_path": file})).await;
    assert_eq!(offers(&server, &id).await, vec![(json!(format!("Read({file})")), Value::Null); 2]);
    server.operator().decide(&id, &json!({"decision": "allow", "scope": "session"})).await.expect(200);
    assert_eq!(session.ended("read").await["status"], "completed");
    // A directory in its place has more in it.
    std::fs::remove_file(file).unwrap();
    std::fs::create_dir(file).unwrap();
    session.asks("moved", "Grep", json!({"path": file, "pattern": "x"})).await;
}

#[tokio::test]
async fn a_file_granted_for_always_is_that_file() {
    let server = TestServer::start();
    let session = server.session().await;
    let write = json!({"file_path": "new.txt", "content": "text"});
    let id = session.asks("w", "Write", write.clone()).await;
    let whole = session.file("new.txt");
    let whole = json!(format!("Edit({})", whole.to_str().unwrap()));
    assert_eq!(offers(&server, &id).await, [(json!("Edit(./new.txt)"), Value::Null), (whole, Value::Null)]);
    server.operator().decide(&id, &json!({"decision": "allow", "scope": "always"})).await.expect(200);
    assert_eq!(session.ended("w").await["status"], "completed");
    let other = server.session().await;
    assert_ne!(other.file("new.txt"), session.file("new.txt"));
    other.asks("w", "Write", write).await;
}

/// The audit log's entries of grants that were made, revoked or ended: `decision` and who did it.
async fn told(server: &TestServer) -> Vec<(Value, Value)> {
    let page = server.operator().get("/v1/audit?kind=grant").await.expect(200);
    page["items"].as_array().unwrap().iter().map(|it| (it["decision"].clone(), it["by"].clone())).collect()
}

/// Waits until the audit log tells that a grant ended.
async fn expired(server: &TestServer) {
    within("the end of a grant", async {
        while told(server).await.last().is_none_or(|(decision, _)| decision != "expired") {}
    })
    .await;
}

fn seconds(value: &Value) -> i64 {
    value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second()
}

fn lasts(grant: &Value) -> i64 {
    seconds(&grant["expires_at"]) - seconds(&grant["created_at"])
}

#[tokio::test]
async fn a_grant_ends_after_the_configured_time() {
    let server = TestServer::with_config(&json!({"approvals": {"grants_expire_after_s": 1}}));
    let session = server.session().await;
    grant(&server, &session, "always").await;
    expired(&server).await;
    assert_eq!(server.operator().get("/v1/grants").await.expect(200)["items"], json!([]));
    session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let said = told(&server).await;
    assert_eq!(said, [(json!("granted"), json!("operator")), (json!("expired"), json!("server"))]);
    let page = server.operator().get("/v1/audit?kind=grant&decision=expired").await.expect(200);
    assert_eq!((&page["items"][0]["pattern"], &page["items"][0]["scope"]), (&json!(TOUCH), &json!("always")));
}

#[tokio::test]
async fn a_call_that_waited_for_its_turn_does_not_run_by_a_grant_that_ended_meanwhile() {
    let server = TestServer::with_config(&json!({"approvals": {"grants_expire_after_s": 1}}));
    let session = server.session().await;
    grant(&server, &session, "session").await;
    let calls = json!({"calls": [
        tool_call("first", "Bash", &json!({"command": "touch y"})),
        tool_call("second", "Bash", &json!({"command": "touch x"})),
    ]});
    let batch = session.client.post(&session.path("/calls/batch"), &calls).await.expect(202);
    let first = batch["calls"][0]["approval_id"].as_str().unwrap();
    expired(&server).await;
    server.operator().allow(first).await;
    session.event("second", "tool_approval_requested").await;
    assert_eq!(session.current("second").await["status"], "awaiting_approval");
}

#[tokio::test]
async fn a_grant_of_a_session_ends_with_it() {
    let server = TestServer::start();
    let (session, other) = (server.session().await, server.session().await);
    grant(&server, &other, "session").await;
    grant(&server, &session, "session").await;
    session.end().await.expect(200);
    let grants = server.operator().get("/v1/grants").await.expect(200);
    assert_eq!(grants["items"].as_array().unwrap().len(), 1);
    assert_eq!(grants["items"][0]["session_id"], other.id.as_str());
    assert_eq!(told(&server).await.last().unwrap(), &(json!("expired"), json!("server")));
}

#[tokio::test]
async fn a_reviewer_chooses_a_shorter_time_and_no_longer_one() {
    let server = TestServer::with_config(&json!({"approvals": {"grants_expire_after_s": 1000}}));
    let (session, operator) = (server.session().await, server.operator());
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    assert_eq!(operator.approval(&id).await["grants_expire_in_s"], 1000);
    for (scope, seconds) in [("session", 1001), ("always", u64::MAX), ("session", 0), ("once", 10)] {
        let body = json!({"decision": "allow", "scope": scope, "expires_in_s": seconds});
        let problem = operator.decide(&id, &body).await.problem(422, "not_offered");
        assert_eq!(problem["errors"][0]["pointer"], "/expires_in_s", "{problem}");
    }
    operator.decide(&id, &json!({"decision": "deny", "expires_in_s": 10})).await.problem(422, "not_offered");
    for wrong in [json!(-1), json!(1.5), json!("10")] {
        let body = json!({"decision": "allow", "scope": "session", "expires_in_s": wrong});
        operator.decide(&id, &body).await.problem(400, "invalid_request");
    }
    assert_eq!(operator.approval(&id).await["status"], "pending");
    let body = json!({"decision": "allow", "scope": "session", "expires_in_s": 60});
    let decided = operator.decide(&id, &body).await.expect(200);
    let grants = operator.get("/v1/grants").await.expect(200);
    let grant = &grants["items"][0];
    assert_eq!(lasts(grant), 60);
    assert_eq!(decided["decision"]["expires_in_s"], 60);
    let told = json!({"grant_id": grant["grant_id"], "expires_at": grant["expires_at"]});
    assert_eq!(decided["decision"]["grant"], told, "the answer says until when");
    assert_eq!(operator.decide(&id, &body).await.expect(200), decided);
    let other = json!({"decision": "allow", "scope": "session", "expires_in_s": 61});
    operator.decide(&id, &other).await.problem(409, "already_decided");
    // Left out, it is the longest.
    let id = session.asks("d", "Bash", json!({"command": "touch y"})).await;
    operator.decide(&id, &json!({"decision": "allow", "scope": "always"})).await.expect(200);
    let grants = operator.get("/v1/grants").await.expect(200);
    assert_eq!(lasts(&grants["items"][1]), 1000);
    // What can grant nothing says nothing of time.
    let id = session.asks("e", "Bash", json!({"command": "python3 -c 'print(1)'"})).await;
    assert_eq!(operator.approval(&id).await.get("grants_expire_in_s"), None);
}

#[tokio::test]
async fn a_time_that_was_lowered_meanwhile_bounds_the_decision() {
    let server = TestServer::with_config(&json!({"approvals": {"grants_expire_after_s": 1000}}));
    let (session, operator) = (server.session().await, server.operator());
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    server.replace_config(&json!({"approvals": {"grants_expire_after_s": 100}}));
    operator.post("/v1/config/reload", &json!({})).await.expect(200);
    let long = json!({"decision": "allow", "scope": "session", "expires_in_s": 101});
    operator.decide(&id, &long).await.problem(422, "not_offered");
    operator.decide(&id, &json!({"decision": "allow", "scope": "session"})).await.expect(200);
    let grants = operator.get("/v1/grants").await.expect(200);
    assert_eq!(lasts(&grants["items"][0]), 100);
    // One that was raised does not give more than was shown.
    let id = session.asks("d", "Bash", json!({"command": "touch y"})).await;
    server.replace_config(&json!({"approvals": {"grants_expire_after_s": 1000}}));
    operator.post("/v1/config/reload", &json!({})).await.expect(200);
    operator.decide(&id, &json!({"decision": "allow", "scope": "session"})).await.expect(200);
    let grants = operator.get("/v1/grants").await.expect(200);
    assert_eq!(lasts(&grants["items"][1]), 100);
}

#[tokio::test]
async fn a_program_named_by_a_relative_path_is_never_offered() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::create_dir(session.file("bin")).unwrap();
    for file in ["run.sh", "bin/tool", "bin/ls"] {
        session.write_file(file, "true\n");
    }
    let run = session.file("run.sh").display().to_string();
    let commands = [
        "./run.sh",
        "bin/tool -v",
        "bin/ls",
        "../made/run.sh",
        "cd bin && ./tool",
        "timeout 5 ./run.sh",
        "nice bin/tool",
        "FOO=1 ./run.sh",
        "git status && ./run.sh",
        "~/run.sh",
        &run,
    ];
    for (n, command) in commands.into_iter().enumerate() {
        let id = session.asks(&n.to_string(), "Bash", json!({"command": command})).await;
        assert_eq!(server.operator().approval(&id).await["offers"], json!([{"scope": "once"}]), "{command}");
        // Nor may an agent ask for it.
        let rules = json!({"reason": "r", "permissions": [format!("Bash({command})")]});
        let refused = session.call(&format!("rule{n}"), "request_permissions", rules).await.expect(200);
        assert_eq!(refused["status"], "failed", "{command}: {refused}");
    }
    let grants = server.operator().get("/v1/grants").await.expect(200);
    assert_eq!(grants["items"], json!([]));
}
