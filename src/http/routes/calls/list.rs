//! `GET /v1/sessions/{sid}/calls`: what ran and how it ended, oldest first.

use axum::Json;
use axum::extract::State;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::paging::{List, ListQuery};
use crate::http::params::{PathParams, QueryParams};
use crate::session::Sessions;

pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<List<Call>>, ApiError> {
    Ok(Json(sessions.calls(&principal, &sid, query.page()?).await?.into()))
}
