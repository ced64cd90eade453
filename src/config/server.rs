//! Sections of the server itself: listener, sandbox, shell, events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The listener.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// Address and port; port 0 takes a free one. Needs a restart.
    pub listen: String,
    /// `Host` headers that are answered besides the loopback names and the listening address.
    pub allowed_hosts: Vec<String>,
    /// `Origin` headers (of browsers) that are answered besides the server's own.
    pub allowed_origins: Vec<String>,
    /// How long running calls have at the end before their processes are ended, in milliseconds;
    /// at most 9000, since the server leaves within 10 s of SIGTERM.
    pub shutdown_grace_ms: u64,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8765".to_owned(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            shutdown_grace_ms: 2_000,
        }
    }
}

/// What keeps commands away from the server's own files and memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// Which mechanism. Needs a restart.
    pub floor: FloorChoice,
    /// Accepts a listener on other than loopback although there is no floor. Needs a restart.
    pub accept_missing_floor: bool,
}

/// The mechanism of the floor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FloorChoice {
    /// Landlock where the kernel has it, else bubblewrap.
    #[default]
    Auto,
    /// Landlock, or no floor.
    Landlock,
    /// Bubblewrap, or no floor.
    Bubblewrap,
    /// No floor: `/readyz` and `/v1/info` say that it is missing.
    None,
}

/// The shell tool.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct BashConfig {
    /// Names of the server's environment variables that commands get too. Never `TOOLGATE_…`, nor what changes how
    /// bash reads a command (`BASH_ENV`, `CDPATH`, `SHELLOPTS` and the like).
    pub pass_environment: Vec<String>,
}

/// The event log and its streams.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct EventsConfig {
    /// How many events a session keeps, 1000 to 100000000; older ones are dropped.
    pub kept_per_session: u64,
    /// How often a silent stream sends a comment, in milliseconds, 1000 to 60000.
    pub heartbeat_ms: u64,
}

impl Default for EventsConfig {
    fn default() -> Self {
        Self { kept_per_session: 1_000_000, heartbeat_ms: 15_000 }
    }
}

/// Variables that change what bash makes of the words of a command, or what it runs before it (its manual, "Bash
/// Variables", "Bash Startup Files", "Bash POSIX Mode").
const SHELL_CONTROLS: &[&str] = &[
    "BASH_ENV",
    "ENV",
    "CDPATH",
    "GLOBIGNORE",
    "SHELLOPTS",
    "BASHOPTS",
    "BASH_COMPAT",
    "POSIXLY_CORRECT",
    "EXECIGNORE",
    "IFS",
];

/// Whether a command with this variable in its environment is another one than its text says.
pub fn changes_the_shell(name: &str) -> bool {
    SHELL_CONTROLS.contains(&name) || name.starts_with("BASH_FUNC_")
}
