//! A server that is killed with -9 in the middle of calls, again and again over one data directory.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::watch;

use crate::support::{Answer, Client, Place, Server, endings, lines_in, wait_until_none, working};

const ROUNDS: usize = 20;
const CALLS: usize = 100;
/// Events that the client has at the kill: a few in the first round, most of them in the last.
const FIRST_KILL: usize = 4;
const KILL_STEP: usize = 8;

/// One call of a round.
#[derive(Debug, Clone)]
struct Planned {
    id: String,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    /// Appends its id to the file, and ends.
    Append,
    Write,
    /// Appends its id as well, once a person has allowed it.
    Approval,
    Question,
    /// Appends its id, and goes on until it is ended.
    Endless,
}

impl Planned {
    fn of(round: usize, index: usize) -> Self {
        let kind = match index % 20 {
            0 | 5 | 8 | 11 | 16 => Kind::Read,
            1 | 3 | 6 | 9 | 12 | 15 | 18 => Kind::Append,
            2 | 13 | 17 => Kind::Write,
            4 | 10 | 14 => Kind::Approval,
            7 => Kind::Question,
            _ => Kind::Endless,
        };
        Self { id: format!("r{round}-c{index}"), kind }
    }

    fn request(&self) -> (&'static str, Value) {
        let id = &self.id;
        match self.kind {
            Kind::Read => ("Read", json!({"file_path": "read-me"})),
            Kind::Append => ("Bash", json!({"command": format!("echo {id} >> lines")})),
            Kind::Write => ("Write", json!({"file_path": format!("w-{id}"), "content": self.content()})),
            Kind::Approval => ("Bash", json!({"command": format!("touch a-{id} && echo {id} >> lines")})),
            Kind::Question => ("AskUser", json!({"question": id})),
            Kind::Endless => ("Bash", json!({"command": format!("echo {id} >> lines; setsid sleep 600")})),
        }
    }

    fn content(&self) -> String {
        self.id.repeat(5_000)
    }

    fn appends(&self) -> bool {
        matches!(self.kind, Kind::Append | Kind::Approval | Kind::Endless)
    }
}

/// What the client had been given when the server was killed.
struct Given {
    events: Vec<Value>,
    answers: BTreeMap<String, Value>,
}

/// One round, from its first call to its kill.
async fn run_into_the_kill(server: Server, session: &str, calls: &[Planned], kill_at: usize) -> Given {
    let mut stream = server.agent.stream(session, 0).await;
    let (count, mut counted) = watch::channel(0);
    let reader = tokio::spawn(async move {
        let mut events = Vec::new();
        while let Some(event) = stream.next().await {
            events.push(event);
            count.send_replace(events.len());
        }
        events
    });
    let posts: Vec<_> = calls
        .iter()
        .cloned()
        .map(|call| {
            let (client, session) = (server.agent.clone(), session.to_owned());
            tokio::spawn(async move {
                let (tool, arguments) = call.request();
                (call.id.clone(), client.try_call(&session, &call.id, tool, &arguments).await)
            })
        })
        .collect();
    counted.wait_for(|count| *count >= kill_at).await.unwrap();
    server.kill();
    let mut answers = BTreeMap::new();
    for post in posts {
        let (id, answer) = post.await.unwrap();
        if let Some(Answer { status, body }) = answer {
            assert!(matches!(status, 200 | 202), "{id}: {status} {body}");
            answers.insert(id, body);
        }
    }
    Given { events: reader.await.unwrap(), answers }
}

/// What was given is there as it was given.
fn nothing_given_is_lost(given: &Given, logged: &[Value], recorded: &BTreeMap<String, Value>) {
    for event in &given.events {
        let seq = usize::try_from(event["seq"].as_u64().unwrap()).unwrap();
        assert_eq!(logged.get(seq - 1), Some(event));
    }
    for event in given.events.iter().filter(|event| event["type"] == "tool_start") {
        assert!(recorded.contains_key(event["tool_call_id"].as_str().unwrap()), "{event}");
    }
    for (id, answer) in &given.answers {
        let now = recorded.get(id).unwrap_or_else(|| panic!("{id} was answered and is gone"));
        // A call that waited when it was answered may be allowed by nobody but a person: it still waits.
        assert_eq!(now, answer, "{id}");
    }
}

/// Each recorded call has ended or waits, and its events and effects agree.
fn calls_are_consistent(
    place: &Place,
    session: &str,
    calls: &[Planned],
    logged: &[Value],
    recorded: &BTreeMap<String, Value>,
) {
    let workspace = place.workspace(session);
    for call in calls {
        let count = lines_in(&workspace.join("lines"), &call.id);
        let written = std::fs::read_to_string(workspace.join(format!("w-{}", call.id))).ok();
        let Some(record) = recorded.get(&call.id) else {
            assert_eq!((count, written), (0, None), "{} ran and is not recorded", call.id);
            continue;
        };
        let status = record["status"].as_str().unwrap();
        let told = endings(logged, &call.id);
        match (status, call.kind) {
            ("awaiting_approval", Kind::Approval) | ("awaiting_answer", Kind::Question) => {
                assert_eq!((told, count), (vec![], 0), "{record}");
            }
            ("completed", Kind::Append) => assert_eq!((told, count), (vec![status], 1), "{record}"),
            ("completed", Kind::Write) => {
                assert_eq!((told, written), (vec![status], Some(call.content())), "{record}");
            }
            ("completed", Kind::Read) | ("interrupted", _) => {
                assert_eq!(told, vec![status], "{record}");
                assert!(count <= usize::from(call.appends()), "{} ran twice", call.id);
                assert!(written.is_none_or(|written| written == call.content()), "half a file: {record}");
            }
            _ => panic!("{record}"),
        }
    }
}

async fn recorded(client: &Client, session: &str, calls: &[Planned]) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for call in calls {
        let answer = client.recorded(session, &call.id).await;
        if answer.status == 200 {
            found.insert(call.id.clone(), answer.body);
        } else {
            answer.expect(404);
        }
    }
    found
}

/// A repeated request gets what is recorded, and runs nothing.
async fn repeats_run_nothing(
    client: &Client,
    session: &str,
    calls: &[Planned],
    recorded: &BTreeMap<String, Value>,
) {
    let before = client.events(session).await;
    for call in calls {
        let Some(record) = recorded.get(&call.id) else { continue };
        let (tool, arguments) = call.request();
        let answer = client.call(session, &call.id, tool, &arguments).await;
        assert_eq!(answer.body, *record, "{}", call.id);
    }
    assert_eq!(client.events(session).await, before);
}

/// Ids that were not accepted are free: such a call runs now, for the first time.
async fn free_ids_run(
    place: &Place,
    client: &Client,
    session: &str,
    calls: &[Planned],
    recorded: &BTreeMap<String, Value>,
) {
    let free = |call: &&Planned| call.kind == Kind::Append && !recorded.contains_key(&call.id);
    for call in calls.iter().filter(free) {
        let (tool, arguments) = call.request();
        let answer = client.call(session, &call.id, tool, &arguments).await.expect(200);
        assert_eq!(answer["status"], "completed", "{answer}");
        assert_eq!(lines_in(&place.workspace(session).join("lines"), &call.id), 1);
    }
}

/// Approvals still wait; one that is allowed now runs, once.
async fn one_that_waited_runs(
    place: &Place,
    server: &Server,
    session: &str,
    recorded: &BTreeMap<String, Value>,
) -> usize {
    let waiting: HashSet<&str> = recorded
        .values()
        .filter(|call| call["status"] == "awaiting_approval")
        .map(|call| call["approval_id"].as_str().unwrap())
        .collect();
    let path = format!("/v1/approvals?status=pending&session_id={session}&limit=1000");
    let pending = server.operator.get(&path).await.expect(200);
    let pending = pending["items"].as_array().unwrap();
    let listed: HashSet<&str> = pending.iter().map(|item| item["approval_id"].as_str().unwrap()).collect();
    assert_eq!(listed, waiting);
    let Some(approval) = pending.first() else { return 0 };
    let (id, call) = (approval["approval_id"].as_str().unwrap(), approval["call_id"].as_str().unwrap());
    let (one, other) = tokio::join!(server.operator.decide(id, "allow"), server.operator.decide(id, "allow"));
    assert_eq!((one.expect(200), other.expect(200)), {
        let decided = server.operator.get(&format!("/v1/approvals/{id}")).await.expect(200);
        (decided.clone(), decided)
    });
    let ended = server.agent.ended(session, call).await;
    assert_eq!(ended["status"], "completed", "{ended}");
    assert_eq!(lines_in(&place.workspace(session).join("lines"), call), 1);
    waiting.len() - 1
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_in_the_middle_of_calls_nothing_is_lost_and_nothing_runs_twice() {
    let place = Arc::new(Place::with_own_binary());
    let mut server = place.start(&working());
    let (mut waiting, mut interrupted, mut unrecorded) = (0, 0, 0);
    for round in 0..ROUNDS {
        let session = format!("round-{round}");
        let calls: Vec<Planned> = (0..CALLS).map(|index| Planned::of(round, index)).collect();
        server.agent.session(&session).await;
        std::fs::write(place.workspace(&session).join("read-me"), "text\n").unwrap();
        let given = run_into_the_kill(server, &session, &calls, FIRST_KILL + round * KILL_STEP).await;
        wait_until_none(&place.path(""), &place.mark()).await;

        server = place.start(&working());
        let client = &server.agent;
        let records = recorded(client, &session, &calls).await;
        let logged = client.events(&session).await;
        nothing_given_is_lost(&given, &logged, &records);
        calls_are_consistent(&place, &session, &calls, &logged, &records);
        repeats_run_nothing(client, &session, &calls, &records).await;
        waiting += one_that_waited_runs(&place, &server, &session, &records).await;
        free_ids_run(&place, client, &session, &calls, &records).await;
        interrupted += records.values().filter(|record| record["status"] == "interrupted").count();
        unrecorded += CALLS - records.len();
    }
    // Without these the kills came too early or too late to say anything.
    assert!(
        interrupted > ROUNDS && unrecorded > ROUNDS && waiting > ROUNDS,
        "{interrupted} {unrecorded} {waiting}"
    );
    let pending = server.operator.get("/v1/approvals?status=pending&limit=1000").await.expect(200);
    assert_eq!(pending["items"].as_array().unwrap().len(), waiting, "what waited over all kills still waits");
}
