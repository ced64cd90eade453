//! Work that blocks, off the async threads, and told when its call is cancelled or given up.

use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::domain::result::ToolError;
use crate::domain::visible;
use crate::workspace::WorkspaceError;

/// How long work that is given up may take to notice.
const GRACE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 1_000 });
/// So many pieces of work that take no notice may be left behind.
const LEFT_MAX: usize = 4;

/// How long blocking work may go on.
#[derive(Debug, Clone)]
pub(super) struct Patience {
    cancel: CancellationToken,
    deadline: Instant,
    limit: Duration,
}

/// Why work was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum GivenUp {
    /// The call was cancelled.
    #[error("cancelled")]
    Cancelled,
    /// It took longer than it may.
    #[error("not done within {} ms", .0.as_millis())]
    TimedOut(Duration),
}

impl Patience {
    pub(super) fn new(cancel: CancellationToken, limit: Duration) -> Self {
        Self { cancel, deadline: Instant::now() + limit, limit }
    }

    /// To be asked often.
    pub(super) fn check(&self) -> Result<(), GivenUp> {
        if self.cancel.is_cancelled() {
            Err(GivenUp::Cancelled)
        } else if Instant::now() > self.deadline {
            Err(GivenUp::TimedOut(self.limit))
        } else {
            Ok(())
        }
    }

    /// A reader that fails once patience has ended.
    pub(super) fn reader<R: Read>(&self, inner: R) -> PatientReader<'_, R> {
        PatientReader { inner, patience: self }
    }
}

/// See [`Patience::reader`].
pub(super) struct PatientReader<'a, R> {
    inner: R,
    patience: &'a Patience,
}

impl<R: Read> Read for PatientReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.patience.check().map_err(io::Error::other)?;
        self.inner.read(buffer)
    }
}

/// Runs `work` on a blocking thread. It learns by its patience when the call is cancelled, when time is up, and
/// when nobody waits any longer.
pub(super) async fn run<T: Send + 'static>(
    cancel: &CancellationToken,
    limit: Duration,
    work: impl FnOnce(&Patience) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let token = cancel.child_token();
    let patience = Patience::new(token.clone(), limit);
    let _given_up_on_drop = token.drop_guard();
    tokio::task::spawn_blocking(move || work(&patience)).await.map_err(|error| {
        tracing::error!(%error, "blocking work of a tool ended abnormally");
        ToolError::Internal("the tool ended abnormally".to_owned())
    })?
}

/// The same for work that only reads, which is left behind where it takes no notice, as a pattern that is held against a
/// very long line: its thread goes on until it looks again. So many may be left, then no further ones begin.
pub(super) async fn run_reading<T: Send + 'static>(
    cancel: &CancellationToken,
    limit: Duration,
    work: impl FnOnce(&Patience) -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    static LEFT: AtomicUsize = AtomicUsize::new(0);
    reading(cancel, limit, work, &LEFT).await
}

/// `left`: how many have been left behind and go on.
async fn reading<T: Send + 'static>(
    cancel: &CancellationToken,
    limit: Duration,
    work: impl FnOnce(&Patience) -> Result<T, ToolError> + Send + 'static,
    left: &'static AtomicUsize,
) -> Result<T, ToolError> {
    if left.load(Ordering::Relaxed) >= LEFT_MAX {
        return Err(ToolError::Execution(format!(
            "{LEFT_MAX} searches that were given up have not ended yet; try again later, with simpler patterns."
        )));
    }
    let mut working = tokio::spawn({
        let cancel = cancel.clone();
        async move { run(&cancel, limit, work).await }
    });
    let lost_patience = async {
        let why = tokio::select! {
            () = cancel.cancelled() => GivenUp::Cancelled,
            () = tokio::time::sleep(limit) => GivenUp::TimedOut(limit),
        };
        tokio::time::sleep(GRACE).await;
        why
    };
    let ended = |done: Result<_, tokio::task::JoinError>| {
        done.unwrap_or_else(|_| Err(ToolError::Internal("the tool ended abnormally".to_owned())))
    };
    tokio::select! {
        biased;
        done = &mut working => ended(done),
        why = lost_patience => {
            left.fetch_add(1, Ordering::Relaxed);
            tokio::spawn(async move {
                let _ = working.await;
                left.fetch_sub(1, Ordering::Relaxed);
            });
            Err(given_up(why, "The pattern is too slow for the lines here: make it simpler, or search other files."))
        }
    }
}

/// The error of a tool whose work on files failed.
pub(super) fn failure(error: &WorkspaceError) -> ToolError {
    ToolError::Execution(visible::one_line(&error.to_string()))
}

/// The error of a tool that gave up, having changed nothing.
pub(super) fn given_up(why: GivenUp, advice: &str) -> ToolError {
    match why {
        GivenUp::Cancelled => {
            ToolError::Cancelled { message: "Cancelled before it was done; nothing was changed.".to_owned() }
        }
        GivenUp::TimedOut(limit) => {
            ToolError::Execution(format!("Timed out after {} s. {advice}", limit.as_secs_f32()))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[tokio::test]
    async fn work_that_takes_no_notice_is_left_behind_and_only_so_many() {
        static LEFT: AtomicUsize = AtomicUsize::new(0);
        let never = CancellationToken::new();
        let (cancelled, soon) = (CancellationToken::new(), Duration::from_millis(1));
        cancelled.cancel();
        let mut ends = Vec::new();
        for n in 0..LEFT_MAX {
            let (end, ended) = channel::<()>();
            ends.push(end);
            let work = move |_: &Patience| {
                let _ = ended.recv();
                Ok(())
            };
            let (cancel, limit) = if n == 0 { (&cancelled, GRACE * 60_000) } else { (&never, soon) };
            let error = reading(cancel, limit, work, &LEFT).await.unwrap_err();
            assert_eq!(matches!(error, ToolError::Cancelled { .. }), n == 0, "{error:?}");
        }
        let refused = reading(&never, GRACE * 60_000, |_| Ok(()), &LEFT).await.unwrap_err();
        assert!(refused.to_string().contains("have not ended yet"), "{refused}");
        drop(ends);
        while LEFT.load(Ordering::Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        reading(&never, GRACE * 60_000, |_| Ok(()), &LEFT).await.unwrap();
    }
}
