//! What the model and programs are told of a command that ended.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::carry::Carried;
use super::run::{Finished, Stop};
use crate::domain::result::ToolResult;
use crate::domain::visible;
use crate::process::{Exit, Limit, Limits};

/// Longest path that is shown in a note, in characters.
const SHOWN_PATH: usize = 400;

/// What the result says beside the output.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) timeout: Duration,
    pub(super) limits: Limits,
    /// Where the full output can be had, if it was kept.
    pub(super) artifact: Option<String>,
    pub(super) carried: Carried,
}

/// The result of a command that ended by itself or by its time-out.
pub(super) fn result(finished: &Finished, facts: &Facts) -> ToolResult {
    let success = finished.stop.is_none()
        && finished.ended.exit == Exit::Code(0)
        && limit_hit(finished, facts).is_none();
    let mut text = output(finished);
    for note in notes(finished, facts) {
        let _ = write!(text, "\n[{note}]");
    }
    ToolResult { success, result: text, ..ToolResult::default() }.with_details(details(finished, facts))
}

/// What a cancelled call leaves to read.
pub(super) fn cancelled(finished: &Finished) -> String {
    format!(
        "Cancelled while the command ran; it and everything that it had started were ended. Its output until then:\n{}",
        output(finished)
    )
}

fn output(finished: &Finished) -> String {
    let text = finished.collected.text.trim_end_matches('\n');
    if text.is_empty() { "(no output)".to_owned() } else { text.to_owned() }
}

/// The bound that ended the command, by the name that programs get.
fn limit_hit(finished: &Finished, facts: &Facts) -> Option<&'static str> {
    const FILE_TOO_LONG: i32 = libc::SIGXFSZ;
    match (finished.ended.limit, finished.ended.exit) {
        (Some(Limit::Processes), _) => Some("processes"),
        (Some(Limit::Memory), _) => Some("memory"),
        (None, Exit::Signal(FILE_TOO_LONG)) if facts.limits.file_bytes.is_some() => Some("file_size"),
        // The shell's word for a program that this signal ended.
        (None, Exit::Code(code)) if code == 128 + FILE_TOO_LONG && facts.limits.file_bytes.is_some() => {
            Some("file_size")
        }
        _ => None,
    }
}

fn notes(finished: &Finished, facts: &Facts) -> Vec<String> {
    let mut notes = Vec::new();
    let bound = |bound: Option<u64>| bound.unwrap_or_default();
    match limit_hit(finished, facts) {
        Some("processes") => notes.push(format!(
            "ended with everything that it had started: it had more than {} processes at a time",
            bound(facts.limits.processes)
        )),
        Some("memory") => notes.push(format!(
            "ended with everything that it had started: it held more than {} bytes of memory",
            bound(facts.limits.memory_bytes)
        )),
        Some(_) => {
            notes.push(format!("a file grew past the bound of {} bytes", bound(facts.limits.file_bytes)));
        }
        None => {}
    }
    match (finished.stop, finished.ended.exit) {
        (Some(_), _) => notes.push(format!(
            "timed out after {} ms: the command and everything that it had started were ended; the output until \
             then is above",
            facts.timeout.as_millis()
        )),
        (None, Exit::Code(0)) => {}
        (None, Exit::Code(code)) => notes.push(format!("exit code {code}")),
        (None, Exit::Signal(signal)) => notes.push(format!("ended by signal {signal}{}", signal_name(signal))),
    }
    let left = &finished.ended.left;
    if left.count > 0 {
        let names: Vec<String> = left.names.iter().map(|name| visible::one_line(name)).collect();
        let more = if left.count > left.names.len() as u64 { ", …" } else { "" };
        notes.push(format!(
            "still running when the command ended, and ended with it: {} ({}{more}); nothing runs on after its \
             call, and run_in_background is not available here",
            count(left.count, "process", "processes"),
            names.join(", ")
        ));
    }
    if left.survivors > 0 {
        notes.push(format!(
            "{} could not be ended yet and will be killed",
            count(left.survivors, "process", "processes")
        ));
    }
    if let (Some(artifact), true) = (&facts.artifact, finished.collected.omitted_bytes > 0) {
        notes.push(format!("full output, {} bytes: {artifact}", finished.collected.total_bytes));
    }
    if let Some(refused) = &facts.carried.refused {
        notes.push(format!(
            "the command ended in {}, which is no directory of the workspace: the working directory is set back to {}",
            visible::clipped(&refused.to_string_lossy(), SHOWN_PATH),
            visible::clipped(&facts.carried.directory.to_string_lossy(), SHOWN_PATH)
        ));
    }
    notes
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        libc::SIGHUP => " (SIGHUP)",
        libc::SIGINT => " (SIGINT)",
        libc::SIGQUIT => " (SIGQUIT)",
        libc::SIGILL => " (SIGILL)",
        libc::SIGABRT => " (SIGABRT)",
        libc::SIGBUS => " (SIGBUS)",
        libc::SIGFPE => " (SIGFPE)",
        libc::SIGKILL => " (SIGKILL)",
        libc::SIGSEGV => " (SIGSEGV)",
        libc::SIGPIPE => " (SIGPIPE)",
        libc::SIGTERM => " (SIGTERM)",
        libc::SIGXFSZ => " (SIGXFSZ)",
        _ => "",
    }
}

fn details(finished: &Finished, facts: &Facts) -> Value {
    let (exit_code, signal) = match finished.ended.exit {
        Exit::Code(code) => (Some(code), None),
        Exit::Signal(signal) => (None, Some(signal)),
    };
    let mut details = json!({
        "exit_code": exit_code,
        "signal": signal,
        "timed_out": finished.stop == Some(Stop::TimedOut),
        "total_bytes": finished.collected.total_bytes,
        "omitted_bytes": finished.collected.omitted_bytes,
        "cwd": facts.carried.directory.to_string_lossy(),
    });
    let optional =
        [("artifact", facts.artifact.clone()), ("limit_hit", limit_hit(finished, facts).map(str::to_owned))];
    if let Some(object) = details.as_object_mut() {
        for (name, value) in optional {
            object.extend(value.map(|value| (name.to_owned(), Value::String(value))));
        }
    }
    details
}
