//! Who answers an ask: the proxy of a host, and the desk where people decide.

use async_trait::async_trait;

use super::call::Preview;
use super::scope::Scope;
use crate::domain::approval::{Approval, AskReason, ChangedFile, Offer};
use crate::domain::audit::{AuditDecision, AuditKind, AuditRecord};
use crate::domain::clock::Timestamp;
use crate::domain::digest::Digest;
use crate::domain::result::{DeniedBy, ToolError};
use serde_json::Value;

/// What is asked of a person, bound to what exactly would run.
#[derive(Debug, Clone, PartialEq)]
pub struct Ask {
    /// The exact tool.
    pub tool_name: String,
    /// The effective arguments.
    pub arguments: Value,
    /// Over everything that an allow covers.
    pub digest: Digest,
    /// Why it asks.
    pub reason: AskReason,
    /// What may be granted beyond this once.
    pub offers: Vec<Offer>,
    /// The commands of a shell text, as far as it was understood.
    pub leaves: Option<Vec<String>>,
    /// What would change, and from which content.
    pub preview: Preview,
    /// The working directory, escaped.
    pub directory: String,
    /// The same in full, where it had to be escaped.
    pub exact_directory: Option<String>,
    /// The session's directory, where the call asks for another one; percent-encoded.
    pub asked_from: Option<String>,
    /// The sandbox level.
    pub sandbox: String,
    /// One line to show.
    pub display: String,
    /// Why there is nothing to ask, unless somebody was asked before.
    pub moot: Option<String>,
    /// What the audit log is told of it.
    pub audit: Box<AuditRecord>,
    /// Whether it asks for what outlasts the call.
    pub petition: bool,
    /// Whether an allow can grant a rule.
    pub grants: bool,
    /// The approval that stands for it, where one was opened.
    pub opened: Option<Opened>,
}

/// The approval that stands for an ask.
#[derive(Debug, Clone, PartialEq)]
pub struct Opened {
    /// Its id: the same as long as the ask is the same.
    pub approval_id: String,
    /// When it is denied by itself.
    pub expires_at: Timestamp,
    /// What the session changed in the files that would run, and how many such files are not told of.
    pub changed_files: (Vec<ChangedFile>, u64),
}

impl Ask {
    /// What an approval asks. (What it showed of files is in its digest.)
    pub fn of(approval: &Approval) -> Self {
        Self {
            tool_name: approval.tool_name.clone(),
            arguments: approval.arguments.clone(),
            digest: approval.digest.clone(),
            reason: approval.reason.clone(),
            offers: approval.offers.clone(),
            leaves: approval.leaves.clone(),
            preview: Preview { diff: approval.diff.clone(), ..Preview::default() },
            directory: approval.cwd.clone(),
            sandbox: approval.sandbox.clone(),
            display: approval.display.clone(),
            moot: None,
            exact_directory: approval.cwd_exact.clone(),
            asked_from: approval.cwd_from.clone(),
            audit: Box::new(AuditRecord::new(AuditKind::Verdict, AuditDecision::Ask, "")),
            petition: false,
            grants: approval.grants_expire_in_s.is_some(),
            opened: Some(Opened {
                approval_id: approval.approval_id.clone(),
                expires_at: approval.expires_at,
                changed_files: (approval.changed_files.clone(), approval.changed_files_left_out),
            }),
        }
    }
}

/// Where an ask stands.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It waits for a decision.
    Waiting(Box<Approval>),
    /// Allowed, not spent yet.
    Allowed {
        /// The approval to spend.
        approval_id: String,
    },
    /// Refused.
    Denied {
        /// By whom.
        by: DeniedBy,
        /// For the model.
        message: String,
    },
}

/// Forwards an ask to a host that has people: a worker's way to be approved.
///
/// A gate that has one asks it in place, before its desk. The server's sessions open an approval at the desk first,
/// so that the call is seen to wait, and ask the host while it does. Petitions never go there: what outlasts a call
/// is this server's to grant. Whatever goes wrong (transport, time-out, a host that does not know the worker) is a
/// refusal.
#[async_trait]
pub trait ApprovalProxy: Send + Sync {
    /// Waits for the host's decision. Again, with the same ask: the same decision.
    async fn request(&self, ask: &Ask, scope: &Scope) -> Result<ProxyDecision, ProxyError>;

    /// Takes an ask back that nobody waits for any more, by the id of the approval that stood for it. Tried once.
    async fn withdraw(&self, _approval_id: &str) -> Result<Withdrawn, ProxyError> {
        Ok(Withdrawn::Gone)
    }
}

/// What became of an ask that was taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawn {
    /// It does not wait at the host.
    Gone,
    /// The host does not know it: it was never there, or is still on its way.
    Unknown,
}

/// A host's decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyDecision {
    /// It may run, this once.
    Allow {
        /// Who says so there.
        by: String,
    },
    /// It may not.
    Deny {
        /// Who says so there.
        by: String,
        /// The reviewer's message to the model.
        message: Option<String>,
    },
}

/// Why a host gave no decision.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the approval host gave no decision: {0}")]
pub struct ProxyError(pub String);

/// Keeps asks until a person decides, and lets each decision be used once.
#[async_trait]
pub trait ApprovalDesk: Send + Sync {
    /// Where the call's ask stands; opens one where none stands, and a new one in the place of one
    /// that was bound to something else. At most one is open for a call.
    async fn consult(&self, scope: &Scope, ask: &Ask) -> Result<Standing, ToolError>;

    /// Marks the call as running and spends its approval in the same step: at most once for each
    /// call and each approval. Durable on disk where the call may change something. Nothing of this
    /// for a petition that was allowed: the step that ends it does what it asked for and spends its
    /// approval.
    async fn begin(&self, scope: &Scope, start: Start) -> Result<(), ToolError>;
}

/// How a call starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The approval that it spends.
    pub approval_id: Option<String>,
    /// Whether it may change something.
    pub mutating: bool,
    /// Whether it asks people for what outlasts it.
    pub petition: bool,
}
