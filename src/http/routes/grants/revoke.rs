//! `DELETE /v1/grants/{gid}`: takes back what was granted; it holds for the next call.

use axum::extract::State;
use axum::http::StatusCode;

use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::Sessions;

pub(in crate::http) async fn revoke(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    PathParams(gid): PathParams<String>,
    NoQuery: NoQuery,
) -> Result<StatusCode, ApiError> {
    sessions.revoke(&gid).await?;
    Ok(StatusCode::NO_CONTENT)
}
