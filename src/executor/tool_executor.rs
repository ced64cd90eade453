//! The interface of everything that executes tool calls.

use async_trait::async_trait;
use serde_json::Value;

use super::context::ToolExecutionContext;
use crate::domain::call::ToolCall;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::{ToolMutability, ToolSchema};

/// Executes tool calls and says which it can.
///
/// The executors of this crate implement it through [`GatedExecutor`](super::GatedExecutor), so
/// that each `execute…` method of theirs judges. An executor of someone else's implements it
/// directly, knows nothing of permissions, and joins a chain only wrapped in
/// [`Gated`](super::Gated).
#[async_trait]
pub trait ToolExecutor: Send + Sync {
    /// Executes a call without a session: nobody can be asked.
    async fn execute(&self, call: &ToolCall) -> Result<ToolResult, ToolError>;

    /// The tools that can be called, with their schemas.
    fn list_tools(&self) -> Vec<ToolSchema>;

    /// Executes with streaming and flags; falls back to [`execute`](Self::execute).
    async fn execute_with_context(
        &self,
        call: &ToolCall,
        _ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolResult, ToolError> {
        self.execute(call).await
    }

    /// Executes and tells a result from a background run and from a pause. The default knows only
    /// results.
    async fn execute_with_context_outcome(
        &self,
        call: &ToolCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        self.execute_with_context(call, ctx).await.map(ToolOutcome::Completed)
    }

    /// Executes for an owner that was resolved: `execution_name` is exact and case-sensitive. The
    /// default puts it in the place of the call's name.
    async fn execute_exact_with_context_outcome(
        &self,
        call: &ToolCall,
        execution_name: &str,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        self.execute_with_context_outcome(&renamed(call, execution_name), ctx).await
    }

    /// Judges a call: `Ok(None)` when it may run, `Ok(Some(_))` with the pause when a person has to
    /// answer first, an error when it is refused. The default has no gate, which is why such an
    /// executor cannot join a chain unwrapped.
    async fn check_permissions_for(
        &self,
        _call: &ToolCall,
        _ctx: &ToolExecutionContext<'_>,
    ) -> Result<Option<ToolOutcome>, ToolError> {
        Ok(None)
    }

    /// Judges for an owner that was resolved; the argument text and what was parsed of it stay.
    async fn check_permissions_for_exact(
        &self,
        call: &ToolCall,
        execution_name: &str,
        ctx: &ToolExecutionContext<'_>,
    ) -> Result<Option<ToolOutcome>, ToolError> {
        self.check_permissions_for(&renamed(call, execution_name), ctx).await
    }

    /// Judges for an owner and effective arguments that were resolved: both the call and the
    /// context are rebuilt from them, so that what is judged is what would run.
    async fn check_permissions_for_resolved(
        &self,
        call: &ToolCall,
        execution_name: &str,
        args: &Value,
        ctx: &ToolExecutionContext<'_>,
    ) -> Result<Option<ToolOutcome>, ToolError> {
        let rebuilt = ToolCall::new(&call.id, execution_name, args.to_string());
        self.check_permissions_for(&rebuilt, &ctx.with_arguments(args)).await
    }

    /// Whether a tool of exactly this name is owned: no alias, no name space, case matters.
    fn owns_exact_tool(&self, tool_name: &str) -> bool {
        self.list_tools().iter().any(|schema| schema.name() == tool_name)
    }

    /// Guidance for the system prompt on whatever is callable now.
    fn tool_guidance(&self) -> Option<String> {
        None
    }

    /// Whether calls of a tool can change something; what is not known can.
    fn tool_mutability(&self, _tool_name: &str) -> ToolMutability {
        ToolMutability::Mutating
    }

    /// The same for one call.
    fn call_mutability(&self, call: &ToolCall) -> ToolMutability {
        self.tool_mutability(&call.function.name)
    }

    /// Whether calls of a tool may run beside other read-only ones.
    fn tool_concurrency_safe(&self, tool_name: &str) -> bool {
        self.tool_mutability(tool_name) == ToolMutability::ReadOnly
    }

    /// The same for one call.
    fn call_concurrency_safe(&self, call: &ToolCall) -> bool {
        self.tool_concurrency_safe(&call.function.name)
    }

    /// Mutability and concurrency safety of one call together.
    fn call_parallel_classification(&self, call: &ToolCall) -> (ToolMutability, bool) {
        (self.call_mutability(call), self.call_concurrency_safe(call))
    }
}

fn renamed(call: &ToolCall, execution_name: &str) -> ToolCall {
    ToolCall::new(&call.id, execution_name, &call.function.arguments)
}
