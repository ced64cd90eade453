//! `toolgate watch`: what happens, live on a terminal; a line an event elsewhere.

mod card;
mod draw;
mod exact;
mod fold;
mod guard;
mod keys;
mod live;
mod pending;
mod state;
mod terminal;
mod view;
pub(super) mod wrap;

use std::io::IsTerminal as _;

use clap::Args;

use super::client::Client;
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::events::{self, FilterArgs, Printer};
use super::output::Output;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WatchArgs {
    /// The session; without it all of them (needs the operator's token)
    session: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// A line an event, as where the output is no terminal
    #[arg(long)]
    plain: bool,
    /// One JSON object a line, as the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate watch
  toolgate watch run-7
  toolgate watch run-7 --plain --after 120
  toolgate watch --types tool_approval_requested,tool_denied --json

On a terminal it shows calls, their output and what waits for a decision, which one key decides; ? lists
the keys, q leaves. An approval can be allowed once it has stood there for a moment and its end was seen.
Filters, --plain and --json print a line an event instead. A dropped connection is taken up again.";

/// Shows until the session ends or the person leaves.
pub(super) async fn run(args: WatchArgs, output: &mut Output) -> Result<u8, CliError> {
    let role = if args.session.is_some() { Role::Either } else { Role::Operator };
    let client = Client::new(args.connection.resolve(role)?)?;
    let session = args.session.as_deref();
    let dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    let on_terminal = !dumb && std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if on_terminal && !args.plain && !args.json && !args.filter.is_given() {
        return live::run(&client.quiet(), session, output.paint().is_on()).await;
    }
    let printer = Printer { filter: &args.filter, json: args.json };
    events::follow(&client, session, &printer, output).await
}
