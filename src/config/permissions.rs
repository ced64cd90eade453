//! The rules, as text, and how long people have to answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::forward::ForwardConfig;
use crate::domain::session::PermissionMode;

/// What may run. The rules' grammar is the permission room's; here they are text.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionsConfig {
    /// The mode that a session begins with.
    pub mode: PermissionMode,
    /// The widest that a session may be set to; `bypass` where it is left out.
    pub max_mode: MaxMode,
    /// Never.
    pub deny: Vec<String>,
    /// Only when a person says so, in every mode and under bypass.
    pub always_ask: Vec<String>,
    /// Only when a person says so.
    pub ask: Vec<String>,
    /// Without asking.
    pub allow: Vec<String>,
    /// Examples that the rules must keep, or the file is refused.
    pub tests: Vec<RuleTest>,
}

/// The widest mode that a session may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxMode {
    /// `default`, `plan` and `dont_ask` only.
    Default,
    /// These and `accept_edits`.
    AcceptEdits,
    /// These and `sandbox_auto`.
    SandboxAuto,
    /// All, and `bypass_permissions`.
    #[default]
    Bypass,
}

impl MaxMode {
    /// Whether a session may be in this mode.
    pub fn admits(self, mode: PermissionMode) -> bool {
        match mode {
            PermissionMode::Default | PermissionMode::Plan | PermissionMode::DontAsk => true,
            PermissionMode::AcceptEdits => self != Self::Default,
            PermissionMode::SandboxAuto => matches!(self, Self::SandboxAuto | Self::Bypass),
        }
    }

    /// The narrowest that admits a mode.
    pub fn least_for(mode: PermissionMode) -> Self {
        match mode {
            PermissionMode::Default | PermissionMode::Plan | PermissionMode::DontAsk => Self::Default,
            PermissionMode::AcceptEdits => Self::AcceptEdits,
            PermissionMode::SandboxAuto => Self::SandboxAuto,
        }
    }

    /// Whether a session may bypass what only asks.
    pub fn admits_bypass(self) -> bool {
        self == Self::Bypass
    }
}

/// One example: a call as a rule would name it, and what must come of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleTest {
    /// Such as `Bash(cargo test --all)`.
    pub call: String,
    /// What must come of it.
    pub is: Verdict,
}

/// What comes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It runs.
    Allow,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

/// How long people have to answer, how long what they grant holds, and who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ApprovalsConfig {
    /// An approval that nobody decides is denied after so many seconds, 1 to 2592000 (30 days).
    pub expire_after_s: u64,
    /// What a person grants for a session or always holds for so many seconds at most, 1 to 31536000 (365 days). A
    /// change is for what is granted from then on.
    pub grants_expire_after_s: u64,
    /// A host that decides in the place of people here, as `{"url": "https://gate.example", "token_file": "/…",
    /// "name": "build-1"}`; besides these: `token_env`, `ca_file`, `timeout_ms` (100 to 60000), `retry_for_s` (1 to
    /// 86400), `accept_plain_http`, `local_decisions`. Needs a restart.
    pub forward_to: Option<ForwardConfig>,
}

impl Default for ApprovalsConfig {
    fn default() -> Self {
        Self { expire_after_s: 24 * 60 * 60, grants_expire_after_s: 30 * 24 * 60 * 60, forward_to: None }
    }
}
