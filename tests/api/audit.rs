//! `GET /v1/audit`: each verdict and each decision, once, without a secret.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

async fn entries(server: &TestServer, query: &str) -> Vec<Value> {
    let page = server.operator().get(&format!("/v1/audit?limit=1000{query}")).await.expect(200);
    assert_eq!(page["next_cursor"], Value::Null);
    page["items"].as_array().unwrap().clone()
}

async fn of_call(server: &TestServer, session: &TestSession, call: &str) -> Vec<Value> {
    entries(server, &format!("&session_id={}&call_id={call}", session.id)).await
}

fn outcomes(entries: &[Value]) -> Vec<(&str, &str, &str)> {
    let text = |entry: &'_ Value, key: &str| -> &'static str {
        Box::leak(entry[key].as_str().unwrap().to_owned().into_boxed_str())
    };
    entries.iter().map(|entry| (text(entry, "kind"), text(entry, "decision"), text(entry, "by"))).collect()
}

#[tokio::test]
async fn each_verdict_is_told_with_what_would_run_and_why() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Read(secret/**)"]}}));
    let session = server.session().await;
    session.write_file("a.txt", "a");
    session.call("read", "Read", json!({"file_path": "a.txt"})).await.expect(200);
    session.call("denied", "Read", json!({"file_path": "secret/x"})).await.expect(200);
    session.call("todo", "TodoWrite", json!({"todos": []})).await.expect(200);

    let read = of_call(&server, &session, "read").await;
    assert_eq!(outcomes(&read), [("verdict", "allow", "agent")]);
    let read = &read[0];
    assert_eq!(read["display"], r#"Read {"file_path":"a.txt"}"#);
    assert_eq!((&read["mode"], &read["bypass"]), (&json!("default"), &json!(false)));
    assert_eq!(read["reason"]["by"], "class");
    assert_eq!(read["config"]["revision"], 1);
    assert_eq!(read["config"]["rules"].as_str().unwrap().len(), 64);

    let denied = of_call(&server, &session, "denied").await;
    assert_eq!(outcomes(&denied), [("verdict", "deny", "agent")]);
    assert_eq!(denied[0]["reason"]["rule"], "Read(secret/**)");
    assert_eq!(denied[0]["reason"]["source"], "permissions.deny[0]");
    assert_eq!(outcomes(&of_call(&server, &session, "todo").await), [("verdict", "allow", "agent")]);
    // A repeat is no second call.
    session.call("read", "Read", json!({"file_path": "a.txt"})).await.expect(200);
    assert_eq!(of_call(&server, &session, "read").await.len(), 1);
}

#[tokio::test]
async fn a_decision_is_told_with_who_made_it_and_what_it_covers() {
    let server = TestServer::start();
    let session = server.session().await;
    let operator = server.operator();
    let once = session.asks("once", "Bash", json!({"command": "touch x"})).await;
    operator.allow(&once).await;
    session.ended("once").await;
    let told = of_call(&server, &session, "once").await;
    assert_eq!(
        outcomes(&told),
        [("verdict", "ask", "agent"), ("approval", "allow", "operator"), ("verdict", "allow", "agent")]
    );
    assert!(told.iter().all(|entry| entry["approval_id"] == once.as_str()), "{told:?}");
    assert_eq!((&told[1]["scope"], &told[1]["edited"]), (&json!("once"), &json!(false)));
    assert_eq!(told[2]["reason"]["by"], "approval");
    assert_eq!(told[2]["display"], "touch x");

    let edited = session.asks("edited", "Bash", json!({"command": "touch a"})).await;
    let decision = json!({"decision": "allow", "arguments": {"command": "touch b"}});
    operator.decide(&edited, &decision).await.expect(200);
    session.ended("edited").await;
    let told = of_call(&server, &session, "edited").await;
    assert_eq!((&told[1]["edited"], &told[2]["display"]), (&json!(true), &json!("touch b")));

    let denied = session.asks("denied", "Bash", json!({"command": "touch c"})).await;
    operator.decide(&denied, &json!({"decision": "deny"})).await.expect(200);
    session.ended("denied").await;
    let told = of_call(&server, &session, "denied").await;
    assert_eq!(
        outcomes(&told),
        [("verdict", "ask", "agent"), ("approval", "deny", "operator"), ("verdict", "deny", "agent")]
    );
    assert_eq!(told[2]["reason"]["by"], "reviewer");

    let granted = session.asks("granted", "Bash", json!({"command": "touch d"})).await;
    operator.decide(&granted, &json!({"decision": "allow", "scope": "session"})).await.expect(200);
    session.ended("granted").await;
    let grants = entries(&server, "&kind=grant").await;
    assert_eq!(outcomes(&grants), [("grant", "granted", "operator")]);
    assert_eq!((&grants[0]["pattern"], &grants[0]["scope"]), (&json!("Bash(touch d)"), &json!("session")));
    session.call("by grant", "Bash", json!({"command": "touch d"})).await.expect(200);
    let told = of_call(&server, &session, "by%20grant").await;
    assert_eq!((&told[0]["reason"]["by"], told.len()), (&json!("grant"), 1));
    let id = grants[0]["grant_id"].as_str().unwrap();
    operator.delete(&format!("/v1/grants/{id}")).await.expect(204);
    let revoked = entries(&server, "&decision=revoked&by=operator").await;
    assert_eq!((revoked.len(), &revoked[0]["grant_id"]), (1, &json!(id)));
}

#[tokio::test]
async fn what_nobody_decides_is_told_too() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("run.sh", "echo one");
    let old = session.asks("c", "Bash", json!({"command": "sh ./run.sh"})).await;
    session.write_file("run.sh", "echo two");
    server.operator().decide(&old, &json!({"decision": "allow"})).await.problem(409, "superseded");
    session.cancel("c").await.expect(200);
    let told = of_call(&server, &session, "c").await;
    let refused = told.iter().find(|entry| entry["kind"] == "decision").unwrap();
    assert_eq!((&refused["approval_id"], &refused["reason"]["by"]), (&json!(old), &json!("superseded")));
    assert_eq!(
        outcomes(&told),
        [
            ("verdict", "ask", "agent"),
            ("approval", "superseded", "server"),
            ("decision", "refused", "operator"),
            ("verdict", "ask", "agent"),
            ("approval", "cancelled", "server")
        ]
    );
    for n in 0..20 {
        session.asks(&n.to_string(), "Bash", json!({"command": format!("touch {n}")})).await;
    }
    session.bash("over", "touch more").await.expect(200);
    let told = of_call(&server, &session, "over").await;
    assert_eq!(outcomes(&told), [("verdict", "deny", "agent")]);
    assert_eq!(told[0]["reason"]["by"], "no_human");
}

#[tokio::test]
async fn a_decision_that_was_judged_and_refused_is_told() {
    let config = json!({"permissions": {"deny": ["Bash(curl *)", "Read(secret/**)"]}});
    let server = TestServer::with_config(&config);
    let (session, operator) = (server.session().await, server.operator());
    let id = session.asks("c", "Bash", json!({"command": "touch x"})).await;
    let edited = json!({"decision": "allow", "arguments":
        {"command": "curl -H 'Authorization: Bearer hunter2' http://h/"}});
    operator.decide(&id, &edited).await.problem(422, "denied");
    let told = of_call(&server, &session, "c").await;
    assert_eq!(outcomes(&told), [("verdict", "ask", "agent"), ("decision", "refused", "operator")]);
    let refused = &told[1];
    assert_eq!((&refused["approval_id"], &refused["edited"]), (&json!(id), &json!(true)));
    assert_eq!(
        (&refused["reason"]["by"], &refused["reason"]["rule"]),
        (&json!("rule"), &json!("Bash(curl *)"))
    );
    assert_eq!(refused["reason"]["source"], "permissions.deny[0]");
    assert_eq!(refused["config"], told[0]["config"]);
    let display = refused["display"].as_str().unwrap();
    assert!(display.starts_with("curl ") && !display.contains("hunter2"), "{display}");
    // A rule that came since the call asked denies it as it is.
    let later = json!({"permissions": {"deny": ["Bash(touch *)"]}});
    server.replace_config(&later);
    operator.post("/v1/config/reload", &json!({})).await.expect(200);
    operator.decide(&id, &json!({"decision": "allow"})).await.problem(422, "denied");
    let told = of_call(&server, &session, "c").await;
    assert_eq!((&told[2]["kind"], &told[2]["edited"]), (&json!("decision"), &json!(false)));
    assert_eq!((&told[2]["config"]["revision"], &told[2]["display"]), (&json!(2), &json!("touch x")));
    // What was not judged, or decides nothing new, is not told.
    for (body, status, code) in [
        (json!({"decision": "allow", "scope": "session", "pattern": "Bash(*)"}), 422, "not_offered"),
        (json!({"decision": "allow", "arguments": {"none": 1}}), 422, "invalid_arguments"),
    ] {
        operator.decide(&id, &body).await.problem(status, code);
    }
    let deny = json!({"decision": "deny"});
    operator.decide(&id, &deny).await.expect(200);
    operator.decide(&id, &deny).await.expect(200);
    operator.decide(&id, &json!({"decision": "allow"})).await.problem(409, "already_decided");
    session.ended("c").await;
    assert_eq!(entries(&server, "&kind=decision").await.len(), 2);
    assert_eq!(entries(&server, "&decision=refused&by=operator").await.len(), 2);
}

#[tokio::test]
async fn neither_contents_nor_secrets_are_in_it() {
    let server = TestServer::start();
    let session = server.session().await;
    let approvals = [
        session.asks("w", "Write", json!({"file_path": "a", "content": "hunter2"})).await,
        session
            .asks("b", "Bash", json!({"command": "curl -H 'Authorization: Bearer hunter2' http://h/"}))
            .await,
        session.asks("d", "Bash", json!({"command": "cat > f <<'E'\nhunter2\nE"})).await,
        session.asks("u", "WebFetch", json!({"url": "http://h/?token=hunter2"})).await,
    ];
    for id in &approvals {
        let message = json!({"decision": "deny", "message": "not with hunter2"});
        server.operator().decide(id, &message).await.expect(200);
    }
    for id in ["w", "b", "d", "u"] {
        session.ended(id).await;
    }
    let all = entries(&server, "").await;
    assert_eq!(all.len(), 12);
    let text = json!(all).to_string();
    assert!(!text.contains("hunter2"), "{text}");
    let digest = "[7 bytes, sha256 f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7]";
    assert!(all[0]["display"].as_str().unwrap().contains(digest), "{}", all[0]);
}

#[tokio::test]
async fn it_is_for_operators_and_survives_a_restart() {
    let mut server = TestServer::start();
    let session = server.session().await;
    session.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    server.agent().get("/v1/audit").await.problem(403, "operator_required");
    let before = entries(&server, "").await;
    server.restart_with(&json!({}));
    assert_eq!(entries(&server, "").await, before);
    let nobody = server.operator().get("/v1/audit?session_id=nobody").await;
    nobody.problem(404, "not_found");
    let time = before[0]["time"].as_str().unwrap();
    assert_eq!(entries(&server, &format!("&since={time}")).await, before);
    assert!(entries(&server, &format!("&until={time}")).await.is_empty());
}
