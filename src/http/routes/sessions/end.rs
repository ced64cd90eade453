//! `DELETE /v1/sessions/{sid}`: ends a session; its records are kept.

use axum::Json;
use axum::extract::State;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::Sessions;

pub(in crate::http) async fn end(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    NoQuery: NoQuery,
) -> Result<Json<Session>, ApiError> {
    Ok(Json(to_its_end(async move { sessions.end(&principal, &sid).await }).await?))
}
