//! Who calls, and what that one may reach.

use crate::config::KnownToken;
pub use crate::config::Role;
use crate::store::SessionRecord;

/// The holder of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    /// The token's name.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The one session that it reaches, for a session's own token.
    pub only_session: Option<String>,
    /// Workspace patterns that it may use; all under the roots where there are none.
    pub workspaces: Vec<String>,
    /// The most active sessions, where the token has a bound of its own.
    pub max_sessions: Option<usize>,
}

impl From<&KnownToken> for Principal {
    fn from(token: &KnownToken) -> Self {
        Self {
            workspaces: token.workspaces.clone(),
            max_sessions: token.max_sessions,
            ..Self::new(&token.name, token.role)
        }
    }
}

impl Principal {
    /// A token without bounds of its own.
    pub fn new(name: impl Into<String>, role: Role) -> Self {
        Self { name: name.into(), role, only_session: None, workspaces: Vec::new(), max_sessions: None }
    }

    /// Whether it may decide.
    pub fn is_operator(&self) -> bool {
        self.role == Role::Operator
    }

    /// Whether it reaches a session: an operator each, an agent its own, a session's token that one.
    pub fn reaches(&self, record: &SessionRecord) -> bool {
        if self.is_operator() {
            return true;
        }
        let its = self.only_session.as_ref().is_none_or(|only| *only == record.session.session_id);
        its && record.owner == self.name
    }
}
