//! Executors of others, made fit for a chain: nothing of theirs runs before the gate permits it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use super::context::ToolExecutionContext;
use super::gated::{GatedExecutor, sealed};
use super::registry::check_name;
use super::resolver;
use super::tool_executor::ToolExecutor;
use super::validation::ArgumentValidator;
use crate::domain::call::ToolCall;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::{ToolMutability, ToolSchema};
use crate::permission::{Gate, NothingToPreview, PermittedCall, Previewer, ResolvedCall, Touch};
use crate::tools::CONTENT_ARGUMENT_TEXT_MAX;

/// How many compiled schemas are kept for one executor; past that they are compiled anew.
const VALIDATORS_KEPT: usize = 512;

/// An executor of someone else's behind a gate.
pub struct Gated<E> {
    inner: E,
    gate: Gate,
    validators: Mutex<HashMap<String, (Value, Arc<ArgumentValidator>)>>,
}

impl<E: ToolExecutor> Gated<E> {
    /// Puts an executor behind a gate.
    pub fn new(inner: E, gate: Gate) -> Self {
        Self { inner, gate, validators: Mutex::new(HashMap::new()) }
    }

    fn validator(&self, schema: &ToolSchema) -> Result<Arc<ArgumentValidator>, ToolError> {
        let mut kept = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, validator)) = kept.get(schema.name())
            && *known == schema.function.parameters
        {
            return Ok(Arc::clone(validator));
        }
        let validator = ArgumentValidator::new(&schema.function.parameters)
            .map(Arc::new)
            .map_err(|error| ToolError::Execution(format!("{} cannot be called: {error}", schema.name())))?;
        if kept.len() >= VALIDATORS_KEPT {
            kept.clear();
        }
        kept.insert(schema.name().to_owned(), (schema.function.parameters.clone(), Arc::clone(&validator)));
        Ok(validator)
    }
}

impl<E> sealed::Sealed for Gated<E> {}

#[async_trait]
impl<E: ToolExecutor> GatedExecutor for Gated<E> {
    fn schemas(&self) -> Vec<ToolSchema> {
        let mut schemas = self.inner.list_tools();
        schemas.retain(|schema| check_name(schema.name()).is_ok());
        schemas
    }

    fn owns(&self, tool_name: &str) -> bool {
        check_name(tool_name).is_ok() && self.inner.owns_exact_tool(tool_name)
    }

    fn legacy(&self, _reference: &str) -> Option<String> {
        None
    }

    fn classify(&self, tool_name: &str) -> Option<(ToolMutability, bool)> {
        self.owns(tool_name)
            .then(|| (self.inner.tool_mutability(tool_name), self.inner.tool_concurrency_safe(tool_name)))
    }

    fn resolve_exact(
        &self,
        call: &ToolCall,
        exact: &str,
        parsed: Option<&Value>,
    ) -> Result<ResolvedCall, ToolError> {
        let schemas = self.inner.list_tools();
        let schema = schemas
            .iter()
            .find(|schema| schema.name() == exact)
            .ok_or_else(|| ToolError::NotFound(format!("there is no tool named {exact:?}")))?;
        let by_name = self.inner.tool_mutability(exact);
        let (arguments, repair) = match parsed {
            Some(parsed) => (parsed.clone(), None),
            None => resolver::read_arguments(call, by_name, CONTENT_ARGUMENT_TEXT_MAX)?,
        };
        self.validator(schema)?.check(exact, &arguments).map_err(ToolError::InvalidArguments)?;
        let rebuilt = ToolCall::new(&call.id, exact, arguments.to_string());
        let (mutability, concurrency_safe) = self.inner.call_parallel_classification(&rebuilt);
        Ok(ResolvedCall {
            tool_call_id: call.id.clone(),
            tool_name: exact.to_owned(),
            other_names: Vec::new(),
            arguments: Arc::new(arguments),
            mutability,
            concurrency_safe,
            touches: vec![Touch::Foreign],
            repair,
        })
    }

    fn gate_for(&self, _exact: &str) -> &Gate {
        &self.gate
    }

    fn previewer(&self, _exact: &str) -> Arc<dyn Previewer> {
        Arc::new(NothingToPreview)
    }

    async fn run(
        &self,
        permitted: PermittedCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        let resolved = permitted.resolved();
        let name = resolved.tool_name.as_str();
        // Rebuilt from what was judged: the model's own text goes no further.
        let call = ToolCall::new(&resolved.tool_call_id, name, resolved.argument_text());
        let ctx = ctx.with_arguments(&resolved.arguments);
        self.inner.execute_exact_with_context_outcome(&call, name, ctx).await
    }

    fn guidance(&self) -> Option<String> {
        self.inner.tool_guidance()
    }
}

/// Where an [`McpProxyExecutor`] sends its calls: connected MCP servers.
#[async_trait]
pub trait McpBackend: Send + Sync {
    /// The tools of all connected servers, under their exposed names.
    fn tools(&self) -> Vec<ToolSchema>;
    /// Calls a tool of exactly this name.
    async fn call(&self, tool_name: &str, arguments: &Value) -> Result<ToolResult, ToolError>;
    /// The instructions of connected servers that the owner trusts.
    fn instructions(&self) -> Option<String>;
}

/// Executes the tools of MCP servers. Like every executor that knows nothing of permissions it
/// joins a chain only wrapped in [`Gated`].
pub struct McpProxyExecutor {
    backend: Arc<dyn McpBackend>,
}

impl McpProxyExecutor {
    /// An executor over a backend.
    pub fn new(backend: Arc<dyn McpBackend>) -> Self {
        Self { backend }
    }
}

#[async_trait]
impl ToolExecutor for McpProxyExecutor {
    async fn execute(&self, call: &ToolCall) -> Result<ToolResult, ToolError> {
        let (arguments, _) =
            resolver::read_arguments(call, ToolMutability::Mutating, CONTENT_ARGUMENT_TEXT_MAX)?;
        self.backend.call(&call.function.name, &arguments).await
    }

    async fn execute_with_context(
        &self,
        call: &ToolCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolResult, ToolError> {
        match ctx.pre_parsed_args {
            Some(arguments) => self.backend.call(&call.function.name, arguments).await,
            None => self.execute(call).await,
        }
    }

    fn list_tools(&self) -> Vec<ToolSchema> {
        self.backend.tools()
    }

    fn owns_exact_tool(&self, tool_name: &str) -> bool {
        self.backend.tools().iter().any(|schema| schema.name() == tool_name)
    }

    fn tool_guidance(&self) -> Option<String> {
        self.backend.instructions()
    }
}
