//! Decisions with edited arguments.

use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn what_the_reviewer_wrote_is_what_runs() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch asked"})).await;
    let edited = json!({"decision": "allow", "arguments": {"command": "touch edited"}});
    let approval = server.operator().decide(&id, &edited).await.expect(200);
    assert_eq!(approval["status"], "allowed");
    assert_eq!(approval["arguments"]["command"], "touch asked", "an approval is immutable");
    let call = session.ended("c").await;
    assert_eq!(call["status"], "completed", "{call}");
    assert_eq!(call["arguments"], json!({"command": "touch edited"}));
    assert_eq!(call["requested_arguments"], json!({"command": "touch asked"}));
    assert!(session.file("edited").exists() && !session.file("asked").exists());
    let resolved = session.event("c", "tool_approval_resolved").await;
    assert_eq!(resolved["arguments"], json!({"command": "touch edited"}));
    assert_eq!(server.operator().decide(&id, &edited).await.expect(200), approval);
}

#[tokio::test]
async fn an_edit_satisfies_ask_and_always_ask() {
    let config = json!({"permissions": {"ask": ["Bash(touch *)"], "always_ask": ["Bash(mkdir *)"]}});
    let server = TestServer::with_config(&config);
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch asked"})).await;
    let edited = json!({"decision": "allow", "arguments": {"command": "mkdir edited"}});
    server.operator().decide(&id, &edited).await.expect(200);
    assert_eq!(session.ended("c").await["status"], "completed");
    assert!(session.file("edited").is_dir());
}

#[tokio::test]
async fn an_edit_that_cannot_run_is_refused_and_the_call_waits_on() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(rm *)"]}}));
    let session = server.session().await;
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let operator = server.operator();
    for (arguments, code) in [
        (json!({"command": 7}), "invalid_arguments"),
        (json!({}), "invalid_arguments"),
        (json!({"command": "true", "approved": true}), "invalid_arguments"),
        (json!([]), "invalid_arguments"),
        (json!("touch x"), "invalid_arguments"),
        (json!({"command": "rm x"}), "denied"),
        (json!({"command": "true; FOO=1 /bin/rm x"}), "denied"),
    ] {
        let body = json!({"decision": "allow", "arguments": arguments});
        operator.decide(&id, &body).await.problem(422, code);
        assert_eq!(operator.approval(&id).await["status"], "pending", "{body}");
    }
    for scope in ["session", "always"] {
        let body = json!({"decision": "allow", "scope": scope, "arguments": {"command": "touch y"}});
        let problem = operator.decide(&id, &body).await.problem(422, "not_offered");
        assert_eq!(problem["errors"][0]["pointer"], "/scope");
    }
    operator.allow(&id).await;
    assert_eq!(session.ended("c").await["status"], "completed");
}

#[tokio::test]
async fn an_edit_may_change_the_path_but_not_into_what_is_denied() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Edit(secret/**)"]}}));
    let session = server.session().await;
    std::fs::create_dir(session.file("secret")).unwrap();
    let id = session.asks("w", "Write", json!({"file_path": "a.txt", "content": "text"})).await;
    let into = |path: &str| json!({"decision": "allow", "arguments": {"file_path": path, "content": "text"}});
    for denied in ["secret/a", "x/../secret/a", "./secret/a"] {
        server.operator().decide(&id, &into(denied)).await.problem(422, "denied");
    }
    server.operator().decide(&id, &into("b.txt")).await.expect(200);
    assert_eq!(session.ended("w").await["status"], "completed");
    assert_eq!(session.read_file("b.txt"), "text");
    assert!(!session.file("a.txt").exists() && !session.file("secret/a").exists());
}

/// An edit of one word leaves the rest as it was shown: that must still be what it was.
#[tokio::test]
async fn an_edit_does_not_allow_what_was_not_shown() {
    let server = TestServer::start();
    let session = server.session().await;
    let operator = server.operator();
    for dir in ["a", "b"] {
        std::fs::create_dir(session.file(dir)).unwrap();
    }
    for (n, edited) in [
        json!({"command": "sh run.sh"}),
        json!({"command": "sh run.sh", "description": "runs it"}),
        json!({"command": "sh run.sh -v"}),
    ]
    .into_iter()
    .enumerate()
    {
        session.write_file("run.sh", "touch good");
        let id = format!("c{n}");
        let old = session.asks(&id, "Bash", json!({"command": "sh run.sh"})).await;
        session.write_file("run.sh", "touch evil");
        let body = json!({"decision": "allow", "arguments": edited});
        let problem = operator.decide(&old, &body).await.problem(409, "superseded");
        assert!(!session.file("evil").exists());
        // What waits now is what is there now; an edit of that is taken.
        let new = problem["approval"]["approval_id"].as_str().unwrap();
        operator.decide(new, &body).await.expect(200);
        assert_eq!(session.ended(&id).await["status"], "completed");
        std::fs::remove_file(session.file("evil")).unwrap();
    }
    let link = session.file("link");
    std::os::unix::fs::symlink("a", &link).unwrap();
    let old = session.asks("l", "Bash", json!({"command": "touch link/k"})).await;
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink("b", &link).unwrap();
    let body = json!({"decision": "allow", "arguments": {"command": "touch link/k"}});
    operator.decide(&old, &body).await.problem(409, "superseded");
    session.write_file("f", "one two");
    session.call("r", "Read", json!({"file_path": "f"})).await.expect(200);
    let edit = json!({"file_path": "f", "old_string": "two", "new_string": "three"});
    let old = session.asks("e", "Edit", edit.clone()).await;
    session.write_file("f", "other two");
    let body = json!({"decision": "allow", "arguments": edit});
    operator.decide(&old, &body).await.problem(409, "superseded");
    assert!(!session.file("b/k").exists());
    assert_eq!(session.read_file("f"), "other two");
}
