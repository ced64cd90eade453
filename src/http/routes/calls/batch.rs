//! `POST /v1/sessions/{sid}/calls/batch`: several calls, accepted as a whole.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::domain::call::{Call, ToolCall};
use crate::http::auth::Caller;
use crate::http::body::{BATCH_BODY_MAX, JsonBody};
use crate::http::error::ApiError;
use crate::http::params::{CallQuery, PathParams, QueryParams, WAIT_DEFAULT_MS};
use crate::session::{KnownPauses, Sessions};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct BatchRequest {
    calls: Vec<ToolCall>,
}

#[derive(Serialize)]
pub(in crate::http) struct BatchAnswer {
    calls: Vec<Call>,
}

pub(in crate::http) async fn batch(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    QueryParams(query): QueryParams<CallQuery>,
    JsonBody(request): JsonBody<BatchRequest, BATCH_BODY_MAX>,
) -> Result<(StatusCode, Json<BatchAnswer>), ApiError> {
    let wait = query.wait(WAIT_DEFAULT_MS)?;
    let pauses = KnownPauses::Answer;
    let batch = sessions.submit_batch(&principal, &sid, query.turn, request.calls, wait, pauses).await?;
    let status = if batch.open { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(BatchAnswer { calls: batch.calls })))
}
