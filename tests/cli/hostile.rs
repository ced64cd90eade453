//! Texts from outside that would do something to a terminal.

use serde_json::json;

use crate::support::{Run, TestServer};

/// Clears the screen, sets a title, colours, turns text around, hides, rings.
const EVIL: &str = "\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\r\u{202e}\u{200b}\u{8}end";

#[track_caller]
fn assert_safe(run: &Run) {
    let bad = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202e}' | '\u{200b}' | '\u{9b}')
    };
    assert!(!run.out.contains(bad) && !run.err.contains(bad), "{run:#?}");
    assert!(run.out.contains("end") || run.err.contains("end"), "nothing of it was shown: {run:#?}");
}

#[test]
fn no_command_shows_them_raw() {
    let server = TestServer::start();
    server.run(&["sessions", "create", "--id", "s", "--label", &format!("evil={EVIL}")]).expect(0);
    std::fs::write(server.root().join("s/evil.txt"), EVIL).unwrap();
    let id = "c\u{202e}end";
    let command = json!({"command": format!("echo '{EVIL}'")}).to_string();
    let waiting = server.run(&["call", "--session", "s", "--id", id, "--json", "Bash", &command]).expect(4);
    assert_safe(&waiting);
    let approval = waiting.json()["approval_id"].as_str().unwrap().to_owned();
    for words in [
        &["sessions", "show", "s"][..],
        &["sessions", "show", "s", "--json"],
        &["approvals"],
        &["approvals", &approval],
        &["approvals", &approval, "--json"],
        &["events", "s"],
        &["events", "s", "--json"],
        &["approve", &approval],
        &["call", "--session", "s", "Read", r#"{"file_path":"evil.txt"}"#],
        &["call", "--session", "s", "--stream", "--json", "Read", r#"{"file_path":"evil.txt"}"#],
        &["events", "s"],
        &["events", "--json"],
        &["cancel", "s", id],
        &["sessions", "show", "s"],
    ] {
        let run = server.run(words).expect(0);
        assert_safe(&run);
    }
    let question = json!({"question": EVIL, "options": [EVIL]}).to_string();
    server.run(&["call", "--session", "s", "--id", "q", "AskUser", &question]).expect(4);
    assert_safe(&server.run(&["answer", "s", "q"]).expect(4));
    assert_safe(&server.run(&["call", "--session", "s", EVIL]));
    assert_safe(&server.run(&["rules", "explain", &format!("Bash(echo {EVIL})")]));
    let calls =
        json!([{"id": "end\u{202e}", "function": {"name": "Read", "arguments": {"file_path": EVIL}}}]);
    assert_safe(&Run::with_input(server.command(&["batch", "--session", "s"]), &calls.to_string()));
}

/// A terminal draws `mv א ב` as it draws `mv ב א`.
#[test]
fn what_is_decided_on_reads_from_left_to_right() {
    let server = TestServer::start();
    let approval = server.waiting("s", "c1", "mv א ب");
    for words in [&["approvals"][..], &["approvals", &approval]] {
        let run = server.run(words).expect(0);
        run.shows(&[r"mv \u{5d0} \u{628}"]);
        assert!(!run.out.contains(['א', 'ب']), "{run:#?}");
    }
    let shown = server.run(&["approvals", &approval, "--json"]).expect(0).json();
    assert_eq!(shown["arguments"]["command"], "mv א ب");
}
