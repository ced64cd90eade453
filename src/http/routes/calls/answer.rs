//! `POST /v1/sessions/{sid}/calls/{cid}/answer`: a person answers a question.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::domain::call::Call;
use crate::http::auth::Operator;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{CallQuery, PathParams, QueryParams};
use crate::session::Sessions;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct Answer {
    answer: String,
}

pub(in crate::http) async fn answer(
    State(sessions): State<Sessions>,
    Operator(principal): Operator,
    PathParams((sid, cid)): PathParams<(String, String)>,
    QueryParams(query): QueryParams<CallQuery>,
    JsonBody(body): JsonBody<Answer>,
) -> Result<Json<Call>, ApiError> {
    let key = query.key(cid)?;
    Ok(Json(to_its_end(async move { sessions.answer(&principal, &sid, &key, body.answer).await }).await?))
}
