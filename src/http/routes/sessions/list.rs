//! `GET /v1/sessions`: the sessions that the caller reaches, oldest first.

use axum::Json;
use axum::extract::State;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::paging::{List, ListQuery};
use crate::http::params::QueryParams;
use crate::session::Sessions;

/// List sessions
///
/// Those that the caller reaches, oldest first: an operator all, an agent its own.
#[utoipa::path(
    get,
    path = "/v1/sessions",
    operation_id = "listSessions",
    tag = "sessions",
    params(ListQuery),
    responses((status = OK, description = "A page", body = List<Session>)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<List<Session>>, ApiError> {
    Ok(Json(sessions.list(&principal, query.page()?).await?.into()))
}
