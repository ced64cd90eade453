//! `POST /v1/sessions/{sid}/calls` and `GET …/calls/{cid}`: one id, one call, one result.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::TestServer;
use crate::support::raw::{RawConnection, exchange};
use crate::support::session::{tool_call, until_there};

#[tokio::test]
async fn an_ended_call_has_the_whole_shape() {
    let server = TestServer::start();
    let session = server.session().await;
    session.write_file("a.txt", "one\n");
    let call = session.call("c", "Read", json!({"file_path": "a.txt"})).await.expect(200);
    assert_eq!(call["session_id"], session.id.as_str());
    assert_eq!(call["call_id"], "c");
    assert_eq!(call["tool_name"], "Read");
    assert_eq!(call["arguments"], json!({"file_path": "a.txt"}));
    assert_eq!(call["status"], "completed");
    assert_eq!(call["mutability"], "read_only");
    assert_eq!(call["result"]["success"], true);
    assert!(call["result"]["result"].as_str().unwrap().contains("one"));
    for time in ["created_at", "started_at", "finished_at"] {
        assert!(call[time].as_str().is_some_and(|time| time.ends_with('Z')), "{time}: {call}");
    }
    let events = session.events().await;
    let of_call: Vec<_> = events.iter().filter(|event| event["tool_call_id"] == "c").collect();
    assert_eq!(call["first_seq"], of_call.first().unwrap()["seq"]);
    assert_eq!(call["last_seq"], of_call.last().unwrap()["seq"]);
    assert_eq!(session.current("c").await, call);
}

#[tokio::test]
async fn a_command_tells_programs_how_it_ended() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let call = session.bash("c", "echo out; echo err >&2; exit 3").await.expect(200);
    assert_eq!(call["status"], "completed", "a non-zero exit is a result");
    assert_eq!(call["result"]["success"], false);
    assert_eq!(call["details"]["exit_code"], 3);
    assert_eq!(call["details"]["timed_out"], false);
    assert_eq!(call["details"]["total_bytes"], 8);
    assert_eq!(call["details"]["omitted_bytes"], 0);
    assert_eq!(call["details"]["cwd"], session.workspace.to_str().unwrap());
    assert!(call["result"]["result"].as_str().unwrap().starts_with("out\nerr"));
    let token = session.event("c", "tool_token").await;
    assert_eq!(token["stream"], "stdout", "both share one pipe, in order");

    let call =
        session.call("t", "Bash", json!({"command": "printf partial; sleep 30", "timeout": 200})).await;
    let call = call.expect(200);
    assert_eq!(call["status"], "completed");
    assert_eq!(call["details"]["timed_out"], true);
    assert!(call["result"]["result"].as_str().unwrap().contains("partial"), "{call}");
}

#[tokio::test]
async fn no_wait_answers_at_once_and_a_get_waits_for_the_end() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let command = format!("{}; echo went", until_there("go"));
    let call = session.begin("c", "Bash", json!({"command": command})).await.expect(202);
    assert!(["queued", "running"].contains(&call["status"].as_str().unwrap()), "{call}");
    assert!(call.get("result").is_none());
    let now = session.current("c").await;
    assert!(now.get("result").is_none(), "GET without wait_ms answers at once: {now}");
    let short = server.agent().get(&session.call_path("c", "?wait_ms=50")).await.expect(200);
    assert!(short.get("result").is_none(), "200 although it is open: {short}");

    let waiting = session.clone();
    let waiting = tokio::spawn(async move { waiting.ended("c").await });
    session.write_file("go", "");
    let ended = waiting.await.unwrap();
    assert!(ended["result"]["result"].as_str().unwrap().contains("went"));
}

#[tokio::test]
async fn a_pause_answers_before_the_wait_is_over_and_get_waits_through_it() {
    let server = TestServer::start();
    let session = server.session().await;
    let call = tool_call("c", "Bash", &json!({"command": "touch x"}));
    let answer = server.agent().post(&session.path("/calls?wait_ms=300000"), &call).await;
    let paused = answer.expect(202);
    assert_eq!(paused["status"], "awaiting_approval");

    let waiting = session.clone();
    let waiting = tokio::spawn(async move { waiting.ended("c").await });
    server.operator().allow(paused["approval_id"].as_str().unwrap()).await;
    assert_eq!(waiting.await.unwrap()["status"], "completed");
}

#[tokio::test]
async fn the_same_call_again_joins_or_gets_what_is_recorded() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let command = format!("echo ran >> log; {}", until_there("go"));
    let arguments = json!({"command": command});
    session.begin("c", "Bash", arguments.clone()).await.expect(202);
    let joined: Vec<_> = (0..5)
        .map(|_| {
            let (session, arguments) = (session.clone(), arguments.clone());
            tokio::spawn(async move { session.call("c", "Bash", arguments).await.expect(200) })
        })
        .collect();
    session.write_file("go", "");
    let first = session.ended("c").await;
    for joined in joined {
        assert_eq!(joined.await.unwrap(), first);
    }
    assert_eq!(session.call("c", "Bash", arguments).await.expect(200), first);
    assert_eq!(session.read_file("log"), "ran\n", "it ran once");
}

#[tokio::test]
async fn many_equal_posts_at_once_run_one_call() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let posts: Vec<_> = (0..20)
        .map(|_| {
            let session = session.clone();
            tokio::spawn(async move { session.bash("c", "echo ran >> log").await.expect(200) })
        })
        .collect();
    for post in posts {
        assert_eq!(post.await.unwrap()["status"], "completed");
    }
    assert_eq!(session.read_file("log"), "ran\n");
    assert_eq!(session.event_types("c").await, ["tool_start", "tool_complete"]);
}

#[tokio::test]
async fn another_body_under_an_id_is_a_conflict() {
    let server = TestServer::start();
    let session = server.session().await;
    let first = session.call("c", "Glob", json!({"pattern": "*"})).await.expect(200);
    for (tool, arguments) in
        [("Glob", "{\"pattern\":\"**\"}"), ("Glob", "{ \"pattern\":\"*\"}"), ("Grep", "{\"pattern\":\"*\"}")]
    {
        let call = json!({"id": "c", "function": {"name": tool, "arguments": arguments}});
        server.agent().post(&session.path("/calls"), &call).await.problem(409, "call_id_conflict");
    }
    assert_eq!(session.current("c").await, first);
    // The same for one that is open.
    session.call("open", "AskUser", json!({"question": "a"})).await.expect(202);
    session.call("open", "AskUser", json!({"question": "b"})).await.problem(409, "call_id_conflict");
}

#[tokio::test]
async fn a_turn_makes_a_name_space_of_its_own() {
    let server = TestServer::start();
    let session = server.session().await;
    let post = |turn: &str, pattern: &str| {
        let call = tool_call("call_0", "Glob", &json!({"pattern": pattern}));
        let (client, path) = (server.agent(), session.path(&format!("/calls{turn}")));
        async move { client.post(&path, &call).await }
    };
    post("", "a*").await.expect(200);
    let one = post("?turn=1", "b*").await.expect(200);
    assert_eq!(one["turn"], "1");
    post("?turn=2", "c*").await.expect(200);
    post("?turn=2", "d*").await.problem(409, "call_id_conflict");
    for (turn, pattern) in [("", "a*"), ("?turn=1", "b*"), ("?turn=2", "c*")] {
        let path = session.call_path("call_0", turn);
        let call = server.agent().get(&path).await.expect(200);
        assert_eq!(call["arguments"]["pattern"], pattern);
    }
    server.agent().get(&session.call_path("call_0", "?turn=3")).await.problem(404, "not_found");
    let list = server.agent().get(&session.path("/calls")).await.expect(200);
    assert_eq!(list["items"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_missing_id_is_made() {
    let server = TestServer::start();
    let session = server.session().await;
    let call = json!({"function": {"name": "Glob", "arguments": {"pattern": "*"}}});
    let one = server.agent().post(&session.path("/calls"), &call).await.expect(200);
    let two = server.agent().post(&session.path("/calls"), &call).await.expect(200);
    let id = one["call_id"].as_str().unwrap();
    assert!(!id.is_empty() && two["call_id"] != id);
    assert_eq!(session.current(id).await, one);
}

#[tokio::test]
async fn b8_any_text_is_a_call_id_and_never_a_path() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let longest = "x".repeat(256);
    for id in ["../../x", "/etc/passwd", "...", "a b%2f?#&", "ü🦀", "<script>", longest.as_str()] {
        let call = session.bash(id, "echo out").await.expect(200);
        assert_eq!(call["call_id"], id);
        assert_eq!(session.current(id).await, call, "{id}");
        let output = server.agent().get(&session.call_path(id, "/output")).await;
        assert_eq!((output.status.as_u16(), output.text().as_str()), (200, "out\n"), "{id}");
        assert_eq!(session.event_types(id).await.last().unwrap(), "tool_complete");
    }
    // Client libraries take these two out of a path, however they are written; the server does not.
    for id in ["..", "."] {
        session.bash(id, "echo out").await.expect(200);
        let head = format!("Host: {}\r\nAuthorization: Bearer {}", server.address, session.token);
        let path = session.path(&format!("/calls/{}/output", id.replace('.', "%2e")));
        let request = format!("GET {path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n");
        let answer = exchange(server.address, request.as_bytes()).await;
        assert!(answer.status == 200 && answer.text.ends_with("out\n"), "{}", answer.text);
    }
    let folder = server.data_dir().join("sessions").join(&session.id).join("output");
    for file in folder.read_dir().unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(name.bytes().all(|b| b.is_ascii_hexdigit()), "{name}");
    }
    for bad in ["a\u{1}b", "a\nb", "\u{7f}", &"x".repeat(257)] {
        let problem = session.bash(bad, "true").await.problem(400, "invalid_request");
        assert_eq!(problem["errors"][0]["pointer"], "/id", "{bad:?}");
    }
}

#[tokio::test]
async fn a_refused_id_stays_free() {
    let server = TestServer::with_config(&json!({"limits": {"open_calls_per_session": 1}}));
    let session = server.session().await;
    session.call("one", "AskUser", json!({"question": "?"})).await.expect(202);
    let refused = session.call("two", "Glob", json!({"pattern": "*"})).await;
    refused.problem(429, "too_many");
    assert!(!refused.header("retry-after").is_empty());
    server.agent().get(&session.call_path("two", "")).await.problem(404, "not_found");
    session.cancel("one").await.expect(200);
    session.call("two", "Glob", json!({"pattern": "**"})).await.expect(200);
}

#[tokio::test]
async fn a_client_that_goes_away_does_not_end_its_call() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let body = tool_call("c", "Bash", &json!({"command": format!("{}; echo went", until_there("go"))}));
    let post = server.agent().request(Method::POST, &session.path("/calls")).json(&body);
    let request = tokio::spawn(post.send());
    session.event("c", "tool_start").await;
    request.abort();
    session.write_file("go", "");
    let call = session.ended("c").await;
    assert_eq!(call["status"], "completed");
    assert!(call["result"]["result"].as_str().unwrap().contains("went"));
}

/// Sends a POST and is gone before it can be answered.
async fn post_and_leave(server: &TestServer, path: &str, token: &str, more: &str, body: &Value) {
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n{more}Content-Length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    let mut connection = RawConnection::open(server.address).await;
    assert!(connection.send(request.as_bytes()).await);
}

#[tokio::test]
async fn what_a_client_that_left_at_once_had_posted_ends_or_was_never_there() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let calls = session.path("/calls");
    for (way, path, more) in [
        ("waiting", calls.clone(), ""),
        ("at once", format!("{calls}?wait_ms=0"), ""),
        ("stream", calls.clone(), "Accept: text/event-stream\r\n"),
        ("batch", format!("{calls}/batch"), ""),
    ] {
        for round in 0..20 {
            let id = format!("{way} {round}");
            let call = tool_call(&id, "Bash", &json!({"command": "echo went"}));
            let body = if way == "batch" { json!({"calls": [call]}) } else { call.clone() };
            post_and_leave(&server, &path, &session.token, more, &body).await;
            // The retry joins, or gets what is recorded, or runs it: it always ends, once.
            let call = session.client.post(&calls, &call).await.expect(200);
            assert_eq!(call["status"], "completed", "{call}");
            let types = session.event_types(&id).await;
            assert_eq!(types, ["tool_start", "tool_token", "tool_complete"], "{way}");
        }
    }
}

#[tokio::test]
async fn what_a_reviewer_who_left_at_once_had_decided_counts_or_was_never_there() {
    let server = TestServer::start();
    let session = server.session().await;
    for round in 0..20 {
        let id = round.to_string();
        let approval = session.asks(&id, "Bash", json!({"command": format!("touch {id}")})).await;
        let path = format!("/v1/approvals/{approval}/decision");
        let allow = json!({"decision": "allow"});
        post_and_leave(&server, &path, &server.token("operator"), "", &allow).await;
        server.operator().allow(&approval).await;
        assert_eq!(session.ended(&id).await["status"], "completed");
    }
}

#[tokio::test]
async fn calls_are_listed_oldest_first_in_pages() {
    let server = TestServer::start();
    let session = server.session().await;
    for id in ["z", "a", "m"] {
        session.call(id, "Glob", json!({"pattern": id})).await.expect(200);
    }
    let first = server.agent().get(&session.path("/calls?limit=2")).await.expect(200);
    let cursor = first["next_cursor"].as_str().unwrap();
    let second =
        server.agent().get(&session.path(&format!("/calls?limit=2&cursor={cursor}"))).await.expect(200);
    assert_eq!(second["next_cursor"], json!(null));
    let items = first["items"].as_array().unwrap().iter().chain(second["items"].as_array().unwrap());
    assert_eq!(items.map(|call| call["call_id"].as_str().unwrap()).collect::<Vec<_>>(), ["z", "a", "m"]);
}

#[tokio::test]
async fn separate_posts_run_side_by_side() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    // Each waits for what the other makes: one after the other they would never end.
    let one =
        session.begin("one", "Bash", json!({"command": format!("touch 1; {}", until_there("2"))})).await;
    let two =
        session.begin("two", "Bash", json!({"command": format!("touch 2; {}", until_there("1"))})).await;
    one.expect(202);
    two.expect(202);
    assert_eq!(session.ended("one").await["status"], "completed");
    assert_eq!(session.ended("two").await["status"], "completed");
}
