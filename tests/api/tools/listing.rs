//! ListDir and FileInfo behind the gate: what a rule denies to read neither shows nor answers.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

async fn with_files(server: &TestServer, files: &[&str]) -> TestSession {
    let session = server.session().await;
    for name in files {
        std::fs::create_dir_all(session.file(name).parent().unwrap()).unwrap();
        session.write_file(name, "text\n");
    }
    session
}

async fn ended(session: &TestSession, id: &str, tool: &str, arguments: Value) -> Value {
    session.call(id, tool, arguments).await.expect(200)
}

#[tokio::test]
async fn a_folder_and_a_file_in_it() {
    let server = TestServer::start();
    let session = with_files(&server, &["src/main.rs", "README.md"]).await;
    let call = ended(&session, "l", "ListDir", json!({})).await;
    assert_eq!(call["result"]["result"], "./\n  README.md  5 B\n  src/\n    main.rs  5 B\n", "{call}");
    assert_eq!((&call["mutability"], &call["details"]["shown"]), (&json!("read_only"), &json!(3)), "{call}");
    ended(&session, "r", "Read", json!({"file_path": "README.md"})).await;
    let call = ended(&session, "i", "FileInfo", json!({"path": "README.md"})).await;
    assert_eq!(call["details"]["read"], "unchanged", "{call}");
    assert_eq!(call["details"]["lines"], 1, "{call}");
    // As models that learnt them elsewhere call them.
    for (n, (name, arguments)) in [
        ("LS", json!({"path": "."})),
        ("list_directory", json!({"path": "."})),
        ("list_dir", json!({"dir_path": ".", "depth": 2})),
    ]
    .into_iter()
    .enumerate()
    {
        let call = ended(&session, &n.to_string(), name, arguments).await;
        assert_eq!(call["tool_name"], "ListDir", "{call}");
        assert_eq!(call["status"], "completed", "{call}");
    }
}

#[tokio::test]
async fn p10_f2_f4_what_a_rule_denies_neither_shows_nor_answers() {
    let deny = json!({"permissions": {"deny": ["Read(**/*.env)", "Read(secret/**)"]}});
    let server = TestServer::with_config(&deny);
    let session = with_files(&server, &["a/b/.env", "a/b/open", ".env", "secret/key", "x/y"]).await;
    let flags = json!({"bypass_permissions": true});
    server.operator().patch(&session.path("/runtime"), &flags).await.expect(200);
    std::os::unix::fs::symlink("secret", session.file("alias")).unwrap();
    std::os::unix::fs::symlink("../secret/key", session.file("x/key")).unwrap();
    let call = ended(&session, "l", "ListDir", json!({"depth": 4})).await;
    assert_eq!(call["result"]["result"], "./\n  a/\n    b/\n      open  5 B\n  x/\n    y  5 B\n", "{call}");
    for (n, (tool, path)) in [
        ("FileInfo", "a/b/.env"),
        ("FileInfo", ".env"),
        ("FileInfo", "x/../secret/key"),
        ("FileInfo", "x/key"),
        ("FileInfo", "alias/key"),
        ("ListDir", "secret"),
        ("ListDir", "alias"),
        ("ListDir", "x/../secret"),
    ]
    .into_iter()
    .enumerate()
    {
        let call = ended(&session, &n.to_string(), tool, json!({"path": path})).await;
        assert_eq!(call["status"], "denied", "{tool} {path}: {call}");
    }
    let call = ended(&session, "count", "FileInfo", json!({"path": "a/b"})).await;
    assert_eq!(call["details"]["entries"], 1, "{call}");
    let call = ended(&session, "guess", "FileInfo", json!({"path": "secre"})).await;
    assert_eq!(call["result"]["result"], "secre does not exist.", "{call}");
}

/// What a rule asks about is left out of what was not asked about, and it is said.
#[tokio::test]
async fn what_a_rule_asks_about_is_left_out_and_counted() {
    for list in ["ask", "always_ask"] {
        let config = json!({"permissions": {list: ["Read(**/.env)", "Read(secret/**)"]}});
        let server = TestServer::with_config(&config);
        let session = with_files(&server, &["a/.env", "a/open", ".env", "secret/key"]).await;
        let grep = json!({"pattern": "text", "include_ignored": true});
        let said = |call: &Value| call["result"]["result"].as_str().unwrap().to_owned();
        let asks = "that a rule asks about (a call that names them asks)";
        let text = said(&ended(&session, "g", "Grep", grep.clone()).await);
        assert_eq!(text, format!("a/open\n\n[1 file with a match.]\n[Skipped: 3 {asks}.]"));
        let text = said(&ended(&session, "b", "Glob", json!({"pattern": "**/*"})).await);
        assert_eq!(text, format!("a/open\n\n[Skipped: 3 {asks}.]"));
        let text = said(&ended(&session, "l", "ListDir", json!({"depth": 4})).await);
        assert_eq!(text, format!("./\n  a/\n    open  5 B\n\n[Left out: 3 {asks}.]\n"));
        // A call that names them shows them once a person has allowed it.
        for (id, tool, arguments, want) in [
            (
                "n",
                "Grep",
                json!({"pattern": "text", "path": "secret"}),
                "secret/key\n\n[1 file with a match.]",
            ),
            ("e", "Grep", json!({"pattern": "text", "path": ".env"}), ".env\n\n[1 file with a match.]"),
            ("d", "ListDir", json!({"path": "secret"}), "secret/\n  key  5 B\n"),
        ] {
            let approval = session.asks(id, tool, arguments).await;
            server.operator().allow(&approval).await;
            let call = session.ended(id).await;
            assert_eq!(said(&call), want, "{call}");
        }
        // Bypass passes over `ask` alone.
        let flags = json!({"bypass_permissions": true});
        server.operator().patch(&session.path("/runtime"), &flags).await.expect(200);
        let text = said(&ended(&session, "by", "Grep", grep).await);
        assert_eq!(text.contains("secret/key"), list == "ask", "{text}");
    }
}

/// Why an edit cannot succeed would tell what is there.
#[tokio::test]
async fn an_edit_outside_tells_nothing_before_it_is_allowed() {
    let server = TestServer::start();
    let session = server.session().await;
    let outside = server.outside();
    std::fs::write(outside.join("there"), "x").unwrap();
    std::os::unix::fs::symlink(outside.join("there"), session.file("link")).unwrap();
    let update = |path: &str| format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch");
    let mut asked = Vec::new();
    for (n, path) in ["there", "missing", "."].map(|name| outside.join(name)).iter().enumerate() {
        let path = path.to_str().unwrap();
        for (tool, arguments) in [
            ("Write", json!({"file_path": path, "content": "y"})),
            ("Edit", json!({"file_path": path, "old_string": "a", "new_string": "b"})),
            ("ApplyPatch", json!({"patch": update(path)})),
        ] {
            asked.push(session.asks(&format!("{tool}{n}"), tool, arguments).await);
        }
    }
    session.asks("link", "Write", json!({"file_path": "link", "content": "y"})).await;
    // It is told once a person has allowed it.
    let allow = json!({"decision": "allow"});
    server.operator().decide(&asked[0], &allow).await.expect(200);
    let ended = session.ended("Write0").await;
    assert_eq!(ended["status"], "failed", "{ended}");
    assert!(ended["result"].to_string().contains("has not been read"), "{ended}");
    assert_eq!(std::fs::read_to_string(outside.join("there")).unwrap(), "x");
}

/// What stands in the way of a path tells what is there, too: neither by an error nor by waiting differently.
#[tokio::test]
async fn no_way_outside_tells_nothing_before_it_is_allowed() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Read(**/.env)"]}}));
    let session = server.session().await;
    let outside = server.outside();
    std::fs::write(outside.join("file"), "x").unwrap();
    std::os::unix::fs::symlink("loop", outside.join("loop")).unwrap();
    std::os::unix::fs::symlink(outside.join("file"), session.file("away")).unwrap();
    session.write_file(".env", "x");
    session.write_file("plain", "x");
    let at = |name: &str| outside.join(name).to_str().unwrap().to_owned();
    let mut waits = Vec::new();
    for (n, path) in ["file/x", "missing/x", "loop"].map(at).iter().map(String::as_str).enumerate() {
        for (tool, arguments) in [
            ("Read", json!({"file_path": path})),
            ("FileInfo", json!({"path": path})),
            ("Glob", json!({"pattern": "*", "path": path})),
            ("Write", json!({"file_path": path, "content": "y"})),
            ("Bash", json!({"command": "true", "workdir": path})),
        ] {
            waits.push(session.asks(&format!("{tool}{n}"), tool, arguments).await);
        }
    }
    for (n, path) in ["away/x", "/proc/self/exe/x", &at("file/"), &at("loop/x")].into_iter().enumerate() {
        session.asks(&format!("link{n}"), "Read", json!({"file_path": path})).await;
    }
    // Nor does a way out and back.
    session.cancel("Glob0").await;
    session.cancel("Glob1").await;
    session.cancel("Glob2").await;
    let back = session.file("plain");
    for (n, name) in ["file/..", "missing/.."].map(at).into_iter().enumerate() {
        let up = "/..".repeat(outside.components().count() - 1);
        let path = format!("{name}{up}{}", back.display());
        session.asks(&format!("back{n}"), "Read", json!({"file_path": path})).await;
    }
    let body =
        json!({"tool_name": "Read", "arguments": {"file_path": at("file/x")}, "session_id": session.id});
    let told = session.client.post("/v1/permissions/explain", &body).await.expect(200);
    assert_eq!(told["decision"], "ask", "{told}");
    // What a rule denies is denied, whatever is there.
    for (id, path) in [("d1", ".env/x"), ("d2", "no/.env/x")] {
        let call = ended(&session, id, "Read", json!({"file_path": path})).await;
        assert_eq!(call["status"], "denied", "{call}");
    }
    // In the workspace it is no use to ask anyone; once allowed, it is told of places outside.
    let call = ended(&session, "in", "Write", json!({"file_path": "plain/x", "content": "y"})).await;
    assert!(call["result"].to_string().contains("plain is not a directory"), "{call}");
    for (id, call) in [(&waits[0], "Read0"), (&waits[4], "Bash0")] {
        server.operator().allow(id).await;
        let ended = session.ended(call).await;
        assert_eq!(ended["status"], "failed", "{ended}");
        assert!(ended["result"].to_string().contains("file is not a directory"), "{ended}");
    }
}

#[tokio::test]
async fn f1_what_lies_outside_asks_also_through_a_symlink() {
    let server = TestServer::start();
    let session = with_files(&server, &["a"]).await;
    let evil = format!("{}-evil", session.workspace.display());
    std::fs::create_dir(&evil).unwrap();
    std::os::unix::fs::symlink(&evil, session.file("door")).unwrap();
    for (n, (tool, path)) in [
        ("ListDir", evil.as_str()),
        ("ListDir", ".."),
        ("ListDir", "door"),
        ("FileInfo", "door"),
        ("FileInfo", "/etc/passwd"),
    ]
    .into_iter()
    .enumerate()
    {
        session.asks(&n.to_string(), tool, json!({"path": path})).await;
    }
    // The link itself shows, with where it says it leads.
    let call = ended(&session, "l", "ListDir", json!({})).await;
    assert_eq!(call["result"]["result"], format!("./\n  a  5 B\n  door -> {evil}\n"));
}

#[tokio::test]
async fn the_servers_own_folder_is_out_of_reach() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let data = server.data_dir();
    for (id, tool) in [("1", "ListDir"), ("2", "FileInfo")] {
        let call = ended(&session, id, tool, json!({"path": data})).await;
        assert_eq!(call["status"], "denied", "{call}");
    }
    let above = ended(&session, "3", "ListDir", json!({"path": server.outside(), "depth": 3})).await;
    let text = above["result"]["result"].as_str().unwrap();
    assert!(text.contains("  root/\n") && !text.contains("  data/"), "{text}");
}
