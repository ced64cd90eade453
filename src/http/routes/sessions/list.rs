//! `GET /v1/sessions`: the sessions that the caller reaches, oldest first.

use axum::Json;
use axum::extract::State;

use crate::domain::session::Session;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::paging::{List, ListQuery};
use crate::http::params::QueryParams;
use crate::session::Sessions;

pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<List<Session>>, ApiError> {
    Ok(Json(sessions.list(&principal, query.page()?).await?.into()))
}
