//! `toolgate config schema`: the JSON Schema of the config.

use super::super::error::CliError;
use super::super::output::Output;
use crate::config;

pub(super) fn run(output: &mut Output) -> Result<u8, CliError> {
    output.text(&format!("{:#}\n", config::schema()))?;
    Ok(0)
}
