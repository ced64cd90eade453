//! From the name in a call to one exact owner, and from its text to effective arguments: once.

use std::sync::Arc;

use serde_json::Value;

use super::gated::GatedExecutor;
use crate::domain::arguments::{ArgumentsError, parse_tool_args, parse_tool_args_best_effort};
use crate::domain::call::ToolCall;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::permission::{ResolvedCall, Touch};

/// Name spaces that model APIs put in front of a function's name.
const NAME_SPACES: &[&str] = &["functions.", "tools.", "default_api.", "default_api:"];
/// How many tool names an error lists.
const NAMES_LISTED: usize = 40;

/// Resolves a call: exact owner, effective arguments and classification together.
///
/// The exact, case-sensitive name comes first; then the name without a known name space; then
/// legacy names. Nothing else is tried: no folding of case, no trimming, no unknown name space.
pub fn resolve<T: GatedExecutor + ?Sized>(executor: &T, call: &ToolCall) -> Result<ResolvedCall, ToolError> {
    let exact = exact_name(executor, &call.function.name)?;
    executor.resolve_exact(call, &exact, None)
}

/// Resolves a call for judging alone. A tool that nobody owns here is judged as a foreign one, but for a name
/// that nearly is that of one that is owned: whoever calls `bash` means Bash, and is not told of something else.
/// The flag says whether it is owned.
pub fn resolve_for_judging<T: GatedExecutor + ?Sized>(
    executor: &T,
    call: &ToolCall,
) -> Result<(ResolvedCall, bool), ToolError> {
    let name = &call.function.name;
    match exact_name(executor, name) {
        Ok(exact) => Ok((executor.resolve_exact(call, &exact, None)?, true)),
        Err(not_found) => {
            let bare = NAME_SPACES.iter().find_map(|space| name.strip_prefix(space)).unwrap_or(name);
            let folded = fold(bare);
            if executor.schemas().iter().any(|schema| fold(schema.name()) == folded) {
                return Err(not_found);
            }
            Ok((unowned(call, name, None)?, false))
        }
    }
}

/// The exact name that a reference stands for.
pub(super) fn exact_name<T: GatedExecutor + ?Sized>(
    executor: &T,
    reference: &str,
) -> Result<String, ToolError> {
    if executor.owns(reference) {
        return Ok(reference.to_owned());
    }
    let bare = NAME_SPACES.iter().find_map(|space| reference.strip_prefix(space)).unwrap_or(reference);
    if executor.owns(bare) {
        return Ok(bare.to_owned());
    }
    match executor.legacy(bare) {
        Some(exact) if executor.owns(&exact) => Ok(exact),
        _ => Err(ToolError::NotFound(not_found(executor, reference))),
    }
}

fn not_found<T: GatedExecutor + ?Sized>(executor: &T, reference: &str) -> String {
    let shown = visible::clipped(reference, 100);
    let names: Vec<String> = executor.schemas().into_iter().map(|schema| schema.function.name).collect();
    let folded = fold(reference);
    if let Some(near) = names.iter().find(|name| fold(name) == folded) {
        return format!(
            "There is no tool named \"{shown}\". Did you mean \"{near}\"? Names are exact and case-sensitive."
        );
    }
    let mut listed: Vec<&str> = names.iter().map(String::as_str).take(NAMES_LISTED).collect();
    listed.sort_unstable();
    format!("There is no tool named \"{shown}\". The tools are: {}.", listed.join(", "))
}

fn fold(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Reads a call's argument text: repaired only where the tool is read-only by its name.
pub(super) fn read_arguments(
    call: &ToolCall,
    mutability: ToolMutability,
    text_max: usize,
) -> Result<(Value, Option<&'static str>), ToolError> {
    let text = &call.function.arguments;
    if text.len() > text_max {
        return Err(ToolError::InvalidArguments(format!(
            "the arguments have {} bytes; {} takes at most {text_max}",
            text.len(),
            visible::clipped(&call.function.name, 100)
        )));
    }
    let refused = |error: ArgumentsError| ToolError::InvalidArguments(error.to_string());
    match mutability {
        ToolMutability::ReadOnly => {
            let parsed = parse_tool_args_best_effort(text).map_err(refused)?;
            Ok((parsed.value, parsed.repair))
        }
        ToolMutability::Mutating => Ok((parse_tool_args(text).map_err(refused)?, None)),
    }
}

/// A call of a tool that the asked executor does not own, for judging alone: mutating and foreign.
pub(super) fn unowned(
    call: &ToolCall,
    exact: &str,
    parsed: Option<&Value>,
) -> Result<ResolvedCall, ToolError> {
    let arguments = match parsed {
        Some(parsed) => parsed.clone(),
        None => read_arguments(call, ToolMutability::Mutating, crate::tools::CONTENT_ARGUMENT_TEXT_MAX)?.0,
    };
    Ok(ResolvedCall {
        tool_call_id: call.id.clone(),
        tool_name: exact.to_owned(),
        other_names: Vec::new(),
        arguments: Arc::new(arguments),
        mutability: ToolMutability::Mutating,
        concurrency_safe: false,
        touches: vec![Touch::Foreign],
        repair: None,
    })
}
