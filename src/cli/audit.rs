//! `toolgate audit`: what the gate said of each call, and what people decided.

use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::Value;

use super::client::{Client, Query};
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::output::{self, Output};
use super::rows::Fit;
use super::span;
use crate::domain::approval::rule_in;
use crate::domain::audit::{AuditEntry, AuditKind, AuditRecord};
use crate::domain::clock::{Clock as _, SystemClock, Timestamp};
use crate::domain::visible;

/// Entries asked for at once; the server's own bound.
const PAGE: &str = "1000";
/// How often `--follow` asks for more.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// The most characters of what would run, and of why, in the table.
const DISPLAY_MAX: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AuditArgs {
    /// Only of this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Only of calls with this id
    #[arg(long, value_name = "CALL")]
    call: Option<String>,
    /// Only of this kind
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Only what came out so
    #[arg(long, value_enum)]
    decision: Option<Outcome>,
    /// Only of this tool
    #[arg(long, value_name = "TOOL")]
    tool: Option<String>,
    /// Only by this token
    #[arg(long, value_name = "TOKEN")]
    by: Option<String>,
    /// Only from then on: a moment (2026-01-31T08:00:00Z), or so long ago (90s, 15m, 2h, 7d)
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Timestamp>,
    /// Only before then
    #[arg(long, value_name = "WHEN", value_parser = moment, conflicts_with = "follow")]
    until: Option<Timestamp>,
    /// Go on with what is written from now on
    #[arg(long)]
    follow: bool,
    /// One JSON object a line, as the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    Verdict,
    Approval,
    Decision,
    Grant,
    Retention,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Outcome {
    Allow,
    Ask,
    Deny,
    Expired,
    Cancelled,
    Superseded,
    Granted,
    Revoked,
    Refused,
    Dropped,
}

const EXAMPLES: &str = "\
Examples:
  toolgate audit --since 2h
  toolgate audit --decision deny --tool Bash
  toolgate audit --session run-7 --kind approval --json
  toolgate audit --since 1m --follow

Needs the operator's token.";

/// Prints the entries, oldest first.
pub(super) async fn run(args: AuditArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    show(&args, &client, output, POLL_EVERY).await
}

async fn show(
    args: &AuditArgs,
    client: &Client,
    output: &mut Output,
    poll_every: Duration,
) -> Result<u8, CliError> {
    let query = query(args);
    let mut cursor: Option<String> = None;
    let mut shown = 0_usize;
    loop {
        let mut asked = query.clone();
        asked.extend(cursor.clone().map(|cursor| ("cursor", cursor)));
        let mut answer = client.get(&["audit"], &asked, Duration::ZERO).await?;
        let next = answer.value["next_cursor"].as_str().map(ToOwned::to_owned);
        let Value::Array(items) = answer.value["items"].take() else {
            return Err(client.strange("no list".into()));
        };
        if next.is_some() && next == cursor {
            return Err(client.strange("a list that never ends".into()));
        }
        for value in &items {
            let entry: AuditEntry = client.read_as(value)?;
            if args.json {
                output.json(&value.to_string())?;
            } else {
                row(output, &entry, shown == 0)?;
            }
            shown += 1;
            cursor = Some(entry.seq.to_string());
        }
        match next {
            Some(next) => cursor = Some(next),
            None if args.follow => tokio::time::sleep(poll_every).await,
            None => break,
        }
    }
    if shown == 0 && !args.json {
        output::note("the audit log has no such entry");
    }
    Ok(0)
}

fn query(args: &AuditArgs) -> Query<'static> {
    let name = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let given = [
        ("session_id", args.session.clone()),
        ("call_id", args.call.clone()),
        ("kind", args.kind.map(|kind| name(&kind))),
        ("decision", args.decision.map(|decision| name(&decision))),
        ("tool", args.tool.clone()),
        ("by", args.by.clone()),
        ("since", args.since.map(|moment| moment.to_string())),
        ("until", args.until.map(|moment| moment.to_string())),
    ];
    let mut query = vec![("limit", PAGE.to_owned())];
    query.extend(given.into_iter().filter_map(|(name, value)| Some((name, value?))));
    query
}

/// A moment, or how long ago it was.
fn moment(text: &str) -> Result<Timestamp, String> {
    if let Ok(moment) = text.parse() {
        return Ok(moment);
    }
    let wrong =
        || format!("{text:?} is neither a moment, as 2026-01-31T08:00:00Z, nor a time ago, as 15m or 2h");
    let ago = span::seconds(text).and_then(|ago| i64::try_from(ago).ok()).ok_or_else(wrong)?;
    Timestamp::from_second(SystemClock.now().as_second().saturating_sub(ago)).map_err(|_| wrong())
}

fn row(output: &mut Output, entry: &AuditEntry, first: bool) -> Result<(), CliError> {
    if first {
        let head =
            format!("{:<24}  {:<10}  {:<12}  {:<20}  {:<12}  ", "TIME", "DECISION", "BY", "SESSION", "TOOL");
        output.listed(&head, "WHAT", Fit::Break)?;
    }
    let record = &entry.record;
    let head = format!(
        "{:<24}  {:<10}  {:<12}  {:<20}  {:<12}  ",
        entry.time.to_string(),
        record.decision.as_str(),
        visible::one_line(&record.by),
        visible::one_line(record.session_id.as_deref().unwrap_or("-")),
        visible::one_line(record.tool_name.as_deref().unwrap_or("-")),
    );
    let what = visible::again(&what(record));
    output.listed(&head, &what, Fit::Break)
}

/// What it is about, in the words of its kind.
fn what(record: &AuditRecord) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let shown = || visible::clipped_again(record.display.as_deref().unwrap_or_default(), DISPLAY_MAX);
    let why = || {
        let why = record.reason.as_ref().map(|reason| visible::clipped_again(&reason.text, DISPLAY_MAX));
        why.unwrap_or_default()
    };
    let scope = record.scope.map(super::approvals::scope_name).unwrap_or_default();
    match record.kind {
        AuditKind::Verdict => format!("{}  ({})", shown(), why()),
        AuditKind::Decision => {
            let edited = if record.edited == Some(true) { ", edited" } else { "" };
            format!("decision on {}{edited}: {}  ({})", text(&record.approval_id), shown(), why())
        }
        AuditKind::Approval => {
            let edited = if record.edited == Some(true) { ", edited" } else { "" };
            let scope = if scope.is_empty() { String::new() } else { format!(" {scope}{edited}") };
            let pattern = record.pattern.as_ref().map(|pattern| format!(": {pattern}")).unwrap_or_default();
            format!("approval {}{scope}{pattern}", text(&record.approval_id))
        }
        AuditKind::Grant => {
            let until = record.expires_at.map(|end| format!(", until {end}")).unwrap_or_default();
            let rule = rule_in(&text(&record.pattern), record.directory.as_deref());
            format!("grant {} {scope}: {rule}{until}", text(&record.grant_id))
        }
        AuditKind::Retention => {
            let dropped = record.dropped.as_ref();
            let range = dropped.map(|gone| format!("{} to {} (by {})", gone.from, gone.to, gone.bound));
            format!("entries {}", range.unwrap_or_default())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::super::fake_server::{FakeServer, Reply};
    use super::super::output::capture::Captured;
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: AuditArgs,
    }

    async fn shown(words: &[&str], replies: Vec<Reply>) -> (Result<u8, CliError>, String, Vec<String>) {
        let server = FakeServer::start(replies).await;
        let args = Line::parse_from([&["audit"], words].concat()).args;
        let client = Client::new(server.connection()).unwrap();
        let captured = Captured::default();
        let outcome = show(&args, &client, &mut captured.output(), Duration::ZERO).await;
        (outcome, captured.text(), server.finish().await)
    }

    fn entry(seq: u64) -> Value {
        json!({"seq": seq, "time": "2026-11-30T20:15:01Z", "kind": "verdict", "decision": "deny", "by": "agent",
            "session_id": "s1", "call_id": "c", "tool_name": "Bash\u{1b}[2J", "display": "rm x\u{202e}",
            "reason": {"text": "a rule\ndenies it \u{5d0}", "by": "rule"}})
    }

    fn page(items: &[Value], next: Option<&str>) -> Reply {
        Reply::json(200, &json!({"items": items, "next_cursor": next}).to_string())
    }

    #[tokio::test]
    async fn entries_are_shown_escaped_over_all_pages() {
        let others = [
            json!({"seq": 3, "time": "2026-11-30T20:15:01Z", "kind": "approval", "decision": "allow", "by": "eve",
                "approval_id": "apr_1", "scope": "session", "edited": true, "pattern": "Bash(x)"}),
            json!({"seq": 4, "time": "2026-11-30T20:15:01Z", "kind": "retention", "decision": "dropped",
                "by": "server", "dropped": {"from": 1, "to": 2, "bound": "age"}}),
            json!({"seq": 5, "time": "2026-11-30T20:15:01Z", "kind": "decision", "decision": "refused", "by": "eve",
                "approval_id": "apr_1", "edited": true, "display": "rm y", "reason": {"text": "no", "by": "rule"}}),
            json!({"seq": 6, "time": "2026-11-30T20:15:01Z", "kind": "grant", "decision": "expired", "by": "server",
                "grant_id": "grt_1", "scope": "always", "pattern": "Bash(x)", "expires_at": "2026-11-30T20:15:00Z"}),
        ];
        // An empty page with a cursor is no end.
        let pages = vec![page(&[entry(1)], Some("1")), page(&[], Some("2")), page(&others, None)];
        let words = ["--session", "s1", "--decision", "deny", "--since", "2026-01-01T00:00:00Z"];
        let (outcome, text, requests) = shown(&words, pages.clone()).await;
        assert_eq!(outcome.unwrap(), 0);
        for part in [
            "Bash\\u{1b}[2J",
            "rm x\\u{202e}  (a rule\\ndenies it \\u{5d0})\n",
            "approval apr_1 session, edited: Bash(x)\n",
            "entries 1 to 2 (by age)\n",
            "decision on apr_1, edited: rm y  (no)\n",
            "grant grt_1 always: Bash(x), until 2026-11-30T20:15:00Z\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
        let first = "GET /v1/audit?limit=1000&session_id=s1&decision=deny&since=2026-01-01T00%3A00%3A00Z ";
        assert!(requests[0].starts_with(first), "{requests:?}");
        assert!(requests[2].contains("&cursor=2 "), "{requests:?}");
        let (_, text, _) = shown(&["--json"], pages).await;
        assert_eq!(text.lines().count(), 5, "{text}");
    }

    #[tokio::test]
    async fn following_goes_on_behind_the_last_entry() {
        let pages = vec![page(&[entry(1)], None), page(&[], None), page(&[entry(2)], None)];
        // The fourth time there is no answer.
        let (outcome, text, requests) = shown(&["--follow"], pages).await;
        assert!(outcome.is_err());
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(requests[1].contains("&cursor=1 ") && requests[2].contains("&cursor=1 "), "{requests:?}");
        assert!(requests[3].contains("&cursor=2 "), "{requests:?}");
    }

    #[test]
    fn moments_are_given_or_counted_back() {
        let now = SystemClock.now().as_second();
        assert_eq!(moment("1970-01-01T00:01:00Z").unwrap().as_second(), 60);
        let hours = now - moment("2h").unwrap().as_second();
        assert!((7_198..=7_202).contains(&hours), "{hours}");
        for wrong in ["", "h", "-1h", "2w", "2 h", "9999999999999999d", "yesterday", "1ü"] {
            assert!(moment(wrong).is_err(), "{wrong}");
        }
    }
}
