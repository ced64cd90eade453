//! Turns that wait for someone: 202 with the calls, and the same POST again collects.

use serde_json::{Value, json};

use super::{FORMATS, post, said, statuses, texts, told, with_camera};
use crate::support::{TestServer, TestSession, within};

fn bash(command: &str) -> Value {
    json!({ "command": command })
}

/// The approval that the turn's call of this index waits for.
#[track_caller]
fn approval(answer: &Value, index: usize) -> &str {
    answer["calls"][index]["approval_id"].as_str().unwrap()
}

#[tokio::test]
async fn a_pause_answers_202_and_the_same_post_collects() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("a.txt", "hello\n");
    for format in FORMATS {
        let ids = [format!("r_{format}"), format!("b_{format}"), format!("d_{format}")];
        let calls = [
            (ids[0].as_str(), "Read", json!({"file_path": "a.txt"})),
            (ids[1].as_str(), "Bash", bash(&format!("touch x; echo {format}"))),
            (ids[2].as_str(), "Bash", bash("touch denied")),
        ];
        let body = said(format, &calls);
        let answer = post(&session, format, "", &body).await.expect(202);
        assert_eq!(statuses(&answer), ["completed", "awaiting_approval", "queued"]);
        assert_eq!(
            answer.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["calls"],
            "nothing to append yet"
        );
        server.operator().allow(approval(&answer, 1)).await;

        let answer = post(&session, format, "", &body).await.expect(202);
        assert_eq!(statuses(&answer), ["completed", "completed", "awaiting_approval"]);
        let no = json!({"decision": "deny", "message": "not that one"});
        server.operator().decide(approval(&answer, 2), &no).await.expect(200);

        let answer = post(&session, format, "", &body).await.expect(200);
        let told = told(format, &answer);
        assert!(told[0].1.contains("hello"), "{told:?}");
        assert_eq!(told[1].1, format);
        assert!(told[2].1.contains("not that one"), "{told:?}");
        assert_ne!(told[2].2, Some(false));
    }
    assert!(!session.file("denied").exists());
}

#[tokio::test]
async fn a_known_pause_is_answered_at_once_or_waited_for() {
    let server = TestServer::start();
    let session = server.session().await;
    let body =
        said("openai", &[("1", "Bash", bash("touch x; echo one")), ("2", "Bash", bash("touch x; echo two"))]);
    let first = post(&session, "openai", "&wait_ms=50000", &body).await.expect(202);
    assert_eq!(statuses(&first), ["awaiting_approval", "queued"], "the first time a pause is news");
    let again = post(&session, "openai", "", &body).await.expect(202);
    assert_eq!(again, first, "without wait_ms it is told as it stands");

    // With it, the request waits for the decision, and answers when the next call pauses.
    let waiting = tokio::spawn({
        let (session, body) = (session.clone(), body.clone());
        async move { post(&session, "openai", "&wait_ms=50000", &body).await }
    });
    server.operator().allow(approval(&first, 0)).await;
    let second = within("the next pause", waiting).await.unwrap().expect(202);
    assert_eq!(statuses(&second), ["completed", "awaiting_approval"]);

    let waiting = tokio::spawn({
        let (session, body) = (session.clone(), body.clone());
        async move { post(&session, "openai", "&wait_ms=50000", &body).await }
    });
    server.operator().allow(approval(&second, 1)).await;
    let last = within("the end", waiting).await.unwrap().expect(200);
    assert_eq!(texts("openai", &last), ["one", "two"]);
    // A short wait ends though nobody decides.
    let body = said("openai", &[("3", "Bash", bash("touch x; echo three"))]);
    post(&session, "openai", "", &body).await.expect(202);
    let answer = post(&session, "openai", "&wait_ms=30", &body).await.expect(202);
    assert_eq!(statuses(&answer), ["awaiting_approval"]);
}

#[tokio::test]
async fn one_known_pause_does_not_hide_anothers() {
    let server = TestServer::start();
    let session = server.session().await;
    let outside = |name: &str| json!({"file_path": server.outside().join(name)});
    // Two reads outside the workspace are side by side, and each asks.
    let calls = [("1", "Read", outside("a")), ("2", "Read", outside("b"))];
    let body = said("openai", &calls);
    let answer = post(&session, "openai", "", &body).await.expect(202);
    assert_eq!(statuses(&answer), ["awaiting_approval"; 2]);
    let waiting = tokio::spawn({
        let (session, body) = (session.clone(), body.clone());
        async move { post(&session, "openai", "&wait_ms=50000", &body).await }
    });
    for index in [1, 0] {
        let no = json!({"decision": "deny"});
        server.operator().decide(approval(&answer, index), &no).await.expect(200);
    }
    let answer = within("both decisions", waiting).await.unwrap().expect(200);
    assert_eq!(statuses(&answer), ["denied"; 2]);
}

#[tokio::test]
async fn an_answered_question_is_collected() {
    let server = TestServer::start();
    let session = server.session().await;
    for format in FORMATS {
        let id = format!("q_{format}");
        let body = said(format, &[(&id, "AskUser", json!({"question": "Which?"}))]);
        let answer = post(&session, format, "", &body).await.expect(202);
        assert_eq!(statuses(&answer), ["awaiting_answer"]);
        let reply = json!({"answer": "this one"});
        server.operator().post(&session.call_path(&id, "/answer"), &reply).await.expect(200);
        let answer = post(&session, format, "", &body).await.expect(200);
        assert!(texts(format, &answer)[0].contains("this one"), "{answer}");
    }
}

#[tokio::test]
async fn the_clients_own_tool_is_told_at_once_each_time() {
    let (server, made) = with_camera();
    let session = TestSession::create(&server.agent(), &made).await;
    for format in FORMATS {
        let ids = [format!("1_{format}"), format!("2_{format}")];
        let body = said(format, &[(&ids[0], "camera", json!({})), (&ids[1], "camera", json!({}))]);
        for (index, id) in ids.iter().enumerate() {
            // It is the client's turn: to wait for it here would be to wait for oneself.
            let answer = post(&session, format, "&wait_ms=50000", &body).await.expect(202);
            assert_eq!(statuses(&answer)[index], "awaiting_result");
            let answer = post(&session, format, "&wait_ms=50000", &body).await.expect(202);
            assert_eq!(statuses(&answer)[index], "awaiting_result");
            let report = json!({"result": format!("seen {index}")});
            session.client.post(&session.call_path(id, "/result"), &report).await.expect(200);
        }
        let answer = post(&session, format, "&wait_ms=50000", &body).await.expect(200);
        assert_eq!(texts(format, &answer), ["seen 0", "seen 1"]);
    }
}

#[tokio::test]
async fn a_waiting_turn_is_collected_after_a_restart() {
    let mut server = TestServer::start();
    let session = server.session().await;
    let body = |format: &str| said(format, &[(format, "Bash", bash("touch x; echo later"))]);
    for format in FORMATS {
        post(&session, format, "", &body(format)).await.expect(202);
    }
    server.restart_with(&json!({}));
    let session = session.with(server.agent());
    for format in FORMATS {
        let answer = post(&session, format, "", &body(format)).await.expect(202);
        server.operator().allow(approval(&answer, 0)).await;
        let answer = post(&session, format, "&wait_ms=50000", &body(format)).await.expect(200);
        assert_eq!(texts(format, &answer), ["later"]);
    }
}
