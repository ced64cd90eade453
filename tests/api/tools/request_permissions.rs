//! request_permissions: an approval whose allow grants rules for the session.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

const TOUCH: &str = "Bash(touch x)";
const WRITE: &str = "Edit(./new.txt)";

fn asking(rules: &[&str]) -> Value {
    json!({"reason": "the tests\u{1b}[2J need it", "permissions": rules})
}

async fn grants(server: &TestServer) -> Vec<Value> {
    server.operator().get("/v1/grants").await.expect(200)["items"].as_array().unwrap().clone()
}

async fn session_of(server: &TestServer, runtime: Value) -> TestSession {
    TestSession::create(&server.operator(), &json!({"runtime": runtime})).await
}

async fn touches(session: &TestSession, id: &str) -> String {
    let answer = session.bash(id, "touch x").await;
    let call: Value = serde_json::from_slice(&answer.bytes).unwrap();
    call["status"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_allow_grants_what_was_listed_for_the_session_alone() {
    let server = TestServer::start();
    let (session, operator) = (server.session().await, server.operator());
    let id = session.asks("c", "request_permissions", asking(&[TOUCH, WRITE])).await;
    let shown = operator.approval(&id).await;
    assert_eq!(shown["arguments"], asking(&[TOUCH, WRITE]));
    assert_eq!(shown["display"], format!("grant for the session: {TOUCH}  {WRITE}"));
    let reason = shown["reason"]["text"].as_str().unwrap();
    assert!(reason.contains("that start in `.`"), "{reason}");
    assert!(reason.contains("the agent asks") && !reason.contains("the tests"), "{reason}");
    assert_eq!(shown["claim"], "the tests\\u{1b}[2J need it");
    assert_eq!(shown["offers"], json!([{"scope": "once"}]));
    assert!(grants(&server).await.is_empty());
    server.agent().decide(&id, &json!({"decision": "allow"})).await.problem(403, "operator_required");
    for scope in ["session", "always"] {
        let body = json!({"decision": "allow", "scope": scope});
        operator.decide(&id, &body).await.problem(422, "not_offered");
    }
    let decided = operator.allow(&id).await;
    let call = session.ended("c").await;
    assert_eq!(call["status"], "completed", "{call}");
    assert!(
        call["result"]["result"].as_str().unwrap().contains(&format!("- {TOUCH} in .\n- {WRITE}\n")),
        "{call}"
    );
    assert_eq!(call["result"]["display_preference"], Value::Null);
    assert_eq!(
        session.event_types("c").await,
        ["tool_start", "tool_approval_requested", "tool_approval_resolved", "tool_complete"]
    );
    let given = grants(&server).await;
    assert_eq!(given.len(), 2);
    for (grant, pattern) in given.iter().zip([TOUCH, WRITE]) {
        assert_eq!((&grant["pattern"], &grant["scope"]), (&json!(pattern), &json!("session")));
        assert_eq!(grant["session_id"], session.id.as_str());
        assert_eq!((&grant["approval_id"], &grant["granted_by"]), (&json!(id), &json!("operator")));
    }
    let told: Vec<Value> = given
        .iter()
        .map(|grant| {
            let mut one =
                json!({"grant_id": grant["grant_id"], "pattern": grant["pattern"], "expires_at": grant["expires_at"]});
            if grant["pattern"] == TOUCH {
                one["directory"] = json!(".");
            }
            one
        })
        .collect();
    assert_eq!(call["details"]["grants"], json!(told));
    assert_eq!(operator.allow(&id).await, decided, "again the same");
    operator.decide(&id, &json!({"decision": "deny"})).await.problem(409, "already_decided");

    assert_eq!(touches(&session, "granted").await, "completed");
    let write = json!({"file_path": "new.txt", "content": "text"});
    assert_eq!(session.call("write", "Write", write).await.expect(200)["status"], "completed");
    session.asks("other", "Bash", json!({"command": "touch y"})).await;
    assert_eq!(touches(&server.session().await, "elsewhere").await, "awaiting_approval");
}

#[tokio::test]
async fn a_grant_ends_when_it_is_revoked_and_is_stored_once() {
    let server = TestServer::start();
    let session = server.session().await;
    for call in ["c", "again"] {
        let id = session.asks(call, "request_permissions", asking(&[TOUCH])).await;
        server.operator().allow(&id).await;
        assert_eq!(session.ended(call).await["status"], "completed");
    }
    let given = grants(&server).await;
    assert_eq!(given.len(), 1, "{given:?}");
    let grant = given[0]["grant_id"].as_str().unwrap();
    assert_eq!(session.current("again").await["details"]["grants"][0]["grant_id"], grant);
    assert_eq!(server.operator().delete(&format!("/v1/grants/{grant}")).await.status, 204);
    assert_eq!(touches(&session, "revoked").await, "awaiting_approval");
}

#[tokio::test]
async fn what_is_granted_ends_when_the_reviewer_or_the_config_says() {
    let server = TestServer::with_config(&json!({"approvals": {"grants_expire_after_s": 1000}}));
    let (session, operator) = (server.session().await, server.operator());
    let lasts = async || -> i64 {
        let given = grants(&server).await;
        assert_eq!(given.len(), 1, "{given:?}");
        let at = |key: &str| given[0][key].as_str().unwrap().parse::<jiff::Timestamp>().unwrap().as_second();
        at("expires_at") - at("created_at")
    };
    let id = session.asks("short", "request_permissions", asking(&[TOUCH])).await;
    assert_eq!(operator.approval(&id).await["grants_expire_in_s"], 1000);
    let too_long = json!({"decision": "allow", "expires_in_s": 1001});
    operator.decide(&id, &too_long).await.problem(422, "not_offered");
    operator.decide(&id, &json!({"decision": "allow", "expires_in_s": 60})).await.expect(200);
    session.ended("short").await;
    assert_eq!(lasts().await, 60);
    // Allowed anew, it holds as long as it does then; a shorter time takes nothing away.
    for (call, body) in
        [("long", json!({"decision": "allow"})), ("shorter", json!({"decision": "allow", "expires_in_s": 5}))]
    {
        let id = session.asks(call, "request_permissions", asking(&[TOUCH])).await;
        operator.decide(&id, &body).await.expect(200);
        session.ended(call).await;
        assert_eq!(lasts().await, 1000, "{call}");
    }
}

#[tokio::test]
async fn a_reviewer_grants_a_part_by_editing() {
    let server = TestServer::start();
    let (session, operator) = (server.session().await, server.operator());
    let id = session.asks("c", "request_permissions", asking(&[TOUCH, WRITE])).await;
    for (rules, code) in [
        (json!([]), "invalid_arguments"),
        (json!(["Bash(touch *)"]), "invalid_arguments"),
        (json!(["*"]), "invalid_arguments"),
    ] {
        let edited = json!({"decision": "allow", "arguments": {"reason": "r", "permissions": rules}});
        operator.decide(&id, &edited).await.problem(422, code);
        assert_eq!(operator.approval(&id).await["status"], "pending");
    }
    let edited = json!({"decision": "allow", "arguments": asking(&[WRITE])});
    operator.decide(&id, &edited).await.expect(200);
    let call = session.ended("c").await;
    assert_eq!(call["status"], "completed", "{call}");
    let text = call["result"]["result"].as_str().unwrap();
    assert!(text.contains(WRITE) && !text.contains(TOUCH), "{text}");
    assert_eq!(call["requested_arguments"], asking(&[TOUCH, WRITE]));
    let given = grants(&server).await;
    assert_eq!((given.len(), &given[0]["pattern"]), (1, &json!(WRITE)));
    assert_eq!(touches(&session, "left out").await, "awaiting_approval");
}

#[tokio::test]
async fn a_denial_grants_nothing_and_tells_the_model_why() {
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "request_permissions", asking(&[TOUCH])).await;
    let deny = json!({"decision": "deny", "message": "one by one, please"});
    server.operator().decide(&id, &deny).await.expect(200);
    let call = session.ended("c").await;
    assert_eq!((&call["status"], call["result"]["success"].as_bool()), (&json!("denied"), Some(false)));
    assert!(call["result"]["result"].as_str().unwrap().contains("one by one, please"), "{call}");
    assert_eq!(
        session.event_types("c").await,
        ["tool_start", "tool_approval_requested", "tool_approval_resolved", "tool_denied"]
    );
    assert!(grants(&server).await.is_empty());
}

#[tokio::test]
async fn what_cannot_be_granted_is_named_and_nobody_is_asked() {
    let rules = json!({"permissions": {
        "deny": ["Bash(curl *)", "Read(**/.env)"], "ask": ["Edit(docs/**)"], "always_ask": ["Bash(git push *)"],
    }});
    let server = TestServer::with_config(&rules);
    let session = server.session().await;
    for (index, (rule, says)) in [
        ("Bash(touch", "no rule"),
        ("*", "every tool"),
        ("Bash", "everything"),
        ("Bash(touch *)", "more than one command"),
        ("Bash(python3 -c 'print(1)')", "each time"),
        ("Bash(sh ./run.sh)", "more than its words"),
        ("Edit(**)", "more than one file"),
        ("Edit(new.txt)", "begin with `./`"),
        ("mcp__github__*", "more than one tool"),
        ("WebFetch(domain:*.rs)", "more than one host"),
        ("WebFetch(domain:10.0.0.1)", "address"),
        ("Bash(curl https://x)", "never run"),
        ("Read(./a/.env)", "never run"),
        ("Edit(./a/.env)", "never run"),
        ("Edit(./docs/a.md)", "each time"),
        ("Bash(git push origin main)", "each time"),
        ("Edit(./.git/config)", "each time"),
        ("Edit(./CLAUDE.md)", "each time"),
        ("Bash(rm -rf /)", "each time"),
        ("Edit(./a\u{202e}b)", "cannot see it"),
    ]
    .into_iter()
    .enumerate()
    {
        let id = format!("c{index}");
        let call = session.call(&id, "request_permissions", asking(&[TOUCH, rule])).await.expect(200);
        assert_eq!(call["error"]["code"], "invalid_arguments", "{rule}: {call}");
        let text = call["result"]["result"].as_str().unwrap();
        assert!(text.contains(says) && !text.contains(TOUCH) && !text.contains('\u{202e}'), "{rule}: {text}");
        assert_eq!(session.event_types(&id).await, ["tool_start", "tool_error"]);
    }
    let own = format!("Read({})", server.data_dir().canonicalize().unwrap().join("tokens/agent").display());
    let call = session.call("own", "request_permissions", asking(&[&own])).await.expect(200);
    assert!(call["result"]["result"].as_str().unwrap().contains("out of reach"), "{call}");
    for (id, wrong) in [
        ("none", json!({"reason": "r", "permissions": []})),
        ("twice", asking(&[TOUCH, TOUCH])),
        (
            "many",
            json!({"reason": "r", "permissions": (0..21).map(|n| format!("Bash(touch {n})")).collect::<Vec<_>>()}),
        ),
        ("no reason", json!({"permissions": [TOUCH]})),
    ] {
        let call = session.call(id, "request_permissions", wrong).await.expect(200);
        assert_eq!(call["error"]["code"], "invalid_arguments", "{call}");
    }
    assert!(server.operator().pending(&session.id).await.is_empty());
}

#[tokio::test]
async fn who_does_not_ask_gets_no_rules() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(curl *)"]}}));
    for (runtime, by) in
        [(json!({"permission_mode": "dont_ask"}), "mode"), (json!({"no_human_approver": true}), "no_human")]
    {
        let session = session_of(&server, runtime).await;
        let call = session.call("c", "request_permissions", asking(&[TOUCH])).await.expect(200);
        assert_eq!(call["status"], "denied", "{call}");
        assert_eq!(session.event("c", "tool_denied").await["by"], by);
    }
    // Under bypass nothing is asked for: an answer at once, and nothing granted.
    let session = session_of(&server, json!({"bypass_permissions": true})).await;
    let call = session.call("c", "request_permissions", asking(&[TOUCH])).await.expect(200);
    assert_eq!(call["status"], "completed", "{call}");
    assert!(call["result"]["result"].as_str().unwrap().contains("Nothing had to be granted"), "{call}");
    assert_eq!(session.event_types("c").await, ["tool_start", "tool_complete"]);
    assert!(grants(&server).await.is_empty());
    let denied = session.bash("d", "curl x").await.expect(200);
    assert_eq!(denied["status"], "denied");
    // Where a rule names it, it holds in every session.
    let rules = json!({"permissions": {"always_ask": ["request_permissions"], "deny": ["ExitPlanMode"]}});
    let server = TestServer::with_config(&rules);
    let session = session_of(&server, json!({"bypass_permissions": true, "permission_mode": "plan"})).await;
    session.asks("c", "request_permissions", asking(&[TOUCH])).await;
    let call = session.call("d", "ExitPlanMode", json!({"plan": "p"})).await.expect(200);
    assert_eq!(call["status"], "denied", "{call}");
}

#[tokio::test]
async fn a_grant_does_not_outlive_a_new_deny_nor_does_an_approval() {
    let mut server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("c", "request_permissions", asking(&[TOUCH])).await;
    server.operator().allow(&id).await;
    assert_eq!(session.ended("c").await["status"], "completed");
    let id = session.asks("d", "request_permissions", asking(&["Bash(touch y)"])).await;
    server.restart_with(&json!({"permissions": {"deny": ["Bash(touch *)"]}}));
    let session = TestSession { client: server.agent(), ..session };
    assert_eq!(touches(&session, "denied").await, "denied");
    // It still waits, and cannot be allowed under the rules of now.
    let decision = json!({"decision": "allow"});
    let problem = server.operator().decide(&id, &decision).await.problem(422, "invalid_arguments");
    assert!(problem["detail"].as_str().unwrap().contains("never run"), "{problem}");
    server.restart_with(&json!({}));
    let session = TestSession { client: server.agent(), ..session };
    server.operator().allow(&id).await;
    assert_eq!(session.ended("d").await["status"], "completed");
    assert_eq!(grants(&server).await.len(), 2);
}

#[tokio::test]
async fn it_ends_like_any_approval() {
    let server = TestServer::with_config(&json!({"approvals": {"expire_after_s": 1}}));
    let session = server.session().await;
    let id = session.asks("expires", "request_permissions", asking(&[TOUCH])).await;
    assert_eq!(session.ended("expires").await["error"]["code"], "expired");
    assert_eq!(server.operator().approval(&id).await["status"], "expired");
    let server = TestServer::start();
    let session = server.session().await;
    let id = session.asks("cancelled", "request_permissions", asking(&[TOUCH])).await;
    assert_eq!(session.cancel("cancelled").await.expect(200)["status"], "cancelled");
    let allow = json!({"decision": "allow"});
    server.operator().decide(&id, &allow).await.problem(409, "already_decided");
    for index in 0..20 {
        session.asks(&format!("c{index}"), "request_permissions", asking(&[TOUCH])).await;
    }
    let call = session.call("over", "request_permissions", asking(&[TOUCH])).await.expect(200);
    assert_eq!(call["error"]["code"], "too_many_pending", "{call}");
    session.end().await.expect(200);
    assert!(grants(&server).await.is_empty());
}
