//! `toolgate rules`: what rules say of a call, rules out of other files, and whether a config's are in order.

mod check;
mod explain;
mod import;
mod place;
mod told;

use clap::{Args, Subcommand};

use crate::executor::BuiltinToolExecutor;

use super::error::CliError;
use super::output::Output;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RulesArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Say what comes of a call, by which rule and why; nothing runs
    Explain(explain::ExplainArgs),
    /// Make our rules of a Claude Code settings.json, and say what does not carry over
    Import(import::ImportArgs),
    /// Read a config file's rules, hold them against their tests, and warn of what cannot match
    Check(check::CheckArgs),
}

const EXAMPLES: &str = "\
Examples:
  toolgate rules explain 'Bash(git push)' --config config.json
  toolgate rules explain 'Edit(src/main.rs)' --session run-7
  toolgate rules check config.json
  toolgate rules import .claude/settings.json

docs/permissions.md has the grammar of rules, docs/commands.md how commands are read.";

/// Explains, imports, or checks.
pub(super) async fn run(args: RulesArgs, output: &mut Output) -> Result<u8, CliError> {
    match args.command {
        Command::Explain(args) => explain::run(&args, output).await,
        Command::Import(args) => import::run(&args, output),
        Command::Check(args) => check::run(&args, output),
    }
}

/// The names of the built-in tools: a rule for another one is a mistake more often than not.
fn tool_names() -> Vec<String> {
    BuiltinToolExecutor::tool_schemas().into_iter().map(|schema| schema.function.name).collect()
}
