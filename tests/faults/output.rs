//! What commands print, however much: streamed, kept in bounds, and nobody else's.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Server, Stream, ends_call, peak_memory_kib, working};

const MIB: u64 = 1024 * 1024;
/// What the server may need beyond what it had: far less than any of the outputs.
const ROOM_KIB: u64 = 96 * 1024;
/// Head and tail of a result, and some words.
const RESULT_BYTES: usize = 40 * 1024;
/// Live output in the log, and its mark.
const LIVE_BYTES: usize = 1024 * 1024 + 4096;
/// The bound on an artifact, and its mark.
const ARTIFACT_BYTES: u64 = 64 * MIB + 4096;

async fn started(session: &str) -> (Place, Server) {
    let place = Place::new();
    let server = place.start(&working());
    server.agent.session(session).await;
    (place, server)
}

fn text(call: &Value) -> &str {
    call["result"]["result"].as_str().unwrap_or_else(|| panic!("no result: {call}"))
}

fn lines(numbers: std::ops::RangeInclusive<u32>, line: impl Fn(u32) -> String) -> String {
    numbers.map(line).collect::<Vec<_>>().concat()
}

/// A call's live output up to its end.
async fn live_output(stream: &mut Stream, call: &str) -> String {
    let events = stream.until(|event| ends_call(event) && event["tool_call_id"] == call).await;
    events
        .iter()
        .filter(|event| event["type"] == "tool_token" && event["tool_call_id"] == call)
        .map(|event| event["content"].as_str().unwrap())
        .collect()
}

fn number(call: &Value, name: &str) -> u64 {
    call["details"][name].as_u64().unwrap_or_else(|| panic!("no {name}: {call}"))
}

/// Bytes of the files in a folder, all the way down.
fn disk(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(
            |entry| if entry.path().is_dir() { disk(&entry.path()) } else { entry.metadata().unwrap().len() },
        )
        .sum()
}

/// Runs a command that prints very much, and holds what every such command has to keep to.
async fn runs_in_bounds(command: &str, timeout_ms: u64) -> (Value, Vec<u8>) {
    let (place, server) = started("s").await;
    server.agent.bash("s", "warm", "echo warm").await;
    let before = peak_memory_kib(server.pid());
    let mut stream = server.agent.stream("s", 0).await;
    let arguments = json!({"command": command, "timeout": timeout_ms});
    let (call, live) =
        tokio::join!(server.agent.call("s", "c", "Bash", &arguments), live_output(&mut stream, "c"));
    let call = call.expect(200);
    let grown = peak_memory_kib(server.pid()) - before;
    assert!(grown < ROOM_KIB, "the server grew by {grown} KiB");
    assert!(live.len() <= LIVE_BYTES, "{} live bytes", live.len());
    assert!(text(&call).len() <= RESULT_BYTES, "{} bytes of result", text(&call).len());
    assert!(disk(&place.data()) <= ARTIFACT_BYTES + 16 * MIB);
    let artifact = server.agent.bytes(call["details"]["artifact"].as_str().unwrap()).await;
    assert!(artifact.len() as u64 <= ARTIFACT_BYTES);
    // Head and tail are what is not counted as left out.
    let (head, tail) = text(&call).split_once("\n[... ").unwrap();
    let (omitted, tail) = tail.split_once(" bytes omitted ...]\n").unwrap();
    assert_eq!(omitted, number(&call, "omitted_bytes").to_string());
    assert!(tail.contains(&format!("full output, {} bytes", number(&call, "total_bytes"))), "{tail}");
    assert!(artifact.starts_with(head.as_bytes()) && live.starts_with(head));
    (call, artifact)
}

#[tokio::test]
async fn b6_a_line_of_600_mb_is_kept_in_bounds_and_counted() {
    let command = "head -c 600000000 /dev/zero | tr '\\0' x; printf END";
    let (call, artifact) = runs_in_bounds(command, 120_000).await;
    assert_eq!(number(&call, "total_bytes"), 600_000_003, "{}", call["details"]);
    let kept = 600_000_003 - number(&call, "omitted_bytes");
    assert_eq!(text(&call).matches('x').count() as u64 + 3, kept + "full output".matches('x').count() as u64);
    assert!(text(&call).contains("xEND\n["), "the end is there");
    assert!(artifact.len() as u64 > 64 * MIB && artifact.ends_with(b"]\n"), "cut, and marked");
}

#[tokio::test]
async fn b6_yes_for_two_seconds_is_kept_in_bounds() {
    let (call, artifact) = runs_in_bounds("yes", 2_000).await;
    assert_eq!(call["details"]["timed_out"], true);
    assert!(number(&call, "total_bytes") > LIVE_BYTES as u64);
    assert!(artifact.starts_with(b"y\ny\n"));
}

#[tokio::test]
async fn b6_of_200_000_short_lines_none_is_lost() {
    let (call, artifact) = runs_in_bounds("seq 200000", 120_000).await;
    let expected = lines(1..=200_000, |number| format!("{number}\n"));
    assert_eq!(number(&call, "total_bytes"), expected.len() as u64);
    assert!(artifact == expected.as_bytes(), "the artifact is the whole output");
    assert!(text(&call).starts_with("1\n2\n3\n") && text(&call).contains("\n200000\n["));
}

#[tokio::test]
async fn b7_characters_are_whole_at_every_cut() {
    let (place, server) = started("s").await;
    // Three and four bytes a character, and one byte in front: no cut by size falls between them.
    let program = "import sys,os
text = 'x' + '\u{20ac}\u{1f600}' * 60000
data = text.encode()
for start in range(0, len(data), 4093):
    os.write(1, data[start:start + 4093])
for byte in '\u{1f600}\u{20ac}'.encode():
    os.write(1, bytes([byte]))
    import time; time.sleep(0.08)
";
    std::fs::write(place.workspace("s").join("print.py"), program).unwrap();
    let mut stream = server.agent.stream("s", 0).await;
    let (call, live) =
        tokio::join!(server.agent.bash("s", "c", "python3 print.py"), live_output(&mut stream, "c"));
    let expected = format!("x{}\u{1f600}\u{20ac}", "\u{20ac}\u{1f600}".repeat(60_000));
    assert!(live == expected, "{} of {} bytes", live.len(), expected.len());
    assert!(!text(&call).contains('\u{fffd}'));
    let (head, rest) = text(&call).split_once("\n[... ").unwrap();
    let (omitted, rest) = rest.split_once(" bytes omitted ...]\n").unwrap();
    let tail = rest.split_once("\n[").unwrap().0;
    assert!(expected.starts_with(head) && expected.ends_with(tail));
    assert_eq!(head.len() + tail.len() + omitted.parse::<usize>().unwrap(), expected.len());
}

#[tokio::test]
async fn stream_result_and_log_say_the_same() {
    let (_place, server) = started("s").await;
    let mut stream = server.agent.stream("s", 0).await;
    let command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done; exit 3";
    let (call, live) = tokio::join!(server.agent.bash("s", "c", command), live_output(&mut stream, "c"));
    let expected = lines(1..=5, |number| format!("out {number}\nerr {number}\n"));
    assert_eq!(live, expected);
    assert!(text(&call).starts_with(expected.trim_end()), "{call}");
    assert_eq!((&call["details"]["exit_code"], &call["result"]["success"]), (&json!(3), &json!(false)));
    let events = server.agent.events("s").await;
    let ending = events.iter().find(|event| event["type"] == "tool_complete").unwrap();
    assert_eq!(ending["result"]["result"], call["result"]["result"]);
    assert_eq!((&call["first_seq"], &call["last_seq"]), {
        let start = events.iter().find(|event| event["type"] == "tool_start").unwrap();
        (&start["seq"], &ending["seq"])
    });
}

#[tokio::test]
async fn two_sessions_do_not_see_each_others_output() {
    let (_place, server) = started("one").await;
    server.agent.session("two").await;
    let print = |word: &str| format!("for i in $(seq 300); do echo {word}-$i; done");
    let (first, second) = (print("first"), print("second"));
    let (one, two) =
        tokio::join!(server.agent.bash("one", "c", &first), server.agent.bash("two", "c", &second));
    for (session, call, own, foreign) in [("one", one, "first", "second"), ("two", two, "second", "first")] {
        assert_eq!(text(&call).lines().count(), 300);
        let artifact = server.agent.bytes(&format!("/v1/sessions/{session}/calls/c/output")).await;
        let log = Value::from(server.agent.events(session).await).to_string();
        for seen in [text(&call).to_owned(), String::from_utf8(artifact).unwrap()] {
            assert_eq!((seen.matches(own).count(), seen.matches(foreign).count()), (300, 0));
        }
        // What was asked for is there too.
        assert!(log.contains(own) && !log.contains(foreign), "{log}");
    }
}

/// Everything beneath a folder but what lies beneath `except`.
fn names(folder: &Path, except: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        found.push(entry.path().display().to_string());
        if entry.path().is_dir() && entry.path() != except {
            found.extend(names(&entry.path(), except));
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn b8_a_call_id_is_never_a_path() {
    let (place, server) = started("s").await;
    let before = names(&place.path(""), &place.data());
    for id in ["../../x", "/etc/x", "../", "a/b", "%2e%2e%2f", "x y?z#ü", "../../../sessions/s/runtime.json"]
    {
        let call = server.agent.bash("s", id, "seq 20000").await;
        assert_eq!(call["status"], "completed", "{id}: {call}");
        let url = call["details"]["artifact"].as_str().unwrap();
        let artifact = server.agent.bytes(url).await;
        assert!(artifact.starts_with(b"1\n2\n") && artifact.ends_with(b"\n20000\n"), "{id}");
        assert_eq!(server.agent.recorded("s", id).await.expect(200), call, "{id}");
    }
    // These two cannot be named in a URL, whatever the escape (URL standard, dot segments).
    for id in [".", ".."] {
        let call = server.agent.bash("s", id, "seq 20000").await;
        assert_eq!(call["status"], "completed", "{id}: {call}");
    }
    assert_eq!(names(&place.path(""), &place.data()), before);
    let folder = place.data().join("sessions/s");
    for file in std::fs::read_dir(folder.join("output")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(name.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2, "runtime.json and output");
}

#[tokio::test]
async fn the_output_of_a_call_in_a_turn_is_where_the_result_says() {
    let (_place, server) = started("s").await;
    for (turn, count) in [("1", 20_000), ("b/2", 30_000)] {
        let path = format!("/v1/sessions/s/calls?turn={}", turn.replace('/', "%2F"));
        let arguments = json!({"command": format!("seq {count}")}).to_string();
        let body = json!({"id": "call_0", "function": {"name": "Bash", "arguments": arguments}});
        let call = server.agent.post(&path, &body).await.expect(200);
        let artifact = server.agent.bytes(call["details"]["artifact"].as_str().unwrap()).await;
        assert!(artifact.ends_with(format!("\n{count}\n").as_bytes()), "{turn}");
    }
}
