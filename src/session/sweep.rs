//! What time ends: grants that no longer hold are removed, and the audit log is told.

use std::time::Duration;

use super::service::Sessions;

/// How long it is waited at most until it is looked again: what ends by a clock that was set forward is found then.
const LOOK_AGAIN: Duration = Duration::from_mins(10);
/// How long it is waited after the store failed.
const STORE_FAILED: Duration = Duration::from_secs(5);

impl Sessions {
    /// Removes what is over when it is, until the server goes down. That it no longer holds does not wait for
    /// this.
    pub(super) async fn sweep(self) {
        loop {
            let now = self.0.parts.clock.now();
            let wait = match self.store().expire_grants(now).await {
                Ok(next) => {
                    let left = next.map(|due| due.as_millisecond() - now.as_millisecond());
                    left.map_or(LOOK_AGAIN, |ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
                }
                Err(error) => {
                    tracing::error!(%error, "grants whose time is over could not be removed");
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
}
