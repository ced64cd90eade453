//! What is asked of storage for asks that this server forwards to its host: which may still wait there although
//! nobody waits for them here.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::clock::Timestamp;

/// How long after its own end an ask may still wait at the host, in milliseconds: the host counts from when it heard
/// of it.
pub const FORWARDED_SLACK_MS: i64 = 180_000;

/// The forwarded asks. One is there from the step that opens its approval on.
#[async_trait]
pub trait ForwardedAsks: Send + Sync {
    /// The ids of approvals that wait no more, and whose asks may still wait at the host; the oldest first, at most
    /// so many, after the one with this id.
    async fn stale_asks(&self, after: Option<String>, limit: usize) -> Result<Vec<String>, StoreError>;
    /// The host no longer has it waiting.
    async fn settle_ask(&self, approval_id: &str) -> Result<(), StoreError>;
    /// Forgets those that the host has ended by itself by `now`.
    async fn forget_asks(&self, now: Timestamp) -> Result<(), StoreError>;
}
