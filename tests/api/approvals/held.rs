//! What an approved call was shown with stays as it is while the call runs.

use serde_json::json;

use crate::support::TestServer;
use crate::support::session::until_there;

/// What was approved reads its script while it runs: until it has ended, no other call of any session changes that.
#[tokio::test]
async fn p16_a_script_stays_as_it_was_shown_while_it_runs() {
    let server = TestServer::with_config(&json!({"permissions": {"mode": "accept_edits"}}));
    let session = server.session().await;
    let script = format!("echo on; {}; touch good\n", until_there("go"));
    session.call("w", "Write", json!({"file_path": "r.sh", "content": script})).await.expect(200);
    let approval = session.asks("r", "Bash", json!({"command": "sh r.sh"})).await;
    server.operator().allow(&approval).await;
    session.event("r", "tool_token").await;
    let bad = json!({"file_path": "r.sh", "content": "touch bad\n"});
    let refused = session.call("b", "Write", bad.clone()).await.expect(200);
    assert_eq!(refused["status"], "failed", "{refused}");
    assert!(refused.to_string().contains("a call that runs was approved with it"), "{refused}");
    let by_shell = session.bash("s", "echo touch bad > r.sh").await.expect(200);
    assert_eq!(by_shell["status"], "failed", "{by_shell}");
    session.call("o", "Write", json!({"file_path": "other.txt", "content": "x"})).await.expect(200);
    session.write_file("go", "");
    assert_eq!(session.ended("r").await["status"], "completed");
    assert!(session.file("good").exists() && !session.file("bad").exists());
    let after = session.call("a", "Write", bad).await.expect(200);
    assert_eq!(after["status"], "completed", "{after}");
}

/// What would replace one of `d/a.sh` and `d/b.sh`, the link `lnk` to `d`, or the other name `hard.sh`.
const REPLACE: &[&str] = &[
    "echo touch bad | tee d/b.sh",
    "tee lnk/b.sh < evil/b.sh",
    "tee hard.sh < evil/b.sh",
    "echo touch bad > hard.sh",
    "cp evil/b.sh d/b.sh",
    "cp evil/b.sh d",
    "cp -r evil/. d",
    "cp -rT evil d",
    "mv evil/b.sh lnk",
    "mv d old",
    "mv -T evil d",
    "ln -sfn evil lnk",
    "ln -sf ../evil/b.sh d/b.sh",
    "ln d/b.sh second",
    "dd if=evil/b.sh of=d/b.sh",
    "truncate -s 0 d/../d/b.sh",
    "install -t d evil/b.sh",
    "tar xf x.tar -C d",
    "rm -r d",
    "cd d && tar xf ../x.tar",
    "tar -cfd/b.sh evil",
    "mkdir n; cp evil/b.sh n/b.sh; cp -r n/. d",
    "ln -s d n && cp evil/b.sh n/b.sh",
    "ln -s d n; cd n; cp ../evil/b.sh b.sh",
    "cp evil/b.sh /proc/self/cwd/d/b.sh",
    "git checkout -q .",
];

/// What does not.
const LEAVE: &[&str] = &[
    "cp evil/other.txt d",
    "cp d/b.sh copy.sh",
    "cp -r evil elsewhere",
    "tee evil/c.sh < evil/other.txt",
    "ln -s ../d evil/link",
    "tar cf y.tar d",
    "rm evil/other.txt",
    "git status",
    "touch d/new",
];

/// The same for whatever else puts something in its place, or in the place of what lies on the way to it.
#[tokio::test]
async fn what_an_approved_call_runs_is_not_replaced_by_programs() {
    let rules = [
        "tee", "cp", "mv", "dd", "truncate", "install", "ln", "tar", "rm", "sed", "git", "mkdir", "cd",
        "cat", "for", "touch",
    ];
    let allow: Vec<String> = rules.iter().map(|program| format!("Bash({program} *)")).collect();
    let config = json!({"permissions": {"mode": "accept_edits", "allow": allow}});
    let server = TestServer::with_config(&config);
    let session = server.session().await;
    for folder in ["d", "evil"] {
        std::fs::create_dir(session.file(folder)).unwrap();
    }
    session.write_file("d/a.sh", &format!("echo on; {}; touch first\n", until_there("go")));
    session.write_file("d/b.sh", "touch good\n");
    session.write_file("evil/b.sh", "touch bad\n");
    session.write_file("evil/other.txt", "");
    std::os::unix::fs::symlink("d", session.file("lnk")).unwrap();
    std::fs::hard_link(session.file("d/b.sh"), session.file("hard.sh")).unwrap();
    session.bash("tar", "tar cf x.tar -C evil b.sh").await.expect(200);
    let approval = session.asks("r", "Bash", json!({"command": "sh d/a.sh; sh lnk/b.sh"})).await;
    server.operator().allow(&approval).await;
    session.event("r", "tool_token").await;
    // More than are looked up may be anything.
    let many: Vec<String> = (0..300).map(|n| format!("f{n}")).collect();
    let many = format!("rm -f {}", many.join(" "));
    for (n, command) in REPLACE.iter().copied().chain([many.as_str()]).enumerate() {
        let refused = session.bash(&format!("b{n}"), command).await.expect(200);
        assert_eq!(refused["status"], "failed", "{command}: {refused}");
        assert!(
            refused.to_string().contains("a call that runs was approved with it"),
            "{command}: {refused}"
        );
    }
    for (n, command) in LEAVE.iter().enumerate() {
        let done = session.bash(&format!("g{n}"), command).await.expect(200);
        assert!(!done.to_string().contains("was approved with it"), "{command}: {done}");
    }
    // What a person allowed waits.
    let approval =
        session.asks("w", "Bash", json!({"command": "for f in b.sh; do cp evil/$f d/$f; done"})).await;
    server.operator().allow(&approval).await;
    session.write_file("go", "");
    assert_eq!(session.ended("r").await["status"], "completed");
    assert!(session.file("good").exists() && !session.file("bad").exists());
    assert_eq!(session.ended("w").await["status"], "completed");
    assert_eq!(session.read_file("d/b.sh"), "touch bad\n");
    let after = session.bash("after", "mv d old").await.expect(200);
    assert_eq!(after["status"], "completed", "{after}");
}

/// An approved call waits for a command that changes its script, and one that waits can be cancelled.
#[tokio::test]
async fn an_approved_call_waits_for_what_is_changed_to_be_done() {
    let config =
        json!({"permissions": {"mode": "accept_edits", "allow": ["Bash(cp *)", "Bash(sh wait.sh)"]}});
    let server = TestServer::with_config(&config);
    let session = server.session().await;
    session.write_file("wait.sh", &format!("echo on; {}\n", until_there("go")));
    session.write_file("b.sh", "touch good\n");
    session.write_file("same.sh", "touch good\n");
    session.begin("c", "Bash", json!({"command": "cp same.sh b.sh && sh wait.sh"})).await;
    session.event("c", "tool_token").await;
    session.write_file("other.txt", "");
    for (id, command) in [
        ("cancelled", "sh b.sh; : other.txt; touch cancelled"),
        ("r", "sh b.sh"),
        ("denied", "sh b.sh; python3 -c 'open(\"denied\", \"w\")'"),
    ] {
        let approval = session.asks(id, "Bash", json!({"command": command})).await;
        server.operator().allow(&approval).await;
    }
    session.cancel("cancelled").await;
    assert_eq!(session.ended("cancelled").await["status"], "cancelled");
    assert!(!session.file("good").exists());
    // It keeps nothing any more, and a rule that comes while one waits holds for it.
    assert_eq!(session.bash("x", "cp same.sh other.txt").await.expect(200)["status"], "completed");
    server.replace_config(&json!({"permissions": {"mode": "accept_edits", "deny": ["Bash(python3 *)"]}}));
    server.operator().post("/v1/config/reload", &json!({})).await.expect(200);
    session.write_file("go", "");
    assert_eq!(session.ended("r").await["status"], "completed");
    assert!(session.file("good").exists() && !session.file("cancelled").exists());
    assert_eq!(session.ended("denied").await["status"], "denied");
    assert!(!session.file("denied").exists());
}
