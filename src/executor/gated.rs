//! Executors that cannot be reached around their gate: every `execute…` of theirs is written here.

use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tracing::{Instrument as _, trace_span};

use super::context::ToolExecutionContext;
use super::resolver;
use super::tool_executor::ToolExecutor;
use crate::domain::call::ToolCall;
use crate::domain::outcome::{HumanRequest, ToolOutcome};
use crate::domain::result::{APPROVAL_PAUSE, ToolError, ToolResult};
use crate::domain::schema::{ToolMutability, ToolSchema};
use crate::permission::{Clearance, Gate, PermittedCall, Previewer, ResolvedCall, Scope};
use crate::telemetry::trace::DETAIL;
use crate::workspace::Workspace;

pub(super) mod sealed {
    /// Keeps [`GatedExecutor`](super::GatedExecutor) to this crate: what others write joins a chain
    /// wrapped, never beside the gate.
    pub trait Sealed {}
}

/// An executor that a chain may hold. It names its tools, resolves a call for one of them, names
/// the gate in front of it and runs what that gate permitted; it has no way to run anything else.
///
/// [`ToolExecutor`] is implemented once for all of them, below: resolve, judge, run. A wrapper that
/// implements this trait therefore cannot lose the gate.
#[async_trait]
pub trait GatedExecutor: Send + Sync + sealed::Sealed {
    /// The tools that can be called.
    fn schemas(&self) -> Vec<ToolSchema>;

    /// Whether a tool of exactly this name is owned.
    fn owns(&self, tool_name: &str) -> bool;

    /// The exact name behind a legacy name, where there is one.
    fn legacy(&self, reference: &str) -> Option<String>;

    /// Mutability and concurrency safety of a tool by its name; none where it is not owned.
    fn classify(&self, tool_name: &str) -> Option<(ToolMutability, bool)>;

    /// Reads and checks a call's arguments for the tool of exactly this name, or takes those that
    /// were read before.
    fn resolve_exact(
        &self,
        call: &ToolCall,
        exact: &str,
        parsed: Option<&Value>,
    ) -> Result<ResolvedCall, ToolError>;

    /// The gate in front of a tool, its own or one that is not owned: a wrapper's inner gate.
    fn gate_for(&self, exact: &str) -> &Gate;

    /// What shows beforehand what a call of the tool would change.
    fn previewer(&self, exact: &str) -> Arc<dyn Previewer>;

    /// Runs what the gate permitted.
    async fn run(
        &self,
        permitted: PermittedCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError>;

    /// Guidance for the system prompt.
    fn guidance(&self) -> Option<String>;

    /// Where calls work that come without a scope.
    fn home(&self) -> Option<Arc<Workspace>> {
        None
    }
}

/// The scope that a call without one works in.
fn home_scope<T: GatedExecutor + ?Sized>(executor: &T, ctx: &ToolExecutionContext<'_>) -> Option<Arc<Scope>> {
    if ctx.scope.is_some() {
        return None;
    }
    executor.home().map(|workspace| Arc::new(Scope::standalone(workspace, ctx.tool_call_id)))
}

fn resolved_for<T: GatedExecutor + ?Sized>(
    executor: &T,
    call: &ToolCall,
    exact: Option<&str>,
    ctx: &ToolExecutionContext<'_>,
) -> Result<ResolvedCall, ToolError> {
    let exact = match exact {
        Some(exact) if executor.owns(exact) => Cow::Borrowed(exact),
        Some(exact) => return Err(ToolError::NotFound(format!("no executor owns a tool named {exact:?}"))),
        None => Cow::Owned(resolver::exact_name(executor, &call.function.name)?),
    };
    executor.resolve_exact(call, &exact, ctx.pre_parsed_args)
}

async fn judge<T: GatedExecutor + ?Sized>(
    executor: &T,
    call: &ToolCall,
    exact: Option<&str>,
    ctx: &ToolExecutionContext<'_>,
) -> Result<Option<ToolOutcome>, ToolError> {
    let home = home_scope(executor, ctx);
    let ctx = home.as_ref().map_or(*ctx, |scope| ctx.within(scope));
    // A wrapper may ask about a tool that it alone owns: it wants this executor's gate, which then
    // judges the call as a foreign one.
    let resolved = match exact {
        Some(exact) if !executor.owns(exact) => resolver::unowned(call, exact, ctx.pre_parsed_args)?,
        _ => resolved_for(executor, call, exact, &ctx)?,
    };
    let previewer = executor.previewer(&resolved.tool_name);
    executor.gate_for(&resolved.tool_name).check(&resolved, &*previewer, ctx.circumstances()).await
}

async fn execute<T: GatedExecutor + ?Sized>(
    executor: &T,
    call: &ToolCall,
    exact: Option<&str>,
    ctx: ToolExecutionContext<'_>,
) -> Result<ToolOutcome, ToolError> {
    let home = home_scope(executor, &ctx);
    let ctx = home.as_ref().map_or(ctx, |scope| ctx.within(scope));
    let resolved = resolved_for(executor, call, exact, &ctx)?;
    let previewer = executor.previewer(&resolved.tool_name);
    let (repair, gate) = (resolved.repair, executor.gate_for(&resolved.tool_name));
    let judged = gate.permit(resolved, &*previewer, ctx.circumstances());
    match judged.instrument(trace_span!(target: DETAIL, "judge")).await? {
        Clearance::Pause(outcome) => Ok(*outcome),
        Clearance::Permitted(permitted) => {
            let ran = executor.run(*permitted, ctx).instrument(trace_span!(target: DETAIL, "run")).await;
            ran.map(|outcome| honest(outcome, repair))
        }
    }
}

/// Takes from an outcome what only the gate may say, and adds what was mended in the arguments.
fn honest(outcome: ToolOutcome, repair: Option<&'static str>) -> ToolOutcome {
    match outcome {
        ToolOutcome::Completed(mut result) => {
            if result.display_preference.as_deref() == Some(APPROVAL_PAUSE) {
                result.display_preference = None;
            }
            if let Some(repair) = repair {
                result.result = format!("Note: {repair}.\n\n{}", result.result);
            }
            ToolOutcome::Completed(result)
        }
        ToolOutcome::NeedsHuman(HumanRequest::Approval(_)) => ToolOutcome::Completed(
            ToolResult::unsuccessful("The tool tried to speak for the gate; its answer was dropped."),
        ),
        other => other,
    }
}

#[async_trait]
impl<T: GatedExecutor + ?Sized> ToolExecutor for T {
    async fn execute(&self, call: &ToolCall) -> Result<ToolResult, ToolError> {
        let ctx = ToolExecutionContext::none(&call.id);
        execute(self, call, None, ctx).await.map(ToolOutcome::into_result)
    }

    fn list_tools(&self) -> Vec<ToolSchema> {
        self.schemas()
    }

    async fn execute_with_context(
        &self,
        call: &ToolCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolResult, ToolError> {
        execute(self, call, None, ctx).await.map(ToolOutcome::into_result)
    }

    async fn execute_with_context_outcome(
        &self,
        call: &ToolCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        execute(self, call, None, ctx).await
    }

    async fn execute_exact_with_context_outcome(
        &self,
        call: &ToolCall,
        execution_name: &str,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        execute(self, call, Some(execution_name), ctx).await
    }

    async fn check_permissions_for(
        &self,
        call: &ToolCall,
        ctx: &ToolExecutionContext<'_>,
    ) -> Result<Option<ToolOutcome>, ToolError> {
        judge(self, call, None, ctx).await
    }

    async fn check_permissions_for_exact(
        &self,
        call: &ToolCall,
        execution_name: &str,
        ctx: &ToolExecutionContext<'_>,
    ) -> Result<Option<ToolOutcome>, ToolError> {
        judge(self, call, Some(execution_name), ctx).await
    }

    async fn check_permissions_for_resolved(
        &self,
        call: &ToolCall,
        execution_name: &str,
        args: &Value,
        ctx: &ToolExecutionContext<'_>,
    ) -> Result<Option<ToolOutcome>, ToolError> {
        judge(self, call, Some(execution_name), &ctx.with_arguments(args)).await
    }

    fn owns_exact_tool(&self, tool_name: &str) -> bool {
        self.owns(tool_name)
    }

    fn tool_guidance(&self) -> Option<String> {
        self.guidance()
    }

    fn tool_mutability(&self, tool_name: &str) -> ToolMutability {
        self.classify(tool_name).map_or(ToolMutability::Mutating, |(mutability, _)| mutability)
    }

    fn call_mutability(&self, call: &ToolCall) -> ToolMutability {
        self.call_parallel_classification(call).0
    }

    fn tool_concurrency_safe(&self, tool_name: &str) -> bool {
        self.classify(tool_name).is_some_and(|(_, safe)| safe)
    }

    fn call_concurrency_safe(&self, call: &ToolCall) -> bool {
        self.call_parallel_classification(call).1
    }

    fn call_parallel_classification(&self, call: &ToolCall) -> (ToolMutability, bool) {
        match resolver::resolve(self, call) {
            Ok(resolved) => (resolved.mutability, resolved.concurrency_safe),
            Err(_) => (ToolMutability::Mutating, false),
        }
    }
}
