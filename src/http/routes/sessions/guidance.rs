//! `GET /v1/sessions/{sid}/guidance`: text for the system prompt.

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams, SessionPath};
use crate::session::Sessions;

/// What to tell a model of its tools.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Guidance {
    /// For the system prompt; empty where there is nothing to say.
    text: String,
}

/// Get the guidance for a session's model
///
/// Tool guides, as one text for the system prompt.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/guidance",
    operation_id = "getGuidance",
    tag = "sessions",
    params(SessionPath),
    responses((status = OK, description = "The text", body = Guidance)),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["session_ended", "workspace_unavailable", "shutting_down"]))),
)]
pub(in crate::http) async fn guidance(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    NoQuery: NoQuery,
) -> Result<Json<Guidance>, ApiError> {
    Ok(Json(Guidance { text: sessions.guidance(&principal, &sid).await? }))
}
