//! `GET /v1/grants`: what people allowed for a session or always, oldest first.

use axum::Json;
use axum::extract::State;

use crate::domain::grant::Grant;
use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::paging::{List, ListQuery};
use crate::http::params::QueryParams;
use crate::session::Sessions;

pub(in crate::http) async fn list(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    QueryParams(query): QueryParams<ListQuery>,
) -> Result<Json<List<Grant>>, ApiError> {
    Ok(Json(sessions.grants(query.page()?).await?.into()))
}
