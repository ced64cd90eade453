//! What an approval is bound to: exactly what the reviewer was shown.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

async fn waiting_edit(session: &TestSession) -> String {
    session.write_file("a.txt", "one\ntwo\n");
    session.call("r", "Read", json!({"file_path": "a.txt"})).await.expect(200);
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"});
    session.asks("e", "Edit", edit).await
}

/// Allowing it is refused, since something changed; the approval that waits now.
async fn superseded(server: &TestServer, session: &TestSession, call: &str, old: &str) -> Value {
    let operator = server.operator();
    let problem = operator.decide(old, &json!({"decision": "allow"})).await.problem(409, "superseded");
    let new = problem["approval"].clone();
    assert_eq!(new["status"], "pending");
    assert_ne!(new["approval_id"], old);
    assert_eq!(operator.approval(old).await["status"], "superseded");
    let current = session.current(call).await;
    assert_eq!(current["status"], "awaiting_approval");
    assert_eq!(current["approval_id"], new["approval_id"]);
    assert_eq!(operator.pending(&session.id).await, std::slice::from_ref(&new));
    for decision in ["allow", "deny"] {
        let again = operator.decide(old, &json!({"decision": decision})).await;
        assert_eq!(again.status, 409, "{}", again.text());
    }
    new
}

#[tokio::test]
async fn p16_an_edit_of_a_file_that_changed_asks_again_with_the_new_diff() {
    let server = TestServer::start();
    let session = server.session().await;
    let old = waiting_edit(&session).await;
    session.write_file("a.txt", "ONE\ntwo\n");
    let new = superseded(&server, &session, "e", &old).await;
    assert_eq!(session.read_file("a.txt"), "ONE\ntwo\n", "nothing was applied unseen");
    assert!(new["diff"].as_str().unwrap().contains(" ONE"), "{new}");

    server.operator().allow(new["approval_id"].as_str().unwrap()).await;
    let call = session.ended("e").await;
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!(session.read_file("a.txt"), "ONE\nthree\n");
    let resolved: Vec<_> = session
        .events()
        .await
        .into_iter()
        .filter(|event| event["type"] == "tool_approval_resolved")
        .map(|event| event["decision"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(resolved, ["superseded", "allow"]);
}

#[tokio::test]
async fn p16_an_edit_that_fits_no_more_changes_nothing() {
    let server = TestServer::start();
    let session = server.session().await;
    let old = waiting_edit(&session).await;
    session.write_file("a.txt", "something else\n");
    let answer = server.operator().decide(&old, &json!({"decision": "allow"})).await;
    assert!([409, 422].contains(&answer.status.as_u16()), "{}", answer.text());
    assert_eq!(session.read_file("a.txt"), "something else\n");
}

#[tokio::test]
async fn p16_a_write_over_a_file_that_came_meanwhile_asks_again() {
    let server = TestServer::start();
    let session = server.session().await;
    let old = session.asks("w", "Write", json!({"file_path": "n.txt", "content": "mine\n"})).await;
    session.write_file("n.txt", "theirs\n");
    let answer = server.operator().decide(&old, &json!({"decision": "allow"})).await;
    assert!([409, 422].contains(&answer.status.as_u16()), "{}", answer.text());
    assert_eq!(session.read_file("n.txt"), "theirs\n");
}

#[tokio::test]
async fn p17_a_script_that_changed_while_its_call_waited_does_not_run() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("run.sh", "touch first\n");
    let old = session.asks("c", "Bash", json!({"command": "sh ./run.sh"})).await;
    session.write_file("run.sh", "touch second\n");
    let new = superseded(&server, &session, "c", &old).await;
    assert!(!session.file("first").exists() && !session.file("second").exists());
    server.operator().allow(new["approval_id"].as_str().unwrap()).await;
    assert_eq!(session.ended("c").await["status"], "completed");
    assert!(session.file("second").exists() && !session.file("first").exists());
}

/// A command, and a file that it runs or passes on; `WS` is the workspace's name, and `ROOT` the way there from `/`.
const NAMED: &[(&str, &str)] = &[
    ("cd sub && sh ./a.sh", "sub/a.sh"),
    ("bash -c 'sh b.sh; true'", "b.sh"),
    ("make -f rules.mk all", "rules.mk"),
    ("CONFIG=conf.py python3 sub/c.py", "conf.py"),
    ("sh \"new file.sh\"", "new file.sh"),
    // What is run without being named.
    ("make all", "Makefile"),
    ("cd sub && npm test", "sub/package.json"),
    ("python3 -m pytest -q", "conftest.py"),
    ("cargo test", "build.rs"),
    // Behind letters of options and other marks.
    ("make -fM", "M"),
    ("make -Csub", "sub/Makefile"),
    ("awk -fp.awk x", "p.awk"),
    ("sed -fs.sed x", "s.sed"),
    ("node -r./h.js x", "h.js"),
    ("curl -Kcfg", "cfg"),
    ("psql -fq.sql", "q.sql"),
    ("vim -Ss.vim", "s.vim"),
    ("gcc @args", "args"),
    ("prog --opt=value.sh", "value.sh"),
    // Names that the shell makes.
    ("bash ./r*.sh", "run.sh"),
    ("bash {ran,}.sh", "ran.sh"),
    ("for f in *.bash; do bash $f; done", "f.bash"),
    ("bash \"$PWD/here.sh\"", "here.sh"),
    ("D=sub; bash $D/there.sh", "sub/there.sh"),
    ("bash $(echo sub)/out.sh", "sub/out.sh"),
    ("P=sub/put; bash $P.sh", "sub/put.sh"),
    ("for f in sub/*.in; do bash ${f%.in}.sh; done", "sub/in.sh"),
    ("P=sub/to; E=gether.sh; bash $P$E", "sub/together.sh"),
    ("f=sub/cut.sh.bak; bash ${f%.bak}", "sub/cut.sh"),
    ("bash ${X:-su}${Y:-b/default.sh}", "sub/default.sh"),
    ("bash \"$(echo sub/printed).sh\"", "sub/printed.sh"),
    ("xargs -I{} bash sub/{}.sh <<< placed", "sub/placed.sh"),
    ("shopt -s nocaseglob; bash sub/NO*.sh", "sub/nocase.sh"),
    // What lies in a directory that the command itself puts elsewhere.
    ("cp -r sub e && sh e/copied.sh", "sub/copied.sh"),
    ("cp -r sub/. e; sh e/x/deep.sh", "sub/x/deep.sh"),
    ("cp -rT sub full; sh full/over.sh", "sub/over.sh"),
    ("cp -r . ../e; sh ../e/sub/all.sh", "sub/all.sh"),
    ("cp -r . e; sh e/top.sh", "top.sh"),
    ("mkdir e; cp -r sub e; cd e/sub/x && sh in.sh", "sub/x/in.sh"),
    ("mv sub e && sh e/moved.sh", "sub/moved.sh"),
    ("mv sub e; mv e/x f; sh f/again.sh", "sub/x/again.sh"),
    ("mv sub e; sh e/*.shell", "sub/some.shell"),
    ("ln -s sub e && . e/linked.sh", "sub/linked.sh"),
    ("tar cf x.tar sub; mkdir e; tar xf x.tar -C e; sh e/sub/packed.sh", "sub/packed.sh"),
    ("tar c sub | tar x -C e --strip-components=1; e/stripped.sh", "sub/stripped.sh"),
    ("ls | xargs cp -t e; sh e/listed.sh", "listed.sh"),
    // By a way that leads out and back, and however deep.
    ("cd .. && sh WS/back.sh", "back.sh"),
    ("env -C .. sh WS/sub/back.sh", "sub/back.sh"),
    ("cd / && sh ROOT/WS/root.sh", "root.sh"),
    ("shopt -s globstar; cat sub/**/deeper.sh | sh", "sub/x/deeper.sh"),
    ("shopt -s globstar; for f in **/*.star; do sh $f; done", "sub/x/any.star"),
    ("python3 -c 'import os; os.rename(\"sub\", \"e\")'; sh e/renamed.sh", "sub/renamed.sh"),
    ("unknown sub e; sh e/unknown.sh", "sub/unknown.sh"),
    // Modules and directories.
    ("python3 -m mymod", "mymod.py"),
    ("python3 -msub.m2", "sub/m2.py"),
    ("python3 sub", "sub/__main__.py"),
    ("go run .", "main.go"),
    ("go run ./sub", "sub/main.go"),
    // Behind variables, and by the settings and hooks of git.
    ("LD_PRELOAD=./pre ls", "pre"),
    ("PATH=bin ls", "bin/ls"),
    ("GIT_EXTERNAL_DIFF=./ext git diff", "ext"),
    ("GIT_EDITOR=./ed git commit -a", "ed"),
    ("GIT_CONFIG_GLOBAL=conf git diff", "conf"),
    ("PAGER=./page git log", "page"),
    ("git commit -a -m y", ".git/hooks/pre-commit"),
    ("cd sub && git commit -m y", ".git/hooks/commit-msg"),
    ("git -C sub push", ".git/hooks/pre-push"),
    ("git commit -m z", ".husky/pre-commit"),
    ("git checkout x", ".git/config"),
    // What is put somewhere else.
    ("cp from to", "from"),
    ("cat text >> to", "text"),
    ("git add added", "added"),
    ("git commit -F message", "message"),
];

#[tokio::test]
async fn p17_whatever_names_the_script_binds_to_it() {
    let server = TestServer::start();
    let session = server.session().await;
    for folder in ["sub/x", "full", "bin", ".git/hooks", ".husky"] {
        std::fs::create_dir_all(session.file(folder)).unwrap();
    }
    session.write_file("full/over.sh", "touch over\n");
    let workspace = session.file("").canonicalize().unwrap();
    let name = workspace.file_name().unwrap().to_str().unwrap();
    let root = workspace.parent().unwrap().to_str().unwrap().trim_start_matches('/');
    for (n, (command, file)) in NAMED.iter().enumerate() {
        let command = command.replace("WS", name).replace("ROOT", root);
        let id = n.to_string();
        let old = session.asks(&id, "Bash", json!({"command": command})).await;
        // It was not there, and comes while the call waits.
        session.write_file(file, "touch ran\n");
        let new = superseded(&server, &session, &id, &old).await;
        let deny = json!({"decision": "deny"});
        server.operator().decide(new["approval_id"].as_str().unwrap(), &deny).await.expect(200);
    }
    assert!(!session.file("ran").exists());
}

/// Where output goes matters to what is there, not to what the command does.
#[tokio::test]
async fn a_log_that_grows_meanwhile_binds_nothing() {
    let server = TestServer::start();
    let session = server.session().await;
    for (n, (command, bound)) in
        [("echo a >> log", false), ("sh a.sh > log 2>&1", false), ("sh log >> log", true)].iter().enumerate()
    {
        std::fs::write(session.file("a.sh"), "true").unwrap();
        std::fs::write(session.file("log"), "true").unwrap();
        let approval = session.asks(&n.to_string(), "Bash", json!({ "command": command })).await;
        std::fs::write(session.file("log"), "true # longer").unwrap();
        let decided = server.operator().decide(&approval, &json!({"decision": "allow"})).await;
        assert_eq!(decided.status, if *bound { 409 } else { 200 }, "{command}");
    }
}

#[tokio::test]
async fn hooks_are_bound_where_the_settings_say_that_they_lie() {
    let server = TestServer::start();
    let session = server.session().await;
    for folder in [".git", "tools/hooks"] {
        std::fs::create_dir_all(session.file(folder)).unwrap();
    }
    session.write_file(".git/config", "[core]\n\thooksPath = \"tools/hooks\"\n");
    let old = session.asks("1", "Bash", json!({"command": "git commit -m x"})).await;
    session.write_file("tools/hooks/pre-commit", "touch ran\n");
    superseded(&server, &session, "1", &old).await;
}

/// However git is told where its settings and hooks are.
#[tokio::test]
async fn hooks_are_bound_wherever_git_finds_them() {
    let server = TestServer::start();
    let session = server.session().await;
    let folders = ["real.git/hooks", "linked", "main.git/worktrees/l", "main.git/hooks", "sub/deep", "lt"];
    for folder in folders.into_iter().chain([".git", "hk", "k6", "k7"]) {
        std::fs::create_dir_all(session.file(folder)).unwrap();
    }
    session.write_file("real.git/HEAD", "ref: refs/heads/main\n");
    session.write_file("real.git/config", "[core]\n\thooksPath = k\\\n6\n");
    session.write_file(".git/config", "[core]\n\thooksPath = k\"7\"\n");
    session.write_file("sub/.git", "gitdir: ../real.git\n");
    session.write_file("lt/.git", "gitdir: ../main.git/worktrees/l\n");
    session.write_file("main.git/worktrees/l/commondir", "../..\n");
    std::fs::create_dir_all(session.file("sub/k6")).unwrap();
    for (n, (command, workdir, file)) in [
        ("git commit -m a", Some("sub"), "real.git/hooks/pre-commit"),
        ("git commit -m a", Some("sub/deep"), "real.git/hooks/post-commit"),
        ("cd sub && git commit -m a", None, "real.git/hooks/commit-msg"),
        ("git -C sub commit -m a", None, "real.git/config.worktree"),
        ("git -C sub commit -m a", None, "sub/k6/pre-commit"),
        ("git -C lt commit -m a", None, "main.git/config"),
        ("cd lt && git commit -m a", None, "main.git/hooks/pre-commit"),
        ("git --git-dir=real.git commit -m a", None, "real.git/hooks/pre-push"),
        ("git --git-dir real.git commit -m a", None, "real.git/hooks/post-merge"),
        ("GIT_DIR=real.git git commit -m a", None, "real.git/hooks/update"),
        ("GIT_DIR=real.git git commit -m a", None, "k6/pre-commit"),
        ("git -c core.hooksPath=hk commit -m a", None, "hk/pre-commit"),
        ("git -c core.hooksPath=new commit -m a", None, "new/pre-commit"),
        ("git -c core.hooksPath=new commit -m a", Some("hk"), "new/post-commit"),
        ("git commit -m a", None, "k7/pre-commit"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = n.to_string();
        let input = match workdir {
            Some(workdir) => json!({"command": command, "workdir": workdir}),
            None => json!({"command": command}),
        };
        let old = session.asks(&id, "Bash", input).await;
        std::fs::create_dir_all(session.file(file).parent().unwrap()).unwrap();
        session.write_file(file, "touch ran\n");
        let new = superseded(&server, &session, &id, &old).await;
        let deny = json!({"decision": "deny"});
        server.operator().decide(new["approval_id"].as_str().unwrap(), &deny).await.expect(200);
    }
}

#[tokio::test]
async fn a_command_is_bound_to_where_its_paths_lead() {
    let server = TestServer::start();
    let session = server.session().await;
    for folder in ["good/k", "bad/k", ".git"] {
        std::fs::create_dir_all(session.file(folder)).unwrap();
    }
    session.write_file("data.txt", "data\n");
    let link = session.file("l");
    let leads_to = |target: &str| {
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();
    };
    for (n, (command, swapped)) in [
        ("cp data.txt l/k1", "bad"),
        ("cp data.txt l", "bad"),
        ("echo hi > l/k3", "bad"),
        ("cd l && touch k4", "bad"),
        ("rm -r l/k", "bad"),
        ("X=1; touch l/k5", "bad"),
        ("touch l/k6; true *", "bad"),
        ("cp data.txt l/config", ".git"),
    ]
    .into_iter()
    .enumerate()
    {
        leads_to("good");
        let id = n.to_string();
        let old = session.asks(&id, "Bash", json!({"command": command})).await;
        leads_to(swapped);
        let new = superseded(&server, &session, &id, &old).await;
        let deny = json!({"decision": "deny"});
        server.operator().decide(new["approval_id"].as_str().unwrap(), &deny).await.expect(200);
    }
    // The target becomes a directory.
    let old = session.asks("dir", "Bash", json!({"command": "cp data.txt n"})).await;
    std::fs::create_dir(session.file("n")).unwrap();
    superseded(&server, &session, "dir", &old).await;
    // What leads where it led is allowed.
    leads_to("good");
    let same = session.asks("same", "Bash", json!({"command": "cp data.txt l/k7"})).await;
    server.operator().allow(&same).await;
    assert_eq!(session.ended("same").await["status"], "completed");
    assert!(session.file("good/k7").exists() && session.file("good/k").exists());
    assert_eq!(std::fs::read_dir(session.file("bad")).unwrap().count(), 1);
}

#[tokio::test]
async fn files_beyond_what_an_approval_is_bound_to_are_told() {
    let server = TestServer::start();
    let session = server.session().await;
    for (id, many, told) in [("few", 10, false), ("many", 1_100, true)] {
        for n in 0..many {
            session.write_file(&format!("{n}.sh"), "");
        }
        let approval = session.asks(id, "Bash", json!({"command": "bash *.sh"})).await;
        let shown = server.operator().approval(&approval).await;
        let reason = shown["reason"]["text"].as_str().unwrap();
        assert_eq!(reason.contains("more files than an approval is bound to"), told, "{reason}");
    }
    // A path with more ends than are looked at.
    let long = format!("sh {}s.sh", "a/".repeat(1_100));
    let approval = session.asks("long", "Bash", json!({"command": long})).await;
    let shown = server.operator().approval(&approval).await;
    assert!(shown["reason"]["text"].as_str().unwrap().contains("more files than an approval"), "{shown}");
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_meanwhile_is_not_followed() {
    let server = TestServer::start();
    let session = server.session().await;
    std::fs::create_dir(session.file("dir")).unwrap();
    let old = session.asks("w", "Write", json!({"file_path": "dir/x", "content": "c"})).await;
    let outside = server.outside().join("elsewhere");
    std::fs::create_dir(&outside).unwrap();
    std::fs::remove_dir(session.file("dir")).unwrap();
    std::os::unix::fs::symlink(&outside, session.file("dir")).unwrap();
    let answer = server.operator().decide(&old, &json!({"decision": "allow"})).await;
    assert!([409, 422].contains(&answer.status.as_u16()), "{}", answer.text());
    assert!(!outside.join("x").exists());
}

#[tokio::test]
async fn an_allow_is_spent_once() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("1", "Bash", json!({"command": "echo ran >> log"})).await;
    server.operator().allow(&id).await;
    session.ended("1").await;
    server.operator().allow(&id).await;
    session.asks("2", "Bash", json!({"command": "echo ran >> log"})).await;
    assert_eq!(session.read_file("log"), "ran\n");
}

#[tokio::test]
async fn the_reviewer_sees_what_the_session_changed_in_what_will_run() {
    let server = TestServer::prepared(&[], |folder| {
        std::fs::create_dir(folder.join("root/ws")).unwrap();
        std::fs::write(folder.join("root/ws/old.sh"), "true\n").unwrap();
        std::fs::write(folder.join("config.json"), "{}").unwrap();
        folder.join("config.json")
    });
    let session = TestSession::create(&server.agent(), &json!({"workspace": server.root().join("ws")})).await;
    let operator = server.operator();
    let run = async |id: &str| {
        let asked = session.asks(id, "Bash", json!({"command": "sh ./run.sh && sh old.sh"})).await;
        let approval = operator.approval(&asked).await;
        session.cancel(id).await.expect(200);
        approval
    };
    assert!(run("before").await.get("changed_files").is_none(), "nothing in it was touched since");

    let write = json!({"file_path": "run.sh", "content": "echo one\n"});
    operator.allow(&session.asks("w", "Write", write).await).await;
    session.ended("w").await;
    let changed = run("written").await["changed_files"].clone();
    assert_eq!(changed.as_array().unwrap().len(), 1, "{changed}");
    assert_eq!((&changed[0]["path"], &changed[0]["call_id"]), (&json!("run.sh"), &json!("w")));
    assert_eq!(changed[0]["tool_name"], "Write");
    assert!(changed[0]["diff"].as_str().unwrap().contains("+echo one\n"), "{changed}");

    let edit = json!({"file_path": "run.sh", "old_string": "one", "new_string": "two"});
    operator.allow(&session.asks("e", "Edit", edit).await).await;
    session.ended("e").await;
    let changed = run("edited").await["changed_files"].clone();
    assert_eq!((&changed[0]["call_id"], &changed[1]["call_id"]), (&json!("e"), &json!("w")), "each edit");
    assert!(changed[0]["diff"].as_str().unwrap().contains("-echo one\n+echo two\n"), "{changed}");
    assert!(changed[1]["diff"].as_str().unwrap().contains("+echo one\n"), "{changed}");
    for n in 0..8 {
        let (old, new) = (if n == 0 { "two".to_owned() } else { format!("{n}") }, format!("{}", n + 1));
        let edit = json!({"file_path": "run.sh", "old_string": old, "new_string": new});
        operator.allow(&session.asks(&format!("e{n}"), "Edit", edit).await).await;
        session.ended(&format!("e{n}")).await;
    }
    let changed = run("much edited").await["changed_files"].as_array().unwrap().clone();
    assert_eq!((changed.len(), &changed[7]["earlier"]), (8, &json!(2)), "{changed:?}");
}

/// A session that edits without being asked.
async fn editor(server: &TestServer) -> TestSession {
    let session = server.session().await;
    let path = format!("/v1/sessions/{}/runtime", session.id);
    server.operator().patch(&path, &json!({"permission_mode": "accept_edits"})).await.expect(200);
    session
}

async fn edit(session: &TestSession, id: &str, tool: &str, arguments: Value) {
    session.begin(id, tool, arguments).await;
    assert_eq!(session.ended(id).await["status"], "completed", "{id}");
}

#[tokio::test]
async fn no_text_of_a_file_passes_for_a_part_of_the_diff() {
    let server = TestServer::start();
    let session = editor(&server).await;
    let write = |path: &str, content: &str| json!({"file_path": path, "content": content});
    edit(&session, "1", "Write", write("run.sh", "#!/bin/sh\n-- a/old\necho hi\n")).await;
    edit(&session, "2", "Write", write("run.sh", "#!/bin/sh\n++ b/new\necho hi\ntouch EVIL\n")).await;
    edit(&session, "3", "Write", write("a.txt", "x\n-- a/two.sh\ny\n")).await;
    edit(&session, "4", "Write", write("two.sh", "echo hi\n")).await;
    edit(&session, "5", "Write", write("sub/two.sh", "echo hi\n")).await;
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n x\n--- a/two.sh\n+++ b/two.sh\n+@@ -1 +1 @@\n+-echo hi\n\
                 ++echo harmless\n y\n*** Update File: sub/two.sh\n@@\n-echo hi\n+echo harmless\n\
                 *** Update File: two.sh\n@@\n-echo hi\n+touch EVIL\n*** End Patch\n";
    edit(&session, "6", "ApplyPatch", json!({"patch": patch})).await;
    let asked = session.asks("run", "Bash", json!({"command": "sh run.sh; sh two.sh"})).await;
    let changed = server.operator().approval(&asked).await["changed_files"].clone();
    let of = |call: &str, path: &str| -> String {
        let all = changed.as_array().unwrap();
        let found = all.iter().find(|change| change["call_id"] == call && change["path"] == path);
        found.unwrap_or_else(|| panic!("{call}: {changed}"))["diff"].as_str().unwrap().to_owned()
    };
    let run = "--- a/run.sh\n+++ b/run.sh\n@@ -1,3 +1,4 @@\n #!/bin/sh\n--- a/old\n+++ b/new\n echo hi\n+touch EVIL\n";
    assert_eq!(of("2", "run.sh"), run);
    assert_eq!(of("6", "two.sh"), "--- a/two.sh\n+++ b/two.sh\n@@ -1 +1 @@\n-echo hi\n+touch EVIL\n");
}

#[tokio::test]
async fn what_runs_is_told_before_what_it_is_given() {
    let server = TestServer::start();
    let session = editor(&server).await;
    let data: Vec<String> = (0..18).map(|n| format!("data{n}.txt")).collect();
    for (n, path) in std::iter::once("build.sh").chain(data.iter().map(String::as_str)).enumerate() {
        edit(&session, &format!("w{n}"), "Write", json!({"file_path": path, "content": "true\n"})).await;
    }
    for (n, given) in [data.join(" "), "*.txt".to_owned()].iter().enumerate() {
        let asked =
            session.asks(&format!("b{n}"), "Bash", json!({"command": format!("sh build.sh {given}")})).await;
        let approval = server.operator().approval(&asked).await;
        assert_eq!(approval["changed_files"][0]["path"], "build.sh", "{approval}");
        assert_eq!(approval["changed_files"].as_array().unwrap().len(), 16);
        assert_eq!(approval["changed_files_left_out"], 3);
    }
}

#[tokio::test]
async fn what_a_command_changed_is_told_by_when_it_ran() {
    let server = TestServer::start();
    let session = server.session().await;
    let operator = server.operator();
    operator.allow(&session.asks("b", "Bash", json!({"command": "echo true > run.sh"})).await).await;
    session.ended("b").await;
    let asked = session.asks("c", "Bash", json!({"command": "sh run.sh"})).await;
    let changed = operator.approval(&asked).await["changed_files"].clone();
    assert_eq!(
        (&changed[0]["call_id"], &changed[0]["tool_name"]),
        (&json!("b"), &json!("Bash")),
        "{changed}"
    );
}

#[tokio::test]
async fn a_directory_cannot_hide_what_it_is() {
    let mut server = TestServer::start();
    let session = server.session().await;
    let name = "d\u{202e}x\n \u{200b}";
    std::fs::create_dir(session.file(name)).unwrap();
    let asked = session.asks("c", "Bash", json!({"command": "touch here", "workdir": name})).await;
    let approval = server.operator().approval(&asked).await;
    let cwd = approval["cwd"].as_str().unwrap();
    assert!(cwd.ends_with("/d\\u{202e}x\\n \\u{200b}"), "{cwd:?}");
    // The exact one stays, over a restart too.
    server.restart_with(&json!({}));
    server.operator().allow(&asked).await;
    let session = session.with(server.agent());
    assert_eq!(session.ended("c").await["status"], "completed");
    assert!(session.file(name).join("here").exists());
}
