//! `toolgate sessions end`: ends sessions.

use clap::Args;

use crate::cli::client::Client;
use crate::cli::connection::{ConnectionArgs, Role};
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::domain::visible;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EndArgs {
    /// The sessions
    #[arg(required = true)]
    ids: Vec<String>,
    /// One JSON object a line: each session as it ended
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate sessions end run-7
  toolgate sessions end run-7 run-8 --json

Open calls and approvals are cancelled and processes end; workspace and records stay. The id is never
used again. A session that has ended is no error.";

/// Ends them, one after the other; stops at the first that cannot be ended.
pub(super) async fn run(args: &EndArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Either)?)?;
    for id in &args.ids {
        let answer = client.delete(&["sessions", id]).await?;
        if args.json {
            output.json(&answer.text)?;
        } else {
            output.prepared(&format!("ended {}\n", visible::one_line(id)))?;
        }
    }
    Ok(0)
}
