//! A session's own tools over another executor, behind that executor's gate.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::builtin::BuiltinToolExecutor;
use super::context::ToolExecutionContext;
use super::gated::{GatedExecutor, sealed};
use super::registry::ToolRegistry;
use crate::domain::call::ToolCall;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::{ToolMutability, ToolSchema};
use crate::permission::{Gate, PermittedCall, Previewer, ResolvedCall};
use crate::workspace::Workspace;

/// Puts tools over an inner executor. It has no gate of its own: what it owns is judged by the
/// gate of the executor within, and what it does not own goes there whole.
pub struct OverlayToolExecutor {
    own: BuiltinToolExecutor,
    inner: Arc<dyn GatedExecutor>,
}

impl OverlayToolExecutor {
    /// Tools of a registry over an executor. Fails where a name is one of the executor's.
    pub fn new(registry: ToolRegistry, inner: Arc<dyn GatedExecutor>) -> Result<Self, ToolError> {
        let names = registry.names();
        if let Some(taken) = names.iter().find(|name| inner.owns(name) || inner.legacy(name).is_some()) {
            return Err(ToolError::InvalidArguments(format!("{taken:?} is the name of a tool already")));
        }
        Ok(Self { own: BuiltinToolExecutor::with_registry(registry), inner })
    }

    fn owner(&self, tool_name: &str) -> &dyn GatedExecutor {
        if self.own.owns(tool_name) { &self.own } else { &*self.inner }
    }
}

impl sealed::Sealed for OverlayToolExecutor {}

#[async_trait]
impl GatedExecutor for OverlayToolExecutor {
    fn schemas(&self) -> Vec<ToolSchema> {
        let mut schemas = self.own.schemas();
        schemas.extend(self.inner.schemas());
        schemas
    }

    fn owns(&self, tool_name: &str) -> bool {
        self.own.owns(tool_name) || self.inner.owns(tool_name)
    }

    fn legacy(&self, reference: &str) -> Option<String> {
        self.inner.legacy(reference)
    }

    fn classify(&self, tool_name: &str) -> Option<(ToolMutability, bool)> {
        self.owner(tool_name).classify(tool_name)
    }

    fn resolve_exact(
        &self,
        call: &ToolCall,
        exact: &str,
        parsed: Option<&Value>,
    ) -> Result<ResolvedCall, ToolError> {
        self.owner(exact).resolve_exact(call, exact, parsed)
    }

    fn gate_for(&self, exact: &str) -> &Gate {
        self.inner.gate_for(exact)
    }

    fn previewer(&self, exact: &str) -> Arc<dyn Previewer> {
        self.owner(exact).previewer(exact)
    }

    async fn run(
        &self,
        permitted: PermittedCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        self.owner(permitted.tool_name()).run(permitted, ctx).await
    }

    fn guidance(&self) -> Option<String> {
        let texts: Vec<String> = [self.own.guidance(), self.inner.guidance()].into_iter().flatten().collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn home(&self) -> Option<Arc<Workspace>> {
        self.inner.home()
    }
}
