//! `POST /v1/sessions/{sid}/calls/{cid}/answer`: a person answers a question.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::domain::call::Call;
use crate::http::auth::Operator;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{CallPath, PathParams, QueryParams, TurnQuery};
use crate::session::Sessions;

/// What the user answers.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct AnswerRequest {
    /// One of the options, or any text where the question allows it; at most 8 MiB.
    #[schema(example = "The first one")]
    answer: String,
}

/// Answer a question
///
/// For a call that is `awaiting_answer`. The same answer again gives the same call.
#[utoipa::path(
    post,
    path = "/v1/sessions/{sid}/calls/{cid}/answer",
    operation_id = "answerCall",
    tag = "calls",
    params(CallPath, TurnQuery),
    request_body = AnswerRequest,
    responses((status = OK, description = "The call, completed with the answer", body = Call)),
    security(("bearer" = ["operator"])),
    extensions(("x-problems" = json!(["session_ended", "workspace_unavailable", "shutting_down", "not_waiting", "not_an_option"]))),
)]
pub(in crate::http) async fn answer(
    State(sessions): State<Sessions>,
    Operator(principal): Operator,
    PathParams(CallPath { sid, cid }): PathParams<CallPath>,
    QueryParams(query): QueryParams<TurnQuery>,
    JsonBody(body): JsonBody<AnswerRequest>,
) -> Result<Json<Call>, ApiError> {
    let key = query.key(cid)?;
    Ok(Json(to_its_end(async move { sessions.answer(&principal, &sid, &key, body.answer).await }).await?))
}
