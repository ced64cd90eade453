//! The configuration: one value, swapped as a whole, read where it is needed.

mod audit;
mod auth;
mod bounds;
mod capacity;
mod file;
mod forward;
mod keys;
mod limits;
mod load;
mod network;
mod outside;
mod permissions;
mod problem;
pub mod reach;
mod reference;
mod reload;
mod restart;
mod schema;
mod server;
mod source;
mod telemetry;
mod tokens;
mod typed;
mod watch;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use audit::AuditConfig;
pub use auth::{AuthConfig, AuthMode, Role, TokenConfig};
pub use capacity::{Capacity, Place};
pub use forward::{ForwardConfig, HostUrl};
pub use keys::{changed, of as values};
pub use limits::LimitsConfig;
pub use load::{Layer, LoadedConfig, Overrides, load, load_all};
pub use network::{BODY_BYTES_MAX, NetworkConfig, PrivateHost, ProxyConfig, ProxyUrl, TIMEOUT_MS_MAX};
pub use outside::{OutsideError, OutsideFile};
pub use permissions::{ApprovalsConfig, MaxMode, PermissionsConfig, RuleTest, Verdict};
pub use problem::{ConfigError, ConfigProblem};
pub use reference::reference;
pub use reload::{ReloadError, ReloadHandle, ReloadRequest, Reloaded};
pub use restart::{RESTART_KEYS, merge};
pub use schema::schema;
pub use server::{BashConfig, EventsConfig, FloorChoice, SandboxConfig, ServerConfig, changes_the_shell};
pub use telemetry::{LogFormat, LogLevel, TelemetryConfig};
pub use tokens::{KnownToken, known_tokens, read_secret, secret_of};
pub use watch::FileWatch;

/// All of it. Every key has a default; unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Ignored: editors find the schema by it.
    #[serde(rename = "$schema", skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Where state is kept; `$XDG_STATE_HOME/toolgate` where it is left out. Needs a restart.
    pub data_dir: Option<PathBuf>,
    /// The folders that workspaces lie in; `~/toolgate-workspaces` where none is named. Needs a
    /// restart.
    pub workspace_roots: Vec<PathBuf>,
    /// The listener.
    pub server: ServerConfig,
    /// Who may call.
    pub auth: AuthConfig,
    /// What may run.
    pub permissions: PermissionsConfig,
    /// How long people have, and how long what they grant holds.
    pub approvals: ApprovalsConfig,
    /// The audit log.
    pub audit: AuditConfig,
    /// What commands run on.
    pub sandbox: SandboxConfig,
    /// The shell tool.
    pub bash: BashConfig,
    /// What http_request and WebFetch may reach.
    pub network: NetworkConfig,
    /// The event log and its streams.
    pub events: EventsConfig,
    /// Bounds.
    pub limits: LimitsConfig,
    /// The log and traces.
    pub telemetry: TelemetryConfig,
}

impl Config {
    /// The same without anything secret: what is safe to show.
    #[must_use]
    pub fn redacted(&self) -> Self {
        let mut shown = self.clone();
        for token in &mut shown.auth.tokens {
            token.redact();
        }
        if let Some(proxy) = &mut shown.network.proxy {
            proxy.redact();
        }
        shown
    }

    /// The files that hold secrets: no call and no command gets at them.
    pub fn secret_files(&self) -> impl Iterator<Item = &PathBuf> {
        let tokens = self.auth.tokens.iter().filter_map(|token| token.file.as_ref());
        let host = self.approvals.forward_to.iter().filter_map(|host| host.token_file.as_ref());
        let proxy = self.network.proxy.iter().filter_map(|proxy| proxy.password_file.as_ref());
        tokens.chain(proxy).chain(host)
    }

    /// Whether only the host of this server allows what would ask here.
    pub fn host_decides(&self) -> bool {
        self.approvals.forward_to.as_ref().is_some_and(|host| !host.local_decisions)
    }

    /// The widest that a session may be set to. Where only a host allows, no more than what
    /// `permissions.mode` says: a wider mode would be an allow for everything.
    pub fn max_mode(&self) -> MaxMode {
        if self.host_decides() {
            MaxMode::least_for(self.permissions.mode)
        } else {
            self.permissions.max_mode
        }
    }
}
