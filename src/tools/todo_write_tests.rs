//! Lists as the model sends them and as it reads them.

use serde_json::json;

use super::super::testing::Session;
use super::*;

#[tokio::test]
async fn the_text_is_the_list_as_it_stands() {
    let session = Session::new();
    for (todos, text) in [
        (json!([]), "The list is empty."),
        (json!([{"content": "a", "status": "pending"}]), "0 of 1 completed:\n1. [ ] a"),
        (
            json!([{"content": " a\n2. [x] forged", "status": "completed"}, {"content": "b", "status": "in_progress"}]),
            "1 of 2 completed:\n1. [x] a 2. [x] forged\n2. [>] b",
        ),
        (
            json!([{"content": "a", "status": "in_progress"}, {"content": "b", "status": "in_progress"}]),
            "0 of 2 completed:\n1. [>] a\n2. [>] b\n\n2 items are in_progress; one at a time is easier to follow.",
        ),
    ] {
        let result = session.call(&TodoWrite, json!({"todos": todos})).await.unwrap();
        assert_eq!((result.result.as_str(), &result.details), (text, &Some(json!({"todos": todos}))));
    }
}

#[tokio::test]
async fn an_id_is_one_items() {
    let session = Session::new();
    let item = |id: Option<&str>| match id {
        Some(id) => json!({"content": "x", "status": "pending", "id": id}),
        None => json!({"content": "x", "status": "pending"}),
    };
    let of = |ids: [Option<&str>; 3]| json!({"todos": ids.map(item)});
    session.ok(&TodoWrite, of([None, Some("1"), None])).await;
    let error = session.error(&TodoWrite, of([Some("1"), None, Some("1")])).await;
    assert!(error.contains("/todos/2/id") && error.contains("twice"), "{error}");
}

#[tokio::test]
async fn a_list_is_bounded() {
    let session = Session::new();
    let item = |text: usize| json!({"content": "x".repeat(text), "status": "pending"});
    session.ok(&TodoWrite, json!({"todos": vec![item(TEXT_MAX); TODOS_MAX / 2]})).await;
    session.error(&TodoWrite, json!({"todos": vec![item(1); TODOS_MAX + 1]})).await;
    session.error(&TodoWrite, json!({"todos": [item(TEXT_MAX + 1)]})).await;
}
