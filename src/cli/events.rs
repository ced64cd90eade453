//! `toolgate events`: prints the log of events, to its end or as it grows.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::client::{Client, Query};
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::event_line::event_line;
use super::output::Output;
use super::subscription::Subscription;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EventsArgs {
    /// The session; without it the events of all (needs the operator's token)
    session: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// Go on with what happens from now on
    #[arg(long, short)]
    follow: bool,
    /// One JSON object a line, as the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// Which events.
#[derive(Debug, Default, Args)]
pub(super) struct FilterArgs {
    /// Only the events of this call
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// The turn that the call's id belongs to, where it has one
    #[arg(long, value_name = "TURN", requires = "call")]
    turn: Option<String>,
    /// Only these types of events, separated by commas
    #[arg(long, value_name = "TYPES", value_delimiter = ',')]
    types: Vec<String>,
    /// Only events after this number (over all sessions: after this cursor)
    #[arg(long, value_name = "SEQ")]
    after: Option<u64>,
}

const EXAMPLES: &str = "\
Examples:
  toolgate events run-7
  toolgate events run-7 --call call_1 --json
  toolgate events --follow --types tool_approval_requested,tool_denied
  toolgate events run-7 --after 120 --follow --json

Without --follow it ends with the last event that there is. With it a dropped connection is taken up
again after the last event that was printed; none is printed twice; following a session ends with the
session.";

/// Prints them.
pub(super) async fn run(args: EventsArgs, output: &mut Output) -> Result<u8, CliError> {
    let role = if args.session.is_some() { Role::Either } else { Role::Operator };
    let client = Client::new(args.connection.resolve(role)?)?;
    let printer = Printer { filter: &args.filter, json: args.json };
    if args.follow {
        follow(&client, args.session.as_deref(), &printer, output).await
    } else {
        recorded(&client, args.session.as_deref(), &printer, output).await
    }
}

impl FilterArgs {
    /// Whether anything is filtered.
    pub(super) fn is_given(&self) -> bool {
        self.call.is_some() || !self.types.is_empty() || self.after.is_some()
    }

    fn query(&self) -> Query<'static> {
        let mut query = Vec::new();
        query.extend(self.after.map(|after| ("after", after.to_string())));
        query.extend(self.call.clone().map(|call| ("call_id", call)));
        query.extend(self.turn.clone().map(|turn| ("turn", turn)));
        query
    }
}

/// How events are printed.
#[derive(Debug)]
pub(super) struct Printer<'a> {
    pub(super) filter: &'a FilterArgs,
    pub(super) json: bool,
}

/// The address of the events of one session or of all.
pub(super) fn path(session: Option<&str>) -> Vec<&str> {
    session.map_or_else(|| vec!["events"], |session| vec!["sessions", session, "events"])
}

/// Prints what there is, page by page.
async fn recorded(
    client: &Client,
    session: Option<&str>,
    printer: &Printer<'_>,
    output: &mut Output,
) -> Result<u8, CliError> {
    let mut after = printer.filter.after.unwrap_or(0);
    loop {
        let mut query = printer.filter.query();
        query.retain(|(name, _)| *name != "after");
        query.push(("after", after.to_string()));
        if !printer.filter.types.is_empty() {
            query.push(("types", printer.filter.types.join(",")));
        }
        let mut page = client.get(&path(session), &query, Duration::ZERO).await?.value;
        let (Some(next), Some(latest)) = (page["next_after"].as_u64(), page["latest_seq"].as_u64()) else {
            return Err(client.strange("no page of events".into()));
        };
        if let Value::Object(_) = &page["resync_required"] {
            let gap = page["resync_required"].take();
            printer.print(output, &gap.to_string(), gap, "resync_required")?;
        }
        if let Value::Array(events) = page["events"].take() {
            for event in events {
                printer.print(output, &event.to_string(), event, "")?;
            }
        }
        if next >= latest || next <= after {
            return Ok(0);
        }
        after = next;
    }
}

/// Prints until the session ends or the process is told to stop.
pub(super) async fn follow(
    client: &Client,
    session: Option<&str>,
    printer: &Printer<'_>,
    output: &mut Output,
) -> Result<u8, CliError> {
    let types = &printer.filter.types;
    let mut query = printer.filter.query();
    if !types.is_empty() {
        query.push(("types", with_end(types, session.is_some())));
    }
    let mut events = Subscription::open(client, &path(session), query).await?;
    loop {
        let next = tokio::select! {
            next = events.next() => next?,
            () = output.reader_is_gone() => return Err(CliError::PipeClosed),
        };
        let Some(event) = next else { return Ok(0) };
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| client.strange(format!("an event: {error}")))?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.kind).to_owned();
        if types.is_empty() || types.contains(&kind) || kind == "resync_required" {
            printer.print(output, &event.data, value, &kind)?;
        }
        if session.is_some() && kind == "session_ended" {
            return Ok(0);
        }
    }
}

/// The end of the session is always asked for: without it, nothing would tell this command from
/// one that lost its connection.
fn with_end(types: &[String], one_session: bool) -> String {
    let mut types = types.to_vec();
    if one_session && !types.iter().any(|kind| kind == "session_ended") {
        types.push("session_ended".into());
    }
    types.join(",")
}

impl Printer<'_> {
    fn print(&self, output: &mut Output, raw: &str, mut value: Value, kind: &str) -> Result<(), CliError> {
        if self.json {
            return output.json(raw);
        }
        if let Value::Object(fields) = &mut value {
            // `resync_required` names its type only in the stream's own field.
            fields.entry("type").or_insert_with(|| Value::from(kind));
        }
        output.line(&event_line(&value))
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::fake_server::{FakeServer, Reply};
    use super::super::output::capture::Captured;
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: EventsArgs,
    }

    async fn printed(words: &[&str], replies: Vec<Reply>) -> (Result<u8, CliError>, String, Vec<String>) {
        let server = FakeServer::start(replies).await;
        let args = Line::parse_from([&["events"], words].concat()).args;
        let client = Client::new(server.connection()).unwrap();
        let captured = Captured::default();
        let (session, printer) = (args.session.as_deref(), Printer { filter: &args.filter, json: args.json });
        let outcome = if args.follow {
            follow(&client, session, &printer, &mut captured.output()).await
        } else {
            recorded(&client, session, &printer, &mut captured.output()).await
        };
        (outcome, captured.text(), server.finish().await)
    }

    const START: &str = "retry: 1\nid: 1\nevent: session_started\ndata: {\"type\":\"session_started\",\"seq\":1,\
                         \"session_id\":\"s\",\"time\":\"2026-11-30T20:15:01Z\"}\n\n";
    const END: &str = "id: 2\nevent: session_ended\ndata: {\"type\":\"session_ended\",\"seq\":2,\
                       \"session_id\":\"s\",\"time\":\"2026-11-30T20:15:02Z\"}\n\n";

    #[tokio::test]
    async fn a_session_is_followed_to_its_end_over_a_drop() {
        let (outcome, text, requests) = printed(
            &["s", "--follow", "--after", "0", "--types", "session_started"],
            vec![Reply::broken_events(START), Reply::events(END)],
        )
        .await;
        assert_eq!(outcome.unwrap(), 0);
        assert_eq!(text, "20:15:01 s#1 session started\n");
        assert!(
            requests[0]
                .starts_with("GET /v1/sessions/s/events?after=0&types=session_started%2Csession_ended "),
            "{requests:?}"
        );
        assert!(requests[1].contains("last-event-id: 1\r\n"), "{requests:?}");
    }

    #[tokio::test]
    async fn json_lines_are_the_events_themselves() {
        let evil = "id: 1\ndata: {\"type\":\"x\",\"content\":\"\u{9b}31m\"}\n\n";
        let resync = "event: resync_required\ndata: {\"earliest\":9}\n\n";
        let all = format!("{evil}{resync}{END}");
        let (_, text, _) = printed(&["s", "-f", "--json"], vec![Reply::events(&all)]).await;
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[..2], ["{\"type\":\"x\",\"content\":\"\\u009b31m\"}", "{\"earliest\":9}"]);
        let (_, text, _) = printed(&["s", "-f"], vec![Reply::events(&all)]).await;
        assert!(text.contains("events before 9 are no longer kept"), "{text}");
    }

    #[tokio::test]
    async fn a_refusal_ends_it() {
        let refusal = Reply::json(403, r#"{"title":"Forbidden","status":403}"#);
        let (outcome, _, requests) = printed(&["-f"], vec![refusal]).await;
        assert_eq!(outcome.unwrap_err().exit_code(), super::super::error::REFUSED);
        assert!(requests[0].starts_with("GET /v1/events "), "{requests:?}");
    }

    #[tokio::test]
    async fn what_is_recorded_is_read_page_by_page() {
        let event = |seq: u32| format!("{{\"type\":\"x\",\"seq\":{seq},\"content\":\"\u{9b}\"}}");
        let page = |seq: u32, next: u32, more: &str| {
            let event = event(seq);
            Reply::json(
                200,
                &format!("{{\"events\":[{event}],\"next_after\":{next},\"latest_seq\":9{more}}}"),
            )
        };
        let pages = vec![page(5, 5, ",\"resync_required\":{\"earliest\":5}"), page(9, 9, "")];
        let (outcome, text, requests) =
            printed(&["s", "--after", "2", "--types", "x", "--json"], pages).await;
        assert_eq!(outcome.unwrap(), 0);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(lines[0], "{\"earliest\":5}");
        assert!(lines[2].contains("\"seq\":9") && lines[2].contains("\\u009b"), "{text}");
        assert!(requests[0].starts_with("GET /v1/sessions/s/events?after=2&types=x "), "{requests:?}");
        assert!(requests[1].starts_with("GET /v1/sessions/s/events?after=5&types=x "), "{requests:?}");
    }
}
