//! `toolgate sessions list`: one line a session.

use clap::Args;

use crate::cli::client::Client;
use crate::cli::connection::{ConnectionArgs, Role};
use crate::cli::error::CliError;
use crate::cli::output::{self, Output};
use crate::cli::paging::Paging;
use crate::cli::rows::Fit;
use crate::domain::session::{Session, SessionStatus};
use crate::domain::visible;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ListArgs {
    /// Those that have ended, too
    #[arg(long)]
    all: bool,
    /// One JSON object a line, as the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate sessions list
  toolgate sessions list --all --json";

/// Prints them, oldest first.
pub(super) async fn run(args: &ListArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Either)?)?;
    let mut shown = 0_usize;
    let mut pages = Paging::new(&client, &["sessions"], Vec::new());
    while let Some(items) = pages.next().await? {
        for value in items {
            if !args.all && value["status"] == "ended" {
                continue;
            }
            if args.json {
                output.json(&value.to_string())?;
            } else {
                row(output, &client.read_as(&value)?, shown == 0)?;
            }
            shown += 1;
        }
    }
    if shown == 0 && !args.json {
        output::note(if args.all {
            "no sessions"
        } else {
            "no session is active; --all lists ended ones too"
        });
    }
    Ok(0)
}

fn row(output: &mut Output, session: &Session, first: bool) -> Result<(), CliError> {
    if first {
        let head =
            format!("{:<36}  {:<6}  {:<19}  {:<12}  {:>6}  ", "SESSION", "STATUS", "SINCE", "MODE", "EVENTS");
        output.listed(&head, "WORKSPACE", Fit::Clip)?;
    }
    let status = status_name(session.status);
    let since: String = session.created_at.to_string().chars().take(19).collect();
    let head = format!(
        "{:<36}  {}  {since:<19}  {:<12}  {:>6}  ",
        visible::one_line(&session.session_id),
        output.paint().status(status, &format!("{status:<6}")),
        mode_name(session),
        session.last_seq,
    );
    output.listed(&head, &visible::one_line(&session.workspace), Fit::Clip)
}

/// The status as it stands on the wire.
pub(super) fn status_name(status: SessionStatus) -> &'static str {
    match status {
        SessionStatus::Active => "active",
        SessionStatus::Ended => "ended",
    }
}

/// The mode, or that it is bypassed.
pub(super) fn mode_name(session: &Session) -> &'static str {
    if session.runtime.bypass_permissions { "bypass" } else { session.runtime.permission_mode.as_str() }
}
