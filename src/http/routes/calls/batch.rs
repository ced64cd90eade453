//! `POST /v1/sessions/{sid}/calls/batch`: several calls, accepted as a whole.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::call::{Call, ToolCall};
use crate::http::auth::Caller;
use crate::http::body::{BATCH_BODY_MAX, JsonBody};
use crate::http::error::ApiError;
use crate::http::params::{PathParams, QueryParams, SessionPath, SubmitQuery};
use crate::session::{KnownPauses, Sessions};

/// Several calls.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct BatchRequest {
    /// In the order to run them in; no id twice.
    #[schema(min_items = 1, max_items = 128)]
    calls: Vec<ToolCall>,
}

/// The calls of a batch as they stand.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct BatchAnswer {
    /// In the order of the request.
    calls: Vec<Call>,
}

/// Make several tool calls
///
/// Accepted as a whole or not at all, answered in the order of the request. Neighbours that only read and may
/// run side by side do; one that changes something waits for those before it and holds up those after it.
#[utoipa::path(
    post,
    path = "/v1/sessions/{sid}/calls/batch",
    operation_id = "createCallBatch",
    tag = "calls",
    params(SessionPath, SubmitQuery),
    request_body(content = BatchRequest, example = json!({"calls": [
        {"id": "call_1", "function": {"name": "Glob", "arguments": {"pattern": "*"}}},
        {"id": "call_2", "function": {"name": "Grep", "arguments": {"pattern": "fn main"}}},
    ]})),
    responses(
        (status = OK, description = "All have ended", body = BatchAnswer),
        (status = ACCEPTED, description = "At least one is open", body = BatchAnswer),
    ),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["session_ended", "workspace_unavailable", "shutting_down", "call_id_conflict", "too_many"]))),
)]
pub(in crate::http) async fn batch(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    QueryParams(query): QueryParams<SubmitQuery>,
    JsonBody(request): JsonBody<BatchRequest, BATCH_BODY_MAX>,
) -> Result<(StatusCode, Json<BatchAnswer>), ApiError> {
    let wait = query.wait()?;
    let pauses = KnownPauses::Answer;
    let batch = sessions.submit_batch(&principal, &sid, query.turn, request.calls, wait, pauses).await?;
    let status = if batch.open { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok((status, Json(BatchAnswer { calls: batch.calls })))
}
