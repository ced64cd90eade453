//! The one deadline of a call, and its cancel.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::error::NetError;

/// Ends whatever waits when time is up or the call is cancelled.
#[derive(Debug, Clone)]
pub(in crate::tools) struct Watch {
    cancel: CancellationToken,
    deadline: Instant,
    limit: Duration,
}

impl Watch {
    /// From now on.
    pub(in crate::tools) fn new(cancel: CancellationToken, limit: Duration) -> Self {
        Self { cancel, deadline: Instant::now() + limit, limit }
    }

    /// The value of the future, unless the call ends before.
    pub(in crate::tools) async fn over<T>(&self, future: impl Future<Output = T>) -> Result<T, NetError> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(NetError::Cancelled),
            value = future => Ok(value),
            () = tokio::time::sleep_until(self.deadline) => Err(NetError::TimedOut(self.limit)),
        }
    }

    /// What is left of the time.
    pub(in crate::tools) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The call's cancel.
    pub(in crate::tools) fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }
}
