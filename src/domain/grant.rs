//! What a person allowed for a session or for always.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::approval::Scope;
use super::clock::Timestamp;

/// A stored permission, in the language of the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Grant {
    /// Its id, for revoking.
    pub grant_id: String,
    /// The rule that it adds to the allow list.
    pub pattern: String,
    /// Of a command: the directory of the workspace in which it has to start, `.` for the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// `session` or `always`.
    pub scope: Scope,
    /// The session, where the scope is `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The agent token that it holds for.
    pub agent: String,
    /// The workspace root that it holds under.
    pub workspace_root: String,
    /// The approval that it came from.
    pub approval_id: String,
    /// Who granted it.
    pub granted_by: String,
    /// When.
    pub created_at: Timestamp,
    /// From when on it no longer holds; one of a session ends with that, if it comes first.
    pub expires_at: Timestamp,
}
