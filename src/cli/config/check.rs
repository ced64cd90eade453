//! `toolgate config check`: all that is wrong with a config file, as the server would find it.

use std::path::PathBuf;

use clap::Args;

use super::super::error::CliError;
use super::super::output::Output;
use crate::app;

/// The arguments of `toolgate config check`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// The file [default: what TOOLGATE_CONFIG names]
    file: Option<PathBuf>,
    /// Do not look for the files and variables that hold tokens: they are elsewhere
    #[arg(long)]
    without_secrets: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate config check config.json
  toolgate config check --without-secrets config.json   where the token files are not at hand";

/// The exit code of a file that cannot be used.
const WRONG: u8 = 1;

pub(super) fn run(args: CheckArgs, output: &mut Output) -> Result<u8, CliError> {
    let checked = app::check_config(args.file, !args.without_secrets);
    for warning in &checked.warnings {
        output.line(&format!("warning: {warning}"))?;
    }
    for problem in &checked.problems {
        output.line(&problem.to_string())?;
    }
    match checked.problems.len() {
        0 => {
            output.line("the config is in order")?;
            Ok(0)
        }
        _ => Ok(WRONG),
    }
}
