//! The audit log's entries: what the gate said of each call, and what people decided.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::approval::Scope;
use super::clock::Timestamp;
use super::digest::Digest;
use super::identity::CallKey;
use super::session::PermissionMode;

/// One entry, never changed once it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditEntry {
    /// Its number, without gaps over the whole log; also the `cursor` behind which a list goes on.
    pub seq: u64,
    /// When it was written.
    pub time: Timestamp,
    /// What happened.
    #[serde(flatten)]
    pub record: AuditRecord,
}

/// What an entry tells. Nothing in it is a secret or a file's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AuditRecord {
    /// What kind of thing happened.
    pub kind: AuditKind,
    /// How it came out.
    pub decision: AuditDecision,
    /// Who: of a verdict the token that owns the session, of a decision the token that decided,
    /// else `server` or, where another server answered for people, `host`.
    pub by: String,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The call's turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The exact tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What would run, on one line: redacted, clipped, texts of files by length and SHA-256 alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<String>,
    /// The files that it would change, as they were resolved; escaped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edits: Vec<String>,
    /// Why the gate said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<AuditReason>,
    /// By which config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub config: Option<AuditConfig>,
    /// The session's mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<PermissionMode>,
    /// Whether the session ran what only asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass: Option<bool>,
    /// The approval that was asked for, decided, used, or that a refused decision was on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// For how long a person allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Whether a person edited the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<bool>,
    /// The rule that was granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Of a command that was granted: the directory of the workspace in which it has to start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The grant that was made or revoked, or whose time is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant_id: Option<String>,
    /// Of a grant: from when on it no longer holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// What the retention dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<AuditDropped>,
}

/// What kind of thing an entry tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditKind {
    /// The gate judged a call.
    Verdict,
    /// An approval no longer waits.
    Approval,
    /// A person's decision was judged, and not taken.
    Decision,
    /// A grant was made or revoked, or its time is over.
    Grant,
    /// The oldest entries were dropped.
    Retention,
}

/// How it came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuditDecision {
    /// The call may run; a person allowed it.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not run; a person refused.
    Deny,
    /// Nobody decided in time; of a grant: its time, or its session, is over.
    Expired,
    /// The call was cancelled, or its session ended.
    Cancelled,
    /// What the approval was bound to changed.
    Superseded,
    /// A grant was made.
    Granted,
    /// A grant was taken back.
    Revoked,
    /// A decision was not taken.
    Refused,
    /// Entries were dropped.
    Dropped,
}

/// Why the gate said what it said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditReason {
    /// In words.
    pub text: String,
    /// The rule that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Where that rule stands in the config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What decided: `rule`, `grant`, `mode`, `bypass`, `protection`, `class`, `not_understood`,
    /// `no_human`, `approval`, `host`, `reviewer`, `expired`, `superseded` or `checker`.
    pub by: String,
}

/// The config that a call was judged by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditConfig {
    /// Its number since the server started.
    pub revision: u64,
    /// The digest of its section `permissions`: equal over restarts where the rules are.
    pub rules: Digest,
}

/// What the retention dropped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditDropped {
    /// The first entry that is gone.
    pub from: u64,
    /// The last one.
    pub to: u64,
    /// Which bound: `age` or `rows`.
    pub bound: String,
}

impl AuditRecord {
    /// An entry with nothing but what every one has.
    pub fn new(kind: AuditKind, decision: AuditDecision, by: &str) -> Self {
        Self {
            kind,
            decision,
            by: by.to_owned(),
            session_id: None,
            turn: None,
            call_id: None,
            tool_name: None,
            display: None,
            edits: Vec::new(),
            reason: None,
            config: None,
            mode: None,
            bypass: None,
            approval_id: None,
            scope: None,
            edited: None,
            pattern: None,
            directory: None,
            grant_id: None,
            expires_at: None,
            dropped: None,
        }
    }

    /// The same, of a call.
    #[must_use]
    pub fn of_call(mut self, session_id: &str, key: &CallKey) -> Self {
        self.session_id = Some(session_id.to_owned());
        self.turn.clone_from(&key.turn);
        self.call_id = Some(key.call_id.clone());
        self
    }
}

impl AuditKind {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Approval => "approval",
            Self::Decision => "decision",
            Self::Grant => "grant",
            Self::Retention => "retention",
        }
    }
}

impl AuditDecision {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
            Self::Expired => "expired",
            Self::Cancelled => "cancelled",
            Self::Superseded => "superseded",
            Self::Granted => "granted",
            Self::Revoked => "revoked",
            Self::Refused => "refused",
            Self::Dropped => "dropped",
        }
    }
}
