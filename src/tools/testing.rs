//! A workspace, a gate and a session for tests that call tools as the server does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::{Tool, ToolCtx};
use crate::domain::approval::AskReason;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::session::PermissionMode;
use crate::permission::{
    ApprovalProxy, Ask, Circumstances, Clearance, Confirmation, Gate, Hidden, PermissionChecker,
    PermissionError, PermissionRequest, Preview, Previewer, ProxyDecision, ProxyError, ReadOnlyInside,
    ResolvedCall, Scope,
};
use crate::workspace::Workspace;

/// A session in a fresh workspace at `base/ws`.
pub(super) struct Session {
    _dir: tempfile::TempDir,
    pub(super) base: PathBuf,
    pub(super) scope: Arc<Scope>,
    denied: Option<String>,
}

/// Permits all, hides paths with some text in them, and asks when told to.
struct Policy {
    denied: Option<String>,
    asks: bool,
}

/// A person who does something to the workspace and then allows.
pub(super) struct Meanwhile<F>(pub(super) F);

#[async_trait]
impl<F: Fn(&Ask) + Send + Sync> ApprovalProxy for Meanwhile<F> {
    async fn request(&self, ask: &Ask, _: &Scope) -> Result<ProxyDecision, ProxyError> {
        (self.0)(ask);
        Ok(ProxyDecision::Allow { by: "reviewer".to_owned() })
    }
}

#[async_trait]
impl PermissionChecker for Policy {
    fn requires_forced_confirmation(&self, _: &PermissionRequest<'_>) -> bool {
        false
    }

    async fn check_or_request(&self, _: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        if !self.asks {
            return Ok(());
        }
        Err(PermissionError::ConfirmationRequired(Box::new(Confirmation {
            reason: AskReason { text: "the test asks".to_owned(), rule: None },
            offers: Vec::new(),
            leaves: None,
            forced: false,
            bound: None,
        })))
    }

    async fn check_or_request_forced(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        self.check_or_request(request).await
    }

    fn hidden(&self, _: &PermissionRequest<'_>) -> Hidden {
        match self.denied.clone() {
            None => Hidden::default(),
            Some(text) => Hidden::by(move |path| path.to_string_lossy().contains(&text)),
        }
    }
}

struct Shows<'a, T>(&'a T);

#[async_trait]
impl<T: Tool> Previewer for Shows<'_, T> {
    async fn preview(&self, arguments: &Value, scope: &Scope) -> Result<Preview, ToolError> {
        self.0.preview(arguments, scope).await
    }
}

impl Session {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("ws")).unwrap();
        let workspace = Arc::new(Workspace::open(&base.join("ws")).unwrap());
        let scope = Arc::new(Scope::standalone(workspace, "call"));
        Self { _dir: dir, base, scope, denied: None }
    }

    /// Hides every path that has this text in it.
    pub(super) fn denying(mut self, text: &str) -> Self {
        self.denied = Some(text.to_owned());
        self
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.base.join("ws").join(name)
    }

    /// Writes a file behind the session's back, its folders too.
    pub(super) fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(super) fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(super) fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    pub(super) fn link(&self, target: impl AsRef<Path>, name: &str) {
        std::os::unix::fs::symlink(target, self.path(name)).unwrap();
    }

    /// Calls a tool as the server does: schema, judgement, invocation.
    pub(super) async fn call(&self, tool: &impl Tool, arguments: Value) -> Result<ToolResult, ToolError> {
        self.through(Gate::new(Arc::new(self.policy(false))), tool, arguments).await
    }

    /// The same where a person is asked, who does something first and then allows.
    pub(super) async fn asked(
        &self,
        tool: &impl Tool,
        arguments: Value,
        meanwhile: impl Fn(&Ask) + Send + Sync + 'static,
    ) -> Result<ToolResult, ToolError> {
        let gate = Gate::new(Arc::new(self.policy(true))).with_proxy(Arc::new(Meanwhile(meanwhile)));
        self.through(gate, tool, arguments).await
    }

    /// The same under the policy of an executor without a checker: reading inside the workspace only.
    pub(super) async fn confined(&self, tool: &impl Tool, arguments: Value) -> Result<ToolResult, ToolError> {
        self.through(Gate::new(Arc::new(ReadOnlyInside)), tool, arguments).await
    }

    /// The text of a call that must succeed.
    pub(super) async fn ok(&self, tool: &impl Tool, arguments: Value) -> String {
        let result = self.call(tool, arguments).await.unwrap();
        assert!(result.success);
        result.result
    }

    /// The message of a call that must fail.
    pub(super) async fn error(&self, tool: &impl Tool, arguments: Value) -> String {
        self.call(tool, arguments).await.unwrap_err().to_string()
    }

    fn policy(&self, asks: bool) -> Policy {
        Policy { denied: self.denied.clone(), asks }
    }

    async fn through(&self, gate: Gate, tool: &impl Tool, arguments: Value) -> Result<ToolResult, ToolError> {
        let schema = jsonschema::validator_for(&tool.parameters()).unwrap();
        if let Err(error) = schema.validate(&arguments) {
            return Err(ToolError::InvalidArguments(error.to_string()));
        }
        tool.check(&arguments)?;
        let (mutability, concurrency_safe) = tool.classify(&arguments);
        let call = ResolvedCall {
            tool_call_id: "call".to_owned(),
            tool_name: tool.name().to_owned(),
            other_names: Vec::new(),
            touches: tool.touches(&arguments),
            arguments: Arc::new(arguments),
            mutability,
            concurrency_safe,
            repair: None,
        };
        let circumstances = Circumstances {
            scope: Some(&self.scope),
            bypass: false,
            mode: PermissionMode::default(),
            interactive: false,
        };
        let Clearance::Permitted(permitted) = gate.permit(call, &Shows(tool), circumstances).await? else {
            panic!("the call paused");
        };
        match tool.invoke(*permitted, self.context()).await? {
            ToolOutcome::Completed(result) => Ok(result),
            other => panic!("{other:?}"),
        }
    }

    fn context(&self) -> ToolCtx {
        ToolCtx {
            session_id: None,
            tool_call_id: "call".to_owned(),
            event_tx: None,
            available_tool_schemas: None,
            bypass_permissions: false,
            can_async_resume: false,
            bash_completion_sink: None,
            scope: Some(Arc::clone(&self.scope)),
        }
    }
}
