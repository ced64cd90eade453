//! Changes that go on to their end although the client goes away: half of one would be lost.

use std::future::Future;

use tracing::Instrument as _;

use super::error::ApiError;
use crate::session::SessionError;

/// Makes a change in a task of its own and waits for it. The task ends with the change, which the
/// layers below bound.
pub(super) async fn to_its_end<T: Send + 'static>(
    change: impl Future<Output = Result<T, SessionError>> + Send + 'static,
) -> Result<T, ApiError> {
    let made = tokio::spawn(change.in_current_span())
        .await
        .map_err(|error| SessionError::Internal(error.to_string()))?;
    Ok(made?)
}
