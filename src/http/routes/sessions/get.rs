//! `GET /v1/sessions/{sid}`: one session.

use axum::Json;
use axum::extract::State;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::Sessions;

pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    NoQuery: NoQuery,
) -> Result<Json<Session>, ApiError> {
    Ok(Json(sessions.get(&principal, &sid).await?))
}
