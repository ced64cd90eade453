//! What is appended after calls that end by themselves.

use serde_json::json;

use super::{FORMATS, post, said, statuses, texts, told};
use crate::support::TestServer;

#[tokio::test]
async fn one_call_is_answered_in_its_form() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("a.txt", "hello\n");
    for format in FORMATS {
        let id = format!("one_{format}");
        let body = said(format, &[(&id, "Read", json!({"file_path": "a.txt"}))]);
        let answer = post(&session, format, "", &body).await.expect(200);
        let [(told_id, text, failed)] = told(format, &answer).try_into().unwrap();
        assert_eq!(told_id, id);
        assert!(text.contains("hello"), "{text}");
        assert_ne!(failed, Some(true));
        assert_eq!(statuses(&answer), ["completed"]);
        assert_eq!(answer["calls"][0]["call_id"], id.as_str(), "recorded under the API's own id");
        assert_eq!(answer["calls"][0]["result"]["result"], text.as_str());
    }
    let default = said("openai", &[("default", "Read", json!({"file_path": "a.txt"}))]);
    let answer = session.client.post(&session.path("/turns"), &default).await.expect(200);
    assert_eq!(told("openai", &answer).len(), 1, "openai where no format is given");
}

#[tokio::test]
async fn parallel_calls_run_in_order_and_are_answered_in_order() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    for format in FORMATS {
        let log = format!("{format}.log");
        let bash = |command: String| json!({"command": command.replace("LOG", &log)});
        let id = |n: usize| format!("{format}_{n}");
        let ids: Vec<_> = (0..4).map(id).collect();
        let calls = [
            (ids[3].as_str(), "Bash", bash("echo 1 >> LOG".to_owned())),
            (ids[0].as_str(), "Read", json!({"file_path": log})),
            (ids[2].as_str(), "Bash", bash("echo 2 >> LOG; cat LOG".to_owned())),
            (ids[1].as_str(), "Glob", json!({"pattern": format!("{format}.*")})),
        ];
        let answer = post(&session, format, "", &said(format, &calls)).await.expect(200);
        let told = told(format, &answer);
        let order: Vec<_> = told.iter().map(|(id, _, _)| id.as_str()).collect();
        assert_eq!(order, [&ids[3], &ids[0], &ids[2], &ids[1]]);
        assert!(told[1].1.contains('1') && !told[1].1.contains('2'), "{told:?}");
        assert_eq!(told[2].1, "1\n2");
        assert!(told[3].1.contains(&log), "{told:?}");
    }
}

#[tokio::test]
async fn a_models_mistakes_are_answered_like_results() {
    let server = TestServer::start();
    let session = server.session().await;
    for format in FORMATS {
        let id = |kind: &str| format!("{kind}_{format}");
        let (unknown, wrong, cut, list) = (id("unknown"), id("wrong"), id("cut"), id("list"));
        let calls = [
            (unknown.as_str(), "Teleport", json!({})),
            (wrong.as_str(), "Read", json!({"file": 7})),
            (cut.as_str(), "Write", json!(r#"{"file_path": "x", "content": "half"#)),
            (list.as_str(), "Read", json!([1])),
        ];
        let answer = post(&session, format, "", &said(format, &calls)).await.expect(200);
        assert_eq!(statuses(&answer), ["failed"; 4], "they are recorded");
        let told = told(format, &answer);
        for ((id, text, failed), says) in told.iter().zip(["Teleport", "file_path", "JSON", "object"]) {
            assert!(text.contains(says), "{id}: {text}");
            assert_ne!(*failed, Some(false), "{id}");
        }
    }
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn refusals_and_failures_are_told_as_errors() {
    let server = TestServer::with_config(&json!({"permissions": {"deny": ["Bash(touch *)"]}}));
    let session = server.bypass_session().await;
    for format in FORMATS {
        let id = |kind: &str| format!("{kind}_{format}");
        let (denied, failing) = (id("denied"), id("failing"));
        let calls = [
            (denied.as_str(), "Bash", json!({"command": "touch x"})),
            (failing.as_str(), "Bash", json!({"command": "ls nowhere"})),
        ];
        let answer = post(&session, format, "", &said(format, &calls)).await.expect(200);
        assert_eq!(statuses(&answer), ["denied", "completed"]);
        let told = told(format, &answer);
        assert!(told[0].1.contains("touch"), "{told:?}");
        assert!(told[1].1.contains("nowhere"), "{told:?}");
        assert!(told.iter().all(|(_, _, failed)| *failed != Some(false)), "{told:?}");
    }
    assert!(!session.file("x").exists());
}

#[tokio::test]
async fn a_message_without_calls_is_answered_with_nothing_to_append() {
    let server = TestServer::start();
    let session = server.session().await;
    for format in FORMATS {
        let answer = post(&session, format, "", &said(format, &[])).await.expect(200);
        assert_eq!(told(format, &answer), []);
        assert_eq!(answer["calls"], json!([]));
    }
    let events = session.events().await;
    assert_eq!(events.len(), 1, "nothing was recorded: {events:?}");
}

#[tokio::test]
async fn cancelled_and_interrupted_calls_have_a_text() {
    let mut server = TestServer::start();
    let session = server.bypass_session().await;
    for format in FORMATS {
        let (cancelled, left) = (format!("c_{format}"), format!("i_{format}"));
        let body = said(format, &[(&cancelled, "Bash", json!({"command": "sleep 60"}))]);
        post(&session, format, "&wait_ms=0", &body).await.expect(202);
        session.cancel(&cancelled).await.expect(200);
        let answer = post(&session, format, "", &body).await.expect(200);
        assert_eq!(statuses(&answer), ["cancelled"]);
        assert!(texts(format, &answer)[0].contains("Cancelled"), "{answer}");
        // One of each format is still running when the server goes down.
        let body = said(format, &[(&left, "Bash", json!({"command": "touch begun; sleep 60"}))]);
        post(&session, format, "&wait_ms=0", &body).await.expect(202);
        session.event(&left, "tool_start").await;
    }
    server.restart_with(&json!({}));
    let again = session.with(server.agent());
    for format in FORMATS {
        let left = format!("i_{format}");
        let body = said(format, &[(&left, "Bash", json!({"command": "touch begun; sleep 60"}))]);
        let answer = post(&again, format, "", &body).await.expect(200);
        assert_eq!(statuses(&answer), ["interrupted"]);
        let (id, text, failed) = told(format, &answer).remove(0);
        assert_eq!(id, left);
        assert!(!text.is_empty());
        assert_ne!(failed, Some(false));
    }
}
