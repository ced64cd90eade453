//! A chain of executors: the first that owns a name exactly is its owner.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::context::ToolExecutionContext;
use super::gated::{GatedExecutor, sealed};
use crate::domain::call::ToolCall;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::{ToolMutability, ToolSchema};
use crate::permission::{Gate, PermittedCall, Previewer, ResolvedCall};
use crate::workspace::Workspace;

/// Routes each call to the one executor that owns it. There is at least one.
pub struct RoutingExecutor {
    first: Arc<dyn GatedExecutor>,
    rest: Vec<Arc<dyn GatedExecutor>>,
}

impl RoutingExecutor {
    /// A chain that begins with an executor, whose gate also judges what nothing here owns.
    pub fn new(first: Arc<dyn GatedExecutor>) -> Self {
        Self { first, rest: Vec::new() }
    }

    /// The same with one more at its end.
    #[must_use]
    pub fn then(mut self, next: Arc<dyn GatedExecutor>) -> Self {
        self.rest.push(next);
        self
    }

    fn members(&self) -> impl Iterator<Item = &Arc<dyn GatedExecutor>> {
        std::iter::once(&self.first).chain(&self.rest)
    }

    fn owner(&self, tool_name: &str) -> Option<&Arc<dyn GatedExecutor>> {
        self.members().find(|member| member.owns(tool_name))
    }

    fn owner_or_error(&self, tool_name: &str) -> Result<&Arc<dyn GatedExecutor>, ToolError> {
        self.owner(tool_name)
            .ok_or_else(|| ToolError::NotFound(format!("no executor owns a tool named {tool_name:?}")))
    }
}

impl sealed::Sealed for RoutingExecutor {}

#[async_trait]
impl GatedExecutor for RoutingExecutor {
    fn schemas(&self) -> Vec<ToolSchema> {
        let mut schemas: Vec<ToolSchema> = Vec::new();
        for schema in self.members().flat_map(|member| member.schemas()) {
            // Of two tools with one name the first is the owner; the other cannot be called.
            if !schemas.iter().any(|listed| listed.name() == schema.name()) {
                schemas.push(schema);
            }
        }
        schemas
    }

    fn owns(&self, tool_name: &str) -> bool {
        self.owner(tool_name).is_some()
    }

    fn legacy(&self, reference: &str) -> Option<String> {
        self.members().find_map(|member| member.legacy(reference))
    }

    fn classify(&self, tool_name: &str) -> Option<(ToolMutability, bool)> {
        self.owner(tool_name).and_then(|owner| owner.classify(tool_name))
    }

    fn resolve_exact(
        &self,
        call: &ToolCall,
        exact: &str,
        parsed: Option<&Value>,
    ) -> Result<ResolvedCall, ToolError> {
        self.owner_or_error(exact)?.resolve_exact(call, exact, parsed)
    }

    fn gate_for(&self, exact: &str) -> &Gate {
        self.owner(exact).unwrap_or(&self.first).gate_for(exact)
    }

    fn previewer(&self, exact: &str) -> Arc<dyn Previewer> {
        self.owner(exact).unwrap_or(&self.first).previewer(exact)
    }

    async fn run(
        &self,
        permitted: PermittedCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        self.owner_or_error(permitted.tool_name())?.run(permitted, ctx).await
    }

    fn guidance(&self) -> Option<String> {
        let texts: Vec<String> = self.members().filter_map(|member| member.guidance()).collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn home(&self) -> Option<Arc<Workspace>> {
        self.members().find_map(|member| member.home())
    }
}
