//! `toolgate config`: check a config file, show what it comes to, and what may stand in one.

mod check;
mod reference;
mod schema;
mod show;

use clap::{Args, Subcommand};

use super::error::CliError;
use super::output::Output;

/// The arguments of `toolgate config`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

const EXAMPLES: &str = "\
Examples:
  toolgate config check config.json     say all that is wrong with it, each with its line
  toolgate config show                  what is in force, and where each value comes from
  toolgate config schema > schema.json  the JSON Schema, for editors
  toolgate config reference             every key in a table

A server that runs takes a changed file by itself; POST /v1/config/reload says what came of it.";

const SCHEMA_EXAMPLES: &str = "\
Examples:
  toolgate config schema > schema.json    name it as \"$schema\" in the config: editors then help";

const REFERENCE_EXAMPLES: &str = "\
Examples:
  toolgate config reference               type, default, bounds and variable of each key";

#[derive(Debug, Subcommand)]
enum ConfigCommand {
    /// Say all that is wrong with a config file; 0 where nothing is, else 1
    Check(check::CheckArgs),
    /// Print the config that a server would start with, without secrets
    Show(show::ShowArgs),
    /// Print the JSON Schema of the config
    #[command(after_help = SCHEMA_EXAMPLES)]
    Schema,
    /// Print a table of every key, in Markdown
    #[command(after_help = REFERENCE_EXAMPLES)]
    Reference,
}

/// Runs what the arguments name.
pub(super) fn run(args: ConfigArgs, output: &mut Output) -> Result<u8, CliError> {
    match args.command {
        ConfigCommand::Check(args) => check::run(args, output),
        ConfigCommand::Show(args) => show::run(args, output),
        ConfigCommand::Schema => schema::run(output),
        ConfigCommand::Reference => reference::run(output),
    }
}
