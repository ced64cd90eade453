//! `toolgate watch`: prints events as they happen.

use clap::Args;
use serde_json::Value;

use super::client::Client;
use super::connection::{Connection, ConnectionArgs, Role};
use super::error::CliError;
use super::event_line::event_line;
use super::output::Output;
use super::subscription::Subscription;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WatchArgs {
    /// The session; without it the events of all (needs the operator's token)
    session: Option<String>,
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
    /// One JSON object a line, as the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate watch
  toolgate watch run-7 --after 120
  toolgate watch run-7 --call call_1 --json
  toolgate watch --types tool_approval_requested,tool_denied

A dropped connection is taken up again after the last event that was printed; none is printed
twice. Watching a session ends with the session.";

/// Prints until the session ends or the process is told to stop.
pub(super) async fn run(args: WatchArgs, output: &mut Output) -> Result<u8, CliError> {
    let role = if args.session.is_some() { Role::Agent } else { Role::Operator };
    let connection = args.connection.resolve(role)?;
    watch(&args, connection, output).await
}

async fn watch(args: &WatchArgs, connection: Connection, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(connection)?;
    let mut query = Vec::new();
    if let Some(after) = args.after {
        query.push(("after", after.to_string()));
    }
    if let Some(call) = &args.call {
        query.push(("call_id", call.clone()));
    }
    if let Some(turn) = &args.turn {
        query.push(("turn", turn.clone()));
    }
    if !args.types.is_empty() {
        query.push(("types", with_end(&args.types, args.session.is_some())));
    }
    let path = match &args.session {
        Some(session) => vec!["sessions", session.as_str(), "events"],
        None => vec!["events"],
    };
    let mut events = Subscription::open(&client, &path, query).await?;
    loop {
        let next = tokio::select! {
            next = events.next() => next?,
            () = output.reader_is_gone() => return Err(CliError::PipeClosed),
        };
        let Some(event) = next else { return Ok(0) };
        let value: Value = serde_json::from_str(&event.data)
            .map_err(|error| client.strange(format!("an event: {error}")))?;
        let kind = value.get("type").and_then(Value::as_str).unwrap_or(&event.kind).to_owned();
        if args.types.is_empty() || args.types.contains(&kind) || kind == "resync_required" {
            print(output, args.json, &event.data, value, &kind)?;
        }
        if args.session.is_some() && kind == "session_ended" {
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

fn print(output: &mut Output, json: bool, raw: &str, mut value: Value, kind: &str) -> Result<(), CliError> {
    if json {
        return output.json(raw);
    }
    if let Value::Object(fields) = &mut value {
        // `resync_required` names its type only in the stream's own field.
        fields.entry("type").or_insert_with(|| Value::from(kind));
    }
    output.line(&event_line(&value))
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
        args: WatchArgs,
    }

    async fn watched(words: &[&str], replies: Vec<Reply>) -> (Result<u8, CliError>, String, Vec<String>) {
        let server = FakeServer::start(replies).await;
        let args = Line::parse_from([&["watch"], words].concat()).args;
        let captured = Captured::default();
        let outcome = watch(&args, server.connection(), &mut captured.output()).await;
        (outcome, captured.text(), server.finish().await)
    }

    const START: &str = "retry: 1\nid: 1\nevent: session_started\ndata: {\"type\":\"session_started\",\"seq\":1,\
                         \"session_id\":\"s\",\"time\":\"2026-11-30T20:15:01Z\"}\n\n";
    const END: &str = "id: 2\nevent: session_ended\ndata: {\"type\":\"session_ended\",\"seq\":2,\
                       \"session_id\":\"s\",\"time\":\"2026-11-30T20:15:02Z\"}\n\n";

    #[tokio::test]
    async fn a_session_is_watched_to_its_end_over_a_drop() {
        let (outcome, text, requests) = watched(
            &["s", "--after", "0", "--types", "session_started"],
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
        let (_, text, _) = watched(&["s", "--json"], vec![Reply::events(&all)]).await;
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[..2], ["{\"type\":\"x\",\"content\":\"\\u009b31m\"}", "{\"earliest\":9}"]);
        let (_, text, _) = watched(&["s"], vec![Reply::events(&all)]).await;
        assert!(text.contains("events before 9 are no longer kept"), "{text}");
    }

    #[tokio::test]
    async fn a_refusal_ends_it() {
        let refusal = Reply::json(403, r#"{"title":"Forbidden","status":403}"#);
        let (outcome, _, requests) = watched(&[], vec![refusal]).await;
        assert_eq!(outcome.unwrap_err().exit_code(), super::super::error::REFUSED);
        assert!(requests[0].starts_with("GET /v1/events "), "{requests:?}");
    }
}
