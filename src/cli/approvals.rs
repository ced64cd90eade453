//! `toolgate approvals`: lists what waits, or shows one approval in full.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::domain::about;
use crate::domain::approval::{Approval, ChangedFile, Decision, Offer, Scope};
use crate::domain::visible;

use super::client::{Answer, Client};
use super::color::{Paint, Tone};
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::ids;
use super::output::{self, Output};
use super::paging::Paging;
use super::rows::{Columns, Fit, MORE, MORE_OF_FIELD, MORE_OF_MORE};
use super::span;

/// The most characters of a call in the table; the whole of it is in the view of one approval.
const DISPLAY_MAX: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ApprovalsArgs {
    /// Show this one in full; the last 8 characters of its id are enough
    id: Option<String>,
    /// Only those of this session
    #[arg(long, value_name = "SESSION", conflicts_with = "id")]
    session: Option<String>,
    /// Those that were decided or are over, too
    #[arg(long, conflicts_with = "id")]
    all: bool,
    /// One JSON object a line, as the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate approvals
  toolgate approvals apr_0192
  toolgate approvals --session run-7 --all --json

Needs the operator's token. Decide with `toolgate approve ID` or `toolgate deny ID`.";

/// Prints the list or the one approval.
pub(super) async fn run(args: ApprovalsArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    show(&args, &client, output).await
}

async fn show(args: &ApprovalsArgs, client: &Client, output: &mut Output) -> Result<u8, CliError> {
    if let Some(id) = &args.id {
        let (answer, approval) = find(client, id).await?;
        if args.json {
            output.json(&answer.text)?;
        } else {
            output.own(&in_full(&approval, output.paint(), output.columns()))?;
        }
        return Ok(0);
    }
    let mut shown = 0_usize;
    // A program gets each of them; a person one line for what is the same.
    let mut pages = listed(client, args.session.as_deref(), args.all, !args.json);
    while let Some(items) = pages.next().await? {
        for value in items {
            if args.json {
                output.json(&value.to_string())?;
            } else {
                row(output, &client.read_as(&value)?, shown == 0)?;
            }
            shown += 1;
        }
    }
    if shown == 0 && !args.json {
        output::note(if args.all { "no approvals" } else { "nothing waits for a decision" });
    }
    Ok(0)
}

/// The approval whose id is given, or ends so and waits.
pub(super) async fn find(client: &Client, id: &str) -> Result<(Answer, Approval), CliError> {
    match client.get(&["approvals", id], &Vec::new(), Duration::ZERO).await {
        Ok(answer) => {
            let approval = client.parse(&answer)?;
            return Ok((answer, approval));
        }
        Err(CliError::Problem(problem)) if problem.status == 404 => {}
        Err(error) => return Err(error),
    }
    let mut fitting: Vec<Value> = Vec::new();
    let mut pages = listed(client, None, false, false);
    while let Some(items) = pages.next().await? {
        let meant = |item: &Value| item["approval_id"].as_str().is_some_and(|whole| ids::is_meant(whole, id));
        fitting.extend(items.into_iter().filter(meant));
        if fitting.len() > 1 {
            break;
        }
    }
    match <[Value; 1]>::try_from(fitting) {
        Ok([value]) => {
            let answer = Answer { text: value.to_string(), value };
            let approval = client.parse(&answer)?;
            Ok((answer, approval))
        }
        Err(fitting) if fitting.is_empty() => Err(CliError::usage(
            format!("no approval {id}, and none that waits ends so"),
            ids::hint("toolgate approvals"),
        )),
        Err(_) => Err(CliError::usage(
            format!("more than one approval that waits ends with {id}"),
            ids::hint("toolgate approvals"),
        )),
    }
}

/// The approval and those that wait and ask exactly the same, in the order in which they are decided.
pub(super) async fn with_identical(client: &Client, approval: &Approval) -> Result<Vec<String>, CliError> {
    let mut ids = vec![approval.approval_id.clone()];
    // The session of a worker's ask is one of the worker's, not of this server.
    let session = approval.worker.is_none().then_some(approval.session_id.as_str());
    let mut pages = listed(client, session, false, false);
    while let Some(items) = pages.next().await? {
        for value in items {
            let listed: Approval = client.read_as(&value)?;
            if listed.approval_id == approval.approval_id {
                ids.extend(listed.identical);
            }
        }
    }
    Ok(ids)
}

/// What waits, or everything.
fn listed<'a>(client: &'a Client, session: Option<&str>, all: bool, fold: bool) -> Paging<'a> {
    let mut query = Vec::new();
    if fold {
        query.push(("fold", "true".into()));
    }
    if !all {
        query.push(("status", "pending".into()));
    }
    if let Some(session) = session {
        query.push(("session_id", session.into()));
    }
    Paging::new(client, &["approvals"], query)
}

fn row(output: &mut Output, approval: &Approval, first: bool) -> Result<(), CliError> {
    if first {
        let head = format!("{:<36}  {:<10}  {:<19}  {:<20}  ", "APPROVAL", "STATUS", "SINCE", "SESSION");
        output.listed(&head, "CALL", Fit::Clip)?;
    }
    let session = match &approval.worker {
        Some(worker) => format!("{}:{}", worker.token, approval.session_id),
        None => approval.session_id.clone(),
    };
    let since: String = approval.created_at.to_string().chars().take(19).collect();
    let status = approval.status.as_str();
    let status = output.paint().status(status, &format!("{status:<10}"));
    let (id, session) = (visible::one_line(&approval.approval_id), visible::one_line(&session));
    let head = format!("{id:<36}  {status}  {since:<19}  {session:<20}  ");
    let call = format!(
        "{}  in {}",
        times(approval, &visible::clipped_again(&approval.display, DISPLAY_MAX)),
        visible::clipped_again(&approval.cwd, DISPLAY_MAX)
    );
    output.listed(&head, &call, Fit::Clip)
}

/// What is asked, and how often where that is more than once.
fn times(approval: &Approval, shown: &str) -> String {
    match approval.identical.len() {
        0 => shown.to_owned(),
        more => format!("{shown}  (×{})", more + 1),
    }
}

/// Everything a reviewer decides on, escaped line by line and broken at the terminal's edge: nothing
/// in an outside text can look like a line of this view.
fn in_full(approval: &Approval, paint: Paint, columns: Columns) -> String {
    let mut text = String::new();
    // Most of it is escaped where it comes from; what is not is where it is written here.
    let mut field = |name: &str, value: &str| {
        let name = paint.tone(Tone::Quiet, &format!("{name:<10}"));
        let value = visible::again(value);
        let line = format!("{name} {}", visible::left_to_right(&value));
        let _ = writeln!(text, "{}", columns.broken(&line, MORE_OF_FIELD));
    };
    field("approval", &approval.approval_id);
    field("status", approval.status.as_str());
    if let Some(worker) = &approval.worker {
        field("worker", &format!("{worker}; all below is its word"));
    }
    if approval.forwarded {
        field("forwarded", "to the host of this server, which decides");
    }
    field("session", &approval.session_id);
    field("call", &visible::one_line(&approval.call.call_id));
    field("tool", &approval.tool_name);
    field("shown as", &approval.display);
    if let Some(claim) = &approval.claim {
        field("agent says", claim);
    }
    field("arguments", &visible::json(&about::json(&approval.arguments)));
    field("directory", &approval.cwd);
    field("sandbox", &approval.sandbox);
    field("asks as", &approval.reason.text);
    if let Some(rule) = &approval.reason.rule {
        field("rule", rule);
    }
    for leaf in approval.leaves.iter().flatten() {
        field("runs", leaf);
    }
    for rule in approval.arguments["permissions"].as_array().into_iter().flatten() {
        if approval.tool_name == "request_permissions" {
            field("grants", &visible::one_line(rule.as_str().unwrap_or_default()));
        }
    }
    for file in &approval.changed_files {
        field("changed", &change(file));
    }
    if let Some(text) = changes_left_out(approval) {
        field("changed", &text);
    }
    for offer in &approval.offers {
        field("offer", &offered(offer));
    }
    if let Some(seconds) = approval.grants_expire_in_s {
        field("grants", &format!("hold for {} at most (--expires-in for less)", span::in_words(seconds)));
    }
    field("since", &approval.created_at.to_string());
    field("until", &approval.expires_at.to_string());
    for (name, value) in approval.decision.iter().flat_map(decided) {
        field(name, &value);
    }
    if let ("ExitPlanMode", Some(plan)) = (approval.tool_name.as_str(), approval.arguments["plan"].as_str()) {
        let _ = writeln!(text, "plan");
        for line in plan.split('\n') {
            let line = format!("{MORE}{}", visible::left_to_right(&visible::lines(line)));
            let _ = writeln!(text, "{}", columns.broken(&line, MORE_OF_MORE));
        }
    }
    for file in &approval.changed_files {
        let head = format!("changed {}", visible::again(&file.path));
        diff_lines(&mut text, &head, file.diff.as_deref(), (paint, columns));
    }
    diff_lines(&mut text, "diff", approval.diff.as_deref(), (paint, columns));
    text
}

/// What was decided, by whom.
fn decided(decision: &Decision) -> Vec<(&'static str, String)> {
    let request = &decision.request;
    let by = format!("{:?} by {} at {}", request.decision, decision.by, decision.at).to_lowercase();
    let granted =
        decision.grant.as_ref().map(|grant| format!("{} until {}", grant.grant_id, grant.expires_at));
    let message = request.message.as_deref().map(visible::one_line);
    let parts = [("decided", Some(by)), ("granted", granted), ("message", message)];
    parts.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// An offer as the options that take it up, and where its rule would hold.
fn offered(offer: &Offer) -> String {
    let shown = |text: &Option<String>| text.as_deref().map(visible::one_line);
    let pattern = shown(&offer.pattern).map(|pattern| format!(" --pattern '{pattern}'"));
    let within = shown(&offer.directory).map(|directory| format!("  in {directory}"));
    let (pattern, within) = (pattern.unwrap_or_default(), within.unwrap_or_default());
    format!("--scope {}{pattern}{within}", scope_name(offer.scope))
}

fn diff_lines(text: &mut String, head: &str, diff: Option<&str>, (paint, columns): (Paint, Columns)) {
    let Some(diff) = diff else { return };
    let _ = writeln!(text, "{}", columns.broken(&visible::left_to_right(head), MORE));
    for line in diff.split_inclusive('\n') {
        let line = visible::lines_again(line.trim_end_matches('\n'));
        let line = format!("{MORE}{}", paint.diff_line(&visible::left_to_right(&line)));
        // A row of its own could be taken for another line that the diff adds or removes.
        let _ = writeln!(text, "{}", columns.broken(&line, MORE_OF_MORE));
    }
}

/// A change in a file that would be run, in words.
pub(super) fn change(file: &ChangedFile) -> String {
    let mut text = match (&file.tool_name, &file.call_id) {
        (Some(tool), Some(call)) => format!("{} at {} by {tool} in call {call}", file.path, file.at),
        _ => format!("{} at {} by no call that is known", file.path, file.at),
    };
    if file.diff.is_none() {
        text.push_str("; what changed in it is not recorded");
    }
    if file.earlier > 0 {
        let _ = write!(text, "; before that by {} more calls at most, which are not shown", file.earlier);
    }
    if file.unsearched {
        text.push_str("; it may have changed before, which was not looked for");
    }
    text
}

/// That more files changed than are told, in words.
pub(super) fn changes_left_out(approval: &Approval) -> Option<String> {
    let count = approval.changed_files_left_out;
    (count > 0).then(|| format!("{count} more files that the command names or implies, which are not shown"))
}

/// The scope as it stands on the command line.
pub(super) fn scope_name(scope: Scope) -> &'static str {
    match scope {
        Scope::Once => "once",
        Scope::Session => "session",
        Scope::Always => "always",
    }
}

#[cfg(test)]
pub(super) mod samples {
    //! Approvals for tests.

    use serde_json::{Value, json};

    pub(in crate::cli) fn approval(id: &str) -> Value {
        json!({"approval_id": id, "session_id": "s1", "call_id": "c\u{202e}1", "tool_name": "Bash",
            "arguments": {"command": "rm \u{1b}[2Jx"}, "digest": id, "status": "pending",
            "reason": {"text": "runs a command", "rule": "Bash(rm *)"}, "cwd": "/w", "sandbox": "floor",
            "diff": "--- a\n+++ b\n-old\r\n+new\u{1b}[8m\n", "leaves": ["rm x\ny"], "display": "rm x\r",
            "offers": [{"scope": "session", "pattern": "Bash(rm x)"}, {"scope": "always", "pattern": "Bash(rm x)"},
                {"scope": "always", "pattern": "Bash(rm *)"}],
            "grants_expire_in_s": 2_592_000,
            "created_at": "2026-11-30T20:15:01Z", "expires_at": "2026-12-01T20:15:01Z"})
    }

    pub(in crate::cli) fn list(ids: &[&str], next: Option<&str>) -> String {
        let items: Vec<_> = ids.iter().map(|id| approval(id)).collect();
        json!({"items": items, "next_cursor": next}).to_string()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::super::fake_server::{FakeServer, Reply};
    use super::super::output::capture::Captured;
    use super::samples::{approval, list};
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: ApprovalsArgs,
    }

    async fn shown(words: &[&str], replies: Vec<Reply>) -> (Result<u8, CliError>, String, Vec<String>) {
        let server = FakeServer::start(replies).await;
        let args = Line::parse_from([&["approvals"], words].concat()).args;
        let client = Client::new(server.connection()).unwrap();
        let captured = Captured::default();
        let outcome = show(&args, &client, &mut captured.output()).await;
        (outcome, captured.text(), server.finish().await)
    }

    fn assert_safe(text: &str) {
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    }

    #[tokio::test]
    async fn the_list_goes_over_all_pages() {
        let pages =
            vec![Reply::json(200, &list(&["apr_1"], Some("n"))), Reply::json(200, &list(&["apr_2"], None))];
        let (outcome, text, requests) = shown(&["--session", "s1"], pages.clone()).await;
        assert_eq!(outcome.unwrap(), 0);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("rm x\\r"), "{text}");
        let columns: Vec<_> = text.lines().map(|line| line.find(" s1 ").or(line.find(" SESSION "))).collect();
        assert!(columns.iter().all(|column| column.is_some() && *column == columns[0]), "{text}");
        assert_safe(&text);
        assert!(
            requests[0].starts_with("GET /v1/approvals?limit=1000&fold=true&status=pending&session_id=s1 "),
            "{requests:?}"
        );
        assert!(requests[1].contains("&cursor=n "), "{requests:?}");
        let (_, text, _) = shown(&["--json", "--all"], pages).await;
        assert_eq!(text.lines().count(), 2, "{text}");
        assert_safe(&text);
    }

    #[tokio::test]
    async fn what_is_the_same_has_one_line_with_a_count() {
        let mut first = approval("apr_1");
        first["identical"] = json!(["apr_2", "apr_3"]);
        let page = json!({"items": [first], "next_cursor": null}).to_string();
        let (_, text, requests) = shown(&[], vec![Reply::json(200, &page)]).await;
        assert!(text.contains("rm x\\r  (×3)  in /w\n"), "{text}");
        assert!(requests[0].contains("&fold=true"), "{requests:?}");
        let (_, _, requests) = shown(&["--json"], vec![Reply::json(200, &page)]).await;
        assert!(!requests[0].contains("fold"), "a program gets each: {requests:?}");
    }

    #[tokio::test]
    async fn one_is_shown_whole_and_escaped() {
        let mut asked = approval("apr_1");
        asked["changed_files"] = json!([{"path": "run\u{1b}.sh", "at": "2026-11-30T20:15:01Z", "call_id": "w",
            "tool_name": "Write", "diff": "+ls\u{1b}\n"}, {"path": "x", "at": "2026-11-30T20:15:01Z", "earlier": 3,
            "unsearched": true}]);
        asked["changed_files_left_out"] = json!(2);
        let (_, text, _) = shown(&["apr_1"], vec![Reply::json(200, &asked.to_string())]).await;
        for part in [
            "changed    run\\u{1b}.sh at 2026-11-30T20:15:01Z by Write in call w\n",
            "changed    x at 2026-11-30T20:15:01Z by no call that is known; what changed in it is not recorded; before that \
             by 3 more calls at most, which are not shown; it may have changed before, which was not looked for\n",
            "changed    2 more files that the command names or implies, which are not shown\n",
            "changed run\\u{1b}.sh\n┆ +ls\\u{1b}\n",
            "call       c\\u{202e}1\n",
            "runs       rm x\\ny\n",
            "rule       Bash(rm *)\n",
            "offer      --scope always --pattern 'Bash(rm *)'\n",
            "┆ -old\\r\n┆ +new\\u{1b}[8m\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_safe(&text);
    }

    #[tokio::test]
    async fn what_an_allow_does_beyond_the_call_is_shown_line_by_line() {
        for (tool, arguments, parts) in [
            (
                "request_permissions",
                json!({"reason": "r", "permissions": ["Bash(a)", "Edit(./b\u{1b})\nstatus"]}),
                &["grants     Bash(a)\n", "grants     Edit(./b\\u{1b})\\nstatus\n"][..],
            ),
            (
                "ExitPlanMode",
                json!({"plan": "1. a\n2. b\u{1b}[2J\r\n\nstatus     allowed"}),
                &["plan\n┆ 1. a\n┆ 2. b\\u{1b}[2J\\r\n┆ \n┆ status     allowed\n"],
            ),
        ] {
            let mut asked = approval("apr_1");
            (asked["tool_name"], asked["arguments"]) = (json!(tool), arguments);
            let (_, text, _) = shown(&["apr_1"], vec![Reply::json(200, &asked.to_string())]).await;
            for part in parts {
                assert!(text.contains(part), "{part} in {text}");
            }
            assert_safe(&text);
        }
    }

    #[tokio::test]
    async fn what_a_worker_asks_is_shown_as_its_word() {
        let mut asked = approval("apr_1");
        asked["worker"] = json!({"token": "ci", "name": "build\u{1b}-1"});
        let (_, text, _) = shown(&["apr_1"], vec![Reply::json(200, &asked.to_string())]).await;
        let line = "worker     ci (calls itself build\\u{1b}-1); all below is its word\nsession    s1\n";
        assert!(text.contains(line), "{text}");
        assert_safe(&text);
        let list = json!({"items": [asked], "next_cursor": null}).to_string();
        let (_, text, _) = shown(&[], vec![Reply::json(200, &list)]).await;
        assert!(text.contains("  ci:s1 "), "{text}");
        assert_safe(&text);
    }

    #[tokio::test]
    async fn an_ending_must_be_unique() {
        let missing = || Reply::json(404, r#"{"title":"Not found","status":404}"#);
        let waiting = || Reply::json(200, &list(&["apr_1a345678", "apr_1b345678", "apr_1abcdefgh"], None));
        let (outcome, text, _) = shown(&["abcdefgh", "--json"], vec![missing(), waiting()]).await;
        assert_eq!(outcome.unwrap(), 0);
        assert!(text.contains("apr_1abcdefgh"), "{text}");
        // A beginning, an end that is too short, two of none.
        for id in ["apr_1abcdefg", "bcdefgh", "_1c345678", "87654321"] {
            let (outcome, _, _) = shown(&[id], vec![missing(), waiting()]).await;
            assert_eq!(outcome.unwrap_err().exit_code(), super::super::error::USAGE, "{id}");
        }
        let two = Reply::json(200, &list(&["apr_1_12345678", "apr_2_12345678"], None));
        let (outcome, _, _) = shown(&["12345678"], vec![missing(), two]).await;
        assert_eq!(outcome.unwrap_err().exit_code(), super::super::error::USAGE);
    }
}
