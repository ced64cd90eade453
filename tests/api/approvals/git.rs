//! Git in commands that run unasked: which repositories are plain, and what their files may name.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::commands::status;
use crate::support::TestServer;

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
