//! One approval as the screen shows it: everything a reviewer decides on, in rows that hide nothing.

use serde_json::Value;

use crate::cli::approvals::{change, changes_left_out};
use crate::cli::span::in_words;
use crate::domain::about;
use crate::domain::approval::{Approval, Choice, DecisionRequest, Scope, claim_parameter, rule_in};
use crate::domain::visible;

/// The most characters of a name that stands beside its text.
pub(super) const NAME_MAX: usize = 10;

/// Stands in the place of a name before whatever goes on from above: nothing from outside can look like a row with a
/// name.
pub(super) const MORE: &str = "┆";
/// Stands before what is left of a line that is longer than a row.
pub(super) const MORE_OF_MORE: &str = "┆ ┆";

/// Names of rows that say what an argument of the same name does not.
const OWN_NAMES: &[&str] = &[
    "worker",
    "tool",
    "runs",
    "because",
    "directory",
    "sandbox",
    "diff",
    "changed",
    "until",
    "argument",
    "arguments",
];

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
    /// What it is about; [`MORE`] where it goes on.
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

/// Collects rows.
struct Rows(Vec<Row>);

impl Rows {
    /// A text as it came.
    fn raw(&mut self, kind: RowKind, name: &str, text: &str) {
        self.row(kind, name, &visible::one_line(text));
    }

    /// A text that is escaped where it comes from.
    fn shown(&mut self, kind: RowKind, name: &str, text: &str) {
        self.row(kind, name, &visible::again(text));
    }

    fn row(&mut self, kind: RowKind, name: &str, text: &str) {
        let text = visible::left_to_right(text).into_owned();
        self.0.push(Row { kind, name: name.to_owned(), text });
    }
}

fn rows(approval: &Approval) -> Vec<Row> {
    let mut rows = Rows(Vec::new());
    if let Some(worker) = &approval.worker {
        let text = format!("{worker}, session {}; all below is its word", approval.session_id);
        rows.raw(RowKind::Fact, "worker", &text);
    }
    rows.shown(RowKind::Content, "tool", &approval.tool_name);
    let whole = approval.diff.is_none();
    if whole {
        arguments(approval, &mut rows);
    }
    for leaf in approval.leaves.iter().flatten() {
        rows.shown(RowKind::Content, "runs", leaf);
    }
    if let Some(claim) = &approval.claim {
        rows.shown(RowKind::Fact, "agent says", claim);
    }
    rows.shown(RowKind::Fact, "because", &approval.reason.text);
    rows.shown(RowKind::Fact, "directory", &approval.cwd);
    rows.shown(RowKind::Fact, "sandbox", &approval.sandbox);
    if !whole {
        rows.shown(RowKind::Hunk, "diff", "");
        diff(approval.diff.as_deref(), &mut rows);
        arguments(approval, &mut rows);
    }
    for file in &approval.changed_files {
        rows.shown(RowKind::Fact, "changed", &change(file));
        diff(file.diff.as_deref(), &mut rows);
    }
    if let Some(text) = changes_left_out(approval) {
        rows.shown(RowKind::Fact, "changed", &text);
    }
    for offer in approval.offers.iter().filter(|offer| offer.scope != Scope::Once) {
        let name = if offer.scope == Scope::Session { "s session" } else { "A always" };
        let rule = rule_in(offer.pattern.as_deref().unwrap_or("-"), offer.directory.as_deref());
        rows.raw(RowKind::Fact, name, &rule);
    }
    if let Some(seconds) = approval.grants_expire_in_s {
        rows.shown(
            RowKind::Fact,
            "until",
            &format!("what is granted holds for {} at most", in_words(seconds)),
        );
    }
    rows.0
}

/// A tab at the beginning of a line.
const STOP: &str = "⇥   ";

/// A line that is shown as `show` says, with the tabs at its beginning to be told from blanks.
fn with_stops(line: &str, show: impl Fn(&str) -> String) -> String {
    let rest = line.trim_start_matches('\t');
    let (stops, shown) = (line.len() - rest.len(), show(rest));
    // One that was there already is no tab.
    let shown = shown.strip_prefix('⇥').map_or(shown.clone(), |behind| format!("\\u{{21e5}}{behind}"));
    STOP.repeat(stops) + &shown
}

/// A diff, each line as what it is.
fn diff(text: Option<&str>, rows: &mut Rows) {
    let Some(diff) = text else { return };
    for line in diff.strip_suffix('\n').unwrap_or(diff).split('\n') {
        let kind = match line.as_bytes().first() {
            Some(b'+') => RowKind::Added,
            Some(b'-') => RowKind::Removed,
            Some(b'@') => RowKind::Hunk,
            _ => RowKind::Content,
        };
        let (sign, content) = line.split_at(usize::from(line.starts_with([' ', '+', '-'])));
        rows.shown(kind, MORE, &format!("{sign}{}", with_stops(content, str::to_owned)));
    }
}

/// Each argument, a text of several lines line by line; but what the agent says of the call, which is no part of
/// what runs and stands as its word elsewhere.
fn arguments(approval: &Approval, rows: &mut Rows) {
    let value = &approval.arguments;
    if !value.is_object() {
        return rows.row(RowKind::Content, "arguments", &visible::json(&value.to_string()));
    }
    let claim = approval.claim.as_ref().and_then(|_| claim_parameter(&approval.tool_name));
    for (name, value) in about::ordered(value).into_iter().filter(|(name, _)| Some(*name) != claim) {
        // A name is never cut, and none from outside stands where this screen's own do.
        let odd = |c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-');
        let whole = name.len() <= NAME_MAX && !name.contains(odd) && !OWN_NAMES.contains(&name);
        let (name, before) = if whole {
            (name, String::new())
        } else {
            ("argument", format!("{}: ", visible::json(&Value::from(name).to_string())))
        };
        let Value::String(text) = value else {
            rows.row(RowKind::Content, name, &(before + &visible::json(&value.to_string())));
            continue;
        };
        let mut name = name;
        for (index, line) in text.split('\n').enumerate() {
            let line = with_stops(line, visible::one_line);
            rows.row(RowKind::Content, name, &if index == 0 { format!("{before}{line}") } else { line });
            name = MORE;
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
            "┆|-old\\r",
            "┆|+new\\u{1b}[8m",
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
        assert_eq!(shown[at..at + 4], ["command|cd a", "┆|⇥   rm b", "┆|", "timeout|5"]);
        let shown =
            texts(&pending(|value| value["arguments"] = serde_json::json!({"replace_all_of_it": true})));
        assert!(shown.contains(&"argument|\"replace_all_of_it\": true".to_owned()), "{shown:#?}");
    }

    #[test]
    fn nothing_that_an_agent_writes_looks_like_a_row_of_the_screen() {
        let forged = "ls\nruns       nothing\nsandbox    full";
        for (tool, claim) in [("Bash", "description"), ("request_permissions", "reason")] {
            let mut arguments = serde_json::json!({"command": forged, "runs": forged, "sandbox": "full",
                "a b": forged, "s session": "x"});
            arguments[claim] = forged.into();
            let pending = pending(|value| {
                value["tool_name"] = tool.into();
                value["claim"] = crate::domain::approval::claim(tool, &arguments).into();
                value["arguments"] = arguments;
                value["leaves"] = serde_json::json!(["ls"]);
                value["diff"] = Value::Null;
            });
            let shown = texts(&pending);
            let named = |name: &str| pending.rows.iter().filter(|row| row.name == name).collect::<Vec<_>>();
            assert_eq!((named("runs").len(), named("sandbox").len()), (1, 1), "{shown:#?}");
            assert_eq!(named("sandbox")[0].text, "floor", "{shown:#?}");
            assert!(named("").is_empty(), "{shown:#?}");
            let says = "agent says|ls\\nruns       nothing\\nsandbox    full";
            assert!(shown.contains(&says.to_owned()), "{shown:#?}");
            let claimed = pending.rows.iter().filter(|row| row.text.contains(claim)).count();
            assert_eq!(claimed, 0, "the claim stands in no other place: {shown:#?}");
            assert_eq!(named(MORE).len(), 3 * 2, "{shown:#?}");
        }
    }

    #[test]
    fn a_worker_is_named_before_what_it_says() {
        let shown = texts(&pending(|value| {
            value["worker"] = serde_json::json!({"token": "ci", "name": "build\u{202e}1"});
        }));
        assert_eq!(shown[0], "worker|ci (calls itself build\\u{202e}1), session s1; all below is its word");
    }
}
