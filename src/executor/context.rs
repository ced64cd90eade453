//! The context of one dispatch: who calls, how it is permitted, where it works.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::mpsc::Sender;

use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::schema::ToolSchema;
use crate::domain::session::{PermissionMode, RuntimeFlags};
use crate::permission::{Circumstances, Scope};
use crate::tools::{BashCompletionSink, ToolCtx};

/// What the session's `runtime.json` says, read anew for each dispatch.
///
/// A flag that is added here reaches every dispatch, since [`ToolExecutionContext::for_dispatch`]
/// is the only constructor of a real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolExecutionSessionFlags {
    /// Skips what only asks; deny, always-ask and protections hold.
    pub bypass_permissions: bool,
    /// The mode.
    pub permission_mode: PermissionMode,
    /// Nobody can answer: what would ask is denied.
    pub no_human_approver: bool,
}

impl From<&RuntimeFlags> for ToolExecutionSessionFlags {
    fn from(flags: &RuntimeFlags) -> Self {
        Self {
            bypass_permissions: flags.bypass_permissions,
            permission_mode: flags.permission_mode,
            no_human_approver: flags.no_human_approver,
        }
    }
}

/// What an executor is told of a dispatch. Cheap to copy.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ToolExecutionContext<'a> {
    /// The session; none for calls that a library user makes by hand, where nobody can be asked.
    pub session_id: Option<&'a str>,
    /// The call's id from the model.
    pub tool_call_id: &'a str,
    /// Where a tool streams to. Its receiver takes tokens and progress of this call alone.
    pub event_tx: Option<&'a Sender<AgentEvent>>,
    /// The tools that the session can call now.
    pub available_tool_schemas: Option<&'a [ToolSchema]>,
    /// Skips what only asks.
    pub bypass_permissions: bool,
    /// Whether the client can go on later with a backgrounded command: its declaration, not a flag
    /// of the session's policy.
    pub can_async_resume: bool,
    /// Told once when a background shell of this call ends.
    pub bash_completion_sink: Option<&'a Arc<dyn BashCompletionSink>>,
    /// The call's arguments as the resolver read them: nothing downstream parses again.
    pub pre_parsed_args: Option<&'a Value>,
    /// The session's mode.
    pub permission_mode: PermissionMode,
    /// Nobody can answer.
    pub no_human_approver: bool,
    /// Where the call works; without it there is no workspace, and so nothing that needs one.
    pub scope: Option<&'a Arc<Scope>>,
}

impl<'a> ToolExecutionContext<'a> {
    /// A context without a session: no events, no flags, nobody there.
    pub fn none(tool_call_id: &'a str) -> Self {
        Self {
            session_id: None,
            tool_call_id,
            event_tx: None,
            available_tool_schemas: None,
            bypass_permissions: false,
            can_async_resume: false,
            bash_completion_sink: None,
            pre_parsed_args: None,
            permission_mode: PermissionMode::Default,
            no_human_approver: true,
            scope: None,
        }
    }

    /// The context of a real dispatch; the one place that maps session flags onto it.
    pub fn for_dispatch(
        session_id: &'a str,
        tool_call_id: &'a str,
        event_tx: &'a Sender<AgentEvent>,
        available_tool_schemas: &'a [ToolSchema],
        flags: ToolExecutionSessionFlags,
        can_async_resume: bool,
        bash_completion_sink: Option<&'a Arc<dyn BashCompletionSink>>,
        pre_parsed_args: Option<&'a Value>,
    ) -> Self {
        Self {
            session_id: Some(session_id),
            tool_call_id,
            event_tx: Some(event_tx),
            available_tool_schemas: Some(available_tool_schemas),
            bypass_permissions: flags.bypass_permissions,
            can_async_resume,
            bash_completion_sink,
            pre_parsed_args,
            permission_mode: flags.permission_mode,
            no_human_approver: flags.no_human_approver,
            scope: None,
        }
    }

    /// The same, working in a scope.
    #[must_use]
    pub fn within(mut self, scope: &'a Arc<Scope>) -> Self {
        self.scope = Some(scope);
        self
    }

    /// The same with arguments that the resolver read.
    #[must_use]
    pub fn with_arguments(mut self, arguments: &'a Value) -> Self {
        self.pre_parsed_args = Some(arguments);
        self
    }

    /// An owned sender for a task that outlives the context.
    pub fn cloned_sender(&self) -> Option<Sender<AgentEvent>> {
        self.event_tx.cloned()
    }

    /// An owned sink for a task that outlives the context.
    pub fn cloned_bash_completion_sink(&self) -> Option<Arc<dyn BashCompletionSink>> {
        self.bash_completion_sink.cloned()
    }

    /// The owned form that a tool runs with.
    pub fn to_tool_ctx(&self) -> ToolCtx {
        ToolCtx {
            session_id: self.session_id.map(str::to_owned),
            tool_call_id: self.tool_call_id.to_owned(),
            event_tx: self.cloned_sender(),
            // The scope shares what the context only borrows.
            available_tool_schemas: match self.scope.and_then(|scope| scope.schemas.clone()) {
                Some(shared) => Some(shared),
                None => self.available_tool_schemas.map(Arc::from),
            },
            bypass_permissions: self.bypass_permissions,
            can_async_resume: self.can_async_resume,
            bash_completion_sink: self.cloned_bash_completion_sink(),
            scope: self.scope.cloned(),
        }
    }

    /// Sends an event; nobody listening is no error.
    pub async fn emit(&self, event: AgentEvent) {
        if let Some(sender) = self.event_tx {
            let _ = sender.send(event).await;
        }
    }

    /// Streams output of this call.
    pub async fn emit_tool_token(&self, content: impl Into<String>) {
        let turn = self.scope.and_then(|scope| scope.key.turn.clone());
        let call = CallRef { tool_call_id: self.tool_call_id.to_owned(), turn };
        let (stream, content) = ("stdout".to_owned(), content.into());
        self.emit(AgentEvent::ToolToken { call, stream, content }).await;
    }

    /// How the gate sees the dispatch.
    pub fn circumstances(&self) -> Circumstances<'a> {
        Circumstances {
            scope: self.scope,
            bypass: self.bypass_permissions,
            mode: self.permission_mode,
            interactive: self.session_id.is_some() && self.event_tx.is_some() && !self.no_human_approver,
        }
    }
}

impl std::fmt::Debug for ToolExecutionContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ToolExecutionContext")
            .field("session_id", &self.session_id)
            .field("tool_call_id", &self.tool_call_id)
            .field("bypass_permissions", &self.bypass_permissions)
            .field("can_async_resume", &self.can_async_resume)
            .field("permission_mode", &self.permission_mode)
            .field("no_human_approver", &self.no_human_approver)
            .field("scope", &self.scope)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;

    struct Sink;

    #[async_trait]
    impl BashCompletionSink for Sink {
        async fn completed(&self, _: &str, _: AgentEvent) {}
    }

    #[tokio::test]
    async fn a_dispatch_carries_every_flag_to_the_tool() {
        let (event_tx, mut event_rx) = tokio::sync::mpsc::channel(4);
        let schemas = [ToolSchema::new("T", "d", serde_json::json!({"type": "object"}))];
        let sink: Arc<dyn BashCompletionSink> = Arc::new(Sink);
        let arguments = serde_json::json!({"a": 1});
        let flags = ToolExecutionSessionFlags {
            bypass_permissions: true,
            permission_mode: PermissionMode::Plan,
            no_human_approver: false,
        };
        let ctx = ToolExecutionContext::for_dispatch(
            "s",
            "c",
            &event_tx,
            &schemas,
            flags,
            true,
            Some(&sink),
            Some(&arguments),
        );
        assert!(ctx.bypass_permissions && ctx.can_async_resume && !ctx.no_human_approver);
        assert_eq!((ctx.session_id, ctx.tool_call_id), (Some("s"), "c"));
        assert_eq!(ctx.permission_mode, PermissionMode::Plan);
        assert_eq!(ctx.pre_parsed_args, Some(&arguments));
        assert!(ctx.cloned_sender().is_some() && ctx.cloned_bash_completion_sink().is_some());
        assert!(ctx.circumstances().interactive);

        let tool = ctx.to_tool_ctx();
        assert_eq!((tool.session_id.as_deref(), tool.tool_call_id.as_str()), (Some("s"), "c"));
        assert!(tool.bypass_permissions && tool.can_async_resume && tool.bash_completion_sink.is_some());
        assert_eq!(tool.available_tool_schemas.unwrap()[0].name(), "T");

        ctx.emit_tool_token("x").await;
        let token = event_rx.recv().await.unwrap();
        assert_eq!((token.kind(), token.call().unwrap().call_id.as_str()), ("tool_token", "c"));
    }

    #[tokio::test]
    async fn without_a_session_nobody_is_there_and_nothing_is_heard() {
        let ctx = ToolExecutionContext::none("c");
        ctx.emit_tool_token("x").await;
        assert!(ctx.no_human_approver && !ctx.bypass_permissions && !ctx.circumstances().interactive);
        assert!(ctx.cloned_sender().is_none() && ctx.cloned_bash_completion_sink().is_none());
    }

    #[test]
    fn nobody_who_can_answer_is_nobody_there() {
        let (event_tx, _event_rx) = tokio::sync::mpsc::channel(1);
        let flags = ToolExecutionSessionFlags { no_human_approver: true, ..Default::default() };
        let ctx = ToolExecutionContext::for_dispatch("s", "c", &event_tx, &[], flags, false, None, None);
        assert!(!ctx.circumstances().interactive);
    }
}
