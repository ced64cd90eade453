//! `DELETE /v1/sessions/{sid}`: ends a session; its records are kept.

use axum::Json;
use axum::extract::State;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams, SessionPath};
use crate::session::Sessions;

/// End a session
///
/// Open calls and approvals become `cancelled`, processes end, then the session has ended. Its records are
/// kept. Ending it again answers the same.
#[utoipa::path(
    delete,
    path = "/v1/sessions/{sid}",
    operation_id = "endSession",
    tag = "sessions",
    params(SessionPath),
    responses((status = OK, description = "The ended session", body = Session)),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["workspace_unavailable"]))),
)]
pub(in crate::http) async fn end(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    NoQuery: NoQuery,
) -> Result<Json<Session>, ApiError> {
    Ok(Json(to_its_end(async move { sessions.end(&principal, &sid).await }).await?))
}
