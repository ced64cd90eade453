//! `toolgate config check`: all that is wrong with a config file, as the server would find it.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

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
    /// Print what was found as one JSON object
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate config check config.json
  toolgate config check --json config.json              {ok, problems, warnings}
  toolgate config check --without-secrets config.json   where the token files are not at hand";

/// The exit code of a file that cannot be used.
const WRONG: u8 = 1;

pub(super) fn run(args: CheckArgs, output: &mut Output) -> Result<u8, CliError> {
    let checked = app::check_config(args.file, !args.without_secrets);
    if args.json {
        let ok = checked.problems.is_empty();
        let problems: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
        let warnings: Vec<String> = checked.warnings.iter().map(ToString::to_string).collect();
        output.json(&json!({"ok": ok, "problems": problems, "warnings": warnings}).to_string())?;
        return Ok(if ok { 0 } else { WRONG });
    }
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
