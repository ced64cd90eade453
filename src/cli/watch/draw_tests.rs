//! Frames on a test terminal: what is to be seen, at every size, whatever the texts hold.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use serde_json::{Value, json};

use super::*;
use crate::cli::approvals::samples::approval;
use crate::cli::watch::keys::Key;
use crate::cli::watch::state::{Input, Link, Moment, State};
use crate::cli::watch::view::view;
use crate::domain::clock::Timestamp;

fn at(ms: u64) -> Moment {
    Moment { up: Duration::from_millis(ms), wall: Timestamp::from_second(1_796_000_000).unwrap() }
}

fn event(state: &mut State, event: &Value) {
    let mut whole =
        json!({"seq": 1, "session_id": "run-7", "time": "2026-11-30T20:15:01Z", "tool_call_id": "c1"});
    whole.as_object_mut().unwrap().extend(event.as_object().unwrap().clone());
    state.apply(Input::Event(serde_json::from_value(whole).unwrap()), at(0));
}

/// The screen as lines, and what was drawn.
fn frame(state: &State, width: u16, height: u16) -> (Vec<String>, Drawn) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let (mut painter, mut drawn) = (Painter::new(true), Drawn::default());
    let view = view(state, "http://127.0.0.1:8765/", at(0));
    terminal.draw(|frame| drawn = painter.draw(frame, &view)).unwrap();
    let buffer = terminal.backend().buffer();
    let line = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    ((0..height).map(|y| line(y).trim_end().to_owned()).collect(), drawn)
}

fn busy() -> State {
    let mut state = State::new();
    event(&mut state, &json!({"type": "tool_start", "tool_name": "Bash", "arguments": {"command": "make"}}));
    event(&mut state, &json!({"type": "tool_token", "stream": "stdout", "content": "one\n\u{1b}[31mtwo\n"}));
    event(
        &mut state,
        &json!({"type": "tool_approval_requested", "tool_call_id": "c2", "approval": approval("apr_1")}),
    );
    state
}

#[test]
fn calls_output_and_what_waits() {
    let (lines, drawn) = frame(&busy(), 90, 34);
    let text = lines.join("\n");
    for part in [
        "toolgate  connected  1 wait for approval  1 run  http://127.0.0.1:8765/",
        "waits for you: 1 of 1",
        "│command    rm \\u{1b}[2Jx",
        "│runs       rm x\\ny",
        "│┆          +new\\u{1b}[8m",
        "│A always   Bash(rm *)",
        " a once  s session  A always  d deny  m deny with a message ",
        "│> running ",
        "run-7 c1 Bash  make",
        "│one",
        "│\\u{1b}[31mtwo",
        "? keys  j k calls  q leave",
    ] {
        assert!(text.contains(part), "{part} in\n{text}");
    }
    assert_eq!(drawn.approval.map(|(_, end)| end), Some(true));
    let (lines, _) = frame(&State::new(), 60, 12);
    assert!(lines[0].contains("0 wait for approval"), "{lines:#?}");
    assert!(lines.join("\n").contains("no calls yet"), "{lines:#?}");
}

/// A terminal draws letters that are written from right to left in another order than a text has them.
#[test]
fn titles_read_from_left_to_right() {
    let mut state = State::new();
    let mut waiting = approval("apr_1");
    waiting["call_id"] = json!("\u{5d0} 1");
    let id = "\u{5d0}\u{628}";
    event(&mut state, &json!({"type": "tool_approval_requested", "tool_call_id": id, "approval": waiting}));
    event(
        &mut state,
        &json!({"type": "tool_start", "tool_call_id": id, "tool_name": "Bash", "arguments": {}}),
    );
    let text = frame(&state, 120, 34).0.join("\n");
    assert!(text.contains(r"\u{5d0} 1") && text.contains(r"\u{5d0}\u{628} Bash"), "{text}");
    assert!(!text.contains(['\u{5d0}', '\u{628}']), "{text}");
}

#[test]
fn what_does_not_fit_says_so_and_scrolls() {
    let mut state = busy();
    let (_, drawn) = frame(&state, 90, 14);
    state.apply(Input::Drawn(drawn), at(0));
    let (lines, drawn) = frame(&state, 90, 14);
    let text = lines.join("\n");
    assert!(text.contains("more below") && !text.contains("A always "), "{text}");
    assert_eq!(drawn.approval.map(|(_, end)| end), Some(false));
    state.apply(Input::Drawn(drawn), at(0));
    state.apply(Input::Key(Key::End, false), at(0));
    let (lines, drawn) = frame(&state, 90, 14);
    assert!(lines.join("\n").contains("Bash(rm *)"), "{lines:#?}");
    assert_eq!(drawn.approval.map(|(_, end)| end), Some(true));
}

#[test]
fn a_wrapped_line_loses_nothing() {
    let mut state = State::new();
    let mut asked = approval("apr_1");
    let command = "0123456789abcdefg".repeat(12);
    asked["arguments"] = json!({"command": command});
    event(&mut state, &json!({"type": "tool_approval_requested", "approval": asked}));
    let (lines, _) = frame(&state, 60, 60);
    let shown: String = lines.iter().filter_map(|line| line.get("│           ".len()..)).collect();
    assert!(shown.replace(['│', ' '], "").contains(&command), "{lines:#?}");
}

#[test]
fn no_size_breaks_it_and_what_is_not_to_be_seen_does_not_count() {
    let mut state = busy();
    for (width, height) in
        [(1, 1), (2, 2), (5, 3), (20, 4), (30, 5), (44, 7), (46, 7), (300, 2), (3, 100), (300, 100)]
    {
        let (_, drawn) = frame(&state, width, height);
        if width < 45 || height < 6 {
            assert_eq!(drawn.approval, None, "{width}x{height} shows too little to decide on");
        }
    }
    state.apply(Input::Key(Key::Char('?'), false), at(0));
    let (lines, drawn) = frame(&state, 90, 34);
    assert!(lines.join("\n").contains("allow for the session"), "{lines:#?}");
    assert_eq!(drawn.approval, None, "it is covered");
    assert!(frame(&state, 4, 4).1.approval.is_none());
}

#[test]
fn it_says_when_it_is_disconnected_and_what_a_message_is_for() {
    let mut state = busy();
    state.apply(Input::Link(Link::Down("connection refused\u{1b}[2J".into())), at(0));
    let (lines, drawn) = frame(&state, 90, 34);
    assert!(lines[0].contains("DISCONNECTED: connection refused\\u{1b}[2J"), "{}", lines[0]);
    state.apply(Input::Drawn(drawn), at(0));
    state.apply(Input::Key(Key::Char('m'), false), at(1000));
    state.apply(Input::Key(Key::Char('x'), false), at(1100));
    let (lines, _) = frame(&state, 90, 34);
    assert!(lines[33].contains("deny, and tell the model: x"), "{}", lines[33]);
}

#[test]
fn nothing_from_outside_reaches_a_cell_raw() {
    let evil = "\u{1b}[2J\u{9b}31m\r\u{202e}\u{200b}\u{7}\n";
    let mut state = State::new();
    let mut asked = approval("apr_1");
    for field in ["session_id", "tool_name", "cwd", "sandbox", "display", "diff"] {
        asked[field] = json!(evil);
    }
    asked["arguments"] = json!({evil: evil, "command": evil});
    asked["leaves"] = json!([evil]);
    asked["reason"] = json!({"text": evil, "rule": evil});
    asked["offers"] = json!([{"scope": "session", "pattern": evil}, {"scope": "session", "pattern": "x"}]);
    event(&mut state, &json!({"type": "tool_start", "tool_name": evil, "arguments": {"command": evil}}));
    event(&mut state, &json!({"type": "tool_token", "stream": evil, "content": evil}));
    event(&mut state, &json!({"type": "tool_progress", "progress": 1.0, "message": evil}));
    event(
        &mut state,
        &json!({"type": "tool_approval_requested", "session_id": evil, "tool_call_id": evil,
        "turn": evil, "approval": asked}),
    );
    state.apply(Input::Link(Link::Down(evil.into())), at(0));
    for mode in ['?', 's'] {
        let (lines, drawn) = frame(&state, 100, 50);
        state.apply(Input::Drawn(drawn), at(0));
        state.apply(Input::Key(Key::Char(mode), false), at(1000));
        let bad = |c: char| c.is_control() || matches!(c, '\u{202e}' | '\u{200b}');
        assert!(!lines.iter().any(|line| line.contains(bad)), "{lines:#?}");
    }
}
