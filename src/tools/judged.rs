//! The one place that a call was judged for, for tools that take a single path.

use std::sync::Arc;

use crate::domain::result::ToolError;
use crate::permission::PermittedCall;
use crate::workspace::{Located, Workspace};

/// The place and its workspace, as the gate judged them. Only a fault of ours leaves a call without.
pub(super) fn place(call: &PermittedCall) -> Result<(Located, Arc<Workspace>), ToolError> {
    match (call.located().next(), call.workspace()) {
        (Some(located), Some(workspace)) => Ok((located.clone(), Arc::clone(workspace))),
        _ => Err(ToolError::Internal("the call has no judged place".to_owned())),
    }
}
