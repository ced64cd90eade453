//! `toolgate config reference`: every key in a table.

use super::super::error::CliError;
use super::super::output::Output;
use crate::config;

pub(super) fn run(output: &mut Output) -> Result<u8, CliError> {
    output.text(&config::reference())?;
    Ok(0)
}
