//! Path and query parameters, with problems in place of the framework's own texts.

use std::time::Duration;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::ApiError;
use crate::domain::identity::CallKey;

/// The longest wait of a request.
pub(super) const WAIT_MAX_MS: u64 = 300_000;
/// How long a POST of a call waits where it does not say.
pub(super) const WAIT_DEFAULT_MS: u64 = 30_000;

/// Path parameters.
pub(super) struct PathParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for PathParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Path::<T>::from_request_parts(parts, state).await {
            Ok(Path(value)) => Ok(Self(value)),
            Err(error) => Err(ApiError::bad_request("invalid_path", error.body_text())),
        }
    }
}

/// Query parameters; unknown ones are refused by the types.
pub(super) struct QueryParams<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for QueryParams<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        match Query::<T>::from_request_parts(parts, state).await {
            Ok(Query(value)) => Ok(Self(value)),
            Err(error) => Err(ApiError::bad_request("invalid_query", error.body_text())),
        }
    }
}

/// For routes that take no query: one that is there is a mistake, and is said.
pub(super) struct NoQuery;

impl<S: Send + Sync> FromRequestParts<S> for NoQuery {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, ApiError> {
        match parts.uri.query() {
            None | Some("") => Ok(Self),
            Some(_) => Err(ApiError::bad_request("invalid_query", "this route takes no query")),
        }
    }
}

/// `wait_ms` and `turn` of a call.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallQuery {
    pub(super) wait_ms: Option<u64>,
    pub(super) turn: Option<String>,
}

impl CallQuery {
    /// How long to wait.
    pub(super) fn wait(&self, default_ms: u64) -> Result<Duration, ApiError> {
        wait(self.wait_ms.unwrap_or(default_ms))
    }

    /// The call that a path names, in this turn.
    pub(super) fn key(self, call_id: String) -> Result<CallKey, ApiError> {
        CallKey::new(self.turn, call_id)
            .map_err(|error| ApiError::bad_request("invalid_path", error.to_string()))
    }
}

/// A wait within its bounds.
pub(super) fn wait(wait_ms: u64) -> Result<Duration, ApiError> {
    if wait_ms > WAIT_MAX_MS {
        let detail = format!("wait_ms is 0 to {WAIT_MAX_MS}");
        return Err(ApiError::bad_request("invalid_query", detail.clone()).field("/wait_ms", detail));
    }
    Ok(Duration::from_millis(wait_ms))
}
