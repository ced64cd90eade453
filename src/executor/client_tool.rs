//! A session's own tool that its client runs: the call pauses until the client reports.

use async_trait::async_trait;
use serde_json::Value;

use super::gated::GatedExecutor;
use super::registry::check_name;
use super::validation::ArgumentValidator;
use crate::domain::outcome::{HumanRequest, ToolOutcome};
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::domain::session::SessionTool;
use crate::permission::{PermittedCall, Touch};
use crate::tools::{CONTENT_ARGUMENT_TEXT_MAX, Tool, ToolCtx};

/// The most tools that a session may bring.
pub(super) const SESSION_TOOLS_MAX: usize = 128;
/// The longest description of one, in bytes.
pub(super) const DESCRIPTION_MAX: usize = 16 * 1024;

/// Why a session's tool was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SessionToolError {
    /// Which of the tools, from 0.
    pub index: usize,
    /// What is wrong with it.
    pub message: String,
}

/// Checks the tools that a session brings: names that are free, descriptions in bounds, schemas
/// that stand on their own.
pub fn check_session_tools(tools: &[SessionTool], inner: &dyn GatedExecutor) -> Result<(), SessionToolError> {
    if tools.len() > SESSION_TOOLS_MAX {
        let message = format!("a session may bring at most {SESSION_TOOLS_MAX} tools");
        return Err(SessionToolError { index: SESSION_TOOLS_MAX, message });
    }
    for (index, tool) in tools.iter().enumerate() {
        let refuse = |message: String| SessionToolError { index, message };
        check_name(&tool.name).map_err(refuse)?;
        if tool.name.starts_with("mcp__") {
            return Err(refuse("names that begin with mcp__ belong to MCP servers".to_owned()));
        }
        if inner.owns(&tool.name) || inner.legacy(&tool.name).is_some() {
            return Err(refuse(format!("{:?} is the name of a built-in tool or an alias of one", tool.name)));
        }
        if tools[..index].iter().any(|earlier| earlier.name == tool.name) {
            return Err(refuse(format!("{:?} is there twice", tool.name)));
        }
        if tool.description.len() > DESCRIPTION_MAX {
            return Err(refuse(format!("the description has more than {DESCRIPTION_MAX} bytes")));
        }
        ArgumentValidator::new(&tool.parameters).map_err(|error| refuse(error.to_string()))?;
    }
    Ok(())
}

/// A tool that the client runs.
#[derive(Debug, Clone)]
pub struct ClientTool(SessionTool);

impl ClientTool {
    /// Takes a tool that [`check_session_tools`] found good.
    pub fn new(tool: SessionTool) -> Self {
        Self(tool)
    }
}

#[async_trait]
impl Tool for ClientTool {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn description(&self) -> &str {
        &self.0.description
    }

    fn parameters(&self) -> Value {
        self.0.parameters.clone()
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn argument_text_max(&self) -> usize {
        CONTENT_ARGUMENT_TEXT_MAX
    }

    fn touches(&self, _arguments: &Value) -> Vec<Touch> {
        vec![Touch::Foreign]
    }

    async fn invoke(&self, _call: PermittedCall, _ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        Ok(ToolOutcome::NeedsHuman(HumanRequest::ClientResult))
    }
}
