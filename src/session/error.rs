//! Why a request about a session was refused.

use crate::domain::approval::Approval;
use crate::domain::call::CallStatus;
use crate::domain::identity::IdentityError;
use crate::store::StoreError;

/// A refusal; nothing of the request was done.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no such thing, or it is someone else's: which of the two is not said.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// A field of the request is wrong.
    #[error("{message}")]
    Invalid {
        /// Where, as a JSON pointer.
        pointer: String,
        /// What is wrong and what would be right.
        message: String,
    },
    /// The request is understood, but what it would do is refused as it stands.
    #[error("{message}")]
    Unprocessable {
        /// A stable code.
        code: &'static str,
        /// Where, as a JSON pointer.
        pointer: String,
        /// Why.
        message: String,
    },
    /// The token may not do this.
    #[error("{message}")]
    Forbidden {
        /// A stable code.
        code: &'static str,
        /// Why.
        message: String,
    },
    /// It stands against something that is there already.
    #[error("{message}")]
    Conflict {
        /// A stable code.
        code: &'static str,
        /// What.
        message: String,
    },
    /// The session takes nothing more.
    #[error("the session has ended")]
    Ended,
    /// The approval no longer waits.
    #[error("the approval is {} already", .0.status.as_str())]
    Decided(Box<Approval>),
    /// The approval was bound to something that changed; the new one waits.
    #[error("what this approval was bound to has changed; approval {} waits in its place", .0.approval_id)]
    Superseded(Box<Approval>),
    /// The call does not wait for this.
    #[error("the call is {}, it does not wait for this", .0.as_str())]
    NotWaiting(CallStatus),
    /// A bound is reached.
    #[error("{0}")]
    TooMany(String),
    /// The server is going down.
    #[error("the server is shutting down")]
    ShuttingDown,
    /// The store is behind.
    #[error("the store is busy; try again")]
    Busy,
    /// The server's fault; the text is for the log.
    #[error("{0}")]
    Internal(String),
}

impl SessionError {
    pub(super) fn invalid(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { pointer: pointer.into(), message: message.into() }
    }

    pub(super) fn unprocessable(
        code: &'static str,
        pointer: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self::Unprocessable { code, pointer: pointer.into(), message: message.into() }
    }

    pub(super) fn forbidden(code: &'static str, message: impl Into<String>) -> Self {
        Self::Forbidden { code, message: message.into() }
    }

    pub(super) fn conflict(code: &'static str, message: impl Into<String>) -> Self {
        Self::Conflict { code, message: message.into() }
    }
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::NotFound("item"),
            StoreError::CallMoved(call) => Self::NotWaiting(call.status),
            StoreError::ApprovalMoved(approval) => Self::Decided(approval),
            StoreError::SessionEnded => Self::Ended,
            StoreError::TooManyOfToken => {
                Self::TooMany("too many approvals wait in the sessions of this token".to_owned())
            }
            StoreError::TooManyPending => Self::TooMany("too many approvals wait in this session".to_owned()),
            StoreError::BadCursor => Self::invalid("/cursor", error.to_string()),
            StoreError::Busy => Self::Busy,
            StoreError::Failed(reason) => Self::Internal(reason),
        }
    }
}

impl From<IdentityError> for SessionError {
    fn from(error: IdentityError) -> Self {
        let pointer = match error {
            IdentityError::SessionId => "/session_id",
            IdentityError::CallId(_) => "/id",
        };
        Self::invalid(pointer, error.to_string())
    }
}
