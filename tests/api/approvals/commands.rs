//! Commands: what their words lead to, where they run, and what a person sees of them.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

/// A path that is too long together with the directory, and that the kernel takes.
fn long(end: &str) -> String {
    format!("{}{end}", "./".repeat((4080 - end.len()) / 2))
}

pub(super) async fn status(session: &TestSession, id: &str, command: &str) -> Value {
    let answer = session.bash(id, command).await;
    let call: Value = serde_json::from_slice(&answer.bytes).unwrap();
    call["status"].clone()
}

#[tokio::test]
async fn a_path_that_cannot_be_located_is_not_read_unasked() {
    let server = TestServer::start();
    let session = server.session().await;
    let command = format!("cat {}", long("../../../../../../../../etc/passwd"));
    for (id, workdir) in [("1", "."), ("2", session.workspace.to_str().unwrap())] {
        session.asks(id, "Bash", json!({"command": command, "workdir": workdir})).await;
    }
    session.asks("3", "Bash", json!({"command": command})).await;
}

#[tokio::test]
async fn directories_are_not_compared_unasked() {
    let server = TestServer::start();
    let session = server.session().await;
    for name in ["a", "b"] {
        std::fs::create_dir(session.file(name)).unwrap();
    }
    // Diff of directories would follow it.
    std::fs::write(server.outside().join("secret"), "s\n").unwrap();
    symlink(server.outside().join("secret"), session.file("a/x")).unwrap();
    session.write_file("b/x", "other\n");
    session.write_file("c", "one\n");
    session.write_file("d", "two\n");
    session.asks("1", "Bash", json!({"command": "diff a b"})).await;
    session.asks("2", "Bash", json!({"command": "diff c b"})).await;
    session.asks("3", "Bash", json!({"command": "diff a/x b/x"})).await;
    assert_eq!(status(&session, "4", "diff c d").await, "completed");
}

#[tokio::test]
async fn a_grant_does_not_hold_in_a_directory_outside() {
    let server = TestServer::start();
    let session = server.session().await;
    let outside = server.outside().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    let id = session.asks("1", "Bash", json!({"command": "touch 'a b'"})).await;
    let shown = server.operator().approval(&id).await;
    let patterns: Vec<_> = shown["offers"].as_array().unwrap().iter().map(|o| o["pattern"].clone()).collect();
    assert_eq!(patterns, [Value::Null, json!("Bash(touch 'a b')"), json!("Bash(touch 'a b')")]);
    let decision = json!({"decision": "allow", "scope": "session"});
    server.operator().decide(&id, &decision).await.expect(200);
    session.ended("1").await;
    assert_eq!(status(&session, "2", "touch \"a b\"").await, "completed");
    assert_eq!(status(&session, "3", "touch a b").await, "awaiting_approval");
    let away = json!({"command": "touch 'a b'", "workdir": outside.to_str().unwrap()});
    session.asks("4", "Bash", away).await;
    assert!(!outside.join("a b").exists());
}

#[tokio::test]
async fn links_are_followed_under_bypass() {
    let config = json!({"permissions": {"deny": ["Read(**/.env)", "Edit(lock/**)"]}});
    let server = TestServer::with_config(&config);
    let session = server.bypass_session().await;
    session.write_file(".env", "SECRET=1\n");
    session.write_file("ok.txt", "ok\n");
    std::fs::create_dir(session.file("lock")).unwrap();
    std::fs::create_dir_all(session.file(".git/hooks")).unwrap();
    for (target, link) in [(".env", "e2"), ("lock", "L2"), (".git", "g2")] {
        symlink(target, session.file(link)).unwrap();
    }
    for (n, (command, want)) in [
        ("cp e2 zz", "denied"),
        ("sed -n p e2", "denied"),
        ("cp ok.txt L2/a", "denied"),
        ("cp ok.txt g2/hooks/pre-commit", "awaiting_approval"),
        ("grep -r SECRET .", "awaiting_approval"),
        ("tar cf - .", "awaiting_approval"),
        ("cp ok.txt copy.txt", "completed"),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(status(&session, &n.to_string(), command).await, want, "{command}");
    }
    for made in ["zz", "lock/a", ".git/hooks/pre-commit"] {
        assert!(!session.file(made).exists(), "{made}");
    }
}

#[tokio::test]
async fn leaves_hide_nothing() {
    let server = TestServer::start();
    let session = server.session().await;
    let command = "touch a\u{1b}[31m; touch \u{202e}b";
    let id = session.asks("c", "Bash", json!({"command": command})).await;
    let approval = server.operator().approval(&id).await;
    assert_eq!(approval["leaves"], json!(["touch 'a\\u{1b}[31m'", "touch \\u{202e}b"]));
}

#[tokio::test]
async fn a_command_that_cannot_be_run_is_not_asked_about() {
    let server = TestServer::start();
    let session = server.session().await;
    for (id, word) in [("1", "x".repeat(131_072)), ("2", "é".repeat(65_536))] {
        let status = status(&session, id, &format!("touch {word}")).await;
        assert_eq!(status, "failed", "{id}");
    }
    assert!(server.operator().pending(&session.id).await.is_empty());
}

/// Case F3: what a `cd` leads to counts, in a session that bypasses what only asks too.
#[tokio::test]
async fn f3_a_hook_written_behind_a_cd_asks_under_bypass() {
    let server = TestServer::start();
    for (name, session) in [("plain", server.session().await), ("bypass", server.bypass_session().await)] {
        std::fs::create_dir_all(session.file(".git/hooks")).unwrap();
        session.asks(name, "Bash", json!({"command": "cd .git && echo x > hooks/pre-commit"})).await;
        assert!(!session.file(".git/hooks/pre-commit").exists());
    }
}

/// Case F5: a directory that the model gives moves nothing of what may be written unasked.
#[tokio::test]
async fn f5_a_workdir_outside_widens_nothing() {
    let server = TestServer::start();
    let session = server.session().await;
    let accepts = json!({"permission_mode": "accept_edits"});
    server.operator().patch(&session.path("/runtime"), &accepts).await.expect(200);
    let outside = server.outside().to_str().unwrap().to_owned();
    session.asks("pwd", "Bash", json!({"command": "touch made", "workdir": outside})).await;
    session.asks("write", "Write", json!({"file_path": format!("{outside}/made"), "content": "x"})).await;
    session.asks("read", "Read", json!({"file_path": "/etc/hostname"})).await;
    session.call("inside", "Write", json!({"file_path": "made", "content": "x"})).await.expect(200);
    assert!(!server.outside().join("made").exists() && session.file("made").exists());
}

/// Case P10, over HTTP: a file that is denied anywhere is denied everywhere, and not shown.
#[tokio::test]
async fn p10_a_denied_file_is_neither_read_nor_listed() {
    let config = json!({"permissions": {"deny": ["Read(**/*.env)", "Read(**/.env)"]}});
    let server = TestServer::with_config(&config);
    let session = server.session().await;
    std::fs::create_dir_all(session.file("a/b")).unwrap();
    for file in [".env", "a/b/.env", "a/b/prod.env"] {
        session.write_file(file, "SECRET=1\n");
        let read = session.call(file, "Read", json!({"file_path": file})).await.expect(200);
        assert_eq!(read["status"], "denied", "{read}");
    }
    for (tool, arguments) in [("Grep", json!({"pattern": "SECRET"})), ("Glob", json!({"pattern": "**/*"}))] {
        let found = session.call(tool, tool, arguments).await.expect(200);
        assert!(!found["result"].to_string().contains("env"), "{found}");
    }
}

/// Known read-only commands run unasked, however they are joined, and from wherever a `cd` within the workspace
/// leads; what leads out of it asks.
#[tokio::test]
async fn known_commands_run_unasked_however_they_are_joined() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::create_dir_all(session.file("sub/deep")).unwrap();
    session.write_file("sub/x", "one\ntwo\nthree\n");
    session.write_file("x", "top\n");
    symlink("/etc", session.file("out")).unwrap();
    symlink(session.file("sub"), session.file("link")).unwrap();
    for (id, command, want) in [
        ("1", "(cd sub && cat x | head -n 2); pwd", "one\ntwo\n"),
        ("2", "(cd sub && cat ../x && wc -l < x 2>/dev/null)", "top\n3\n"),
        ("3", "cat <<'E' | sort\nb\na $x\nE", "a $x\nb\n"),
        ("4", "timeout 5 sed -n '2,3p' sub/x", "two\nthree\n"),
    ] {
        let call = session.bash(id, command).await.expect(200);
        assert_eq!(call["status"], "completed", "{command}: {call}");
        assert!(call["result"]["result"].as_str().unwrap().starts_with(want.trim_end()), "{command}: {call}");
    }
    for (id, command) in [
        ("out", "cd out && cat hostname"),
        ("up", "cd .. && ls"),
        ("either", "cd sub; cat ../../x"),
        // Bash counts `..` from the name of the link, the kernel from where it leads.
        ("link", "cd link && cat ../x"),
        ("twice", "cd sub && cd ../.. && ls"),
        ("write", "cat x > y"),
        ("loop", "for f in x; do cat $f; done"),
    ] {
        session.asks(id, "Bash", json!({"command": command})).await;
    }
    assert!(!session.file("y").exists());
}

/// What one command makes of a path is not known before it has run: a link that the text itself makes does not lead
/// a read out of the workspace.
#[tokio::test]
async fn a_link_that_a_command_makes_is_not_followed_unasked() {
    let config = json!({"permissions": {"allow": ["Bash(ln *)", "Bash(mkdir *)"]}});
    let server = TestServer::with_config(&config);
    let session = server.session().await;
    session.write_file("a", "inside\n");
    assert_eq!(status(&session, "1", "ln -s a b").await, "completed");
    assert_eq!(status(&session, "2", "mkdir -p d && cat b").await, "completed");
    for (id, command) in [
        ("file", "ln -s /etc/hostname h && cat h"),
        ("directory", "ln -s /etc e && cd e && cat hostname"),
        ("other-order", "cat h; ln -s /etc/hostname h"),
        ("at-once", "ln -s /etc/hostname h & cat h"),
    ] {
        session.asks(id, "Bash", json!({"command": command})).await;
    }
    assert!(!session.file("h").exists() && !session.file("e").exists());
}

/// A grant for one command of a text covers that command in other texts, but not where a `cd` leads out.
#[tokio::test]
async fn a_grant_covers_one_command_of_a_text() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::create_dir(session.file("sub")).unwrap();
    let outside = server.outside().to_str().unwrap().to_owned();
    let id = session.asks("1", "Bash", json!({"command": "cd sub && touch made | cat"})).await;
    let shown = server.operator().approval(&id).await;
    assert_eq!(shown["leaves"], json!(["cd sub", "touch made", "cat"]), "{shown}");
    assert_eq!(shown["offers"][1]["pattern"], "Bash(touch made)", "{shown}");
    server.operator().decide(&id, &json!({"decision": "allow", "scope": "session"})).await.expect(200);
    session.ended("1").await;
    assert!(session.file("sub/made").exists());
    assert_eq!(status(&session, "2", "pwd; touch made && ls").await, "completed");
    session.asks("3", "Bash", json!({"command": "touch made && touch other"})).await;
    session.asks("4", "Bash", json!({"command": format!("cd {outside} && touch made")})).await;
    assert!(!server.outside().join("made").exists());
}

/// A shim runs what a file of the workspace chooses, whatever it is called.
#[tokio::test]
async fn a_shim_asks_where_a_file_may_choose_what_it_stands_for() {
    let shims = tempfile::tempdir().unwrap();
    for (program, name) in [("/bin/cat", "jq"), ("/bin/gzip", "gzip"), ("/bin/grep", "grep")] {
        symlink(program, shims.path().join(name)).unwrap();
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", shims.path().display());
    let server = TestServer::prepared(&[("PATH", &path)], |folder| {
        let file = folder.join("config.json");
        std::fs::write(&file, "{}").unwrap();
        file
    });
    let session = server.session().await;
    session.write_file("f", "{}\n");
    let text = "cat f && timeout 5 jq f";
    assert_eq!(status(&session, "none", text).await, "completed");
    // What a known program starts by its name counts as well.
    let starters = ["zcat f.gz", "gunzip -c f.gz", "tar tf f.tgz", "egrep x f", "timeout 5 fgrep x f"];
    assert_eq!(status(&session, "egrep", "egrep '{' f").await, "completed");
    for name in [".tool-versions", "mise.toml", "aqua.yaml", ".ruby-version", "package.json"] {
        session.write_file(name, "jq path:./tools\n");
        session.asks(&format!("{name} shim"), "Bash", json!({"command": text})).await;
        // What is told of a call is what it comes to.
        let explained =
            json!({"session_id": session.id, "tool_name": "Bash", "arguments": {"command": text}});
        let told = server.agent().post("/v1/permissions/explain", &explained).await.expect(200);
        assert_eq!(told["decision"], "ask", "{told}");
        for command in starters.iter().filter(|_| name == ".tool-versions") {
            session.asks(&format!("{name} {command}"), "Bash", json!({"command": command})).await;
        }
        assert_eq!(status(&session, name, "cat f").await, "completed");
        std::fs::remove_file(session.file(name)).unwrap();
    }
}

/// Where the workspace is the home, what an agent writes there are settings of programs.
#[tokio::test]
async fn programs_with_settings_in_a_home_that_is_the_workspace_ask() {
    let mut server = TestServer::with_config(
        &json!({"permissions": {"mode": "accept_edits", "max_mode": "accept_edits"}}),
    );
    let session = server.session().await;
    session.write_file("f", "{}\n");
    assert_eq!(status(&session, "elsewhere", "timeout 5 jq . f").await, "completed");
    server.terminate();
    server.start_again_with(&[("HOME", session.workspace.to_str().unwrap())]);
    let session = session.with(server.agent());
    for command in
        ["jq . f", "cat f | timeout 5 jq .", "find . -type f -exec file {} +", "file f", "jq --version"]
    {
        session.asks(command, "Bash", json!({"command": command})).await;
    }
    for command in ["cat f | grep x || ls", "git --version", "timeout 5 cat f && mkdir g", "printf x"] {
        assert_eq!(status(&session, command, command).await, "completed", "{command}");
    }
    for name in [".jq", ".rustup/settings.toml", ".config/nvim/init.lua"] {
        session.asks(name, "Write", json!({"path": name, "content": "x"})).await;
    }
    session.call("plain", "Write", json!({"path": "src/.jq", "content": "x"})).await.expect(200);
}

/// What a rule covers runs by the rule, be it a shim or not, and what stands beside it runs for what it is.
#[tokio::test]
async fn a_shim_that_a_rule_covers_asks_for_nothing_beside_it() {
    let shims = tempfile::tempdir().unwrap();
    for (program, name) in [("/bin/cp", "cp"), ("/bin/cat", "jq")] {
        symlink(program, shims.path().join(name)).unwrap();
    }
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", shims.path().display());
    let server = TestServer::prepared(&[("PATH", &path)], |folder| {
        let file = folder.join("config.json");
        std::fs::write(&file, r#"{"permissions": {"allow": ["Bash(cp *)"]}}"#).unwrap();
        file
    });
    let session = server.session().await;
    std::fs::create_dir(session.file("sub")).unwrap();
    session.write_file("f", "{}\n");
    session.write_file("package.json", "{}\n");
    for command in
        ["cp f g 2>&1 | tail -n 1", "cd sub && cp ../f g", "cp f g; echo done", "timeout 5 cp f g && cat g"]
    {
        assert_eq!(status(&session, command, command).await, "completed", "{command}");
    }
    for command in ["jq . f", "cp f g && jq . g", "cp f g | timeout 5 jq ."] {
        session.asks(command, "Bash", json!({"command": command})).await;
    }
    std::fs::remove_file(session.file("package.json")).unwrap();
    assert_eq!(status(&session, "alone", "jq f | tail -n 1").await, "completed");
    // The rule's command may make a file that chooses.
    session.asks("beside", "Bash", json!({"command": "cp f g && jq f"})).await;
}
