//! How much of the audit log is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The audit log: what the gate said of each call and what people decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Entries older than so many days are dropped.
    pub keep_days: u64,
    /// The most entries that are kept; the oldest are dropped.
    pub max_rows: u64,
}

impl Default for AuditConfig {
    fn default() -> Self {
        Self { keep_days: 90, max_rows: 500_000 }
    }
}
