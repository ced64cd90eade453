//! ApplyPatch behind the gate: every path is judged, and what was approved is what is applied.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

fn patch(body: &str) -> Value {
    json!({"patch": format!("*** Begin Patch\n{body}\n*** End Patch\n")})
}

/// A session in bypass with files that it has read.
async fn having_read(session: TestSession, files: &[(&str, &str)]) -> TestSession {
    for (name, content) in files {
        std::fs::create_dir_all(session.file(name).parent().unwrap()).unwrap();
        session.write_file(name, content);
        let read =
            session.call(&format!("read {name}"), "Read", json!({"file_path": name})).await.expect(200);
        assert_eq!(read["status"], "completed", "{read}");
    }
    session
}

async fn ended(session: &TestSession, id: &str, arguments: Value) -> Value {
    session.call(id, "ApplyPatch", arguments).await.expect(200)
}

#[tokio::test]
async fn a_patch_is_applied_and_its_diff_told() {
    let server = TestServer::start();
    let session = having_read(server.bypass_session().await, &[("a", "1\n2\n"), ("b/c", "x\n")]).await;
    let body =
        "*** Update File: a\n 1\n-2\n+two\n*** Update File: b/c\n*** Move to: d\n*** Add File: e/f\n+new";
    let call = ended(&session, "p", patch(body)).await;
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!(
        call["result"]["result"],
        "Applied the patch:\nM a (1 hunk)\nR b/c -> d (0 hunks)\nA e/f (1 line)"
    );
    let diff = call["details"]["diff"].as_str().unwrap();
    assert!(diff.contains("-2\n+two\n") && diff.contains("rename from b/c\nrename to d\n"), "{diff}");
    assert_eq!(
        (session.read_file("a"), session.read_file("d"), session.read_file("e/f")),
        ("1\ntwo\n".into(), "x\n".into(), "new\n".into())
    );
    // As models that learnt it elsewhere call it.
    let codex = json!({"input": "*** Begin Patch\n*** Update File: a\n-1\n+one\n*** End Patch"});
    let call = session.call("q", "apply_patch", codex).await.expect(200);
    assert_eq!((&call["tool_name"], &call["status"]), (&json!("ApplyPatch"), &json!("completed")), "{call}");
    assert_eq!(session.read_file("a"), "one\ntwo\n");
}

#[tokio::test]
async fn p9_a_path_that_a_rule_denies_stops_the_whole_patch_however_it_is_named() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Edit(secret/**)"]}}));
    let files = [("a", "1\n"), ("secret/s", "s\n"), ("x/y", "\n")];
    let session = having_read(server.bypass_session().await, &files).await;
    std::os::unix::fs::symlink("secret", session.file("link")).unwrap();
    std::os::unix::fs::symlink("../secret/s", session.file("x/s")).unwrap();
    let absolute = session.file("secret/p");
    let first = "*** Update File: a\n-1\n+one\n";
    for (n, body) in [
        "*** Add File: x/../secret/p\n+x".to_owned(),
        "*** Add File: link/p\n+x".to_owned(),
        format!("*** Add File: {}\n+x", absolute.display()),
        "*** Update File: secret/s\n-s\n+x".to_owned(),
        "*** Update File: x/s\n-s\n+x".to_owned(),
        "*** Delete File: ./secret/s".to_owned(),
        "*** Update File: secret/s\n*** Move to: out".to_owned(),
        "*** Update File: x/y\n*** Move to: secret/y".to_owned(),
    ]
    .into_iter()
    .enumerate()
    {
        let call = ended(&session, &n.to_string(), patch(&format!("{first}{body}"))).await;
        assert_eq!(call["status"], "denied", "{body}: {call}");
        assert_eq!(session.read_file("a"), "1\n", "{body}");
    }
    let git = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\ndiff --git a/secret/s b/out\nrename from secret/s\nrename to out\n";
    assert_eq!(ended(&session, "git", json!({"patch": git})).await["status"], "denied");
    let beyond =
        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+one\n--- /dev/null\n+++ b/x/../secret/p\n@@ -0,0 +1 @@\n+x\n";
    assert_eq!(ended(&session, "unified", json!({"patch": beyond})).await["status"], "denied");
    assert_eq!((session.read_file("a"), session.read_file("secret/s")), ("1\n".into(), "s\n".into()));
    assert!(!absolute.exists() && !session.file("out").exists());
}

#[tokio::test]
async fn a_read_deny_and_planning_stop_it_too() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Read(**/.env)"]}}));
    let session = server.bypass_session().await;
    let call = ended(&session, "1", patch("*** Add File: a/.env\n+x")).await;
    assert_eq!(call["status"], "denied", "{call}");
    let plan =
        TestSession::create(&server.operator(), &json!({"runtime": {"permission_mode": "plan"}})).await;
    let call = ended(&plan, "1", patch("*** Add File: a\n+x")).await;
    assert_eq!(call["status"], "denied", "{call}");
    assert!(!plan.file("a").exists());
}

#[tokio::test]
async fn what_other_programs_obey_asks_under_bypass_on_both_sides_of_a_move() {
    let server = TestServer::start();
    let files = [("hook", "#!/bin/sh\n"), (".envrc", "x\n"), ("a", "1\n")];
    let session = having_read(server.bypass_session().await, &files).await;
    for (n, body) in [
        "*** Update File: hook\n*** Move to: .git/hooks/pre-commit",
        "*** Update File: .envrc\n*** Move to: env",
        "*** Update File: a\n-1\n+one\n*** Delete File: .envrc",
        "*** Add File: AGENTS.md\n+obey",
    ]
    .into_iter()
    .enumerate()
    {
        session.asks(&n.to_string(), "ApplyPatch", patch(body)).await;
    }
    assert!(session.file("hook").exists() && session.file(".envrc").exists());
    assert_eq!(session.read_file("a"), "1\n");
}

#[tokio::test]
async fn f1_a_path_beside_the_workspace_asks() {
    let server = TestServer::start();
    let session = having_read(
        TestSession::create(&server.operator(), &json!({"runtime": {"permission_mode": "accept_edits"}}))
            .await,
        &[("a", "1\n")],
    )
    .await;
    let call = ended(&session, "in", patch("*** Update File: a\n-1\n+one")).await;
    assert_eq!(call["status"], "completed", "edits inside are accepted: {call}");
    let evil = format!("{}-evil", session.workspace.display());
    std::fs::create_dir(&evil).unwrap();
    session.asks("out", "ApplyPatch", patch(&format!("*** Add File: {evil}/x\n+x"))).await;
    std::os::unix::fs::symlink(&evil, session.file("door")).unwrap();
    session
        .asks("door", "ApplyPatch", patch("*** Update File: a\n-one\n+two\n*** Add File: door/x\n+x"))
        .await;
    assert_eq!(session.read_file("a"), "one\n");
    assert!(std::fs::read_dir(&evil).unwrap().next().is_none());
}

#[tokio::test]
async fn p16_a_patch_whose_files_change_while_it_waits_asks_again_with_the_new_diff() {
    let server = TestServer::start();
    let session = having_read(server.session().await, &[("a", "1\n"), ("b", "2\n")]).await;
    let body = "*** Update File: a\n-1\n+one\n*** Update File: b\n-2\n+two";
    let old = session.asks("p", "ApplyPatch", patch(body)).await;
    let shown = server.operator().approval(&old).await;
    let diff = shown["diff"].as_str().unwrap();
    assert!(diff.contains("-1\n+one\n") && diff.contains("-2\n+two\n"), "{diff}");
    assert!(shown["offers"].as_array().unwrap().iter().all(|offer| offer["scope"] == "once"), "{shown}");

    session.write_file("b", "new\n2\n");
    let problem =
        server.operator().decide(&old, &json!({"decision": "allow"})).await.problem(409, "superseded");
    assert_eq!((session.read_file("a"), session.read_file("b")), ("1\n".into(), "new\n2\n".into()));
    let new = &problem["approval"];
    assert!(new["diff"].as_str().unwrap().contains(" new\n-2\n+two\n"), "{new}");
    server.operator().allow(new["approval_id"].as_str().unwrap()).await;
    assert_eq!(session.ended("p").await["status"], "completed");
    assert_eq!((session.read_file("a"), session.read_file("b")), ("one\n".into(), "new\ntwo\n".into()));
}

#[tokio::test]
async fn p16_a_patch_that_fits_no_more_or_whose_way_leads_elsewhere_changes_nothing() {
    let server = TestServer::start();
    let session = having_read(server.session().await, &[("a", "1\n"), ("dir/b", "2\n")]).await;
    let body = "*** Update File: a\n-1\n+one\n*** Update File: dir/b\n-2\n+two\n*** Add File: n\n+mine";
    for id in ["changed", "appeared", "folder"] {
        let old = session.asks(id, "ApplyPatch", patch(body)).await;
        match id {
            "changed" => session.write_file("a", "else\n"),
            "appeared" => session.write_file("n", "theirs\n"),
            _ => {
                std::fs::remove_file(session.file("a")).unwrap();
                std::fs::create_dir(session.file("a")).unwrap();
            }
        }
        let answer = server.operator().decide(&old, &json!({"decision": "allow"})).await;
        assert!([409, 422].contains(&answer.status.as_u16()), "{id}: {}", answer.text());
        assert_eq!(session.read_file("dir/b"), "2\n", "{id}");
        session.cancel(id).await;
        match id {
            "changed" => session.write_file("a", "1\n"),
            "appeared" => std::fs::remove_file(session.file("n")).unwrap(),
            _ => {
                std::fs::remove_dir(session.file("a")).unwrap();
                session.write_file("a", "1\n");
            }
        }
    }
    let old = session.asks("way", "ApplyPatch", patch(body)).await;
    let outside = server.outside().join("elsewhere");
    std::fs::rename(session.file("dir"), &outside).unwrap();
    std::os::unix::fs::symlink(&outside, session.file("dir")).unwrap();
    let answer = server.operator().decide(&old, &json!({"decision": "allow"})).await;
    assert!([409, 422].contains(&answer.status.as_u16()), "{}", answer.text());
    assert_eq!(std::fs::read_to_string(outside.join("b")).unwrap(), "2\n");
    assert_eq!(session.read_file("a"), "1\n");
}

#[tokio::test]
async fn f6_a_script_patched_through_a_symlink_keeps_mode_and_link() {
    let server = TestServer::start();
    let session = having_read(server.bypass_session().await, &[("bin/run.sh", "#!/bin/sh\nold\n")]).await;
    std::fs::set_permissions(session.file("bin/run.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::os::unix::fs::symlink("bin/run.sh", session.file("run")).unwrap();
    let call = ended(&session, "p", patch("*** Update File: run\n-old\n+new")).await;
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!(session.read_file("bin/run.sh"), "#!/bin/sh\nnew\n");
    assert_eq!(std::fs::metadata(session.file("bin/run.sh")).unwrap().permissions().mode() & 0o7777, 0o755);
    assert!(std::fs::symlink_metadata(session.file("run")).unwrap().is_symlink());
}

#[tokio::test]
async fn f8_what_looks_like_json_is_written_as_text() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for content in ["123", "true", "null", "{\"a\": 1}"] {
        let body = format!("*** Add File: {}\n+{content}", content.len());
        assert_eq!(ended(&session, content, patch(&body)).await["status"], "completed");
        assert_eq!(session.read_file(&content.len().to_string()), format!("{content}\n"));
        std::fs::remove_file(session.file(content.len().to_string())).unwrap();
    }
}

#[tokio::test]
async fn when_one_file_cannot_be_written_none_is() {
    let server = TestServer::start();
    let session = having_read(server.bypass_session().await, &[("a", "1\n")]).await;
    // Nothing can be made there, as root or not.
    let body = "*** Update File: a\n-1\n+one\n*** Add File: new/n\n+x\n*** Add File: /proc/toolgate-test\n+x";
    let call = ended(&session, "p", patch(body)).await;
    assert_eq!(call["status"], "failed", "{call}");
    assert!(
        call["error"]["message"].as_str().unwrap().starts_with("Nothing of the patch was applied: "),
        "{call}"
    );
    assert_eq!(session.read_file("a"), "1\n");
    let names: Vec<_> =
        std::fs::read_dir(&session.workspace).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
}

#[tokio::test]
async fn what_is_no_patch_is_the_models_mistake_and_nobody_is_asked() {
    let server = TestServer::start();
    let session = server.session().await;
    for (n, (arguments, says)) in [
        (json!({"patch": "*** Begin Patch\n*** Update File: a\nx\n*** End Patch"}), "line 3 of the patch"),
        (json!({"patch": ""}), "shorter than 1 character"),
        (json!({"patch": "x", "input": "y"}), "which mean the same"),
        (json!({"patch": "x", "approved": true}), "approved"),
    ]
    .into_iter()
    .enumerate()
    {
        let call = ended(&session, &n.to_string(), arguments).await;
        assert_eq!(
            (&call["status"], &call["error"]["code"]),
            (&json!("failed"), &json!("invalid_arguments")),
            "{call}"
        );
        assert!(call["result"]["result"].as_str().unwrap().contains(says), "{call}");
    }
    assert!(server.operator().pending(&session.id).await.is_empty());
}

#[tokio::test]
async fn patches_and_edits_side_by_side_lose_nothing() {
    let server = TestServer::start();
    let content = (0..12).fold(String::new(), |text, n| text + &format!("<{n}>\n"));
    let session = having_read(server.bypass_session().await, &[("f", &content), ("g", &content)]).await;
    let calls: Vec<_> = (0..12)
        .map(|n| {
            let session = session.clone();
            tokio::spawn(async move {
                let (one, two) = if n % 2 == 0 { ("f", "g") } else { ("g", "f") };
                let call = if n % 3 == 0 {
                    let edit = |name: &str| json!({"file_path": name, "old_string": format!("<{n}>"), "new_string": format!("[{n}]")});
                    session.call(&format!("{n} one"), "Edit", edit(one)).await.expect(200);
                    session.call(&format!("{n} two"), "Edit", edit(two)).await.expect(200)
                } else {
                    let of = |name: &str| format!("*** Update File: {name}\n-<{n}>\n+[{n}]");
                    ended(&session, &n.to_string(), patch(&format!("{}\n{}", of(one), of(two)))).await
                };
                assert_eq!(call["status"], "completed", "{call}");
            })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    let expected = (0..12).fold(String::new(), |text, n| text + &format!("[{n}]\n"));
    assert_eq!((session.read_file("f"), session.read_file("g")), (expected.clone(), expected));
}
