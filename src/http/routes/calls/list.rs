//! `GET /v1/sessions/{sid}/calls`: what ran and how it ended, oldest first.

use axum::Json;
use axum::extract::State;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::paging::{List, ListQuery};
use crate::http::params::{PathParams, QueryParams, SessionPath};
use crate::session::Sessions;

/// List a session's calls
///
/// What ran and how it ended, oldest first.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/calls",
    operation_id = "listCalls",
    tag = "calls",
    params(SessionPath, ListQuery),
    responses((status = OK, description = "A page", body = List<Call>)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<List<Call>>, ApiError> {
    Ok(Json(sessions.calls(&principal, &sid, query.page()?).await?.into()))
}
