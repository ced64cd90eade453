//! What would come of a call and by which rules: told without running it, asking anyone or recording anything.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::session::PermissionMode;

/// What the gate says of a call, and all that led to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Explanation {
    /// What would come of it.
    pub decision: Verdict,
    /// It asks in every session, under bypass too, and nothing can be granted for it.
    pub forced: bool,
    /// Why.
    pub reason: VerdictReason,
    /// The exact tool that was judged.
    pub tool_name: String,
    /// What kind of effect the call has.
    pub class: CallClass,
    /// The commands that a shell text would run, as far as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Vec<String>>,
    /// Every rule that speaks of the call or of a part of it, whether or not it decided: at most 100 of a list, and
    /// of a very long command the first one.
    pub matched: Vec<MatchedRule>,
    /// Rules that would let it run, as they would be offered to a person; none where no rule can be offered.
    pub would_allow: Vec<String>,
    /// The mode that it was judged in.
    pub mode: PermissionMode,
    /// Whether it was judged as in a session that runs everything that is not held back.
    pub bypass: bool,
    /// The workspace that paths were counted from.
    pub workspace: String,
    /// The directory that the call would start in.
    pub cwd: String,
}

/// What comes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

impl Verdict {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct VerdictReason {
    /// For a person and for the model.
    pub text: String,
    /// What decided.
    pub by: DecidedBy,
    /// The rule that decided, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The config's key that holds this rule, such as `permissions.deny[2]`; none for what a person granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// What decided over a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum DecidedBy {
    /// A rule of the config.
    Rule,
    /// A rule that a person granted.
    Grant,
    /// The session's mode.
    Mode,
    /// The session runs everything that is not held back.
    Bypass,
    /// A built-in protection.
    Protection,
    /// What is usual for calls of this class.
    Class,
    /// The command could not be understood.
    NotUnderstood,
    /// It would have been asked, but nobody is there.
    NoHuman,
}

impl DecidedBy {
    /// The name on the wire.
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

/// What kind of effect a call has; the mode says which of these run without a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallClass {
    /// Reads in the workspace.
    Read,
    /// Changes in the workspace.
    Edit,
    /// Reads or changes outside of the workspace.
    Outside,
    /// Runs a program, or types into one.
    Run,
    /// Connects to another host.
    Network,
    /// Touches the session's own state only.
    Session,
    /// A tool of an MCP server or of a client, or one that is not known here.
    Foreign,
}

impl CallClass {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Edit => "edit",
            Self::Outside => "outside",
            Self::Run => "run",
            Self::Network => "network",
            Self::Session => "session",
            Self::Foreign => "foreign",
        }
    }
}

/// A rule that speaks of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MatchedRule {
    /// Which list it stands in.
    pub list: RuleListName,
    /// The rule, as it was written.
    pub rule: String,
    /// The config's key that holds it, such as `permissions.deny[2]`; none for what a person granted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The command of a shell text that it speaks of, where it is one of the leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf: Option<String>,
}

/// A list of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RuleListName {
    /// What never runs.
    Deny,
    /// What is asked about in every session.
    AlwaysAsk,
    /// What is asked about.
    Ask,
    /// What runs.
    Allow,
    /// What a person granted.
    Grant,
}

impl RuleListName {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::AlwaysAsk => "always_ask",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Grant => "grant",
        }
    }
}
