//! Requests that race: one id is one run, one call has one end, and the log has no gap.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::support::{Answer, Client, Place, Server, call_of, endings, lines_in, wait_until_none, working};

const ROUNDS: usize = 40;

fn start() -> (Place, Server) {
    let place = Place::with_own_binary();
    let server = place.start(&working());
    (place, server)
}

/// Lets the other side of a race get ahead by some steps of the scheduler, more in each round.
async fn behind_by(steps: usize) {
    for _ in 0..steps {
        tokio::task::yield_now().await;
    }
}

/// Each call has ended once, as its record says, and every event is of an accepted call.
async fn each_call_ended_once(client: &Client, session: &str) -> BTreeMap<String, Value> {
    let events = client.events(session).await;
    let mut calls = BTreeMap::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/v1/sessions/{session}/calls?limit=1000{cursor}");
        let page = client.get(&path).await.expect(200);
        for call in page["items"].as_array().unwrap() {
            calls.insert(call["call_id"].as_str().unwrap().to_owned(), call.clone());
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    for (id, call) in &calls {
        assert_eq!(endings(&events, id), [call["status"].as_str().unwrap()], "{call}");
        let of_call = || events.iter().filter(|event| event["tool_call_id"] == **id);
        assert_eq!(of_call().filter(|event| event["type"] == "tool_start").count(), 1, "{id}");
        let last = of_call().next_back().unwrap();
        assert_eq!((&last["seq"], endings(std::slice::from_ref(last), id).len()), (&call["last_seq"], 1));
        assert!(call["result"]["result"].is_string(), "{call}");
    }
    let foreign = events.iter().filter_map(|event| event["tool_call_id"].as_str());
    assert_eq!(foreign.filter(|id| !calls.contains_key(*id)).count(), 0);
    calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_posts_of_one_id_are_one_run() {
    let (place, server) = start();
    server.agent.session("s").await;
    let command = json!({"command": "echo ran >> lines; echo out"});
    let posts = (0..100).map(|_| server.agent.call("s", "c", "Bash", &command));
    let answers: Vec<Value> = join_all(posts).await.into_iter().map(|answer| answer.expect(200)).collect();
    assert!(answers.iter().all(|answer| *answer == answers[0] && answer["status"] == "completed"));
    assert_eq!(lines_in(&place.workspace("s").join("lines"), "ran"), 1);
    // Another body under the id is refused, whenever it comes.
    server.agent.call("s", "c", "Bash", &json!({"command": "echo other"})).await.expect(409);
    let server = &server;
    let mixed = (0..40).map(|index| async move {
        let command = if index % 2 == 0 { "echo even >> mixed" } else { "echo odd >> mixed" };
        (index % 2, server.agent.call("s", "d", "Bash", &json!({"command": command})).await.status)
    });
    let statuses = join_all(mixed).await;
    let won: Vec<i32> = statuses.iter().filter(|(_, status)| *status == 200).map(|(side, _)| *side).collect();
    assert!(won.len() == 20 && won.iter().all(|side| *side == won[0]), "{statuses:?}");
    assert!(statuses.iter().all(|(_, status)| matches!(status, 200 | 409)));
    let lines = std::fs::read_to_string(place.workspace("s").join("mixed")).unwrap();
    assert_eq!(lines.lines().count(), 1);
    assert_eq!(each_call_ended_once(&server.agent, "s").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_races_with_the_end_leaves_one_end() {
    let (place, server) = start();
    server.agent.session("s").await;
    let (mut cancelled, mut completed) = (0, 0);
    // Goes to where the race is close, on whatever machine this is.
    let mut steps = 64;
    for round in 0..ROUNDS {
        let id = format!("c{round}");
        // A file for each: a shell that is ended in the middle of a line leaves half a line.
        let command = format!("echo {id} >> ran-{id}; : {}", "x".repeat(round));
        let cancel = async {
            behind_by(steps).await;
            server.agent.cancel("s", &id).await
        };
        let arguments = json!({"command": command});
        let (call, cancel) = tokio::join!(server.agent.call("s", &id, "Bash", &arguments), cancel);
        let call = call.expect(200);
        match cancel.status {
            200 => assert_eq!(cancel.body, call),
            _ => assert_eq!((cancel.status, &call["status"]), (404, &json!("completed"))),
        }
        let lines = lines_in(&place.workspace("s").join(format!("ran-{id}")), &id);
        match call["status"].as_str().unwrap() {
            "completed" => {
                completed += 1;
                steps = steps * 2 / 3 + 1;
                assert_eq!(lines, 1, "{call}");
            }
            "cancelled" => {
                cancelled += 1;
                steps = steps * 3 / 2 + 1;
                assert!(lines <= 1);
                assert!(
                    lines == 0 || call["started_at"].is_string(),
                    "it ran and says that it did not: {call}"
                );
            }
            other => panic!("{other}: {call}"),
        }
    }
    assert_eq!(each_call_ended_once(&server.agent, "s").await.len(), ROUNDS);
    assert!(cancelled > 0 && completed > 0, "the race was never close: {cancelled} {completed}");
}

/// Opens a call that waits: its approval's id.
async fn waiting(server: &Server, id: &str) -> String {
    let command = json!({"command": format!("touch a-{id} && echo {id} >> ran-{id}")});
    let call = server.agent.call("s", id, "Bash", &command).await.expect(202);
    call["approval_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_that_races_with_a_cancel_leaves_one_end() {
    let (place, server) = start();
    server.agent.session("s").await;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for round in 0..ROUNDS {
        let id = format!("c{round}");
        let approval = waiting(&server, &id).await;
        let choice = if round % 4 == 3 { "deny" } else { "allow" };
        let cancel = async {
            behind_by(round * 20).await;
            server.agent.cancel("s", &id).await
        };
        let (decided, cancel) = tokio::join!(server.operator.decide(&approval, choice), cancel);
        let call = server.agent.ended("s", &id).await;
        assert_eq!(cancel.expect(200), call);
        let approval = server.operator.get(&format!("/v1/approvals/{approval}")).await.expect(200);
        let (call_is, approval_is) = (call["status"].as_str().unwrap(), approval["status"].as_str().unwrap());
        let lines = lines_in(&place.workspace("s").join(format!("ran-{id}")), &id);
        match (decided.status, call_is, approval_is) {
            // Decided first; the cancel found it running, or not yet.
            (200, "completed", "allowed") => assert_eq!(lines, 1),
            (200, "cancelled", "allowed" | "denied" | "cancelled") => assert!(lines <= 1),
            (200, "denied", "denied") | (409, "cancelled", "cancelled") => assert_eq!(lines, 0),
            other => panic!("{other:?}: {call} {approval} {}", decided.body),
        }
        *seen.entry(format!("{} {call_is} {approval_is}", decided.status)).or_default() += 1;
    }
    let calls = each_call_ended_once(&server.agent, "s").await;
    assert_eq!(calls.len(), ROUNDS);
    let pending = server.operator.get("/v1/approvals?status=pending").await.expect(200);
    assert_eq!(pending["items"], json!([]), "{seen:?}");
    let events = server.agent.events("s").await;
    for id in calls.keys() {
        let resolved = events
            .iter()
            .filter(|event| event["type"] == "tool_approval_resolved" && event["tool_call_id"] == **id);
        assert_eq!(resolved.count(), 1, "{id}: {seen:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_opposite_decisions_one_stands() {
    let (place, server) = start();
    server.agent.session("s").await;
    for round in 0..ROUNDS / 2 {
        let id = format!("c{round}");
        let approval = waiting(&server, &id).await;
        let decisions = (0..6).map(|index| {
            let choice = if (index + round) % 2 == 0 { "allow" } else { "deny" };
            let (server, approval) = (&server, &approval);
            async move { (choice, server.operator.decide(approval, choice).await) }
        });
        let decisions: Vec<(&str, Answer)> = join_all(decisions).await;
        let stood: Vec<&str> =
            decisions.iter().filter(|(_, answer)| answer.status == 200).map(|(choice, _)| *choice).collect();
        assert!(stood.len() == 3 && stood.iter().all(|choice| *choice == stood[0]), "{decisions:?}");
        assert!(decisions.iter().all(|(_, answer)| matches!(answer.status, 200 | 409)), "{decisions:?}");
        let call = server.agent.ended("s", &id).await;
        let expected = if stood[0] == "allow" { ("completed", 1) } else { ("denied", 0) };
        let lines = lines_in(&place.workspace("s").join(format!("ran-{id}")), &id);
        assert_eq!((call["status"].as_str().unwrap(), lines), expected, "{call}");
    }
    each_call_ended_once(&server.agent, "s").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_end_of_a_session_that_races_with_calls_is_the_end() {
    let (place, server) = start();
    for round in 0..12 {
        let session = format!("s{round}");
        server.agent.session(&session).await;
        let post = |index: usize| {
            let (client, session) = (server.agent.clone(), session.clone());
            tokio::spawn(async move {
                let (tool, arguments) = match index % 4 {
                    0 => ("Bash", json!({"command": "sleep 300"})),
                    1 => ("Bash", json!({"command": "touch x"})),
                    2 => ("Glob", json!({"pattern": "*"})),
                    _ => ("Bash", json!({"command": "echo x"})),
                };
                let mut answers = Vec::new();
                for part in 0..3 {
                    let id = format!("c{index}-{part}");
                    answers.push(client.call(&session, &id, tool, &arguments).await);
                }
                answers
            })
        };
        let posts: Vec<_> = (0..12).map(post).collect();
        behind_by(round * 40).await;
        let path = format!("/v1/sessions/{session}");
        let (one, other) = tokio::join!(server.agent.delete(&path), server.agent.delete(&path));
        assert_eq!(
            (one.expect(200)["status"].clone(), other.expect(200)["status"].clone()),
            ("ended".into(), "ended".into())
        );
        for answer in join_all(posts).await.into_iter().flat_map(Result::unwrap) {
            match answer.status {
                200 | 202 => {}
                _ => assert_eq!(answer.expect(409)["code"], "session_ended"),
            }
        }
        let late = server.agent.call(&session, "late", "Glob", &json!({"pattern": "*"})).await;
        assert_eq!(late.expect(409)["code"], "session_ended");
        let events = server.agent.events(&session).await;
        let ends: Vec<usize> =
            (0..events.len()).filter(|index| events[*index]["type"] == "session_ended").collect();
        assert_eq!(ends, [events.len() - 1], "its end is its last event");
        each_call_ended_once(&server.agent, &session).await;
    }
    let pending = server.operator.get("/v1/approvals?status=pending").await.expect(200);
    assert_eq!(pending["items"], json!([]));
    server.terminate().await;
    wait_until_none(&place.path(""), &place.mark()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_goes_away_neither_ends_a_call_nor_leaves_one_behind() {
    let (place, server) = start();
    server.agent.session("s").await;
    let arguments = |id: &str| json!({"command": format!("echo {id} >> lines")});
    for round in 0..ROUNDS {
        for (kind, wait) in [("now", 0), ("wait", 60_000), ("batch", 60_000)] {
            let id = format!("{kind}{round}");
            let call = call_of(&id, "Bash", &arguments(&id));
            let posting = async {
                if kind == "batch" {
                    let path = format!("/v1/sessions/s/calls/batch?wait_ms={wait}");
                    drop(server.agent.post(&path, &json!({"calls": [call]})).await);
                } else {
                    let path = format!("/v1/sessions/s/calls?wait_ms={wait}");
                    drop(server.agent.post(&path, &call).await);
                }
            };
            // Dropping the request closes its connection.
            tokio::select! {
                () = posting => {}
                () = behind_by(round * 8) => {}
            }
        }
    }
    // Each id is recorded or free, and none is stuck: a repeat comes to its end.
    for round in 0..ROUNDS {
        for kind in ["now", "wait", "batch"] {
            let id = format!("{kind}{round}");
            let call = server.agent.call("s", &id, "Bash", &arguments(&id)).await.expect(200);
            assert_eq!(call["status"], "completed", "{call}");
            assert_eq!(lines_in(&place.workspace("s").join("lines"), &id), 1, "{id}");
        }
    }
    assert_eq!(each_call_ended_once(&server.agent, "s").await.len(), 3 * ROUNDS);
}

/// Many calls at once, spread over sessions: all end, and each log is whole.
async fn many_calls(sessions: usize) {
    const CALLS: usize = 200;
    let (place, server) = start();
    for session in 0..sessions {
        server.agent.session(&format!("s{session}")).await;
        std::fs::write(place.workspace(&format!("s{session}")).join("f"), "text\n").unwrap();
    }
    let calls = (0..CALLS).map(|index| {
        let server = &server;
        async move {
            let (tool, arguments) = match index % 3 {
                0 => ("Bash", json!({"command": format!("echo c{index} >> lines; echo c{index}")})),
                1 => ("Read", json!({"file_path": "f"})),
                _ => ("Write", json!({"file_path": format!("w{index}"), "content": "x"})),
            };
            let session = format!("s{}", index % sessions);
            let call = server.agent.call(&session, &format!("c{index}"), tool, &arguments).await.expect(200);
            assert_eq!(call["status"], "completed", "{call}");
        }
    });
    join_all(calls).await;
    let mut count = 0;
    for session in 0..sessions {
        let session = format!("s{session}");
        for id in each_call_ended_once(&server.agent, &session).await.keys() {
            count += 1;
            if id[1..].parse::<usize>().unwrap() % 3 == 0 {
                assert_eq!(lines_in(&place.workspace(&session).join("lines"), id), 1);
            }
        }
    }
    assert_eq!(count, CALLS);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_in_one_session() {
    many_calls(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_in_fifty_sessions() {
    many_calls(50).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_drops_and_resumes_sees_each_event_once() {
    let (_place, server) = start();
    server.agent.session("s").await;
    let client = server.agent.clone();
    let reader = tokio::spawn(async move {
        let mut seen: Vec<Value> = Vec::new();
        // Drops after 1, 2, 3 … events, wherever the writers are then.
        for length in 1.. {
            let after = seen.last().map_or(0, |event| event["seq"].as_u64().unwrap());
            let mut stream = client.stream("s", after).await;
            for _ in 0..length {
                match stream.next().await {
                    Some(event) => seen.push(event),
                    None => return seen,
                }
            }
        }
        seen
    });
    let calls = (0..60).map(|index| {
        let server = &server;
        async move {
            let command = format!("for i in 1 2 3; do echo {index}-$i; done");
            server.agent.bash("s", &format!("c{index}"), &command).await
        }
    });
    join_all(calls).await;
    server.agent.delete("/v1/sessions/s").await.expect(200);
    assert_eq!(reader.await.unwrap(), server.agent.events("s").await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_between_a_start_and_its_pause_leaves_nothing_that_waits() {
    let (_place, server) = start();
    server.agent.session("s").await;
    let (mut before, mut after) = (0, 0);
    // Goes to where the race is close, on whatever machine this is.
    let mut steps = 32;
    for round in 0..2 * ROUNDS {
        let id = format!("c{round}");
        let (tool, arguments) = match round % 3 {
            0 => ("AskUser", json!({"question": "?"})),
            1 => ("Bash", json!({"command": "touch x"})),
            _ => ("request_permissions", json!({"reason": "r", "permissions": ["Bash(mkdir x)"]})),
        };
        let posting = server.agent.call("s", &id, tool, &arguments);
        let cancelling = async {
            behind_by(steps).await;
            server.agent.cancel("s", &id).await
        };
        let (posted, cancelled) = tokio::join!(posting, cancelling);
        let waited = posted.status == 202;
        if cancelled.status == 404 {
            // Nothing was there yet: it waits, and is cancelled now.
            steps = steps * 3 / 2 + 1;
            assert!(waited, "{}", posted.body);
            server.agent.cancel("s", &id).await.expect(200);
        } else {
            let call = cancelled.expect(200);
            assert_eq!(call["status"], "cancelled", "{call}");
            if waited {
                after += 1;
            } else {
                before += 1;
            }
            steps = if waited { steps * 3 / 4 } else { steps * 5 / 4 + 1 };
        }
        let call = server.agent.ended("s", &id).await;
        assert_eq!(call["status"], "cancelled", "{call}");
    }
    let calls = each_call_ended_once(&server.agent, "s").await;
    assert_eq!(calls.len(), 2 * ROUNDS);
    let pending = server.operator.get("/v1/approvals?status=pending").await.expect(200);
    assert_eq!(pending["items"], json!([]));
    assert!(before + after > 0, "the race was never close");
}
