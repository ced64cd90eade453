//! `POST /v1/sessions/{sid}/calls`: one tool call, answered as a Call or as its events.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};

use crate::domain::call::{Call, ToolCall};
use crate::http::auth::{Caller, Holder};
use crate::http::body::JsonBody;
use crate::http::error::ApiError;
use crate::http::params::{CallQuery, PathParams, QueryParams, WAIT_DEFAULT_MS};
use crate::http::sse::{self, Until};
use crate::http::state::ApiState;
use crate::store::EventQuery;

pub(in crate::http) async fn create(
    State(state): State<ApiState>,
    Caller(principal): Caller,
    holder: Holder,
    PathParams(sid): PathParams<String>,
    QueryParams(query): QueryParams<CallQuery>,
    headers: HeaderMap,
    JsonBody(call): JsonBody<ToolCall>,
) -> Result<Response, ApiError> {
    let wait = query.wait(WAIT_DEFAULT_MS)?;
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
