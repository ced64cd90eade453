//! Everything that happens, as events.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::approval::{Approval, Choice, Scope};
use super::clock::Timestamp;
use super::identity::CallKey;
use super::result::{DeniedBy, ToolResult};
use super::session::RuntimeFlags;

/// The call that an event is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CallRef {
    /// The model's id of the call.
    pub tool_call_id: String,
    /// Its turn, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
}

impl From<&CallKey> for CallRef {
    fn from(key: &CallKey) -> Self {
        Self { tool_call_id: key.call_id.clone(), turn: key.turn.clone() }
    }
}

impl From<&CallRef> for CallKey {
    fn from(call: &CallRef) -> Self {
        Self { turn: call.turn.clone(), call_id: call.tool_call_id.clone() }
    }
}

/// An event's content; the log adds its number, session and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AgentEvent {
    /// The session's first event.
    SessionStarted {},
    /// The session's last event.
    SessionEnded {},
    /// The session's flags are now these.
    RuntimeChanged {
        /// The flags.
        runtime: RuntimeFlags,
        /// What is wrong with `runtime.json`, where the last good flags stay in force.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<String>,
    },
    /// A call was accepted; before any pause.
    ToolStart {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// The exact name, or as requested where nothing owns it.
        tool_name: String,
        /// The effective arguments; the text as sent where it could not be read.
        #[schema(value_type = super::call::Arguments)]
        arguments: Value,
    },
    /// Output while it runs.
    ToolToken {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// Which of the tool's streams.
        stream: String,
        /// Valid UTF-8 at every cut.
        content: String,
    },
    /// How far it is.
    ToolProgress {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// Done so far.
        progress: f64,
        /// Out of this many, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<f64>,
        /// In words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A person has to decide.
    ToolApprovalRequested {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// What is asked.
        approval: Box<Approval>,
    },
    /// The approval no longer waits.
    ToolApprovalResolved {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// The approval.
        approval_id: String,
        /// `allow` or `deny`, or how it ended without a decision.
        decision: Resolution,
        /// For how long.
        scope: Scope,
        /// Which token, or `server`.
        by: String,
        /// Edited arguments.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schema(value_type = Option<Object>)]
        arguments: Option<Value>,
    },
    /// The tool asks the user.
    NeedClarification {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// The question.
        question: String,
        /// Answers to choose from.
        options: Vec<String>,
    },
    /// The user answered.
    ClarificationAnswered {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// The answer.
        answer: String,
        /// Which token.
        by: String,
    },
    /// The call has its result.
    ToolComplete {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// The result.
        result: ToolResult,
    },
    /// The call failed.
    ToolError {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// Why, in words.
        error: String,
        /// The stable code.
        code: String,
    },
    /// The call was refused.
    ToolDenied {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// Who or what refused.
        by: DeniedBy,
        /// Why.
        message: String,
    },
    /// The call was cancelled.
    ToolCancelled {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// Why.
        reason: String,
    },
    /// The server ended while the call ran.
    ToolInterrupted {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// Why.
        reason: String,
    },
    /// The call goes on in the background.
    ToolBackgrounded {
        /// The call.
        #[serde(flatten)]
        call: CallRef,
        /// The shell.
        bash_id: String,
    },
    /// A background shell ended.
    BashCompleted {
        /// The shell.
        bash_id: String,
        /// The call that started it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        /// Its turn, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<String>,
        /// The exit code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The signal that ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        /// `exited`, `killed` or `lost`.
        status: String,
        /// The end of its output.
        tail: String,
    },
    /// The config in force changed; only on the stream of all sessions.
    ConfigChanged {
        /// The new revision.
        revision: u64,
        /// Names of the keys that changed, without values.
        keys: Vec<String>,
        /// Keys that wait for a restart, these and earlier ones.
        #[serde(default)]
        restart_needed: Vec<String>,
    },
    /// The config file is wrong; the last good one stays in force.
    ConfigInvalid {
        /// What is wrong, with line and key, in words.
        error: String,
        /// Each fault by itself.
        #[serde(default)]
        errors: Vec<ConfigFault>,
    },
    /// The config file is good again.
    ConfigRecovered {
        /// The revision in force.
        revision: u64,
    },
}

/// What is wrong with one key of the config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ConfigFault {
    /// The file, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The key, such as `permissions.deny[2]`; empty for the text as a whole.
    pub key: String,
    /// What is wrong and what would be right, without the key's value.
    pub message: String,
}

impl std::fmt::Display for ConfigFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}, line {line}: ")?,
            (Some(file), None) => write!(f, "{file}: ")?,
            (None, _) => f.write_str("config: ")?,
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// How an approval ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Resolution {
    /// A person allowed it.
    Allow,
    /// A person refused.
    Deny,
    /// The call was cancelled.
    Cancelled,
    /// Nobody decided in time.
    Expired,
    /// Another one took its place.
    Superseded,
}

impl Resolution {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
        }
    }
}

impl From<Choice> for Resolution {
    fn from(choice: Choice) -> Self {
        match choice {
            Choice::Allow => Self::Allow,
            Choice::Deny => Self::Deny,
        }
    }
}

impl AgentEvent {
    /// All types on the wire.
    pub const KINDS: [&str; 20] = [
        "session_started",
        "session_ended",
        "runtime_changed",
        "tool_start",
        "tool_token",
        "tool_progress",
        "tool_approval_requested",
        "tool_approval_resolved",
        "need_clarification",
        "clarification_answered",
        "tool_complete",
        "tool_error",
        "tool_denied",
        "tool_cancelled",
        "tool_interrupted",
        "tool_backgrounded",
        "bash_completed",
        "config_changed",
        "config_invalid",
        "config_recovered",
    ];

    /// The event's type on the wire.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::SessionStarted {} => "session_started",
            Self::SessionEnded {} => "session_ended",
            Self::RuntimeChanged { .. } => "runtime_changed",
            Self::ToolStart { .. } => "tool_start",
            Self::ToolToken { .. } => "tool_token",
            Self::ToolProgress { .. } => "tool_progress",
            Self::ToolApprovalRequested { .. } => "tool_approval_requested",
            Self::ToolApprovalResolved { .. } => "tool_approval_resolved",
            Self::NeedClarification { .. } => "need_clarification",
            Self::ClarificationAnswered { .. } => "clarification_answered",
            Self::ToolComplete { .. } => "tool_complete",
            Self::ToolError { .. } => "tool_error",
            Self::ToolDenied { .. } => "tool_denied",
            Self::ToolCancelled { .. } => "tool_cancelled",
            Self::ToolInterrupted { .. } => "tool_interrupted",
            Self::ToolBackgrounded { .. } => "tool_backgrounded",
            Self::BashCompleted { .. } => "bash_completed",
            Self::ConfigChanged { .. } => "config_changed",
            Self::ConfigInvalid { .. } => "config_invalid",
            Self::ConfigRecovered { .. } => "config_recovered",
        }
    }

    /// The call that it is about, where it is about one.
    pub fn call(&self) -> Option<CallKey> {
        match self {
            Self::ToolStart { call, .. }
            | Self::ToolToken { call, .. }
            | Self::ToolProgress { call, .. }
            | Self::ToolApprovalRequested { call, .. }
            | Self::ToolApprovalResolved { call, .. }
            | Self::NeedClarification { call, .. }
            | Self::ClarificationAnswered { call, .. }
            | Self::ToolComplete { call, .. }
            | Self::ToolError { call, .. }
            | Self::ToolDenied { call, .. }
            | Self::ToolCancelled { call, .. }
            | Self::ToolInterrupted { call, .. }
            | Self::ToolBackgrounded { call, .. } => Some(call.into()),
            Self::BashCompleted { tool_call_id: Some(id), turn, .. } => {
                Some(CallKey { turn: turn.clone(), call_id: id.clone() })
            }
            Self::BashCompleted { .. }
            | Self::SessionStarted {}
            | Self::SessionEnded {}
            | Self::RuntimeChanged { .. }
            | Self::ConfigChanged { .. }
            | Self::ConfigInvalid { .. }
            | Self::ConfigRecovered { .. } => None,
        }
    }

    /// Whether it ends its call.
    pub fn ends_call(&self) -> bool {
        matches!(
            self,
            Self::ToolComplete { .. }
                | Self::ToolError { .. }
                | Self::ToolDenied { .. }
                | Self::ToolCancelled { .. }
                | Self::ToolInterrupted { .. }
                | Self::ToolBackgrounded { .. }
        )
    }
}

/// An event with its place in the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LoggedEvent {
    /// Gapless within its session, from 1; of events without a session the cursor of the whole log.
    pub seq: u64,
    /// The session; none for config events and for approvals of workers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// When it was written.
    pub time: Timestamp,
    /// The content.
    #[serde(flatten)]
    pub event: AgentEvent,
}
