//! What the policy says of a call, and why.

use std::fmt;

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What happens with the call.
    pub decision: Decision,
    /// Why.
    pub reason: Reason,
}

/// What happens with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person decides.
    Ask {
        /// Also where the session would run everything, and nothing beyond this call can be granted.
        forced: bool,
    },
    /// It does not run.
    Deny,
}

/// Why a call was judged as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// A sentence for the reviewer and the model.
    pub text: String,
    /// The rule that decided, as it was written.
    pub rule: Option<String>,
    /// Where that rule stands, such as `permissions.deny[2]`; none for what a person granted.
    pub source: Option<String>,
    /// What decided.
    pub by: By,
}

/// What decided over a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum By {
    /// A rule of the config.
    Rule,
    /// A rule that a person granted.
    Grant,
    /// The session's permission mode.
    Mode,
    /// The session runs everything that is not held back.
    Bypass,
    /// A built-in protection.
    Protection,
    /// What is usual for this kind of call.
    Class,
    /// The command could not be understood.
    NotUnderstood,
    /// It would have been asked, but nobody is there.
    NoHuman,
}

impl By {
    /// A word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Grant => "grant",
            Self::Mode => "mode",
            Self::Bypass => "bypass",
            Self::Protection => "protection",
            Self::Class => "class",
            Self::NotUnderstood => "not_understood",
            Self::NoHuman => "no_human",
        }
    }
}

impl Decision {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask { .. } => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Reason {
    pub(crate) fn new(by: By, text: impl Into<String>) -> Self {
        Self { text: text.into(), rule: None, source: None, by }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
