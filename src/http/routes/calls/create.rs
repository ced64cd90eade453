//! `POST /v1/sessions/{sid}/calls`: one tool call, answered as a Call or as its events.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use crate::domain::call::{Call, ToolCall};
use crate::http::auth::{Caller, Holder};
use crate::http::body::JsonBody;
use crate::http::error::ApiError;
use crate::http::openapi::EventStreamMessage;
use crate::http::params::{PathParams, QueryParams, SessionPath, SubmitQuery};
use crate::http::sse::{self, Until};
use crate::http::state::ApiState;
use crate::store::EventQuery;

/// Make a tool call
///
/// The body is the call as the model made it. The answer comes when the call has ended (200), waits for someone,
/// or after `wait_ms` (202). A client that goes away does not end the call; the same call again joins it or
/// gives its record. A model's mistake and a refusal are 200 and a recorded call: append its
/// `result.result` for the model. With `Accept: text/event-stream` the answer is the call's events to its end.
#[utoipa::path(
    post,
    path = "/v1/sessions/{sid}/calls",
    operation_id = "createCall",
    tag = "calls",
    params(SessionPath, SubmitQuery),
    request_body(content = ToolCall, examples(
        ("glob" = (summary = "A tool that only reads", value = json!({"id": "call_1", "type": "function",
            "function": {"name": "Glob", "arguments": "{\"pattern\":\"**/*\"}"}}))),
        ("read" = (summary = "Arguments as an object", value = json!({"id": "call_2", "type": "function",
            "function": {"name": "Read", "arguments": {"file_path": "README.md"}}}))),
        ("write" = (summary = "A change, which may have to be allowed", value = json!({"id": "call_3",
            "type": "function", "function": {"name": "Write",
            "arguments": "{\"file_path\":\"notes.md\",\"content\":\"hello\\n\"}"}}))),
        ("ask" = (summary = "A question to the user", value = json!({"id": "call_4", "type": "function",
            "function": {"name": "AskUser", "arguments": "{\"question\":\"Which one?\"}"}}))),
    )),
    responses(
        (status = OK, description = "The call has ended; or its events, for who accepts a stream", content(
            (Call = "application/json"), (EventStreamMessage = "text/event-stream"),
        )),
        (status = ACCEPTED, description = "The call as it stands: it runs or waits for someone", body = Call),
    ),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["session_ended", "workspace_unavailable", "shutting_down", "call_id_conflict", "too_many", "too_many_streams"]))),
)]
pub(in crate::http) async fn create(
    State(state): State<ApiState>,
    Caller(principal): Caller,
    holder: Holder,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    QueryParams(query): QueryParams<SubmitQuery>,
    headers: HeaderMap,
    JsonBody(call): JsonBody<ToolCall>,
) -> Result<Response, ApiError> {
    let wait = query.wait()?;
    if sse::wants_stream(&headers) {
        let permit = sse::stream_permit(&state)?;
        let call = state.sessions.submit_detached(&principal, &sid, query.turn, call).await?;
        let query = EventQuery {
            session_id: Some(sid),
            after: call.first_seq.saturating_sub(1),
            call: Some(call.key),
            ..EventQuery::default()
        };
        return Ok(sse::respond(&state, holder, permit, query, Until::CallEnds));
    }
    let call = state.sessions.submit(&principal, &sid, query.turn, call, wait).await?;
    Ok((status_of(&call), Json(call)).into_response())
}

/// 200 for a call that has ended, 202 for one that is open.
fn status_of(call: &Call) -> StatusCode {
    if call.status.has_ended() { StatusCode::OK } else { StatusCode::ACCEPTED }
}
