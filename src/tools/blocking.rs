//! Work that blocks, off the async threads, and told when its call is cancelled or given up.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use crate::domain::result::ToolError;
use crate::domain::visible;
use crate::workspace::WorkspaceError;

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
