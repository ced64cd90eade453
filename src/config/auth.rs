//! Who may call: tokens and their roles.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who may call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuthConfig {
    /// Whether tokens are asked for. Needs a restart.
    pub mode: AuthMode,
    /// Tokens besides the two that the server makes.
    pub tokens: Vec<TokenConfig>,
}

/// Whether tokens are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthMode {
    /// Every route but the probes takes a bearer token.
    #[default]
    Tokens,
    /// Everyone who reaches the listener is an operator: on loopback alone.
    None,
}

/// A token from the config.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenConfig {
    /// How it is named in sessions, decisions and logs; unique, and not `agent` or `operator`.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// The SHA-256 of the token, as 64 hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// A file that holds the token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// An environment variable that holds the token; not named `TOOLGATE_…`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub env: Option<String>,
    /// Workspace patterns (globs over absolute paths) that an agent's sessions may use; all under
    /// the roots where there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workspaces: Vec<String>,
    /// The most active sessions; the general bound where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_sessions: Option<usize>,
}

impl TokenConfig {
    /// Takes out what is secret, or would help to guess it.
    pub(super) fn redact(&mut self) {
        if self.sha256.is_some() {
            self.sha256 = Some("(redacted)".to_owned());
        }
    }
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Makes sessions and calls.
    Agent,
    /// Decides, and may do all that an agent may.
    Operator,
    /// Forwards asks of a server of its own (`approvals.forward_to`), and nothing else.
    Worker,
}
