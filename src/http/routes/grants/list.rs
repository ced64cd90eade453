//! `GET /v1/grants`: what people allowed for a session or always and still holds, oldest first.

use axum::Json;
use axum::extract::State;

use crate::domain::grant::Grant;
use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::paging::{List, ListQuery};
use crate::http::params::QueryParams;
use crate::session::Sessions;

/// List grants
///
/// What people allowed for a session or always and still holds, oldest first.
#[utoipa::path(
    get,
    path = "/v1/grants",
    operation_id = "listGrants",
    tag = "grants",
    params(ListQuery),
    responses((status = OK, description = "A page", body = List<Grant>)),
    security(("bearer" = ["operator"])),
)]
pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<List<Grant>>, ApiError> {
    Ok(Json(sessions.grants(query.page()?).await?.into()))
}
