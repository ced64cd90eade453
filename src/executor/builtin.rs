//! The executor of the tools that the server itself runs.

use std::sync::{Arc, OnceLock, RwLock};

use async_trait::async_trait;
use serde_json::{Map, Value};

use super::context::ToolExecutionContext;
use super::gated::{GatedExecutor, sealed};
use super::registry::ToolRegistry;
use super::resolver;
use crate::config::Config;
use crate::domain::call::ToolCall;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::{ToolMutability, ToolSchema};
use crate::permission::{
    Gate, NothingToPreview, PermissionChecker, PermittedCall, Preview, Previewer, ReadOnlyInside,
    ResolvedCall, Scope,
};
use crate::tools::{self, GuideBuildContext, OwnListener, Tool, ToolConfig, ToolGuide};
use crate::workspace::Workspace;

/// Runs the built-in tools, and those that are registered beside them, behind its gate.
///
/// Without a checker it reads inside the workspace and refuses all else.
pub struct BuiltinToolExecutor {
    registry: ToolRegistry,
    gate: Gate,
    home: OnceLock<Option<Arc<Workspace>>>,
    own_listener: OwnListener,
}

impl BuiltinToolExecutor {
    /// All built-in tools, no checker.
    pub fn new() -> Self {
        Self::new_with_config(Arc::default())
    }

    /// All built-in tools behind a checker; nobody can be asked.
    pub fn new_with_permissions(permission_checker: Arc<dyn PermissionChecker>) -> Self {
        Self::new_with_config_and_permissions(Arc::default(), permission_checker)
    }

    /// All built-in tools reading the live config, no checker.
    pub fn new_with_config(config: Arc<RwLock<Config>>) -> Self {
        Self::new_with_config_and_permissions(config, Arc::new(ReadOnlyInside))
    }

    /// All built-in tools reading the live config, behind a checker; nobody can be asked.
    pub fn new_with_config_and_permissions(
        config: Arc<RwLock<Config>>,
        permission_checker: Arc<dyn PermissionChecker>,
    ) -> Self {
        let registry = ToolRegistry::new();
        let own_listener = OwnListener::default();
        for built_in in tools::built_in(&ToolConfig::new(config), &own_listener) {
            if let Err(error) = registry.register(built_in.tool, built_in.guide) {
                // The list is fixed at compile time and a test registers all of it.
                tracing::error!(%error, "a built-in tool could not be registered");
            }
        }
        Self { registry, gate: Gate::new(permission_checker), home: OnceLock::new(), own_listener }
    }

    /// The tools of a registry, no checker.
    pub fn with_registry(registry: ToolRegistry) -> Self {
        Self {
            registry,
            gate: Gate::new(Arc::new(ReadOnlyInside)),
            home: OnceLock::new(),
            own_listener: OwnListener::default(),
        }
    }

    /// The same behind another gate, with whoever that asks.
    #[must_use]
    pub fn behind(mut self, gate: Gate) -> Self {
        self.gate = gate;
        self
    }

    /// The same with a workspace for calls that come without a session; otherwise that is the
    /// directory in which the process runs.
    #[must_use]
    pub fn at_home_in(mut self, workspace: Arc<Workspace>) -> Self {
        self.home = OnceLock::from(Some(workspace));
        self
    }

    /// To be told where the server listens: no built-in tool makes a request to there.
    pub fn own_listener(&self) -> OwnListener {
        self.own_listener.clone()
    }

    /// The tools.
    pub fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    /// The schemas of all built-in tools.
    pub fn tool_schemas() -> Vec<ToolSchema> {
        Self::new().registry.schemas()
    }

    /// Adds a tool.
    pub fn register_tool<T: Tool + 'static>(&self, tool: T) -> Result<(), ToolError> {
        self.registry.register(Arc::new(tool), None)
    }

    /// Adds a tool with its guide.
    pub fn register_tool_with_guide<T, G>(&self, tool: T, guide: G) -> Result<(), ToolError>
    where
        T: Tool + 'static,
        G: ToolGuide + 'static,
    {
        self.registry.register(Arc::new(tool), Some(Arc::new(guide)))
    }

    /// The guide of a tool.
    pub fn get_guide(&self, tool_name: &str) -> Option<Arc<dyn ToolGuide>> {
        self.registry.guide(tool_name)
    }

    /// The guides of all registered tools as one text for a system prompt.
    #[expect(clippy::needless_pass_by_value, reason = "the context is made for this call")]
    pub fn build_enhanced_prompt(&self, context: GuideBuildContext) -> String {
        let entries = self.registry.all();
        tools::render_guides(entries.iter().filter_map(|entry| entry.guide.as_deref()), &context)
    }
}

impl Default for BuiltinToolExecutor {
    fn default() -> Self {
        Self::new()
    }
}

impl sealed::Sealed for BuiltinToolExecutor {}

#[async_trait]
impl GatedExecutor for BuiltinToolExecutor {
    fn schemas(&self) -> Vec<ToolSchema> {
        self.registry.schemas()
    }

    fn owns(&self, tool_name: &str) -> bool {
        self.registry.contains(tool_name)
    }

    fn legacy(&self, reference: &str) -> Option<String> {
        self.registry.legacy(reference)
    }

    fn classify(&self, tool_name: &str) -> Option<(ToolMutability, bool)> {
        self.registry.get(tool_name).map(|tool| (tool.mutability(), tool.concurrency_safe()))
    }

    fn resolve_exact(
        &self,
        call: &ToolCall,
        exact: &str,
        parsed: Option<&Value>,
    ) -> Result<ResolvedCall, ToolError> {
        let entry = self
            .registry
            .registered(exact)
            .ok_or_else(|| ToolError::NotFound(format!("there is no tool named {exact:?}")))?;
        let tool = &entry.tool;
        let (mut arguments, repair) = match parsed {
            Some(parsed) => (parsed.clone(), None),
            None => resolver::read_arguments(call, tool.mutability(), tool.argument_text_max())?,
        };
        rename_aliases(exact, tool.parameter_aliases(), &mut arguments)?;
        entry.validator.check(exact, &arguments).map_err(ToolError::InvalidArguments)?;
        tool.check(&arguments)?;
        let (mutability, concurrency_safe) = tool.classify(&arguments);
        Ok(ResolvedCall {
            tool_call_id: call.id.clone(),
            tool_name: exact.to_owned(),
            other_names: Vec::new(),
            touches: tool.touches(&arguments),
            arguments: Arc::new(arguments),
            mutability,
            concurrency_safe,
            repair,
        })
    }

    fn gate_for(&self, _exact: &str) -> &Gate {
        &self.gate
    }

    fn previewer(&self, exact: &str) -> Arc<dyn Previewer> {
        match self.registry.get(exact) {
            Some(tool) => Arc::new(ToolPreviewer(tool)),
            None => Arc::new(NothingToPreview),
        }
    }

    async fn run(
        &self,
        permitted: PermittedCall,
        ctx: ToolExecutionContext<'_>,
    ) -> Result<ToolOutcome, ToolError> {
        let name = permitted.tool_name();
        let tool = self
            .registry
            .get(name)
            .ok_or_else(|| ToolError::NotFound(format!("there is no tool named {name:?}")))?;
        tool.invoke(permitted, ctx.to_tool_ctx()).await
    }

    fn guidance(&self) -> Option<String> {
        let text = self.build_enhanced_prompt(GuideBuildContext::default());
        (!text.is_empty()).then_some(text)
    }

    fn home(&self) -> Option<Arc<Workspace>> {
        let open = || {
            let directory = std::env::current_dir().and_then(|path| path.canonicalize()).ok()?;
            Workspace::open(&directory).ok().map(Arc::new)
        };
        self.home.get_or_init(open).clone()
    }
}

struct ToolPreviewer(Arc<dyn Tool>);

#[async_trait]
impl Previewer for ToolPreviewer {
    async fn preview(&self, arguments: &Value, scope: &Scope) -> Result<Preview, ToolError> {
        self.0.preview(arguments, scope).await
    }
}

/// Puts real parameter names in the place of legacy spellings. Both together are ambiguous: which
/// one was meant would depend on who reads the call.
fn rename_aliases(
    tool_name: &str,
    aliases: &[(&'static str, &'static str)],
    arguments: &mut Value,
) -> Result<(), ToolError> {
    let Some(map) = arguments.as_object_mut() else { return Ok(()) };
    for (alias, real) in aliases {
        let Some(value) = map.remove(*alias) else { continue };
        insert_once(tool_name, map, alias, real, value)?;
    }
    Ok(())
}

fn insert_once(
    tool_name: &str,
    map: &mut Map<String, Value>,
    alias: &str,
    real: &str,
    value: Value,
) -> Result<(), ToolError> {
    if map.contains_key(real) {
        return Err(ToolError::InvalidArguments(format!(
            "{tool_name} got both {real:?} and {alias:?}, which mean the same; send only {real:?}"
        )));
    }
    map.insert(real.to_owned(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use serde_json::json;

    use super::*;
    use crate::executor::ToolExecutor as _;
    use crate::permission::AllowAll;

    #[tokio::test]
    async fn a_change_of_the_network_section_holds_for_the_next_call() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap();
        });
        let config: Arc<RwLock<Config>> = Arc::default();
        let executor =
            BuiltinToolExecutor::new_with_config_and_permissions(Arc::clone(&config), Arc::new(AllowAll));
        let arguments = json!({"url": format!("http://{address}/")}).to_string();
        let call = ToolCall::new("c", "http_request", arguments);
        let refused = executor.execute(&call).await.unwrap_err().to_string();
        assert!(refused.contains("allowed_private_hosts"), "{refused}");
        let allowed = address.to_string().parse().unwrap();
        config.write().unwrap().network.allowed_private_hosts = vec![allowed];
        assert!(executor.execute(&call).await.unwrap().success);
        server.join().unwrap();
        config.write().unwrap().network.allowed_private_hosts.clear();
        assert!(executor.execute(&call).await.is_err());
        // Without a checker nothing goes out at all.
        let confined = BuiltinToolExecutor::new_with_config(config);
        assert!(matches!(confined.execute(&call).await, Err(ToolError::Denied { .. })));
    }
}
