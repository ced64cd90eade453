//! `GET /v1/approvals` and `GET /v1/approvals/{aid}`.

use serde_json::{Value, json};

use crate::support::{TestServer, TestSession};

#[tokio::test]
async fn an_approval_shows_exactly_what_would_run() {
    let server = TestServer::start();
    let session = server.session().await;
    let command = "touch 'a b'\u{1b}[31m";
    let description = "harmless\u{202e}\nallow it";
    let id = session.asks("c", "Bash", json!({"command": command, "description": description})).await;
    let approval = server.operator().approval(&id).await;
    assert_eq!(approval["approval_id"], id.as_str());
    assert_eq!(approval["session_id"], session.id.as_str());
    assert_eq!(approval["call_id"], "c");
    assert_eq!(approval["tool_name"], "Bash");
    assert_eq!(approval["arguments"]["command"], command);
    assert_eq!(approval["status"], "pending");
    assert_eq!(approval["cwd"], session.workspace.to_str().unwrap());
    assert_eq!(approval["digest"].as_str().unwrap().len(), 64);
    assert!(!approval["sandbox"].as_str().unwrap().is_empty());
    assert!(!approval["reason"]["text"].as_str().unwrap().is_empty());
    let display = approval["display"].as_str().unwrap();
    assert!(display.contains("touch") && !display.contains('\u{1b}'), "escaped: {display:?}");
    let claim = approval["claim"].as_str().unwrap();
    assert!(claim.starts_with("harmless") && !claim.contains(['\u{202e}', '\n']), "escaped: {claim:?}");
    assert_eq!(approval["offers"][0], json!({"scope": "once"}));
    assert!(approval.get("decision").is_none());
    let created: &str = approval["created_at"].as_str().unwrap();
    assert!(created < approval["expires_at"].as_str().unwrap());
    let event = session.event("c", "tool_approval_requested").await;
    assert_eq!(event["approval"], approval, "the event carries the same");
}

#[tokio::test]
async fn what_a_call_acts_on_is_shown_before_what_is_long() {
    let server = TestServer::start();
    let session = server.session().await;
    let (content, path) = ("name: x\n".repeat(1_000), ".github/workflows/ci.yml");
    let id = session.asks("w", "Write", json!({"content": content, "file_path": path})).await;
    let approval = server.operator().approval(&id).await;
    let display = approval["display"].as_str().unwrap();
    let begins = r#"Write {"file_path":".github/workflows/ci.yml","content":"name: x\nname"#;
    assert!(display.starts_with(begins), "{display}");
}

#[tokio::test]
async fn two_commands_never_look_the_same() {
    let server = TestServer::start();
    let session = server.session().await;
    let mut shown = Vec::new();
    for (id, command) in
        [("1", "touch a\nb"), ("2", "touch a\\nb"), ("3", "touch a\u{200b}"), ("4", "touch a\\u{200b}")]
    {
        let id = session.asks(id, "Bash", json!({"command": command})).await;
        let approval = server.operator().approval(&id).await;
        shown.push((approval["display"].clone(), approval["leaves"].clone()));
    }
    assert_ne!(shown[0], shown[1]);
    assert_ne!(shown[2], shown[3]);
}

#[tokio::test]
async fn an_edit_shows_its_diff_and_a_command_its_leaves() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("a.txt", "one\ntwo\n");
    session.call("r", "Read", json!({"file_path": "a.txt"})).await.expect(200);
    let edit = json!({"file_path": "a.txt", "old_string": "two", "new_string": "three"});
    let id = session.asks("e", "Edit", edit).await;
    let approval = server.operator().approval(&id).await;
    assert_eq!(approval.get("claim"), None, "nothing was claimed");
    let diff = approval["diff"].as_str().unwrap().to_owned();
    assert!(diff.contains("-two") && diff.contains("+three"), "{diff}");

    let id = session.asks("b", "Bash", json!({"command": "true && touch x 2> .bashrc | cat"})).await;
    let approval = server.operator().approval(&id).await;
    assert_eq!(approval["leaves"], json!(["true", "touch x 2> .bashrc", "cat"]));
}

#[tokio::test]
async fn the_list_is_filtered_and_paged() {
    let server = TestServer::start();
    let (one, two) = (server.session().await, server.session().await);
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(one.asks(&n.to_string(), "Bash", json!({"command": format!("touch {n}")})).await);
    }
    let other = two.asks("c", "Bash", json!({"command": "touch x"})).await;
    let operator = server.operator();
    operator.decide(&ids[1], &json!({"decision": "deny"})).await.expect(200);

    let listed = |page: &Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|item| item["approval_id"].as_str().unwrap().to_owned()).collect()
    };
    let all = operator.get("/v1/approvals").await.expect(200);
    assert_eq!(listed(&all), [&ids[..], std::slice::from_ref(&other)].concat());
    let pending = operator.get("/v1/approvals?status=pending").await.expect(200);
    assert_eq!(listed(&pending), [ids[0].clone(), ids[2].clone(), other.clone()]);
    let denied = operator.get("/v1/approvals?status=denied").await.expect(200);
    assert_eq!(listed(&denied), [ids[1].clone()]);
    let of_two = operator.get(&format!("/v1/approvals?session_id={}", two.id)).await.expect(200);
    assert_eq!(listed(&of_two), [other]);
    let page = operator.get("/v1/approvals?status=pending&limit=2").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    let next =
        operator.get(&format!("/v1/approvals?status=pending&limit=2&cursor={cursor}")).await.expect(200);
    assert_eq!([listed(&page), listed(&next)].concat(), listed(&pending));
}

#[tokio::test]
async fn a_session_has_at_most_20_pending() {
    let server = TestServer::start();
    let session = server.session().await;
    let mut first = String::new();
    for n in 0..20 {
        first = session.asks(&n.to_string(), "Bash", json!({"command": format!("touch {n}")})).await;
    }
    let call = session.bash("one more", "touch more").await.expect(200);
    assert_eq!(call["status"], "denied");
    assert_eq!(call["error"]["code"], "too_many_pending");
    assert_eq!(server.operator().pending(&session.id).await.len(), 20);
    // Another session has room, and one decision makes room here.
    server.session().await.asks("c", "Bash", json!({"command": "touch x"})).await;
    server.operator().decide(&first, &json!({"decision": "deny"})).await.expect(200);
    session.asks("room", "Bash", json!({"command": "touch room"})).await;
}

#[tokio::test]
async fn a_token_has_so_many_pending_over_all_its_sessions() {
    let server = TestServer::with_config(&json!({"limits": {"approvals_per_token": 3}}));
    let (one, two) = (server.session().await, server.session().await);
    let touch = |n: usize| json!({"command": format!("touch {n}")});
    let first = one.asks("1", "Bash", touch(1)).await;
    one.asks("2", "Bash", touch(2)).await;
    two.asks("3", "Bash", touch(3)).await;
    for (session, id) in [(&one, "4"), (&two, "5")] {
        let call = session.call(id, "Bash", touch(4)).await.expect(200);
        assert_eq!(call["status"], "denied");
        assert_eq!(call["error"]["code"], "too_many_pending");
        let text = call["result"]["result"].as_str().unwrap();
        assert!(text.contains("3 approvals wait in the sessions of this token already"), "{text}");
    }
    // Another token has its own room, also for its session's own token; a decision makes room here.
    let other = TestSession::create(&server.second_agent(), &json!({})).await;
    other.with(server.with_token(&other.token)).asks("c", "Bash", touch(5)).await;
    server.operator().decide(&first, &json!({"decision": "deny"})).await.expect(200);
    two.asks("room", "Bash", touch(6)).await;
    assert_eq!(two.bash("none", "touch 7").await.expect(200)["status"], "denied");
    // So does a session that ends; a change of the config holds for the next call.
    one.end().await.expect(200);
    two.asks("more room", "Bash", touch(8)).await;
    server.replace_config(&json!({"limits": {"approvals_per_token": 4}}));
    server.operator().post("/v1/config/reload", &json!({})).await.expect(200);
    two.asks("raised", "Bash", touch(9)).await;
}

#[tokio::test]
async fn identical_asks_each_keep_their_approval() {
    let server = TestServer::start();
    let session = server.session().await;
    let one = session.asks("1", "Bash", json!({"command": "touch x"})).await;
    let two = session.asks("2", "Bash", json!({"command": "touch x"})).await;
    assert_ne!(one, two);
    server.operator().decide(&one, &json!({"decision": "deny"})).await.expect(200);
    assert_eq!(session.current("2").await["status"], "awaiting_approval");
}

#[tokio::test]
async fn identical_asks_are_named_and_folded_in_the_list_only() {
    let server = TestServer::start();
    let (session, other) = (server.session().await, server.session().await);
    let mut ids = Vec::new();
    for n in 0..3 {
        ids.push(session.asks(&n.to_string(), "Bash", json!({"command": "touch x"})).await);
    }
    let different = session.asks("y", "Bash", json!({"command": "touch y"})).await;
    let elsewhere = other.asks("0", "Bash", json!({"command": "touch x"})).await;
    let operator = server.operator();
    let list = async |query: &str| -> Vec<(String, Value)> {
        let page = operator.get(&format!("/v1/approvals?status=pending{query}")).await.expect(200);
        let items = page["items"].as_array().unwrap().iter();
        items.map(|it| (it["approval_id"].as_str().unwrap().to_owned(), it["identical"].clone())).collect()
    };
    let all = list("").await;
    assert_eq!(all.len(), 5, "each is there");
    assert_eq!(all[1], (ids[1].clone(), json!([ids[0], ids[2]])));
    let folded = list("&fold=true").await;
    assert_eq!(folded[0], (ids[0].clone(), json!([ids[1], ids[2]])));
    assert_eq!(folded[1..], [(different.clone(), Value::Null), (elsewhere, Value::Null)]);
    // A page holds as many as it is asked for, whatever was folded between.
    let first = operator.get("/v1/approvals?status=pending&fold=true&limit=2").await.expect(200);
    assert_eq!(first["items"][1]["approval_id"], different.as_str());
    assert!(first["next_cursor"].is_string());
    // What was decided names nobody, and is named by nobody.
    operator.decide(&ids[0], &json!({"decision": "deny"})).await.expect(200);
    let folded = list("&fold=true").await;
    assert_eq!(folded[0], (ids[1].clone(), json!([ids[2]])));
    assert_eq!(operator.approval(&ids[0]).await.get("identical"), None);
}
