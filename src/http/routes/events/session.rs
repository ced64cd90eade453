//! `GET /v1/sessions/{sid}/events`: a session's events, as a stream or as JSON pages.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use serde::Deserialize;

use crate::domain::identity::CallKey;
use crate::http::auth::{Caller, Holder};
use crate::http::error::ApiError;
use crate::http::params::{self, PathParams, QueryParams};
use crate::http::sse::{self, Until};
use crate::http::state::ApiState;
use crate::session::SessionError;
use crate::store::{EventPage, EventQuery};

/// The longest page.
const LIMIT_MAX: usize = 1_000;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct EventsQuery {
    after: Option<u64>,
    call_id: Option<String>,
    turn: Option<String>,
    types: Option<String>,
    wait_ms: Option<u64>,
    limit: Option<usize>,
}

pub(in crate::http) async fn session(
    State(state): State<ApiState>,
    Caller(principal): Caller,
    holder: Holder,
    PathParams(sid): PathParams<String>,
    QueryParams(query): QueryParams<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    state.sessions.get_record(&principal, &sid).await?;
    answer(&state, holder, Some(sid), query, &headers).await
}

/// A stream, or a page for who accepts JSON alone.
pub(super) async fn answer(
    state: &ApiState,
    holder: Holder,
    session_id: Option<String>,
    query: EventsQuery,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let until = if session_id.is_some() { Until::SessionEnds } else { Until::Never };
    let after = sse::position(headers, query.after)?;
    let wait = params::wait(query.wait_ms.unwrap_or(0))?;
    let limit = query.limit.unwrap_or(LIMIT_MAX);
    if limit == 0 || limit > LIMIT_MAX {
        return Err(ApiError::bad_request("invalid_query", format!("limit is 1 to {LIMIT_MAX}")));
    }
    let call = match query.call_id {
        None => None,
        Some(id) => {
            let key = CallKey::new(query.turn, id);
            Some(key.map_err(|error| ApiError::bad_request("invalid_query", error.to_string()))?)
        }
    };
    let types = query.types.as_deref().unwrap_or_default();
    let types = types.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let events = EventQuery { session_id, after, call, types, limit, bytes: 0 };
    let permit = sse::stream_permit(state)?;
    if !sse::wants_json(headers) {
        return Ok(sse::respond(state, holder, permit, events, until));
    }
    let page = sse::page(state, events, wait).await.map_err(SessionError::from)?;
    Ok(json_page(&page, after))
}

/// The page as JSON; its events are texts already.
fn json_page(page: &EventPage, after: u64) -> Response {
    let events: Vec<&str> = page.events.iter().map(|event| event.json.as_str()).collect();
    let resync = if after.saturating_add(1) < page.earliest {
        format!(",\"resync_required\":{{\"earliest\":{}}}", page.earliest)
    } else {
        String::new()
    };
    let (events, next_after, latest) = (events.join(","), page.next_after, page.latest);
    let text =
        format!("{{\"events\":[{events}],\"next_after\":{next_after},\"latest_seq\":{latest}{resync}}}");
    let mut response = Response::new(text.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
