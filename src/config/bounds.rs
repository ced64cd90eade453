//! The bounds of numbers in the config: held when it is loaded, and told by the schema and the reference.

use super::network::{BODY_BYTES_MAX, TIMEOUT_MS_MAX};

/// A key with the least and the most that it may be.
pub(super) type Bound = (&'static str, u64, u64);

/// All of them. A number that stands here needs no other check.
pub(super) const BOUNDS: &[Bound] = &[
    // The server leaves within 10 s of SIGTERM.
    ("server.shutdown_grace_ms", 0, 9_000),
    ("events.kept_per_session", 1_000, 100_000_000),
    ("events.heartbeat_ms", 1_000, 60_000),
    ("approvals.expire_after_s", 1, 30 * 24 * 60 * 60),
    ("approvals.grants_expire_after_s", 1, 365 * 24 * 60 * 60),
    ("approvals.forward_to.timeout_ms", 100, 60_000),
    ("approvals.forward_to.retry_for_s", 1, 24 * 60 * 60),
    ("audit.keep_days", 1, 36_500),
    ("audit.max_rows", 1_000, 100_000_000),
    ("network.timeout_ms", 1, TIMEOUT_MS_MAX),
    // At most network.max_bytes_limit, which the section itself holds.
    ("network.max_bytes", 1, BODY_BYTES_MAX),
    ("network.max_bytes_limit", 1, BODY_BYTES_MAX),
    ("network.concurrent", 1, 1_024),
    ("limits.connections", 1, 1_000_000),
    ("limits.requests", 1, 1_000_000),
    ("limits.streams", 1, 1_000_000),
    ("limits.sessions_per_token", 1, 1_000_000),
    ("limits.open_calls_per_session", 1, 100_000),
    ("limits.approvals_per_token", 1, 100_000),
    ("limits.approvals_per_worker", 1, 10_000),
    ("limits.running_calls", 1, 100_000),
    ("limits.head_timeout_ms", 100, 300_000),
    ("limits.body_timeout_ms", 100, 3_600_000),
    ("limits.artifact_bytes", 0, 1 << 40),
];
