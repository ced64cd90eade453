//! `toolgate batch`: makes several calls, in order, and prints their results.

use std::io::IsTerminal as _;
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::domain::call::{Call, CallStatus};
use crate::domain::identity::{Ids as _, RandomIds};
use crate::domain::visible;

use super::batch_input::read_calls;
use super::call_report::{exit_code, remarks, report_among_others};
use super::client::{Answer, Client, MAX_WAIT, Query};
use super::color::Tone;
use super::connection::{ConnectionArgs, Role};
use super::decision::text_argument;
use super::error::{self, CliError};
use super::ids;
use super::output::{self, Output};
use super::place::PlaceArgs;
use super::progress::while_waiting;

/// How long one request waits where nothing asks for less.
const ROUND: Duration = Duration::from_secs(30);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BatchArgs {
    /// The calls: a file, or - for standard input
    #[arg(default_value = "-")]
    file: String,
    #[command(flatten)]
    place: PlaceArgs,
    /// A name space for call ids, for models that count anew in each turn
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Wait this many seconds for all ends, for decisions too [default: until they end or wait for someone]
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u32>,
    /// Print one JSON document, {"calls": [...]} in the order of the request
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate batch calls.jsonl --session run-7
  toolgate batch calls.json --workspace ~/project --json
  jq -c '.choices[0].message.tool_calls[]' answer.json | toolgate batch --session run-7 --wait 600

A call is {\"id\": \"call_1\", \"function\": {\"name\": \"Read\", \"arguments\": \"{...}\"}}, as a model's API
gives it; arguments may be an object too. The file holds one call a line, an array of them, or an object
with \"calls\" or \"tool_calls\". At most 128 at once. Calls that read run side by side, one that may
change something waits for those before it.

Exit codes: 4 if any call has no result yet, else 3 if any was denied, else 1 if any was without
success, else 0; 2, 5 and 6 as `toolgate call`.";

/// Makes the calls and prints them.
pub(super) async fn run(args: BatchArgs, output: &mut Output) -> Result<u8, CliError> {
    if args.file == "-" && std::io::stdin().is_terminal() {
        output::complain("reading calls from standard input; Ctrl-D ends them");
    }
    let file = if args.file == "-" { "-".to_owned() } else { format!("@{}", args.file) };
    let mut calls = read_calls(&text_argument(&file)?)?;
    // With ids of its own a repeated request joins the calls that it made.
    for call in calls.iter_mut().filter(|call| call.id.is_empty()) {
        call.id = RandomIds.make("call");
    }
    let client = Client::new(args.connection.resolve(Role::Agent)?)?.quiet();
    let session = args.place.session(&client).await?;
    let order = Order { args: &args, client: &client, session, body: json!({"calls": calls}) };
    let label = format!("{} calls run or wait", calls.len());
    let answer = while_waiting(&label, order.wait()).await?;
    let made = order.calls(&answer)?;
    if args.json {
        output.json(&answer.text)?;
    } else {
        for (call, value) in made.iter().zip(answer.value["calls"].as_array().into_iter().flatten()) {
            show(call, value, output)?;
        }
    }
    Ok(worst(&made))
}

/// A batch on its way.
struct Order<'a> {
    args: &'a BatchArgs,
    client: &'a Client,
    session: String,
    body: Value,
}

impl Order<'_> {
    /// Waits as long as was asked; without a limit until nothing runs and the rest waits for someone.
    async fn wait(&self) -> Result<Answer, CliError> {
        let deadline = self.args.wait.map(|seconds| Instant::now() + Duration::from_secs(seconds.into()));
        let left = || deadline.map_or(ROUND, |at| at.saturating_duration_since(Instant::now()).min(MAX_WAIT));
        loop {
            let path = ["sessions", self.session.as_str(), "calls", "batch"];
            let answer = self.client.post(&path, &self.query(left()), &self.body, left()).await?;
            let calls = self.calls(&answer)?;
            // The batch comes back early where one call waits for someone: then the next one that does
            // not is waited for by itself.
            let next = calls.iter().find(|call| match deadline {
                None => call.status == CallStatus::Running,
                Some(_) => !call.status.has_ended(),
            });
            let stuck = deadline.is_none() && calls.iter().any(|call| call.status.is_waiting());
            let over = deadline.is_some_and(|at| Instant::now() >= at);
            match next {
                _ if over || calls.iter().all(|call| call.status.has_ended()) => return Ok(answer),
                None if stuck => return Ok(answer),
                None => {}
                Some(call) => self.wait_for(call, left()).await?,
            }
        }
    }

    async fn wait_for(&self, call: &Call, wait: Duration) -> Result<(), CliError> {
        let path = ["sessions", self.session.as_str(), "calls", call.key.call_id.as_str()];
        self.client.get(&path, &self.query(wait), wait).await.map(drop)
    }

    fn query(&self, wait: Duration) -> Query<'static> {
        let mut query = vec![("wait_ms", wait.as_millis().to_string())];
        query.extend(self.args.turn.clone().map(|turn| ("turn", turn)));
        query
    }

    fn calls(&self, answer: &Answer) -> Result<Vec<Call>, CliError> {
        self.client.read_as(&answer.value["calls"])
    }
}

fn show(call: &Call, value: &Value, output: &mut Output) -> Result<(), CliError> {
    let status = call.status.as_str();
    let paint = output.paint();
    let id = paint.tone(Tone::Strong, &ids::shown(&call.key.call_id));
    let name = visible::one_line(&call.tool_name);
    output.prepared(&format!("== {id} {name} {}\n", paint.status(status, status)))?;
    report_among_others(call, output)?;
    remarks(call, value);
    Ok(())
}

/// The exit code that says most: what has to be come back for, then refusals, then failures.
fn worst(calls: &[Call]) -> u8 {
    let codes: Vec<u8> = calls.iter().map(exit_code).collect();
    let order = [error::WAITS, error::DENIED, error::UNSUCCESSFUL];
    order.into_iter().find(|code| codes.contains(code)).unwrap_or(0)
}
