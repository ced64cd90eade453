//! `toolgate cancel`: ends a call that runs or waits.

use std::time::Duration;

use clap::Args;
use serde_json::json;

use crate::domain::call::{Call, CallStatus};

use super::client::{Client, Query};
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::ids;
use super::output::Output;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CancelArgs {
    /// The session
    session: String,
    /// The call
    call: String,
    /// The turn that the call's id belongs to, where it has one
    #[arg(long, value_name = "TURN")]
    turn: Option<String>,
    /// Print the call as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate cancel run-7 call_3
  toolgate cancel run-7 call_0 --turn 4 --json

A command's whole process tree ends with its call. A call that has ended already stays as it is, which
is no error: the output says how it ended.";

/// Cancels it.
pub(super) async fn run(args: CancelArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Either)?)?;
    let query: Query<'_> = args.turn.clone().map(|turn| ("turn", turn)).into_iter().collect();
    let path = ["sessions", args.session.as_str(), "calls", args.call.as_str(), "cancel"];
    let answer = client.post(&path, &query, &json!({}), Duration::ZERO).await?;
    if args.json {
        output.json(&answer.text)?;
        return Ok(0);
    }
    let call: Call = client.parse(&answer)?;
    let how = match call.status {
        CallStatus::Cancelled => "cancelled".to_owned(),
        status if status.has_ended() => format!("had ended already ({})", status.as_str()),
        status => format!("is being cancelled ({})", status.as_str()),
    };
    output.prepared(&format!("{} {how}\n", ids::shown(&call.key.call_id)))?;
    Ok(0)
}
