//! Commands: what their words lead to, where they run, and what a person sees of them.

use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

/// A path that is too long together with the directory, and that the kernel takes.
fn long(end: &str) -> String {
    format!("{}{end}", "./".repeat((4080 - end.len()) / 2))
}

async fn status(session: &TestSession, id: &str, command: &str) -> Value {
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

/// A repository whose plain look hides what git would obey or read is none that git runs in unasked.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the repository is made by a person, not by the server")]
async fn git_asks_where_it_would_look_further_than_a_plain_repository() {
    let server = TestServer::start();
    let session = server.session().await;
    let git = |directory: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments);
        assert!(command.current_dir(session.file(directory)).output().unwrap().status.success());
    };
    for name in ["sub", "sub/plain/d"] {
        std::fs::create_dir_all(session.file(name)).unwrap();
    }
    session.write_file("sub/plain/d/passwd", "tracked\n");
    // The repository around all others has settings that are obeyed.
    git(".", &["init", "-q"]);
    git(".", &["config", "filter.x.clean", "false"]);
    let plain = "sub/plain";
    git(plain, &["init", "-q"]);
    git(plain, &["add", "."]);
    git(plain, &["commit", "-qm", "first"]);
    let grep = "(cd sub/plain && git grep -n tracked)";
    assert_eq!(status(&session, "plain", grep).await, "completed");
    // No repository yet, so that git would go on to the one around it.
    std::fs::create_dir_all(session.file("sub/.git/objects/info")).unwrap();
    session.asks("empty", "Bash", json!({"command": "(cd sub && git status)"})).await;
    std::fs::create_dir(session.file("sub/.git/refs")).unwrap();
    session.write_file("sub/.git/HEAD", "nothing\n");
    session.asks("headless", "Bash", json!({"command": "(cd sub && git status)"})).await;
    // Git takes what lies in `modules` for a repository of its own.
    let within = "sub/plain/.git/modules/m";
    std::fs::create_dir_all(session.file(within)).unwrap();
    git(within, &["init", "-q", "--bare", "."]);
    session.asks("within", "Bash", json!({"command": format!("(cd {within} && git log)")})).await;
    // Objects of another repository, wherever that lies.
    session.write_file("sub/plain/.git/objects/info/alternates", "/nowhere/objects\n");
    session.asks("alternates", "Bash", json!({"command": "(cd sub/plain && git show)"})).await;
    std::fs::remove_file(session.file("sub/plain/.git/objects/info/alternates")).unwrap();
    // `git grep` and `git ls-files -m` read tracked files through the symlink that has taken the place of their directory, as `git
    // diff` does in a conflict.
    std::fs::remove_dir_all(session.file("sub/plain/d")).unwrap();
    std::fs::write(server.outside().join("passwd"), "tracked outside\n").unwrap();
    symlink(server.outside(), session.file("sub/plain/d")).unwrap();
    session.asks("symlink", "Bash", json!({"command": grep})).await;
    session.asks("modified", "Bash", json!({"command": "(cd sub/plain && git ls-files -m)"})).await;
    session.asks("conflict", "Bash", json!({"command": "(cd sub/plain && git diff)"})).await;
    std::fs::remove_file(session.file("sub/plain/d")).unwrap();
    assert_eq!(status(&session, "gone", "(cd sub/plain && git diff)").await, "completed");
}

/// Files of a repository name others: an index files to print, a working tree its repository, lists packs and tables.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the repository is made by a person, not by the server")]
async fn git_asks_where_a_file_of_the_repository_names_something_elsewhere() {
    let server = TestServer::start();
    let session = server.session().await;
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments);
        let done = command.current_dir(session.file(".")).output().unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    git(&["init", "-q"]);
    session.write_file("name-of-a-file", "tracked\n");
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    git(&["worktree", "add", "-q", "inside"]);
    git(&["worktree", "add", "-q", server.outside().join("tree").to_str().unwrap()]);
    git(&["repack", "-q", "--write-midx"]);
    assert_eq!(status(&session, "plain", "git status && git branch -a").await, "completed");
    // It tells whether something is there.
    session.asks("trees", "Bash", json!({"command": "git worktree list"})).await;
    git(&["worktree", "remove", server.outside().join("tree").to_str().unwrap()]);
    assert_eq!(status(&session, "trees inside", "git worktree list").await, "completed");

    // A directory, with a repository in it or not, has taken the place of a tracked file.
    std::fs::remove_file(session.file("name-of-a-file")).unwrap();
    assert_eq!(status(&session, "gone", "git status").await, "completed");
    std::fs::create_dir(session.file("name-of-a-file")).unwrap();
    session.asks("directory", "Bash", json!({"command": "git status"})).await;
    std::fs::remove_dir(session.file("name-of-a-file")).unwrap();

    let index = std::fs::read(session.file(".git/index")).unwrap();
    let at = index.windows(14).position(|bytes| bytes == b"name-of-a-file").unwrap();
    for (id, name) in [
        ("up", "../../../token"),
        ("absolute", "/etc/hostname1"),
        ("own", "ab/.GIT/config"),
        ("dot", "././name-of-fi"),
    ] {
        let mut other = index.clone();
        other[at..at + 14].copy_from_slice(name.as_bytes());
        std::fs::write(session.file(".git/index"), other).unwrap();
        for command in ["git diff", "git status", "git grep x"] {
            session.asks(&format!("{id} {command}"), "Bash", json!({"command": command})).await;
        }
    }
    std::fs::write(session.file(".git/index"), index).unwrap();

    let inside = std::fs::read(session.file(".git/worktrees/inside/gitdir")).unwrap();
    let packs = std::fs::read(session.file(".git/objects/pack/multi-pack-index")).unwrap();
    let at = packs.windows(5).position(|bytes| bytes == b"pack-").unwrap();
    let mut led = packs.clone();
    led[at..at + 3].copy_from_slice(b"../");
    for (name, elsewhere, plain) in [
        (".git/objects/pack/multi-pack-index", led.as_slice(), Some(packs.as_slice())),
        (".git/worktrees/inside/commondir", b"../../../elsewhere\n", Some(b"../..\n")),
        (".git/reftable/tables.list", b"../../x.ref\n", None),
        (".git/objects/pack/multi-pack-index.d", b"", None),
        // From where git counts that goes by its version.
        (".git/worktrees/inside/gitdir", b"../../inside/.git\n", Some(inside.as_slice())),
    ] {
        std::fs::create_dir_all(session.file(name).parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(session.file(name));
        std::fs::write(session.file(name), elsewhere).unwrap();
        session.asks(name, "Bash", json!({"command": "git branch && git worktree list"})).await;
        std::fs::remove_file(session.file(name)).unwrap();
        if let Some(plain) = plain {
            std::fs::write(session.file(name), plain).unwrap();
        }
        assert_eq!(status(&session, &format!("{name} plain"), "git branch").await, "completed", "{name}");
    }
    // What lies in `hooks` git takes for a reference where something asks for one of that name.
    std::fs::write(server.outside().join("token"), format!("{}\n", "5e".repeat(20))).unwrap();
    session.write_file("hook", "#!/bin/sh\n");
    std::fs::create_dir_all(session.file(".git/hooks")).unwrap();
    symlink("../../hook", session.file(".git/hooks/pre-commit")).unwrap();
    assert_eq!(status(&session, "hook", "git rev-parse HEAD").await, "completed");
    symlink(server.outside().join("token"), session.file(".git/hooks/x")).unwrap();
    session.asks("reference", "Bash", json!({"command": "git rev-parse hooks/x"})).await;
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

/// Git that only reads runs unasked where the repository's settings are plain, and starts no program of theirs.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the repository is made by a person, not by the server")]
async fn git_reads_unasked_where_its_settings_are_plain() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::create_dir(session.file("sub")).unwrap();
    session.write_file("sub/x", "one\n");
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments);
        assert!(command.current_dir(&session.workspace).output().unwrap().status.success(), "{arguments:?}");
    };
    session.asks("none", "Bash", json!({"command": "git status"})).await;
    git(&["init", "-q"]);
    git(&["add", "."]);
    git(&["commit", "-qm", "first"]);
    session.write_file("sub/x", "two\n");
    for (id, command, want) in [
        ("1", "git status --short", "M sub/x"),
        ("2", "(cd sub && git diff | head -n 20)", "+two"),
        ("3", "git log --oneline | cat", "first"),
    ] {
        let call = session.bash(id, command).await.expect(200);
        assert_eq!(call["status"], "completed", "{command}: {call}");
        assert!(call["result"]["result"].as_str().unwrap().contains(want), "{command}: {call}");
    }
    for (id, command) in
        [("push", "git push"), ("mixed", "git status && touch y"), ("out", "git diff /etc/hostname")]
    {
        session.asks(id, "Bash", json!({"command": command})).await;
    }
    // A program that the settings name: then what git runs is not told by its words.
    let marked = session.file("marked");
    git(&["config", "core.fsmonitor", &format!("touch {}; false", marked.display())]);
    session.asks("monitor", "Bash", json!({"command": "git status"})).await;
    git(&["config", "--unset", "core.fsmonitor"]);
    // What the settings of the user name does not count.
    git(&["config", "alias.st", "status"]);
    assert_eq!(status(&session, "again", "git status").await, "completed");
    std::fs::rename(session.file(".git"), session.file("moved")).unwrap();
    symlink(session.file("moved"), session.file(".git")).unwrap();
    session.asks("link", "Bash", json!({"command": "git status"})).await;
    assert!(!marked.exists());
}

/// Git asks for the attributes of whatever a tree of the repository names, which may lie anywhere; those of the last commit hold.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "the repository is made by a person, not by the server")]
async fn no_tree_of_a_repository_leads_git_to_attributes_elsewhere() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::write(server.outside().join(".gitattributes"), "* t0ken:outside\n").unwrap();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=t", "-c", "user.email=t@example.org"]).args(arguments);
        let done = command.current_dir(session.file(".")).output().unwrap();
        assert!(done.status.success(), "{arguments:?} {done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_owned()
    };
    git(&["init", "-q", "-b", "main"]);
    session.write_file("f", "one\n");
    let blob = git(&["hash-object", "-w", "f"]);
    let name = server.outside().join("f");
    let mut tree = format!("100644 {}\0", name.display()).into_bytes();
    tree.extend((0..20).map(|at| u8::from_str_radix(&blob[2 * at..2 * at + 2], 16).unwrap()));
    std::fs::write(session.file("tree"), tree).unwrap();
    let tree = git(&["hash-object", "-t", "tree", "-w", "--literally", "tree"]);
    let odd = git(&["commit-tree", &tree, "-m", "odd"]);
    git(&["branch", "odd", &odd]);
    let reads = async |id: &str, command: &str| {
        let call = session.bash(id, command).await.expect(200);
        assert_eq!(call["status"], "completed", "{call}");
        let text = call["result"]["result"].as_str().unwrap().to_owned();
        assert!(!text.contains("t0ken"), "{command}: {text}");
        text
    };
    // It would go there.
    let led = std::process::Command::new("git").args(["show", "odd"]).current_dir(session.file(".")).output();
    assert!(String::from_utf8_lossy(&led.unwrap().stderr).contains("t0ken"));
    let forms = ["git show odd", "git log -p odd", "git log --stat odd", "git diff odd", "git grep one odd"];
    for (n, command) in forms.into_iter().enumerate() {
        assert!(reads(&format!("unborn {n}"), command).await.contains('f'), "{command}");
    }
    assert!(reads("status", "git status -s").await.contains("?? f"));
    session.write_file(".gitattributes", "f -diff\n");
    git(&["add", "f", ".gitattributes"]);
    git(&["commit", "-qm", "first"]);
    session.write_file("f", "two\n");
    for (n, command) in forms.into_iter().enumerate() {
        assert!(reads(&format!("born {n}"), command).await.contains('f'), "{command}");
    }
    for packed in [false, true] {
        assert!(reads(&format!("own {packed}"), "git diff").await.contains("Binary files"));
        git(&["pack-refs", "--all"]);
    }
}

/// Four files make a directory that git takes for a bare repository, and none of them is called `.git`: a rule for a
/// command of git must not run what their settings name.
#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "git itself, as a user would run it")]
async fn a_directory_that_looks_like_a_repository_is_none() {
    let server =
        TestServer::with_config(&json!({"permissions": {"mode": "accept_edits", "allow": ["Bash(git *)"]}}));
    let session = server.session().await;
    let marked = session.file("marked");
    for (id, name, content) in [
        ("1", "bare/HEAD", "ref: refs/heads/main\n".to_owned()),
        ("2", "bare/objects/x", String::new()),
        ("3", "bare/refs/x", String::new()),
        (
            "4",
            "bare/config",
            format!(
                "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = \"touch {}; false\"\n",
                marked.display()
            ),
        ),
    ] {
        let written =
            session.call(id, "Write", json!({"file_path": name, "content": content})).await.expect(200);
        assert_eq!(written["status"], "completed", "{written}");
    }
    let call = session.bash("5", "cd bare && git status").await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
    assert!(call["result"]["result"].as_str().unwrap().contains("safe.bareRepository"), "{call}");
    assert!(!marked.exists());
    // To git itself it is one, and what it names would have run.
    let told =
        std::process::Command::new("git").arg("status").current_dir(session.file("bare")).output().unwrap();
    assert!(marked.exists(), "{}", String::from_utf8_lossy(&told.stderr));
}
