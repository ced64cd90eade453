//! `toolgate sessions show`: one session, its flags and its calls.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;

use super::list::{mode_name, status_name};
use crate::cli::client::Client;
use crate::cli::color::{Paint, Tone};
use crate::cli::connection::{ConnectionArgs, Role};
use crate::cli::error::CliError;
use crate::cli::ids;
use crate::cli::output::Output;
use crate::cli::paging::Paging;
use crate::cli::rows::{Fit, MORE_OF_FIELD};
use crate::domain::about;
use crate::domain::call::Call;
use crate::domain::session::Session;
use crate::domain::visible;

/// The most characters of a call's arguments in the list.
const ARGUMENTS_MAX: usize = 80;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The session
    id: String,
    /// The session as JSON, as the server sends it; with --calls then one call a line
    #[arg(long)]
    json: bool,
    /// With --json, the calls too
    #[arg(long, requires = "json")]
    calls: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate sessions show run-7
  toolgate sessions show run-7 --json
  toolgate sessions show run-7 --json --calls

`toolgate events run-7` prints all that happened in it.";

/// Prints it.
pub(super) async fn run(args: &ShowArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Either)?)?;
    let answer = client.get(&["sessions", &args.id], &Vec::new(), Duration::ZERO).await?;
    if args.json {
        output.json(&answer.text)?;
        if !args.calls {
            return Ok(0);
        }
    } else {
        output.rows(&described(&client.parse(&answer)?, output.paint()), MORE_OF_FIELD)?;
    }
    let mut pages = Paging::new(&client, &["sessions", &args.id, "calls"], Vec::new());
    while let Some(items) = pages.next().await? {
        for value in items {
            if args.json {
                output.json(&value.to_string())?;
            } else {
                let call = client.read_as(&value)?;
                let (head, what) = line(&call, output.paint());
                output.listed(&head, &what, Fit::Break)?;
            }
        }
    }
    Ok(0)
}

fn described(session: &Session, paint: Paint) -> String {
    let mut text = String::new();
    let mut field = |name: &str, value: &str| {
        let name = paint.tone(Tone::Quiet, &format!("{name:<10}"));
        let _ = writeln!(text, "{name} {}", visible::one_line(value));
    };
    field("session", &session.session_id);
    field("status", status_name(session.status));
    field("workspace", &session.workspace);
    field("mode", mode_name(session));
    if session.runtime.no_human_approver {
        field("approver", "nobody: what would ask is denied");
    }
    for (label, value) in &session.labels {
        field("label", &format!("{label}={value}"));
    }
    field("since", &session.created_at.to_string());
    if let Some(ended) = &session.ended_at {
        field("until", &ended.to_string());
    }
    field("events", &session.last_seq.to_string());
    text
}

/// A call's row, and what it is about.
fn line(call: &Call, paint: Paint) -> (String, String) {
    let status = call.status.as_str();
    let turn = call.key.turn.as_ref().map(|turn| format!(" (turn {})", visible::one_line(turn)));
    let head = format!(
        "  {}  {:<20}  {:<10} ",
        paint.status(status, &format!("{status:<17}")),
        ids::shown(&call.key.call_id),
        visible::one_line(&call.tool_name),
    );
    let what = visible::clipped_again(&visible::json(&about::json(&call.arguments)), ARGUMENTS_MAX);
    (head, format!("{what}{}", turn.unwrap_or_default()))
}
