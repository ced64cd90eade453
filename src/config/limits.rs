//! Bounds on what clients may use at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bounds; at each of them a request is refused with a clear error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// Connections at once; further ones wait to be taken.
    pub connections: usize,
    /// Requests at once; further ones get 503.
    pub requests: usize,
    /// Event streams and long polls at once; further ones get 503.
    pub streams: usize,
    /// Active sessions of one token; a further one gets 429.
    pub sessions_per_token: usize,
    /// Open calls in one session (waiting ones too); a further one gets 429.
    pub open_calls_per_session: usize,
    /// Approvals that wait, of all sessions of one token (each has at most 20); a further call that asks is denied.
    pub approvals_per_token: usize,
    /// Approvals that wait, of one worker's token; a further one gets 429.
    pub approvals_per_worker: usize,
    /// Calls that run at once, over all sessions; further ones wait as `queued`.
    pub running_calls: usize,
    /// How long a client may take to send a request's head, in milliseconds; of connections that come from then on.
    pub head_timeout_ms: u64,
    /// How long a client may take to send a request's body, in milliseconds.
    pub body_timeout_ms: u64,
    /// The full output that is kept of one call, in bytes.
    pub artifact_bytes: u64,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            connections: 4_096,
            requests: 2_048,
            streams: 2_048,
            sessions_per_token: 1_000,
            open_calls_per_session: 512,
            approvals_per_token: 200,
            approvals_per_worker: 100,
            running_calls: 256,
            head_timeout_ms: 10_000,
            body_timeout_ms: 60_000,
            artifact_bytes: 64 * 1024 * 1024,
        }
    }
}
