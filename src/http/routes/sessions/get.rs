//! `GET /v1/sessions/{sid}`: one session.

use axum::Json;
use axum::extract::State;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams, SessionPath};
use crate::session::Sessions;

/// Get a session
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}",
    operation_id = "getSession",
    tag = "sessions",
    params(SessionPath),
    responses((status = OK, description = "The session", body = Session)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    NoQuery: NoQuery,
) -> Result<Json<Session>, ApiError> {
    Ok(Json(sessions.get(&principal, &sid).await?))
}
