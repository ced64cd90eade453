//! A session: whose it is, where it works, how it is permitted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::clock::Timestamp;

/// A session as it is recorded and answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Session {
    /// Its id, never used again.
    pub session_id: String,
    /// The absolute, resolved workspace.
    pub workspace: String,
    /// The client's own labels.
    pub labels: BTreeMap<String, String>,
    /// Whether it takes calls.
    pub status: SessionStatus,
    /// The flags in force.
    pub runtime: RuntimeFlags,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// The sequence number of its latest event.
    pub last_seq: u64,
}

/// Whether a session takes calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// It takes calls.
    Active,
    /// It is over; its records are kept.
    Ended,
}

/// How a session's calls are permitted where no rule decides.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, ToSchema, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// Reading in the workspace is allowed, all else asks.
    #[default]
    Default,
    /// Edits in the workspace are allowed too.
    AcceptEdits,
    /// Only reading; run, edit and network are denied.
    Plan,
    /// What would ask is denied.
    DontAsk,
    /// Under a full sandbox with no network, commands that no rule matches run without asking.
    SandboxAuto,
}

impl PermissionMode {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "accept_edits",
            Self::Plan => "plan",
            Self::DontAsk => "dont_ask",
            Self::SandboxAuto => "sandbox_auto",
        }
    }

    /// Whether it lets no more run than `bound` does: what an agent may set for itself.
    pub fn is_within(self, bound: Self) -> bool {
        match (self, bound) {
            (Self::Plan, _) => true,
            (Self::DontAsk, bound) => bound != Self::Plan,
            (Self::Default, bound) => !matches!(bound, Self::Plan | Self::DontAsk),
            (wide, bound) => wide == bound,
        }
    }
}

/// The flags of `runtime.json`; keys that this version does not know are kept.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct RuntimeFlags {
    /// Skips what only asks; deny, always-ask and protections hold.
    #[serde(default)]
    pub bypass_permissions: bool,
    /// The mode.
    #[serde(default)]
    pub permission_mode: PermissionMode,
    /// Nobody can answer: what would ask is denied.
    #[serde(default)]
    pub no_human_approver: bool,
    /// The client declares that it can go on later with a backgrounded command.
    #[serde(default)]
    pub can_async_resume: bool,
    /// Keys of other versions or of the owner's own.
    #[serde(flatten)]
    pub others: Map<String, Value>,
}

/// A tool that the client itself runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionTool {
    /// Its name: letters, digits, `_` and `-`; not a built-in's, nor `mcp__…`.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,64}$", example = "open_ticket")]
    pub name: String,
    /// For the model.
    pub description: String,
    /// A JSON Schema with `type: object` at its root.
    #[serde(deserialize_with = "super::arguments::unambiguous")]
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Who runs it.
    pub kind: SessionToolKind,
}

/// Who runs a session's own tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SessionToolKind {
    /// The client: the call pauses until it reports.
    Client,
}
