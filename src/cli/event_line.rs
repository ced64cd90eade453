//! An event as one line for a person; every outside text in it is escaped and clipped.

use std::fmt::Write as _;

use serde_json::Value;

use crate::domain::visible;

use super::ids;

/// The most characters of one outside text; what decides about an approval is shown whole
/// elsewhere (`toolgate approvals ID`).
const TEXT_MAX: usize = 300;

/// The line for an event's JSON. Types of a later version are shown by their fields.
pub(super) fn event_line(event: &Value) -> String {
    let time = text(event, "time");
    // The hours, minutes and seconds of an RFC 3339 time.
    let clock = time.get(11..19).unwrap_or(&time);
    let mut line = visible::one_line(clock);
    if let Some(session) = event.get("session_id").and_then(Value::as_str) {
        let _ = write!(line, " {}#{}", visible::clipped(session, TEXT_MAX), number(event, "seq"));
    }
    if let Some(call) = event.get("tool_call_id").and_then(Value::as_str) {
        let _ = write!(line, " [{}]", ids::clipped(call, TEXT_MAX));
    }
    let told = describe(event);
    let _ = write!(line, " {}", visible::clipped_again(&told, 2 * TEXT_MAX));
    line
}

fn describe(event: &Value) -> String {
    let part = |name| text(event, name);
    match part("type").as_str() {
        "session_started" => "session started".into(),
        "session_ended" => "session ended".into(),
        "tool_start" => format!("{} {}", part("tool_name"), part("arguments")),
        "tool_token" => format!("| {}", part("content").trim_end_matches('\n')),
        "tool_progress" => progress(event),
        "tool_approval_requested" => approval_requested(event),
        "tool_approval_resolved" => approval_resolved(event),
        "need_clarification" => format!("asks: {} {}", part("question"), part("options")),
        "clarification_answered" => format!("answered by {}: {}", part("by"), part("answer")),
        "tool_complete" => complete(event),
        "tool_error" => format!("failed ({}): {}", part("code"), part("error")),
        "tool_denied" => format!("denied by {}: {}", part("by"), part("message")),
        "tool_cancelled" => format!("cancelled: {}", part("reason")),
        "tool_interrupted" => format!("interrupted: {}", part("reason")),
        "tool_backgrounded" => format!("goes on in the background as {}", part("bash_id")),
        "bash_completed" => format!("{} {}{}", part("bash_id"), part("status"), ending(event)),
        "runtime_changed" => format!("flags are now {} {}", part("runtime"), part("problem")),
        "config_changed" => format!("config revision {}: {} changed", part("revision"), part("keys")),
        "config_invalid" => format!("config is wrong, the last good one stays: {}", part("error")),
        "config_recovered" => format!("config is good again, revision {}", part("revision")),
        "resync_required" => {
            format!("events before {} are no longer kept; going on from there", part("earliest"))
        }
        other => format!("{other} {}", remaining(event)),
    }
}

fn approval_requested(event: &Value) -> String {
    let approval = event.get("approval").unwrap_or(&Value::Null);
    let reason = approval.get("reason").map(|reason| text(reason, "text")).unwrap_or_default();
    let worker = match approval.get("worker") {
        Some(worker) => format!(
            "of worker {} (calls itself {}, session {}) ",
            text(worker, "token"),
            text(worker, "name"),
            text(approval, "session_id")
        ),
        None => String::new(),
    };
    let (id, display) = (text(approval, "approval_id"), text(approval, "display"));
    format!("{worker}waits for {id}: {display} (in {}; {reason})", text(approval, "cwd"))
}

fn approval_resolved(event: &Value) -> String {
    let part = |name| text(event, name);
    // A scope says something only about what was allowed.
    let scope = if part("decision") == "allow" { format!(" ({})", part("scope")) } else { String::new() };
    format!("{} {}{scope} by {}", part("approval_id"), part("decision"), part("by"))
}

fn complete(event: &Value) -> String {
    let result = event.get("result").unwrap_or(&Value::Null);
    let outcome = if result.get("success") == Some(&Value::Bool(true)) { "done" } else { "unsuccessful" };
    format!("{outcome}: {}", text(result, "result").trim_end_matches('\n'))
}

fn progress(event: &Value) -> String {
    let total = match text(event, "total") {
        total if total.is_empty() => total,
        total => format!(" of {total}"),
    };
    format!("{}{total} {}", text(event, "progress"), text(event, "message"))
}

fn ending(event: &Value) -> String {
    match (text(event, "exit_code"), text(event, "signal")) {
        (code, _) if !code.is_empty() => format!(", exit code {code}"),
        (_, signal) if !signal.is_empty() => format!(", signal {signal}"),
        _ => String::new(),
    }
}

fn remaining(event: &Value) -> String {
    let Value::Object(fields) = event else { return event.to_string() };
    let known = ["type", "seq", "session_id", "time", "tool_call_id"];
    let rest = fields.iter().filter(|(name, _)| !known.contains(&name.as_str()));
    rest.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn number(event: &Value, name: &str) -> u64 {
    event.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// A field as text: a string as it is, anything else as JSON, what is missing as nothing.
fn text(value: &Value, name: &str) -> String {
    match value.get(name) {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines() {
        let base = |rest: Value| {
            let mut event =
                json!({"seq": 7, "session_id": "s1", "time": "2026-11-30T20:15:01.5Z", "tool_call_id": "c1"});
            event.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            event_line(&event)
        };
        for (rest, line) in [
            (
                json!({"type": "tool_start", "tool_name": "Bash", "arguments": {"command": "ls"}}),
                "Bash {\"command\":\"ls\"}",
            ),
            (json!({"type": "tool_token", "stream": "stdout", "content": "a\nb\n"}), "| a\\nb"),
            (
                json!({"type": "tool_complete", "result": {"success": false, "result": "exit 1\n"}}),
                "unsuccessful: exit 1",
            ),
            (
                json!({"type": "tool_approval_requested", "approval":
                {"approval_id": "apr_1", "display": "rm x", "cwd": "/w", "reason": {"text": "it runs"}}}),
                "waits for apr_1: rm x (in /w; it runs)",
            ),
            (
                json!({"type": "tool_approval_requested", "approval":
                {"approval_id": "apr_1", "display": "rm x", "reason": {"text": "it runs"}, "session_id": "s2", "cwd": "/w",
                    "worker": {"token": "ci", "name": "build-1"}}}),
                "of worker ci (calls itself build-1, session s2) waits for apr_1: rm x (in /w; it runs)",
            ),
            (
                json!({"type": "bash_completed", "bash_id": "b1", "status": "exited", "exit_code": 3}),
                "b1 exited, exit code 3",
            ),
            (json!({"type": "tool_progress", "progress": 1.5, "total": 3.0}), "1.5 of 3.0 "),
            (json!({"type": "of_tomorrow", "x": [1]}), "of_tomorrow x=[1]"),
        ] {
            assert_eq!(base(rest), format!("20:15:01 s1#7 [c1] {line}"));
        }
        assert_eq!(
            event_line(&json!({"type": "config_recovered", "time": "2026-11-30T20:15:01Z", "revision": 2})),
            "20:15:01 config is good again, revision 2"
        );
    }

    #[test]
    fn an_id_is_no_other_part_of_the_line() {
        let line =
            event_line(&json!({"type": "tool_cancelled", "tool_call_id": "c] done: ok", "reason": "r"}));
        assert_eq!(line, " [\"c] done: ok\"] cancelled: r");
    }

    #[test]
    fn nothing_in_an_event_reaches_the_terminal_raw() {
        let evil = "\u{1b}[2J\r\u{202e}\u{9b}\n";
        for kind in [
            "tool_start",
            "tool_token",
            "tool_complete",
            "tool_error",
            "tool_denied",
            "need_clarification",
            "tool_approval_requested",
            "bash_completed",
            "resync_required",
            "of_tomorrow",
            evil,
        ] {
            let line = event_line(
                &json!({"type": kind, "time": evil, "session_id": evil, "tool_call_id": evil,
                "tool_name": evil, "arguments": {evil: evil}, "content": evil, "error": evil, "code": evil,
                "result": {"success": true, "result": evil}, "message": evil, "by": evil, "question": evil,
                "options": [evil], "approval": {"approval_id": evil, "display": evil, "reason": {"text": evil},
                "session_id": evil, "worker": {"token": evil, "name": evil}},
                "bash_id": evil, "status": evil, "signal": evil, "earliest": evil, "more": evil}),
            );
            assert!(!line.chars().any(|c| c.is_control() || c == '\u{202e}'), "{kind}: {line:?}");
        }
        assert_eq!(event_line(&Value::Null).trim(), "null");
        let long = json!({"type": "tool_token", "content": "x".repeat(100_000)});
        assert!(event_line(&long).len() < 2000);
    }
}
