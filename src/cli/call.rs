//! `toolgate call`: makes one tool call and prints its result.

use std::time::Duration;

use clap::Args;
use serde_json::Value;
use tokio::time::Instant;

use crate::domain::call::{Call, ToolCall};
use crate::domain::identity::{Ids as _, RandomIds};
use crate::domain::visible;

use super::call_report::{exit_code, remarks, report};
use super::client::{Answer, Client, MAX_WAIT, Query};
use super::connection::{ConnectionArgs, Role};
use super::decision::text_argument;
use super::error::CliError;
use super::output::{self, Output};
use super::place::PlaceArgs;
use super::progress::while_waiting;
use super::subscription::Subscription;

/// How long one request waits where nothing asks for less.
const ROUND: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CallArgs {
    /// The tool, such as Read or Bash
    tool: String,
    /// Its arguments as a JSON object: the text, @FILE, or - for standard input
    #[arg(default_value = "{}")]
    arguments: String,
    #[command(flatten)]
    place: PlaceArgs,
    /// The call's id: the same id and call again gives the recorded result, nothing runs twice
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// A name space for call ids, for models that count anew in each turn
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Wait this many seconds for the end, for a decision too [default: until it ends or waits for someone]
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u32>,
    /// Print output while the tool runs
    #[arg(long)]
    stream: bool,
    /// Print the call as JSON (with --stream: each event, then the call)
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate call Bash '{\"command\":\"ls\"}'
  toolgate call --workspace ~/project --session run-7 Read '{\"file_path\":\"README.md\"}'
  toolgate call --session run-7 --stream --wait 600 Bash '{\"command\":\"cargo test\"}'
  toolgate call --session run-7 --id call_1 Write @arguments.json

Exit codes: 0 it succeeded (or goes on in the background), 1 it ended without success, 2 the command
line is wrong, 3 it was denied, 4 it has no result yet (waits for someone, or still runs), 5 the server
cannot be reached or does not work, 6 the server refused the request.";

/// Makes the call and prints it.
pub(super) async fn run(args: CallArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Agent)?)?.quiet();
    let text = text_argument(&args.arguments)?;
    make(&args, text, &client, output).await
}

async fn make(
    args: &CallArgs,
    arguments: String,
    client: &Client,
    output: &mut Output,
) -> Result<u8, CliError> {
    let session = args.place.session(client).await?;
    let id = args.id.clone().unwrap_or_else(|| RandomIds.make("call"));
    let order = Order { args, client, session, call: ToolCall::new(id, args.tool.clone(), arguments) };
    let (answer, streamed) =
        if args.stream { order.stream(output).await? } else { (order.wait().await?, false) };
    let call: Call = client.parse(&answer)?;
    if args.json {
        output.json(&answer.text)?;
    } else {
        report(&call, streamed, output)?;
        remarks(&call, &answer.value);
    }
    Ok(exit_code(&call))
}

/// A call on its way.
struct Order<'a> {
    args: &'a CallArgs,
    client: &'a Client,
    session: String,
    call: ToolCall,
}

impl Order<'_> {
    /// Posts the call; the same again joins it or gives what is recorded.
    async fn post(&self, wait: Duration) -> Result<Answer, CliError> {
        let body =
            serde_json::to_value(&self.call).map_err(|error| self.client.strange(error.to_string()))?;
        let path = ["sessions", self.session.as_str(), "calls"];
        self.client.post(&path, &self.query(wait), &body, wait).await
    }

    /// Reads the call, waiting for its end.
    async fn get(&self, wait: Duration) -> Result<Answer, CliError> {
        let path = ["sessions", self.session.as_str(), "calls", self.call.id.as_str()];
        self.client.get(&path, &self.query(wait), wait).await
    }

    fn query(&self, wait: Duration) -> Query<'static> {
        let mut query = vec![("wait_ms", wait.as_millis().to_string())];
        query.extend(self.args.turn.clone().map(|turn| ("turn", turn)));
        query
    }

    fn deadline(&self) -> Option<Instant> {
        self.args.wait.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()))
    }

    /// Waits as long as was asked; without a limit, until the call ends or waits for someone.
    async fn wait(&self) -> Result<Answer, CliError> {
        let deadline = self.deadline();
        let left = || deadline.map_or(ROUND, |at| at.saturating_duration_since(Instant::now()).min(MAX_WAIT));
        let label = format!("{} runs or waits", self.call.function.name);
        while_waiting(&label, async {
            let mut answer = self.post(left()).await?;
            loop {
                let call: Call = self.client.parse(&answer)?;
                let given_up = match deadline {
                    None => call.status.is_waiting(),
                    Some(at) => Instant::now() >= at,
                };
                if call.status.has_ended() || given_up {
                    return Ok(answer);
                }
                // Posting again comes back as soon as it waits for someone; reading waits on.
                answer = if deadline.is_none() { self.post(left()).await? } else { self.get(left()).await? };
            }
        })
        .await
    }

    /// Prints output as it comes. Returns the call, and whether any was printed.
    async fn stream(&self, output: &mut Output) -> Result<(Answer, bool), CliError> {
        let deadline = self.deadline();
        let answer = self.post(Duration::ZERO).await?;
        let call: Call = self.client.parse(&answer)?;
        if call.status.has_ended() {
            return Ok((answer, false));
        }
        let mut query =
            vec![("call_id", self.call.id.clone()), ("after", call.first_seq.saturating_sub(1).to_string())];
        query.extend(self.args.turn.clone().map(|turn| ("turn", turn)));
        let path = ["sessions", self.session.as_str(), "events"];
        let mut events = Subscription::open(self.client, &path, query).await?;
        let mut printed = false;
        loop {
            let next = while_waiting(&self.call.function.name, events.next());
            let next = match deadline {
                None => next.await?,
                Some(at) => tokio::time::timeout_at(at, next).await.unwrap_or(Ok(None))?,
            };
            let Some(event) = next else { break };
            let value: Value = serde_json::from_str(&event.data)
                .map_err(|error| self.client.strange(format!("an event: {error}")))?;
            // Another turn may have a call of the same id.
            if value["turn"].as_str() != self.args.turn.as_deref() {
                continue;
            }
            match self.show(&event.data, &value, output)? {
                Shown::Output => printed = true,
                Shown::Pause if deadline.is_none() => break,
                Shown::End => break,
                Shown::Pause | Shown::Other => {}
            }
        }
        Ok((self.get(Duration::ZERO).await?, printed))
    }

    fn show(&self, raw: &str, event: &Value, output: &mut Output) -> Result<Shown, CliError> {
        if self.args.json {
            output.json(raw)?;
        }
        match event["type"].as_str().unwrap_or_default() {
            "tool_token" if !self.args.json => {
                output.text(event["content"].as_str().unwrap_or_default())?;
                Ok(Shown::Output)
            }
            "tool_approval_requested" => {
                let id = event["approval"]["approval_id"].as_str().unwrap_or_default();
                self.say_while_waiting(&format!("waits for approval: toolgate approve {id}"));
                Ok(Shown::Pause)
            }
            "need_clarification" => {
                let question = event["question"].as_str().unwrap_or_default();
                self.say_while_waiting(&format!("waits for an answer to: {question}"));
                Ok(Shown::Pause)
            }
            "tool_complete" | "tool_error" | "tool_denied" | "tool_cancelled" | "tool_interrupted"
            | "tool_backgrounded" | "session_ended" => Ok(Shown::End),
            _ => Ok(Shown::Other),
        }
    }

    /// Only where the command goes on waiting: else the last remark says it.
    fn say_while_waiting(&self, text: &str) {
        if self.args.wait.is_some() {
            output::complain(&visible::again(text));
        }
    }
}

/// What an event meant for the one who waits.
enum Shown {
    Output,
    Pause,
    End,
    Other,
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
        args: CallArgs,
    }

    fn call(status: &str, more: &Value) -> String {
        let mut call = json!({"session_id": "s", "call_id": "c", "tool_name": "Bash", "arguments": {},
            "status": status, "mutability": "mutating", "created_at": "2026-11-30T20:15:01Z",
            "first_seq": 4, "last_seq": 9});
        call.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call.to_string()
    }

    fn ended(success: bool, text: &str) -> String {
        call("completed", &json!({"result": {"success": success, "result": text}}))
    }

    fn running() -> Reply {
        Reply::json(202, &call("running", &json!({})))
    }

    async fn called(words: &[&str], replies: Vec<Reply>) -> (Result<u8, CliError>, String, Vec<String>) {
        let server = FakeServer::start(replies).await;
        let args = Line::parse_from([&["call"], words].concat()).args;
        let client = Client::new(server.connection()).unwrap();
        let captured = Captured::default();
        let outcome = make(&args, args.arguments.clone(), &client, &mut captured.output()).await;
        (outcome, captured.text(), server.finish().await)
    }

    #[tokio::test]
    async fn the_arguments_travel_as_they_were_written() {
        let (outcome, text, requests) = called(
            &["--session", "s", "--id", "c", "--turn", "t 1", "Read", "{\"a\":1,\"a\":2}"],
            vec![Reply::json(200, &ended(true, "1\tx\u{1b}[2J"))],
        )
        .await;
        assert_eq!((outcome.unwrap(), text.as_str()), (0, "1\tx\\u{1b}[2J\n"));
        assert!(requests[0].starts_with("POST /v1/sessions/s/calls?wait_ms=30000&turn=t+1 "), "{requests:?}");
        let body: Value = serde_json::from_str(requests[0].split_once("\r\n\r\n").unwrap().1).unwrap();
        assert_eq!(body["function"]["arguments"], "{\"a\":1,\"a\":2}");
        assert_eq!((&body["id"], &body["type"]), (&json!("c"), &json!("function")));
    }

    #[tokio::test]
    async fn a_session_is_made_where_none_is_named() {
        let made = Reply::json(201, r#"{"session_id":"fresh","workspace":"/w"}"#);
        let (_, _, requests) =
            called(&["--workspace", "/w", "Glob"], vec![made, Reply::json(200, &ended(true, ""))]).await;
        assert!(requests[0].ends_with(r#"{"workspace":"/w"}"#), "{requests:?}");
        assert!(requests[1].starts_with("POST /v1/sessions/fresh/calls?"), "{requests:?}");
    }

    #[tokio::test]
    async fn exit_codes_say_how_it_ended() {
        let result = json!({"result": {"success": false, "result": "no"}});
        for (answer, code) in [
            (ended(true, ""), 0),
            (call("backgrounded", &json!({"result": {"success": true, "result": "b1"}})), 0),
            (ended(false, "exit 1"), 1),
            (call("failed", &result), 1),
            (call("cancelled", &result), 1),
            (call("interrupted", &result), 1),
            (call("denied", &result), 3),
            (call("awaiting_approval", &json!({"approval_id": "apr_1"})), 4),
            (call("awaiting_answer", &json!({"question": {"question": "q"}})), 4),
            (call("awaiting_result", &json!({})), 4),
        ] {
            let (outcome, _, _) = called(&["--session", "s", "Bash"], vec![Reply::json(200, &answer)]).await;
            assert_eq!(outcome.unwrap(), code, "{answer}");
        }
        let (outcome, _, _) = called(&["--session", "s", "--wait", "0", "Bash"], vec![running()]).await;
        assert_eq!(outcome.unwrap(), 4);
    }

    #[tokio::test]
    async fn it_waits_on_while_the_tool_runs_and_through_pauses_where_asked() {
        let end = || Reply::json(200, &ended(true, "x"));
        let (outcome, _, requests) =
            called(&["--session", "s", "--id", "c", "Bash"], vec![running(), end()]).await;
        assert_eq!(outcome.unwrap(), 0);
        assert!(requests[1].starts_with("POST /v1/sessions/s/calls?"), "{requests:?}");
        let paused = Reply::json(202, &call("awaiting_approval", &json!({"approval_id": "a"})));
        let (outcome, _, requests) =
            called(&["--session", "s", "--id", "c/1", "--wait", "600", "Bash"], vec![paused, end()]).await;
        assert_eq!(outcome.unwrap(), 0);
        assert!(requests[1].starts_with("GET /v1/sessions/s/calls/c%2F1?wait_ms="), "{requests:?}");
    }

    fn event(seq: u32, body: &Value) -> String {
        format!("id: {seq}\ndata: {body}\n\n")
    }

    #[tokio::test]
    async fn output_is_printed_as_it_comes_and_once() {
        let token = |content: &str| json!({"type": "tool_token", "tool_call_id": "c", "content": content});
        let mut of_another = token("not ours");
        of_another["turn"] = json!("other");
        let end = json!({"type": "tool_complete", "tool_call_id": "c", "result": {}});
        let first = event(5, &token("one\r"));
        let rest = event(6, &of_another) + &event(7, &token("two\n")) + &event(8, &end);
        let (outcome, text, requests) = called(
            &["--session", "s", "--id", "c", "--stream", "Bash"],
            vec![
                running(),
                Reply::broken_events(&format!("retry: 1\n\n{first}")),
                Reply::events(&rest),
                Reply::json(200, &ended(true, "one two")),
            ],
        )
        .await;
        assert_eq!((outcome.unwrap(), text.as_str()), (0, "one\\rtwo\n"));
        assert!(requests[1].starts_with("GET /v1/sessions/s/events?call_id=c&after=3 "), "{requests:?}");
        assert!(requests[2].contains("last-event-id: 5\r\n"), "{requests:?}");
    }

    #[tokio::test]
    async fn a_stream_leaves_at_a_pause() {
        let pause =
            event(5, &json!({"type": "tool_approval_requested", "approval": {"approval_id": "apr_1"}}));
        let waiting = call("awaiting_approval", &json!({"approval_id": "apr_1"}));
        let (outcome, _, _) = called(
            &["--session", "s", "--id", "c", "--stream", "Bash"],
            vec![Reply::json(202, &waiting), Reply::events(&pause), Reply::json(200, &waiting)],
        )
        .await;
        assert_eq!(outcome.unwrap(), 4);
    }
}
