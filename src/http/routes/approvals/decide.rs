//! `POST /v1/approvals/{aid}/decision`: a person allows or denies.

use axum::Json;
use axum::extract::State;

use crate::domain::approval::{Approval, DecisionRequest};
use crate::http::auth::Operator;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::Sessions;

pub(in crate::http) async fn decide(
    State(sessions): State<Sessions>,
    Operator(principal): Operator,
    PathParams(aid): PathParams<String>,
    NoQuery: NoQuery,
    JsonBody(request): JsonBody<DecisionRequest>,
) -> Result<Json<Approval>, ApiError> {
    Ok(Json(to_its_end(async move { sessions.decide(&principal, &aid, request).await }).await?))
}
