//! `toolgate openapi`: prints the description of the HTTP interface.

use clap::Args;

use super::error::CliError;
use super::output::Output;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct OpenapiArgs {}

const EXAMPLES: &str = "\
Examples:
  toolgate openapi > openapi.json

The same as a server answers on /openapi.json; no server is needed.";

/// Prints it.
pub(super) fn run(output: &mut Output) -> Result<u8, CliError> {
    output.own(&crate::http::openapi_text())?;
    Ok(0)
}
