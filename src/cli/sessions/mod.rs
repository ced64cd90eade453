//! `toolgate sessions`: what works where, and its beginning and end.

mod create;
mod end;
mod list;
mod show;

use clap::{Args, Subcommand};

pub(super) use create::ModeArg;

use super::error::CliError;
use super::output::Output;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(super) struct SessionsArgs {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::ListArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List them (also what `toolgate sessions` alone does)
    List(list::ListArgs),
    /// Show one session and its calls
    Show(show::ShowArgs),
    /// Make one, with a workspace of its own or a given one
    Create(create::CreateArgs),
    /// End some: their calls are cancelled, their processes end
    End(end::EndArgs),
}

const EXAMPLES: &str = "\
Examples:
  toolgate sessions
  toolgate sessions show run-7
  toolgate sessions create --id run-8 --workspace ~/project --mode plan
  toolgate sessions end run-7

An agent's token sees its own sessions, an operator's all.";

/// Does what is asked of sessions.
pub(super) async fn run(args: SessionsArgs, output: &mut Output) -> Result<u8, CliError> {
    match args.command {
        None => list::run(&args.list, output).await,
        Some(Command::List(args)) => list::run(&args, output).await,
        Some(Command::Show(args)) => show::run(&args, output).await,
        Some(Command::Create(args)) => create::run(&args, output).await,
        Some(Command::End(args)) => end::run(&args, output).await,
    }
}
