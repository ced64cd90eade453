//! Path and query parameters, with problems in place of the framework's own texts.

use std::time::Duration;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};

use super::error::ApiError;
use crate::domain::identity::{CALL_ID_MAX, CallKey, check_session_id};

/// The longest wait of a request.
pub(super) const WAIT_MAX_MS: u64 = 300_000;
/// How long a POST of a call waits where it does not say.
pub(super) const WAIT_DEFAULT_MS: u64 = 30_000;

/// What call ids and turns look like.
pub(super) enum CallText {}

impl utoipa::PartialSchema for CallText {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
        let no_control_characters = r"^[^\x00-\x1f\x7f-\x9f]*$";
        text.max_length(Some(CALL_ID_MAX)).pattern(Some(no_control_characters)).into()
    }
}

impl utoipa::ToSchema for CallText {}

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

/// The session that a path names.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct SessionPath {
    /// The session's id.
    #[param(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    pub(super) sid: String,
}

/// The call that a path names.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct CallPath {
    /// The session's id.
    #[param(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    pub(super) sid: String,
    /// The call's id, percent-encoded.
    #[param(value_type = CallText, inline)]
    pub(super) cid: String,
}

/// The approval that a path names.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct ApprovalPath {
    /// The approval's id.
    pub(super) aid: String,
}

/// The ask that a worker's path names.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct AskPath {
    /// The worker's own id of the ask.
    #[param(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    pub(super) ask: String,
}

/// An ask's id is of the worker's making: it has the form of a session's.
pub(super) fn check_ask_id(id: &str) -> Result<(), ApiError> {
    check_session_id(id).map_err(|_| {
        let detail = "an ask's id begins with a letter or digit and has at most 128 of A-Z a-z 0-9 . _ -";
        ApiError::bad_request("invalid_path", detail)
    })
}

/// The grant that a path names.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct GrantPath {
    /// The grant's id.
    pub(super) gid: String,
}

/// How long a new call is waited for, and its turn.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct SubmitQuery {
    /// How long to wait for an end or a pause, in milliseconds; 0 answers at once.
    #[param(maximum = 300_000, default = 30_000)]
    wait_ms: Option<u64>,
    /// Makes a name space of its own for call ids, for models that count them anew in each turn.
    #[param(value_type = Option<CallText>, inline)]
    pub(super) turn: Option<String>,
}

impl SubmitQuery {
    /// How long to wait.
    pub(super) fn wait(&self) -> Result<Duration, ApiError> {
        wait(self.wait_ms.unwrap_or(WAIT_DEFAULT_MS))
    }
}

/// How long a call is waited for, and its turn.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct WaitQuery {
    /// How long to wait for its end, in milliseconds.
    #[param(maximum = 300_000, default = 0)]
    wait_ms: Option<u64>,
    /// The turn that the call belongs to.
    #[param(value_type = Option<CallText>, inline)]
    turn: Option<String>,
}

impl WaitQuery {
    /// How long to wait.
    pub(super) fn wait(&self) -> Result<Duration, ApiError> {
        wait(self.wait_ms.unwrap_or(0))
    }

    /// The call that a path names, in this turn.
    pub(super) fn key(self, call_id: String) -> Result<CallKey, ApiError> {
        key(self.turn, call_id)
    }
}

/// The turn of a call.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct TurnQuery {
    /// The turn that the call belongs to.
    #[param(value_type = Option<CallText>, inline)]
    turn: Option<String>,
}

impl TurnQuery {
    /// The call that a path names, in this turn.
    pub(super) fn key(self, call_id: String) -> Result<CallKey, ApiError> {
        key(self.turn, call_id)
    }
}

fn key(turn: Option<String>, call_id: String) -> Result<CallKey, ApiError> {
    CallKey::new(turn, call_id).map_err(|error| ApiError::bad_request("invalid_path", error.to_string()))
}

/// A wait within its bounds.
pub(super) fn wait(wait_ms: u64) -> Result<Duration, ApiError> {
    if wait_ms > WAIT_MAX_MS {
        let detail = format!("wait_ms is 0 to {WAIT_MAX_MS}");
        return Err(ApiError::bad_request("invalid_query", detail.clone()).field("/wait_ms", detail));
    }
    Ok(Duration::from_millis(wait_ms))
}
