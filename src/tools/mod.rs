//! What a built-in tool is, and the list of them: one tool a file, one line here.

mod apply_patch;
mod arguments;
mod ask_user;
mod bash;
mod blocking;
mod configured;
mod edit;
mod exit_plan_mode;
mod file_info;
mod glob;
mod grep;
mod guide;
mod http_request;
mod judged;
mod list_dir;
mod net;
mod picture;
mod read;
mod request_permissions;
mod search;
mod sleep;
mod suggest;
#[cfg(test)]
mod testing;
mod text;
mod todo_write;
mod web_fetch;
mod write;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc;

pub use apply_patch::ApplyPatch;
pub use ask_user::{AskUser, AskUserGuide};
pub use bash::{Bash, BashGuide};
pub use configured::ToolConfig;
pub use edit::Edit;
pub use exit_plan_mode::ExitPlanMode;
pub use file_info::FileInfo;
pub use glob::Glob;
pub use grep::Grep;
pub(crate) use guide::render_guides;
pub use guide::{GuideBuildContext, GuideExample, ToolGuide};
pub use http_request::{HttpRequest, HttpRequestGuide};
pub use list_dir::ListDir;
pub use net::OwnListener;
pub use read::Read;
pub use request_permissions::RequestPermissions;
pub use sleep::Sleep;
pub use todo_write::TodoWrite;
pub use web_fetch::{WebFetch, WebFetchGuide};
pub use write::Write;

use self::net::Outbound;
use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::{ToolMutability, ToolSchema};
use crate::permission::{PermittedCall, Preview, Scope, Touch};

/// The bound on argument text, in bytes, for tools that carry no file content.
pub const ARGUMENT_TEXT_MAX: usize = 256 * 1024;
/// The bound on argument text, in bytes, for tools that carry file content.
pub const CONTENT_ARGUMENT_TEXT_MAX: usize = 8 * 1024 * 1024;

/// A built-in tool with its guide.
pub struct BuiltIn {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// When to use it.
    pub guide: Option<Arc<dyn ToolGuide>>,
}

/// The built-in tools. Those that depend on the config ask it for each call; those that make requests refuse the
/// server's own listener.
pub fn built_in(config: &ToolConfig, own_listener: &OwnListener) -> Vec<BuiltIn> {
    fn listed(tool: impl Tool + 'static, guide: impl ToolGuide + 'static) -> BuiltIn {
        BuiltIn { tool: Arc::new(tool), guide: Some(Arc::new(guide)) }
    }
    let outbound = Arc::new(Outbound::new(config.clone(), own_listener.clone()));
    vec![
        listed(ApplyPatch, ApplyPatch),
        listed(AskUser, AskUserGuide),
        listed(Bash::configured(config.clone()), BashGuide),
        listed(Edit, Edit),
        listed(ExitPlanMode, ExitPlanMode),
        listed(FileInfo, FileInfo),
        listed(Glob, Glob),
        listed(Grep, Grep),
        listed(HttpRequest::new(Arc::clone(&outbound)), HttpRequestGuide),
        listed(ListDir, ListDir),
        listed(Read, Read),
        listed(RequestPermissions, RequestPermissions),
        listed(Sleep, Sleep),
        listed(TodoWrite, TodoWrite),
        listed(WebFetch::new(outbound), WebFetchGuide),
        listed(Write, Write),
    ]
}

/// A tool that the server itself runs.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The exact, case-sensitive name.
    fn name(&self) -> &str;

    /// What it does, for a model.
    fn description(&self) -> &str;

    /// A JSON Schema (draft 2020-12): `type: object` at the root, no `$ref`,
    /// `additionalProperties: false`.
    fn parameters(&self) -> Value;

    /// Whether any call of it can change something.
    fn mutability(&self) -> ToolMutability;

    /// Whether its calls may run beside other read-only calls.
    fn concurrency_safe(&self) -> bool {
        self.mutability() == ToolMutability::ReadOnly
    }

    /// The same for one call, where its arguments decide.
    fn classify(&self, _arguments: &Value) -> (ToolMutability, bool) {
        (self.mutability(), self.concurrency_safe())
    }

    /// Names that other systems give this tool.
    fn legacy_names(&self) -> &[&'static str] {
        &[]
    }

    /// Legacy spellings of parameters, each with the real one.
    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[]
    }

    /// The most bytes that its argument text may have.
    fn argument_text_max(&self) -> usize {
        ARGUMENT_TEXT_MAX
    }

    /// What is wrong with arguments that fit the schema, where a schema cannot say it. Asked before anything is
    /// judged.
    fn check(&self, _arguments: &Value) -> Result<(), ToolError> {
        Ok(())
    }

    /// What a call would touch, read off valid arguments. This is what gets judged.
    fn touches(&self, arguments: &Value) -> Vec<Touch>;

    /// What a call would change, for a reviewer; without changing anything.
    async fn preview(&self, _arguments: &Value, _scope: &Scope) -> Result<Preview, ToolError> {
        Ok(Preview::default())
    }

    /// Does the work. Nothing of a tool runs without a [`PermittedCall`], which only the gate makes.
    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError>;

    /// What a model is told.
    fn schema(&self) -> ToolSchema {
        ToolSchema::new(self.name(), self.description(), self.parameters())
    }
}

/// What a running tool may use: an owned form of the dispatch context.
#[derive(Clone)]
pub struct ToolCtx {
    /// The session.
    pub session_id: Option<String>,
    /// The call's id from the model.
    pub tool_call_id: String,
    /// Where tokens and progress go. Whatever else is sent is dropped by the receiver.
    pub event_tx: Option<mpsc::Sender<AgentEvent>>,
    /// The tools that the session can call now.
    pub available_tool_schemas: Option<Arc<[ToolSchema]>>,
    /// Whether what only asks is skipped.
    pub bypass_permissions: bool,
    /// Whether the client can go on later with a backgrounded command.
    pub can_async_resume: bool,
    /// Told once when a background shell ends.
    pub bash_completion_sink: Option<Arc<dyn BashCompletionSink>>,
    /// Where the call works.
    pub scope: Option<Arc<Scope>>,
}

impl ToolCtx {
    /// Streams output; waits while the receiver is behind, so that memory stays bounded.
    pub async fn emit_tool_token(&self, stream: &str, content: impl Into<String>) {
        let call = self.call_ref();
        self.emit(AgentEvent::ToolToken { call, stream: stream.to_owned(), content: content.into() }).await;
    }

    /// Says how far the call is.
    pub async fn emit_progress(&self, progress: f64, total: Option<f64>, message: Option<String>) {
        let call = self.call_ref();
        self.emit(AgentEvent::ToolProgress { call, progress, total, message }).await;
    }

    /// The scope, or the error that says what is missing.
    pub fn require_scope(&self) -> Result<&Arc<Scope>, ToolError> {
        self.scope
            .as_ref()
            .ok_or_else(|| ToolError::Execution("there is no workspace for this call".to_owned()))
    }

    fn call_ref(&self) -> CallRef {
        let turn = self.scope.as_ref().and_then(|scope| scope.key.turn.clone());
        CallRef { tool_call_id: self.tool_call_id.clone(), turn }
    }

    async fn emit(&self, event: AgentEvent) {
        if let Some(sender) = &self.event_tx {
            // The receiver is gone once the call has ended: nobody is left to be told.
            let _ = sender.send(event).await;
        }
    }
}

/// Told once, exactly, when a background shell of a session ends.
#[async_trait]
pub trait BashCompletionSink: Send + Sync {
    /// The end of a shell: the same facts as in `bash_completed`.
    async fn completed(&self, session_id: &str, end: AgentEvent);
}
