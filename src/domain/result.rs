//! What a tool gives back, and how it fails.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The mark on a collapsed result that says: not a result, the call waits for an approval.
/// Reserved for the gate: results of tools are stripped of it.
pub const APPROVAL_PAUSE: &str = "request_permissions";

/// The result of a call: `result` is the text for the model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
pub struct ToolResult {
    /// Whether the tool did what was asked; a non-zero exit or a time-out is `false`.
    pub success: bool,
    /// The text that the model reads.
    pub result: String,
    /// How a client may want to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_preference: Option<String>,
    /// Images that belong to the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub images: Vec<Image>,
    /// Facts for programs; on the wire they stand beside the result, as the call's `details`.
    #[serde(skip)]
    pub details: Option<Value>,
}

/// An image in a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Image {
    /// A MIME type, such as `image/png`.
    pub media_type: String,
    /// The bytes in base64 (RFC 4648, section 4).
    pub data: String,
}

impl ToolResult {
    /// A result that succeeded.
    pub fn ok(text: impl Into<String>) -> Self {
        Self { success: true, result: text.into(), ..Self::default() }
    }

    /// A result that did not.
    pub fn unsuccessful(text: impl Into<String>) -> Self {
        Self { success: false, result: text.into(), ..Self::default() }
    }

    /// The same with details for programs.
    #[must_use]
    pub fn with_details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// No executor owns a tool of this name.
    #[error("{0}")]
    NotFound(String),
    /// The arguments cannot be read or do not fit the tool's schema; the text says what would.
    #[error("{0}")]
    InvalidArguments(String),
    /// The gate refused.
    #[error("{message}")]
    Denied {
        /// Who or what refused.
        by: DeniedBy,
        /// The stable code: `denied`, or what more there is to say for programs.
        code: &'static str,
        /// The reason, for the model.
        message: String,
    },
    /// The tool could not do its work; the text is for the model.
    #[error("{0}")]
    Execution(String),
    /// The call was cancelled while it ran.
    #[error("{message}")]
    Cancelled {
        /// What had happened until then, for the model.
        message: String,
    },
    /// The server could not do its part (a full disk, a lost store): our fault, not the model's.
    #[error("{0}")]
    Internal(String),
}

impl ToolError {
    /// The stable code of the error on the wire.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound(_) => "unknown_tool",
            Self::InvalidArguments(_) => "invalid_arguments",
            Self::Denied { code, .. } => code,
            Self::Execution(_) => "tool_failed",
            Self::Cancelled { .. } => "cancelled",
            Self::Internal(_) => "internal",
        }
    }
}

/// Who or what refused a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DeniedBy {
    /// A deny rule, or a built-in protection.
    Rule,
    /// The session's mode.
    Mode,
    /// A person.
    Reviewer,
    /// An approval that nobody decided in time.
    Expired,
    /// It had to be asked, and nobody could answer.
    NoHuman,
}
