//! Judged arguments as a tool's own struct.

use serde::Deserialize;
use serde_json::Value;

use crate::domain::result::ToolError;

/// Reads arguments that the resolver has validated; what fails here all the same is the caller's mistake.
pub(super) fn read_arguments<'a, T: Deserialize<'a>>(arguments: &'a Value) -> Result<T, ToolError> {
    T::deserialize(arguments).map_err(|error| ToolError::InvalidArguments(error.to_string()))
}
