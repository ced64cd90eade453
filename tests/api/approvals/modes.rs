//! Modes and flags: who is asked, who is not, and what neither can skip.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

async fn with_runtime(server: &TestServer, runtime: Value) -> TestSession {
    TestSession::create(&server.operator(), &json!({"runtime": runtime})).await
}

async fn status(session: &TestSession, id: &str, tool: &str, arguments: Value) -> String {
    let answer = session.call(id, tool, arguments).await;
    assert!([200, 202].contains(&answer.status.as_u16()), "{}", answer.text());
    let call: Value = serde_json::from_slice(&answer.bytes).unwrap();
    call["status"].as_str().unwrap().to_owned()
}

fn write() -> Value {
    json!({"file_path": "new.txt", "content": "text"})
}

fn touch() -> Value {
    json!({"command": "touch x"})
}

#[tokio::test]
async fn p11_always_ask_holds_under_bypass() {
    let server = TestServer::with_config(&json!({"permissions": {"always_ask": ["Bash(git push *)"]}}));
    let session = server.bypass_session().await;
    for (id, command) in [
        ("1", "git push"),
        ("2", "git push origin main"),
        ("3", "true; git push --force"),
        ("4", "eval \"$X\""),
    ] {
        session.asks(id, "Bash", json!({"command": command})).await;
    }
    assert_eq!(status(&session, "5", "Bash", touch()).await, "completed", "bypass skips what only asks");
    let approval = &server.operator().pending(&session.id).await[0];
    assert_eq!(approval["reason"]["rule"], "Bash(git push *)");
    assert_eq!(approval["offers"], json!([{"scope": "once"}]));
}

#[tokio::test]
async fn p18_what_is_not_understood_does_not_slip_a_deny_under_bypass() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(touch *)"]}}));
    let session = server.bypass_session().await;
    for (n, command) in [
        "touch x",
        "/usr/bin/touch x",
        "T=touch; $T x",
        "eval \"to\"\"uch x\"",
        "$(printf 'to%s' uch) x",
        "echo dG91Y2ggeA== | base64 -d | sh",
        "bash -c 'tou''ch x'",
        "x=\"$(",
    ]
    .iter()
    .enumerate()
    {
        let status = status(&session, &n.to_string(), "Bash", json!({"command": command})).await;
        assert!(["awaiting_approval", "denied"].contains(&status.as_str()), "{command}: {status}");
    }
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn default_mode_lets_reads_pass_and_asks_for_the_rest() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("a.txt", "x\n");
    for (id, tool, arguments, expected) in [
        ("read", "Read", json!({"file_path": "a.txt"}), "completed"),
        ("grep", "Grep", json!({"pattern": "x"}), "completed"),
        ("ls", "Bash", json!({"command": "ls"}), "completed"),
        ("write", "Write", write(), "awaiting_approval"),
        ("touch", "Bash", touch(), "awaiting_approval"),
        ("outside", "Read", json!({"file_path": "/etc/hostname"}), "awaiting_approval"),
    ] {
        assert_eq!(status(&session, id, tool, arguments).await, expected, "{id}");
    }
}

#[tokio::test]
async fn accept_edits_lets_edits_in_the_workspace_pass() {
    let server = TestServer::start();
    let session = with_runtime(&server, json!({"permission_mode": "accept_edits"})).await;
    let outside = server.outside().join("out.txt");
    std::fs::create_dir(session.file(".git")).unwrap();
    for (id, tool, arguments, expected) in [
        ("write", "Write", write(), "completed"),
        ("touch", "Bash", touch(), "awaiting_approval"),
        ("out", "Write", json!({"file_path": outside, "content": "x"}), "awaiting_approval"),
        ("hook", "Write", json!({"file_path": ".git/hooks/pre-commit", "content": "x"}), "awaiting_approval"),
    ] {
        assert_eq!(status(&session, id, tool, arguments).await, expected, "{id}");
    }
}

#[tokio::test]
async fn plan_denies_all_but_reads_under_bypass_too() {
    let server = TestServer::start();
    for runtime in
        [json!({"permission_mode": "plan"}), json!({"permission_mode": "plan", "bypass_permissions": true})]
    {
        let session = with_runtime(&server, runtime).await;
        for (id, tool, arguments, expected) in [
            ("glob", "Glob", json!({"pattern": "*"}), "completed"),
            ("ask", "AskUser", json!({"question": "?"}), "awaiting_answer"),
            ("write", "Write", write(), "denied"),
            ("touch", "Bash", touch(), "denied"),
        ] {
            assert_eq!(status(&session, id, tool, arguments).await, expected, "{id}");
        }
        assert_eq!(session.event("write", "tool_denied").await["by"], "mode");
        assert!(!session.file("new.txt").exists() && !session.file("x").exists());
    }
}

#[tokio::test]
async fn dont_ask_denies_what_would_ask() {
    let server = TestServer::with_config(&json!({"permissions": {"allow": ["Bash(touch *)"]}}));
    let runtime = json!({"runtime": {"permission_mode": "dont_ask"}});
    let session = TestSession::create(&server.agent(), &runtime).await;
    assert_eq!(status(&session, "1", "Bash", touch()).await, "completed");
    assert_eq!(status(&session, "2", "Write", write()).await, "denied");
    assert!(server.operator().pending(&session.id).await.is_empty());
    assert!(!session.file("new.txt").exists());
}

#[tokio::test]
async fn without_a_human_what_would_ask_is_denied() {
    let server = TestServer::start();
    let runtime = json!({"runtime": {"no_human_approver": true}});
    let session = TestSession::create(&server.agent(), &runtime).await;
    assert_eq!(status(&session, "1", "Bash", touch()).await, "denied");
    assert_eq!(session.event("1", "tool_denied").await["by"], "no_human");
    assert_eq!(status(&session, "2", "Glob", json!({"pattern": "*"})).await, "completed");
    assert!(server.operator().pending(&session.id).await.is_empty());
}

#[tokio::test]
async fn p3_a_deny_is_found_behind_anything_and_under_bypass() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(curl *)"]}}));
    let session = server.bypass_session().await;
    let long = format!("{}curl x", "true && ".repeat(60));
    for (id, command) in [("1", long.as_str()), ("2", "env curl x"), ("3", "/usr/bin/curl x")] {
        assert_eq!(status(&session, id, "Bash", json!({"command": command})).await, "denied", "{command}");
    }
    assert_eq!(session.event("1", "tool_denied").await["by"], "rule");
}

#[tokio::test]
async fn p9_p10_denied_files_stay_denied_however_they_are_spelt() {
    let rules = json!({"permissions": {"deny": ["Edit(secret/**)", "Read(**/*.env)"]}});
    let server = TestServer::with_config(&rules);
    let session = server.bypass_session().await;
    std::fs::create_dir_all(session.file("secret")).unwrap();
    std::fs::create_dir_all(session.file("x")).unwrap();
    std::fs::create_dir_all(session.file("a/b")).unwrap();
    session.write_file(".env", "KEY=1\n");
    session.write_file("a/b/.env", "KEY=2\n");
    std::os::unix::fs::symlink(".env", session.file("harmless.txt")).unwrap();
    for path in ["x/../secret/p", "secret/p", "./secret/p"] {
        let arguments = json!({"file_path": path, "content": "c"});
        assert_eq!(status(&session, path, "Write", arguments).await, "denied", "{path}");
    }
    for path in [".env", "a/b/.env", "harmless.txt"] {
        assert_eq!(status(&session, path, "Read", json!({"file_path": path})).await, "denied", "{path}");
    }
    let grep =
        session.call("g", "Grep", json!({"pattern": "KEY", "output_mode": "content"})).await.expect(200);
    assert!(!grep.to_string().contains("KEY=1"), "{grep}");
    assert!(!session.file("secret/p").exists());
}
