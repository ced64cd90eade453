//! Pages of events as JSON, and long polls.

use serde_json::{Value, json};

use crate::support::session::until_there;
use crate::support::{TestServer, TestSession};

async fn page(session: &TestSession, query: &str) -> Value {
    session.client.event_page(&session.path(&format!("/events{query}"))).await
}

fn seqs(page: &Value) -> Vec<u64> {
    page["events"].as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn numbers_are_gapless_whatever_goes_on_at_once() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let calls: Vec<_> = (0..12)
        .map(|n| {
            let session = session.clone();
            let command = "for i in 1 2 3; do echo $i; done";
            tokio::spawn(async move { session.bash(&n.to_string(), command).await.expect(200) })
        })
        .collect();
    for call in calls {
        call.await.unwrap();
    }
    session.end().await.expect(200);
    let page = page(&session, "").await;
    let all = seqs(&page);
    assert_eq!(all, (1..=all.len() as u64).collect::<Vec<_>>());
    let events = page["events"].as_array().unwrap();
    assert_eq!(events.first().unwrap()["type"], "session_started");
    assert_eq!(events.last().unwrap()["type"], "session_ended");
    for n in 0..12 {
        let id = n.to_string();
        let own: Vec<_> = events.iter().filter(|event| event["tool_call_id"] == id.as_str()).collect();
        let kinds: Vec<_> = own.iter().map(|event| event["type"].as_str().unwrap()).collect();
        assert_eq!((kinds[0], *kinds.last().unwrap()), ("tool_start", "tool_complete"));
        assert!(kinds[1..kinds.len() - 1].iter().all(|kind| *kind == "tool_token"), "{kinds:?}");
        let tokens = own.iter().filter_map(|event| event["content"].as_str()).collect::<String>();
        assert_eq!(tokens, "1\n2\n3\n", "{own:?}");
    }
    for event in events {
        assert_eq!(event["session_id"], session.id.as_str());
        assert!(event["time"].as_str().unwrap().ends_with('Z'));
    }
}

#[tokio::test]
async fn a_page_says_where_to_go_on() {
    let server = TestServer::start();
    let session = server.session().await;
    for n in 0..3 {
        session.call(&n.to_string(), "Glob", json!({"pattern": "*"})).await.expect(200);
    }
    let whole = page(&session, "").await;
    assert_eq!((&whole["next_after"], &whole["latest_seq"]), (&json!(7), &json!(7)));
    let (mut after, mut seen) = (0, Vec::new());
    while seen.len() < 7 {
        let part = page(&session, &format!("?after={after}&limit=3")).await;
        assert_eq!(part["latest_seq"], 7);
        seen.extend(seqs(&part));
        after = part["next_after"].as_u64().unwrap();
    }
    assert_eq!(seen, [1, 2, 3, 4, 5, 6, 7]);
    let end = page(&session, "?after=7").await;
    assert_eq!((&end["events"], &end["next_after"]), (&json!([]), &json!(7)));
    let beyond = page(&session, "?after=99").await;
    assert_eq!((&beyond["events"], &beyond["latest_seq"]), (&json!([]), &json!(7)));
}

#[tokio::test]
async fn filters_choose_by_call_turn_and_type() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.bash("1", "echo a").await.expect(200);
    session.bash("2", "echo b").await.expect(200);
    let call = json!({"id": "1", "function": {"name": "Glob", "arguments": {"pattern": "*"}}});
    server.agent().post(&session.path("/calls?turn=t"), &call).await.expect(200);

    let kinds = |page: &Value| -> Vec<String> {
        let events = page["events"].as_array().unwrap().iter();
        events.map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    };
    let of_one = page(&session, "?call_id=1").await;
    assert_eq!(kinds(&of_one), ["tool_start", "tool_token", "tool_complete"]);
    let of_turn = page(&session, "?call_id=1&turn=t").await;
    assert_eq!(kinds(&of_turn), ["tool_start", "tool_complete"]);
    let tokens = page(&session, "?types=tool_token").await;
    assert_eq!(kinds(&tokens), ["tool_token", "tool_token"]);
    let both = page(&session, "?call_id=2&types=tool_start,tool_complete").await;
    assert_eq!(kinds(&both), ["tool_start", "tool_complete"]);
    let latest = both["latest_seq"].as_u64().unwrap();
    assert_eq!(both["next_after"], latest, "what a filter leaves out is passed over");
    assert_eq!(page(&session, "?call_id=none").await["events"], json!([]));
}

#[tokio::test]
async fn a_long_poll_answers_with_the_next_event() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let latest = page(&session, "").await["latest_seq"].as_u64().unwrap();
    let poll = {
        let session = session.clone();
        tokio::spawn(async move { page(&session, &format!("?after={latest}&wait_ms=50000")).await })
    };
    session.bash("c", "echo x").await.expect(200);
    let page_of_poll = poll.await.unwrap();
    assert_eq!(seqs(&page_of_poll)[0], latest + 1);

    // Events that the filter leaves out do not wake it.
    let wanted = {
        let session = session.clone();
        tokio::spawn(async move { page(&session, "?types=session_ended&wait_ms=50000").await })
    };
    session.bash("d", "echo x").await.expect(200);
    session.end().await.expect(200);
    assert_eq!(wanted.await.unwrap()["events"][0]["type"], "session_ended");
}

#[tokio::test]
async fn a_long_poll_ends_with_its_time() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    session.begin("c", "Bash", json!({"command": until_there("go")})).await.expect(202);
    let page = page(&session, "?types=tool_complete&wait_ms=50").await;
    assert_eq!(page["events"], json!([]));
    session.write_file("go", "");
}
