//! `POST /v1/sessions/{sid}/calls/{cid}/answer`: AskUser and its answers.

use serde_json::{Value, json};

use crate::support::{Answer, Client, TestServer, TestSession};

async fn answer(client: &Client, session: &TestSession, id: &str, text: &str) -> Answer {
    client.post(&session.call_path(id, "/answer"), &json!({"answer": text})).await
}

#[tokio::test]
async fn a_question_waits_and_its_answer_is_the_result() {
    let server = TestServer::start();
    let session = server.session().await;
    let arguments = json!({"question": "Which file?", "options": ["a.toml", "b.toml"]});
    let call = session.call("q", "AskUser", arguments).await.expect(202);
    assert_eq!(call["status"], "awaiting_answer");
    assert_eq!(call["question"]["question"], "Which file?");
    assert_eq!(call["question"]["options"], json!(["a.toml", "b.toml"]));
    let asked = session.event("q", "need_clarification").await;
    assert_eq!((&asked["question"], &asked["options"][1]), (&json!("Which file?"), &json!("b.toml")));
    assert!(server.operator().pending(&session.id).await.is_empty(), "a question is no approval");

    let done = answer(&server.operator(), &session, "q", "neither: c.toml").await.expect(200);
    assert_eq!(done["status"], "completed");
    assert_eq!(done["result"], json!({"success": true, "result": "neither: c.toml"}));
    assert_eq!(session.current("q").await, done);
    let types = session.event_types("q").await;
    assert_eq!(types, ["tool_start", "need_clarification", "clarification_answered", "tool_complete"]);
    assert_eq!(session.event("q", "clarification_answered").await["by"], "operator");
}

#[tokio::test]
async fn options_bind_where_the_question_says_so() {
    let server = TestServer::start();
    let session = server.session().await;
    let arguments = json!({"question": "?", "options": ["yes", "no"], "allow_custom": false});
    session.call("q", "AskUser", arguments).await.expect(202);
    for other in ["Yes", "maybe", "", "yes "] {
        let problem = answer(&server.operator(), &session, "q", other).await.problem(422, "not_an_option");
        assert_eq!(problem["errors"][0]["pointer"], "/answer");
    }
    assert_eq!(session.current("q").await["status"], "awaiting_answer", "it still waits");
    answer(&server.operator(), &session, "q", "yes").await.expect(200);

    let nothing = json!({"question": "?", "options": [], "allow_custom": false});
    assert_eq!(session.call("n", "AskUser", nothing).await.expect(200)["status"], "failed");
}

#[tokio::test]
async fn an_agent_does_not_answer_itself() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("q", "AskUser", json!({"question": "?"})).await.expect(202);
    for client in [server.agent(), server.with_token(&session.token), server.second_agent()] {
        let answer = answer(&client, &session, "q", "mine").await;
        answer.problem(403, "operator_required");
    }
    assert_eq!(session.current("q").await["status"], "awaiting_answer");
}

#[tokio::test]
async fn only_an_open_question_is_answered() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("q", "AskUser", json!({"question": "?"})).await.expect(202);
    answer(&server.operator(), &session, "q", "first").await.expect(200);
    answer(&server.operator(), &session, "q", "second").await.problem(409, "not_waiting");
    assert_eq!(session.current("q").await["result"]["result"], "first");

    session.asks("a", "Bash", json!({"command": "touch x"})).await;
    answer(&server.operator(), &session, "a", "yes").await.problem(409, "not_waiting");
    answer(&server.operator(), &session, "none", "yes").await.problem(404, "not_found");
    let result: Value = json!({"result": "x"});
    server.agent().post(&session.call_path("a", "/result"), &result).await.problem(409, "not_waiting");
}

#[tokio::test]
async fn two_answers_at_once_count_once() {
    let server = TestServer::start();
    let session = server.session().await;
    session.call("q", "AskUser", json!({"question": "?"})).await.expect(202);
    let answers: Vec<_> = (0..8)
        .map(|n| {
            let (operator, session) = (server.operator(), session.clone());
            tokio::spawn(
                async move { answer(&operator, &session, "q", &format!("{n}")).await.status.as_u16() },
            )
        })
        .collect();
    let mut statuses = Vec::new();
    for answer in answers {
        statuses.push(answer.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409, 409, 409, 409, 409, 409, 409]);
    assert_eq!(session.event_types("q").await.iter().filter(|kind| *kind == "tool_complete").count(), 1);
}
