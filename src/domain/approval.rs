//! An approval: what a person is asked, bound to what exactly would run.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::clock::Timestamp;
use super::digest::Digest;
use super::identity::CallKey;

/// The most approvals that may wait in one session; a further one is refused.
pub const PENDING_MAX: usize = 20;

/// A question to a person, immutable once opened but for its status and decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// Its id.
    pub approval_id: String,
    /// The session that asks.
    pub session_id: String,
    /// The call that waits.
    #[serde(flatten)]
    pub call: CallKey,
    /// The exact tool.
    pub tool_name: String,
    /// The effective arguments.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Over name, arguments, resolved paths, shown files, working directory and sandbox level.
    pub digest: Digest,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// Why it asks.
    pub reason: AskReason,
    /// The working directory that the call would run in.
    pub cwd: String,
    /// The sandbox level it would run under.
    pub sandbox: String,
    /// A unified diff of what would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The commands that a shell text would run, as far as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Vec<String>>,
    /// One line to show: control and invisible characters escaped, long padding folded.
    pub display: String,
    /// What may be granted beyond this once.
    pub offers: Vec<Offer>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it is denied by itself.
    pub expires_at: Timestamp,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// It waits for a decision.
    Pending,
    /// A person allowed it; the call spends it when it starts.
    Allowed,
    /// A person refused.
    Denied,
    /// The call was cancelled, or its session ended.
    Cancelled,
    /// Nobody decided in time.
    Expired,
    /// What it was bound to changed; another one was opened.
    Superseded,
}

impl ApprovalStatus {
    /// The name on the wire and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
        }
    }
}

/// Why a call has to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AskReason {
    /// For a person.
    pub text: String,
    /// The rule that asked, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What a reviewer may grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    /// For how long.
    pub scope: Scope,
    /// The rule that would be stored; none for `once`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// How long a decision holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call alone.
    #[default]
    Once,
    /// The session.
    Session,
    /// The same agent token under the same workspace root.
    Always,
}

/// Allow or deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

/// What a reviewer sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionRequest {
    /// Allow or deny.
    pub decision: Choice,
    /// For how long; `once` where it is left out.
    #[serde(default)]
    pub scope: Scope,
    /// One of the offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Edited arguments: the tool stays, scope is `once`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::arguments::unambiguous_or_none"
    )]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// A message to the model, at most 16 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 16384)]
    pub message: Option<String>,
}

/// A decision as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Decision {
    /// What was sent.
    #[serde(flatten)]
    pub request: DecisionRequest,
    /// Which token decided.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// What the allowed call must still have when it starts; differs from the approval's own
    /// digest only where the arguments were edited.
    pub digest: Digest,
}
