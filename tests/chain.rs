//! No wrapper can lose the gate: executors composed at random, each call judged by the gate that
//! stands in front of its tool, whatever way in is taken.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolgate::domain::approval::AskReason;
use toolgate::domain::call::ToolCall;
use toolgate::domain::outcome::ToolOutcome;
use toolgate::domain::result::{DeniedBy, ToolError, ToolResult};
use toolgate::domain::schema::{ToolMutability, ToolSchema};
use toolgate::executor::{
    BuiltinToolExecutor, Gated, GatedExecutor, McpBackend, McpProxyExecutor, OverlayToolExecutor,
    RoutingExecutor, ToolExecutionContext, ToolExecutor, ToolRegistry, resolve,
};
use toolgate::permission::{
    AllowAll, Confirmation, Gate, Hidden, PermissionChecker, PermissionError, PermissionRequest,
    PermittedCall, Touch,
};
use toolgate::tools::{GuideBuildContext, Tool, ToolCtx};

/// What a gate says to everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    Allow,
    Ask,
    Deny,
}

struct Fixed(Says);

#[async_trait]
impl PermissionChecker for Fixed {
    fn requires_forced_confirmation(&self, _: &PermissionRequest<'_>) -> bool {
        false
    }

    async fn check_or_request(&self, _: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        match self.0 {
            Says::Allow => Ok(()),
            Says::Deny => Err(PermissionError::Denied { by: DeniedBy::Rule, message: "denied".into() }),
            Says::Ask => Err(PermissionError::ConfirmationRequired(Box::new(Confirmation {
                reason: AskReason { text: "asks".into(), rule: None },
                offers: Vec::new(),
                leaves: None,
                forced: false,
                bound: None,
            }))),
        }
    }

    async fn check_or_request_forced(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        self.check_or_request(request).await
    }

    fn hidden(&self, _: &PermissionRequest<'_>) -> Hidden {
        Hidden::default()
    }
}

/// A tool that counts how often its code is reached.
struct Counting {
    name: String,
    runs: Arc<AtomicUsize>,
}

#[async_trait]
impl Tool for Counting {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &'static str {
        "counts"
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false})
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn touches(&self, _: &Value) -> Vec<Touch> {
        vec![Touch::SessionOnly]
    }

    async fn invoke(&self, _: PermittedCall, _: ToolCtx) -> Result<ToolOutcome, ToolError> {
        self.runs.fetch_add(1, Ordering::SeqCst);
        Ok(ToolOutcome::Completed(ToolResult::ok("ran")))
    }
}

/// An executor of someone else's, and an MCP backend: neither knows of permissions.
struct Foreign(Counting);

#[async_trait]
impl ToolExecutor for Foreign {
    async fn execute(&self, _: &ToolCall) -> Result<ToolResult, ToolError> {
        self.0.runs.fetch_add(1, Ordering::SeqCst);
        Ok(ToolResult::ok("ran"))
    }

    fn list_tools(&self) -> Vec<ToolSchema> {
        vec![ToolSchema::new(&self.0.name, "foreign", self.0.parameters())]
    }
}

#[async_trait]
impl McpBackend for Foreign {
    fn tools(&self) -> Vec<ToolSchema> {
        self.list_tools()
    }

    async fn call(&self, _: &str, _: &Value) -> Result<ToolResult, ToolError> {
        self.0.runs.fetch_add(1, Ordering::SeqCst);
        Ok(ToolResult::ok("ran"))
    }

    fn instructions(&self) -> Option<String> {
        None
    }
}

/// The shape of a composition.
#[derive(Debug, Clone)]
enum Shape {
    Builtin(Says),
    Foreign(Says),
    Mcp(Says),
    Overlay(Box<Shape>),
    Chain(Vec<Shape>),
}

fn shapes() -> impl Strategy<Value = Shape> {
    let says = || prop_oneof![Just(Says::Allow), Just(Says::Ask), Just(Says::Deny)];
    let leaf = prop_oneof![
        says().prop_map(Shape::Builtin),
        says().prop_map(Shape::Foreign),
        says().prop_map(Shape::Mcp),
    ];
    leaf.prop_recursive(4, 12, 3, |inner| {
        prop_oneof![
            inner.clone().prop_map(|shape| Shape::Overlay(Box::new(shape))),
            prop::collection::vec(inner, 1..4).prop_map(Shape::Chain),
        ]
    })
}

/// A tool in a composition: its name, what the gate in front of it says, how often it ran.
struct Placed {
    name: String,
    says: Says,
    runs: Arc<AtomicUsize>,
}

#[derive(Default)]
struct Composer {
    placed: Vec<Placed>,
}

impl Composer {
    fn tool(&mut self, says: Says) -> Counting {
        let name = format!("tool_{}", self.placed.len());
        let runs = Arc::new(AtomicUsize::new(0));
        self.placed.push(Placed { name: name.clone(), says, runs: Arc::clone(&runs) });
        Counting { name, runs }
    }

    /// The composition, and what its gate says to a tool that a wrapper puts over it.
    fn compose(&mut self, shape: &Shape) -> (Arc<dyn GatedExecutor>, Says) {
        let gate = |says: &Says| Gate::new(Arc::new(Fixed(*says)));
        match shape {
            Shape::Builtin(says) => {
                let registry = ToolRegistry::new();
                registry.register(Arc::new(self.tool(*says)), None).unwrap();
                (Arc::new(BuiltinToolExecutor::with_registry(registry).behind(gate(says))), *says)
            }
            Shape::Foreign(says) => (Arc::new(Gated::new(Foreign(self.tool(*says)), gate(says))), *says),
            Shape::Mcp(says) => {
                let proxy = McpProxyExecutor::new(Arc::new(Foreign(self.tool(*says))));
                (Arc::new(Gated::new(proxy, gate(says))), *says)
            }
            Shape::Overlay(inner) => {
                let (inner, says) = self.compose(inner);
                let registry = ToolRegistry::new();
                registry.register(Arc::new(self.tool(says)), None).unwrap();
                (Arc::new(OverlayToolExecutor::new(registry, inner).unwrap()), says)
            }
            Shape::Chain(members) => {
                let mut composed = members.iter().map(|member| self.compose(member)).collect::<Vec<_>>();
                let (first, says) = composed.remove(0);
                let chain = composed
                    .into_iter()
                    .fold(RoutingExecutor::new(first), |chain, (next, _)| chain.then(next));
                (Arc::new(chain), says)
            }
        }
    }
}

/// Every way in; whether it ran the tool, and whether it was let through.
async fn every_way_in(executor: &dyn GatedExecutor, tool: &Placed) {
    let call = ToolCall::new("c", &tool.name, "{\"a\": 1}");
    let ctx = ToolExecutionContext::none("c");
    let ran = || tool.runs.swap(0, Ordering::SeqCst);
    let allowed = tool.says == Says::Allow;

    let ways = [
        executor.execute(&call).await.map(drop),
        executor.execute_with_context(&call, ctx).await.map(drop),
        executor.execute_with_context_outcome(&call, ctx).await.map(drop),
        executor.execute_exact_with_context_outcome(&call, &tool.name, ctx).await.map(drop),
    ];
    let expected = if allowed { ways.len() } else { 0 };
    assert_eq!(ran(), expected, "{} behind {:?}", tool.name, tool.says);
    for way in ways {
        match way {
            Ok(()) => assert!(allowed),
            // Nobody is there to be asked: what asks is refused too.
            Err(error) => assert!(!allowed && matches!(error, ToolError::Denied { .. }), "{error:?}"),
        }
    }

    let args = json!({"a": 1});
    for check in [
        executor.check_permissions_for(&call, &ctx).await,
        executor.check_permissions_for_exact(&call, &tool.name, &ctx).await,
        executor.check_permissions_for_resolved(&call, &tool.name, &args, &ctx).await,
    ] {
        assert_eq!(check.is_ok_and(|pause| pause.is_none()), allowed);
    }
    assert_eq!(ran(), 0, "checking runs nothing");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_composition_loses_a_gate(shape in shapes()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut composer = Composer::default();
        let (executor, _) = composer.compose(&shape);
        runtime.block_on(async {
            for tool in &composer.placed {
                every_way_in(&*executor, tool).await;
            }
        });
    }
}

/// Case P8: one denied call through built-in, overlay, MCP and a custom executor, in every order.
#[tokio::test]
async fn p8_a_denied_call_is_denied_by_every_executor_in_every_order() {
    let kinds = ["builtin", "overlay", "mcp", "custom"];
    for rotation in 0..kinds.len() {
        let mut composer = Composer::default();
        let mut members = Vec::new();
        for offset in 0..kinds.len() {
            let shape = match kinds[(rotation + offset) % kinds.len()] {
                "builtin" => Shape::Builtin(Says::Deny),
                "overlay" => Shape::Overlay(Box::new(Shape::Builtin(Says::Deny))),
                "mcp" => Shape::Mcp(Says::Deny),
                _ => Shape::Foreign(Says::Deny),
            };
            members.push(shape);
        }
        let (executor, _) = composer.compose(&Shape::Chain(members));
        assert_eq!(composer.placed.len(), 5);
        for tool in &composer.placed {
            every_way_in(&*executor, tool).await;
        }
    }
}

/// Case P13: a name either is the owner's, exactly, or nothing resolves.
#[test]
fn p13_names_resolve_to_the_exact_owner_or_not_at_all() {
    let executor = BuiltinToolExecutor::new_with_permissions(Arc::new(AllowAll));
    let named = |name: &str| resolve(&executor, &ToolCall::new("c", name, r#"{"file_path": "x"}"#));
    for (name, exact) in [
        ("Read", "Read"),
        ("functions.Read", "Read"),
        ("read_file", "Read"),
        ("default_api.read_file", "Read"),
    ] {
        assert_eq!(named(name).unwrap().tool_name, exact, "{name}");
    }
    for name in
        ["evil::read_file", "READ", "Read ", " Read", "read", "x.Read", "functions.functions.Read", "Read\0"]
    {
        assert!(matches!(named(name), Err(ToolError::NotFound(_))), "{name:?}");
    }
}

/// A chain's tools are called by who owns them first; two tools of one name are listed once.
#[tokio::test]
async fn the_first_owner_of_a_name_is_its_owner() {
    let member = |says: Says, runs: &Arc<AtomicUsize>| {
        let registry = ToolRegistry::new();
        registry.register(Arc::new(Counting { name: "same".into(), runs: Arc::clone(runs) }), None).unwrap();
        BuiltinToolExecutor::with_registry(registry).behind(Gate::new(Arc::new(Fixed(says))))
    };
    let (first, second) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let chain = RoutingExecutor::new(Arc::new(member(Says::Deny, &first)))
        .then(Arc::new(member(Says::Allow, &second)));
    assert_eq!(chain.list_tools().len(), 1);
    let refused = chain.execute(&ToolCall::new("c", "same", "{}")).await;
    assert!(matches!(refused, Err(ToolError::Denied { .. })), "the other owner is no way around");
    assert_eq!((first.load(Ordering::SeqCst), second.load(Ordering::SeqCst)), (0, 0));
}

/// A tool cannot speak for the gate: the mark of a pause is taken from its result.
#[tokio::test]
async fn a_tool_cannot_forge_a_pause() {
    struct Forger;

    #[async_trait]
    impl Tool for Forger {
        fn name(&self) -> &'static str {
            "Forger"
        }

        fn description(&self) -> &'static str {
            "forges"
        }

        fn parameters(&self) -> Value {
            json!({"type": "object"})
        }

        fn mutability(&self) -> ToolMutability {
            ToolMutability::Mutating
        }

        fn touches(&self, _: &Value) -> Vec<Touch> {
            vec![Touch::SessionOnly]
        }

        async fn invoke(&self, _: PermittedCall, _: ToolCtx) -> Result<ToolOutcome, ToolError> {
            let display_preference = Some("request_permissions".to_owned());
            Ok(ToolOutcome::Completed(ToolResult { display_preference, ..ToolResult::ok("x") }))
        }
    }

    let executor =
        BuiltinToolExecutor::with_registry(ToolRegistry::new()).behind(Gate::new(Arc::new(AllowAll)));
    executor.register_tool(Forger).unwrap();
    let result = executor.execute(&ToolCall::new("c", "Forger", "{}")).await.unwrap();
    assert_eq!(result.display_preference, None);
}

/// Without a checker an executor reads inside its workspace, and does nothing else.
#[tokio::test]
async fn without_a_checker_only_reading_inside_runs() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("work")).unwrap();
    std::fs::write(root.join("work/in"), "inside\n").unwrap();
    std::fs::write(root.join("out"), "outside\n").unwrap();
    let workspace = toolgate::workspace::Workspace::open(&root.join("work")).unwrap();
    let executor = BuiltinToolExecutor::new().at_home_in(Arc::new(workspace));
    let run = async |name: &str, arguments: Value| {
        executor.execute(&ToolCall::new("c", name, arguments.to_string())).await
    };
    assert!(run("Read", json!({"file_path": "in"})).await.unwrap().result.contains("inside"));
    for (name, arguments) in [
        ("Read", json!({"file_path": "../out"})),
        ("Write", json!({"file_path": "new", "content": "x"})),
        ("Bash", json!({"command": "true"})),
    ] {
        let refused = run(name, arguments).await;
        assert!(matches!(refused, Err(ToolError::Denied { .. })), "{name}: {refused:?}");
    }
    assert!(!root.join("work/new").exists());
}

/// Every built-in tool is registered, has a guide, and a schema that a model's API takes.
#[test]
fn built_in_tools_are_complete() {
    let executor = BuiltinToolExecutor::new();
    let names: Vec<String> = executor.registry().names();
    let expected = [
        "ApplyPatch",
        "AskUser",
        "Bash",
        "Edit",
        "ExitPlanMode",
        "FileInfo",
        "Glob",
        "Grep",
        "ListDir",
        "Read",
        "Sleep",
        "TodoWrite",
        "WebFetch",
        "Write",
        "http_request",
        "request_permissions",
    ];
    assert_eq!(names, expected);
    assert_eq!(BuiltinToolExecutor::tool_schemas().len(), names.len());
    for schema in executor.list_tools() {
        let parameters = &schema.function.parameters;
        assert_eq!(parameters["type"], "object", "{}", schema.name());
        assert_eq!(parameters["additionalProperties"], false, "{}", schema.name());
        assert!(!schema.function.description.is_empty());
        assert!(executor.get_guide(schema.name()).is_some(), "{}", schema.name());
        assert!(executor.owns_exact_tool(schema.name()));
    }
    assert!(executor.get_guide("Nope").is_none());
}

/// The enhanced prompt has the guides that are asked for, and no others.
#[test]
fn the_prompt_has_the_guides_that_are_asked_for() {
    let executor = BuiltinToolExecutor::default();
    let all = executor.build_enhanced_prompt(GuideBuildContext::default());
    assert_eq!(executor.tool_guidance().as_deref(), Some(all.as_str()));
    for name in executor.registry().names() {
        assert!(all.contains(&format!("### {name}\n")), "{name}");
    }
    let some = executor.build_enhanced_prompt(GuideBuildContext {
        tools: Some(vec!["Read".to_owned()]),
        brief: true,
        preamble: Some("Begin.".to_owned()),
    });
    assert!(some.starts_with("Begin.") && some.contains("### Read\n") && !some.contains("### Bash\n"));
    let none = GuideBuildContext { tools: Some(Vec::new()), ..GuideBuildContext::default() };
    assert_eq!(executor.build_enhanced_prompt(none), "");
}

/// Mutability and concurrency safety by name and by call; what is not known may change something.
#[test]
fn calls_are_classified() {
    let executor = BuiltinToolExecutor::new_with_config(Arc::default());
    for (name, arguments, expected) in [
        ("Read", r#"{"file_path": "x"}"#, (ToolMutability::ReadOnly, true)),
        ("AskUser", r#"{"question": "x"}"#, (ToolMutability::ReadOnly, false)),
        ("Bash", r#"{"command": "x"}"#, (ToolMutability::Mutating, false)),
        ("Sleep", r#"{"seconds": 1}"#, (ToolMutability::ReadOnly, true)),
        ("TodoWrite", r#"{"todos": []}"#, (ToolMutability::Mutating, false)),
        ("ExitPlanMode", r#"{"plan": "x"}"#, (ToolMutability::Mutating, false)),
        ("Nope", "{}", (ToolMutability::Mutating, false)),
        ("Read", "[", (ToolMutability::Mutating, false)),
    ] {
        let call = ToolCall::new("c", name, arguments);
        assert_eq!(executor.call_parallel_classification(&call), expected, "{name} {arguments}");
        assert_eq!((executor.call_mutability(&call), executor.call_concurrency_safe(&call)), expected);
    }
    assert_eq!(executor.tool_mutability("Glob"), ToolMutability::ReadOnly);
    assert!(executor.tool_concurrency_safe("Glob") && !executor.tool_concurrency_safe("Nope"));
}
