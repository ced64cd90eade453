//! What time ends: grants that no longer hold, records of workers' asks that are long over, and of what was forwarded.

use std::time::Duration;

use super::service::Sessions;
use crate::domain::clock::Timestamp;
use crate::store::StoreError;

/// How long it is waited at most until it is looked again: what ends by a clock that was set forward is found then.
const LOOK_AGAIN: Duration = Duration::from_mins(10);
/// How long it is waited after the store failed.
const STORE_FAILED: Duration = Duration::from_secs(5);
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

impl Sessions {
    /// Removes what is over when it is, until the server goes down. That a grant no longer holds does not wait for
    /// this.
    pub(super) async fn sweep(self) {
        loop {
            let now = self.0.parts.clock.now();
            let wait = match self.remove_over(now).await {
                Ok(next) => {
                    let left = next.map(|due| due.as_millisecond() - now.as_millisecond());
                    left.map_or(LOOK_AGAIN, |ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
                }
                Err(error) => {
                    tracing::error!(%error, "what is over could not be removed");
                    STORE_FAILED
                }
            };
            tokio::select! {
                () = self.0.stopping.cancelled() => return,
                () = self.0.dated.notified() => {}
                () = tokio::time::sleep(wait.min(LOOK_AGAIN)) => {}
            }
        }
    }

    /// One step of each; when the next one is due.
    async fn remove_over(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let next = self.store().expire_grants(now).await?;
        self.store().forget_asks(now).await?;
        // What people decided on a worker's ask is kept as long as the audit log tells of it.
        let days = i64::try_from(self.revision().config.audit.keep_days).unwrap_or(i64::MAX);
        let before = now.as_millisecond().saturating_sub(days.saturating_mul(DAY_MS));
        let Ok(before) = Timestamp::from_millisecond(before) else { return Ok(next) };
        let more = self.store().prune_worker_asks(before).await?;
        Ok(if more { Some(now) } else { next })
    }
}
