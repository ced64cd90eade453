//! One approval as the screen shows it: everything a reviewer decides on, in rows that hide nothing.

use serde_json::Value;

use crate::cli::approvals::change;
use crate::cli::span::in_words;
use crate::domain::approval::{Approval, Choice, DecisionRequest, Scope};
use crate::domain::visible;

/// The most characters of a name that stands beside its text.
pub(super) const NAME_MAX: usize = 10;

/// What a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowKind {
    /// What will run, or what it is called with.
    Content,
    /// A fact about it.
    Fact,
    /// A line that the diff adds.
    Added,
    /// A line that the diff removes.
    Removed,
    /// The diff's own line.
    Hunk,
}

/// One row, escaped; long ones are wrapped where they are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) kind: RowKind,
    /// What it is about; empty where it goes on.
    pub(super) name: String,
    pub(super) text: String,
}

/// An approval that waits.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) approval: Approval,
    pub(super) rows: Vec<Row>,
    /// A decision on it is on its way.
    pub(super) deciding: bool,
}

impl Pending {
    /// Makes the rows once: what they show never changes.
    pub(super) fn new(approval: Approval) -> Self {
        let rows = rows(&approval);
        Self { approval, rows, deciding: false }
    }

    /// The rules that may be granted for a scope.
    pub(super) fn patterns(&self, scope: Scope) -> Vec<&str> {
        let offers = self.approval.offers.iter().filter(|offer| offer.scope == scope);
        offers.filter_map(|offer| offer.pattern.as_deref()).collect()
    }
}

/// An answer to it.
pub(super) fn request(
    decision: Choice,
    scope: Scope,
    pattern: Option<String>,
    message: Option<String>,
) -> DecisionRequest {
    DecisionRequest { decision, scope, pattern, arguments: None, expires_in_s: None, message }
}

fn rows(approval: &Approval) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |kind, name: &str, text: &str| {
        let (name, text) = (visible::one_line(name), visible::one_line(text));
        // A name is never cut: one that has no room beside its text stands before it.
        rows.push(if name.chars().count() > NAME_MAX || !name.is_ascii() {
            Row { kind, name: String::new(), text: format!("{name}: {text}") }
        } else {
            Row { kind, name, text }
        });
    };
    if let Some(worker) = &approval.worker {
        let text = format!("{worker}, session {}; all below is its word", approval.session_id);
        add(RowKind::Fact, "worker", &text);
    }
    add(RowKind::Content, "tool", &approval.tool_name);
    let whole = approval.diff.is_none();
    if whole {
        arguments(&approval.arguments, &mut add);
    }
    for leaf in approval.leaves.iter().flatten() {
        add(RowKind::Content, "runs", leaf);
    }
    if let Some(claim) = &approval.claim {
        add(RowKind::Fact, "agent says", claim);
    }
    add(RowKind::Fact, "because", &approval.reason.text);
    add(RowKind::Fact, "directory", &approval.cwd);
    add(RowKind::Fact, "sandbox", &approval.sandbox);
    if !whole {
        add(RowKind::Hunk, "diff", "");
        diff(approval.diff.as_deref(), &mut add);
        arguments(&approval.arguments, &mut add);
    }
    for file in &approval.changed_files {
        add(RowKind::Fact, "changed", &change(file));
        diff(file.diff.as_deref(), &mut add);
    }
    for offer in approval.offers.iter().filter(|offer| offer.scope != Scope::Once) {
        let name = if offer.scope == Scope::Session { "s session" } else { "A always" };
        add(RowKind::Fact, name, offer.pattern.as_deref().unwrap_or("-"));
    }
    if let Some(seconds) = approval.grants_expire_in_s {
        add(RowKind::Fact, "until", &format!("what is granted holds for {} at most", in_words(seconds)));
    }
    rows
}

/// A diff, each line as what it is.
fn diff(text: Option<&str>, add: &mut impl FnMut(RowKind, &str, &str)) {
    let Some(diff) = text else { return };
    for line in diff.strip_suffix('\n').unwrap_or(diff).split('\n') {
        let kind = match line.as_bytes().first() {
            Some(b'+') => RowKind::Added,
            Some(b'-') => RowKind::Removed,
            Some(b'@') => RowKind::Hunk,
            _ => RowKind::Content,
        };
        add(kind, "", &line.replace('\t', "    "));
    }
}

/// Each argument, a text of several lines line by line.
fn arguments(value: &Value, add: &mut impl FnMut(RowKind, &str, &str)) {
    let Value::Object(fields) = value else { return add(RowKind::Content, "arguments", &value.to_string()) };
    for (name, value) in fields {
        let Value::String(text) = value else {
            add(RowKind::Content, name, &value.to_string());
            continue;
        };
        for (index, line) in text.split('\n').enumerate() {
            add(RowKind::Content, if index == 0 { name } else { "" }, &line.replace('\t', "    "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::approvals::samples::approval;

    fn pending(change: impl FnOnce(&mut Value)) -> Pending {
        let mut value = approval("apr_1");
        change(&mut value);
        Pending::new(serde_json::from_value(value).unwrap())
    }

    fn texts(pending: &Pending) -> Vec<String> {
        pending.rows.iter().map(|row| format!("{}|{}", row.name, row.text)).collect()
    }

    #[test]
    fn all_that_is_decided_on_is_there_and_escaped() {
        let shown = texts(&pending(|_| ()));
        for row in [
            "tool|Bash",
            "command|rm \\u{1b}[2Jx",
            "runs|rm x\\ny",
            "because|runs a command",
            "directory|/w",
            "|-old\\r",
            "|+new\\u{1b}[8m",
            "A always|Bash(rm *)",
            "until|what is granted holds for 30 days at most",
        ] {
            assert!(shown.iter().any(|shown| shown == row), "{row} in {shown:#?}");
        }
    }

    #[test]
    fn a_script_is_shown_line_by_line() {
        let shown = texts(&pending(|value| {
            value["arguments"] = serde_json::json!({"command": "cd a\n\trm b\n", "timeout": 5});
            value["diff"] = Value::Null;
        }));
        let at = shown.iter().position(|row| row == "command|cd a").unwrap();
        assert_eq!(shown[at..at + 4], ["command|cd a", "|    rm b", "|", "timeout|5"]);
        let shown =
            texts(&pending(|value| value["arguments"] = serde_json::json!({"replace_all_of_it": true})));
        assert!(shown.contains(&"|replace_all_of_it: true".to_owned()), "{shown:#?}");
    }

    #[test]
    fn a_worker_is_named_before_what_it_says() {
        let shown = texts(&pending(|value| {
            value["worker"] = serde_json::json!({"token": "ci", "name": "build\u{202e}1"});
        }));
        assert_eq!(shown[0], "worker|ci (calls itself build\\u{202e}1), session s1; all below is its word");
    }
}
