//! What is asked of storage for asks that workers forward: their approvals stand among all others, under the
//! worker's own id.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::approval::Approval;
use crate::domain::clock::Timestamp;
use crate::domain::digest::Digest;

/// How many asks of one token are kept that no longer wait; a new one makes the oldest of more go.
pub const ENDED_KEPT: usize = 1_000;

/// An ask to take.
#[derive(Debug, Clone, PartialEq)]
pub struct NewWorkerAsk {
    /// The worker's id of it: its token and this name it.
    pub ask_id: String,
    /// Over what it is about.
    pub fingerprint: Digest,
    /// The approval as it would be opened, with its worker.
    pub approval: Approval,
    /// How many of this worker may wait.
    pub pending_max: usize,
}

/// What came of taking an ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// It is new: the approval waits, and its event is written.
    New(Approval),
    /// The same was asked before.
    Existing(Approval),
    /// Something else was asked by this id.
    Conflict,
}

/// The asks of workers. They have no session here: their events are of the log of all alone.
#[async_trait]
pub trait WorkerAsks: Send + Sync {
    /// Takes an ask, at most once under its worker's token and id. Fails with
    /// [`StoreError::TooManyPending`] at the worker's bound.
    async fn ask_for_worker(&self, new: NewWorkerAsk) -> Result<Asked, StoreError>;
    /// How an ask of this token stands.
    async fn worker_ask(&self, token: &str, ask_id: &str) -> Result<Option<Approval>, StoreError>;
    /// Cancels one that waits, with its event; one that is decided or over is unchanged.
    async fn withdraw_worker_ask(&self, token: &str, ask_id: &str) -> Result<Option<Approval>, StoreError>;
    /// Expires those whose time is over by `now`, with their events, a bounded number at once; how many, and when
    /// the next one is due.
    async fn expire_worker_asks(&self, now: Timestamp) -> Result<(usize, Option<Timestamp>), StoreError>;
    /// Forgets asks that no longer wait and whose own time was over before `before`, with their approvals, a bounded
    /// number at once; whether there may be more. (Of one token's asks that are over, only the latest
    /// [`ENDED_KEPT`] are kept in any case.)
    async fn prune_worker_asks(&self, before: Timestamp) -> Result<bool, StoreError>;
}
