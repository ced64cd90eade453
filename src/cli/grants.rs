//! `toolgate grants`: what people allowed for a session or for always, and taking it back.

use clap::{Args, Subcommand};

use crate::domain::approval::rule_in;
use crate::domain::grant::Grant;
use crate::domain::visible;

use super::approvals::scope_name;
use super::client::Client;
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::ids;
use super::output::{self, Output};
use super::paging::Paging;
use super::rows::Fit;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct GrantsArgs {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: ListArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List them (also what `toolgate grants` alone does)
    List(ListArgs),
    /// Take one back: such calls ask again
    Revoke(RevokeArgs),
}

#[derive(Debug, Args)]
#[command(after_help = LIST_EXAMPLES)]
struct ListArgs {
    /// Only those that were granted in this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// One JSON object a line, as the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

#[derive(Debug, Args)]
#[command(after_help = REVOKE_EXAMPLES)]
struct RevokeArgs {
    /// The grant; the last 8 characters of its id are enough
    id: String,
    /// Print what was taken back as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate grants
  toolgate grants --session run-7 --json
  toolgate grants revoke grt_0192

Needs the operator's token.";

const LIST_EXAMPLES: &str = "\
Examples:
  toolgate grants list
  toolgate grants list --json";

const REVOKE_EXAMPLES: &str = "\
Examples:
  toolgate grants revoke grt_0192

What already runs goes on; the next such call is judged without the grant.";

/// Lists, or revokes.
pub(super) async fn run(args: GrantsArgs, output: &mut Output) -> Result<u8, CliError> {
    match args.command {
        None => list(&args.list, output).await,
        Some(Command::List(args)) => list(&args, output).await,
        Some(Command::Revoke(args)) => revoke(&args, output).await,
    }
}

async fn list(args: &ListArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    let mut shown = 0_usize;
    let mut pages = Paging::new(&client, &["grants"], Vec::new());
    while let Some(items) = pages.next().await? {
        for value in items {
            if args.session.is_some() && value["session_id"].as_str() != args.session.as_deref() {
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
        output::note("nothing was granted beyond single calls");
    }
    Ok(0)
}

fn row(output: &mut Output, grant: &Grant, first: bool) -> Result<(), CliError> {
    if first {
        let head = format!(
            "{:<36}  {:<7}  {:<20}  {:<12}  {:<19}  ",
            "GRANT", "SCOPE", "SESSION OR ROOT", "AGENT", "UNTIL"
        );
        output.listed(&head, "RULE", Fit::Break)?;
    }
    let holds_for = grant.session_id.as_deref().unwrap_or(&grant.workspace_root);
    let until: String = grant.expires_at.to_string().chars().take(19).collect();
    let head = format!(
        "{:<36}  {:<7}  {:<20}  {:<12}  {:<19}  ",
        visible::one_line(&grant.grant_id),
        scope_name(grant.scope),
        visible::one_line(holds_for),
        visible::one_line(&grant.agent),
        until,
    );
    let rule = visible::one_line(&rule_in(&grant.pattern, grant.directory.as_deref()));
    output.listed(&head, &rule, Fit::Break)
}

async fn revoke(args: &RevokeArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    let (grant, value) = find(&client, &args.id).await?;
    client.delete(&["grants", &grant.grant_id]).await?;
    if args.json {
        output.json(&value.to_string())?;
    } else {
        let rule = rule_in(&grant.pattern, grant.directory.as_deref());
        let told = visible::again(&format!("revoked {}: {rule}", grant.grant_id));
        output.prepared(&format!("{told}\n"))?;
    }
    Ok(0)
}

/// The only grant whose id is, or ends, so.
async fn find(client: &Client, id: &str) -> Result<(Grant, serde_json::Value), CliError> {
    let mut fitting = Vec::new();
    let mut pages = Paging::new(client, &["grants"], Vec::new());
    while let Some(items) = pages.next().await? {
        let meant = |item: &serde_json::Value| {
            item["grant_id"].as_str().is_some_and(|whole| whole == id || ids::is_meant(whole, id))
        };
        fitting.extend(items.into_iter().filter(meant));
    }
    // A whole id may be the end of another one.
    let whole = fitting.iter().position(|item| item["grant_id"].as_str() == Some(id));
    let index = match (whole, fitting.len()) {
        (Some(index), _) => index,
        (None, 1) => 0,
        (None, 0) => {
            return Err(CliError::usage(
                format!("no grant's id is or ends with {id}"),
                ids::hint("toolgate grants"),
            ));
        }
        (None, _) => {
            return Err(CliError::usage(
                format!("more than one grant ends with {id}"),
                ids::hint("toolgate grants"),
            ));
        }
    };
    let value = fitting.swap_remove(index);
    let grant = client.read_as(&value)?;
    Ok((grant, value))
}
