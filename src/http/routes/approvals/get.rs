//! `GET /v1/approvals/{aid}`: one approval.

use axum::Json;
use axum::extract::State;

use crate::domain::approval::Approval;
use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::Sessions;

pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Operator(_): Operator,
    PathParams(aid): PathParams<String>,
    NoQuery: NoQuery,
) -> Result<Json<Approval>, ApiError> {
    Ok(Json(sessions.approval(&aid).await?))
}
