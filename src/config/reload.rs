//! Asking the owner of the config to load it again, and what comes of that.

use tokio::sync::{mpsc, oneshot};

use super::ConfigError;

/// How many may wait for a load: all who wait are answered by the next one.
const WAITING_MAX: usize = 64;

/// What a load came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reloaded {
    /// The revision in force.
    pub revision: u64,
    /// The keys that changed; none where the file says what is in force already.
    pub keys: Vec<String>,
    /// Keys that wait for a restart, these and earlier ones.
    pub restart_needed: Vec<String>,
}

/// Why nothing was loaded. The last good config stays in force.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ReloadError {
    /// The config cannot be used.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
    /// Too many wait for a load already.
    #[error("the config is being loaded for many already; try again")]
    Busy,
    /// The server is going down.
    #[error("the server is shutting down")]
    ShuttingDown,
}

/// Someone who waits for a load.
pub type ReloadRequest = oneshot::Sender<Result<Reloaded, ConfigError>>;

/// Asks for loads. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ReloadHandle(mpsc::Sender<ReloadRequest>);

impl ReloadHandle {
    /// A handle, and where its requests arrive.
    pub fn new() -> (Self, mpsc::Receiver<ReloadRequest>) {
        let (sender, receiver) = mpsc::channel(WAITING_MAX);
        (Self(sender), receiver)
    }

    /// Has the config loaded now and waits for what comes of it.
    pub async fn reload(&self) -> Result<Reloaded, ReloadError> {
        let (answer, answered) = oneshot::channel();
        self.0.try_send(answer).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => ReloadError::Busy,
            mpsc::error::TrySendError::Closed(_) => ReloadError::ShuttingDown,
        })?;
        Ok(answered.await.map_err(|_| ReloadError::ShuttingDown)??)
    }
}
