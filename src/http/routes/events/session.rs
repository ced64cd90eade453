//! `GET /v1/sessions/{sid}/events`: a session's events, as a stream or as JSON pages.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use serde::Deserialize;

use crate::domain::event::AgentEvent;
use crate::domain::identity::CallKey;
use crate::http::auth::{Caller, Holder};
use crate::http::error::ApiError;
use crate::http::openapi::{EventStreamMessage, EventType, EventsPage};
use crate::http::params::{self, PathParams, QueryParams, SessionPath};
use crate::http::sse::{self, Until};
use crate::http::state::ApiState;
use crate::session::SessionError;
use crate::store::{EventPage, EventQuery};

/// The longest page.
const LIMIT_MAX: usize = 1_000;

/// Which events, from where on, and how long to wait for them.
#[derive(Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct EventsQuery {
    /// Only later than this.
    after: Option<u64>,
    /// Only of this call.
    #[param(value_type = Option<params::CallText>, inline)]
    call_id: Option<String>,
    /// The call's turn; only with `call_id`.
    #[param(value_type = Option<params::CallText>, inline)]
    turn: Option<String>,
    /// Only of these types, between commas.
    #[param(value_type = Option<Vec<EventType>>, style = Form, explode = false)]
    types: Option<String>,
    /// How long a page waits for its first event, in milliseconds.
    #[param(maximum = 300_000, default = 0)]
    wait_ms: Option<u64>,
    /// The most events of a page.
    #[param(minimum = 1, maximum = 1_000, default = 1_000)]
    limit: Option<usize>,
}

/// Follow a session's events
///
/// A stream of server-sent events: `id` is the place to go on from, with `Last-Event-ID` (which wins) or `after`;
/// without either it begins at the beginning. Each later event comes exactly once. Where events were dropped,
/// `resync_required` says from where it goes on. With `Accept: application/json` the answer is a page, waited
/// for by `wait_ms` where there is nothing yet.
/// The stream closes after `session_ended`.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/events",
    operation_id = "listSessionEvents",
    tag = "events",
    params(SessionPath, EventsQuery,
        ("last-event-id" = Option<u64>, Header, description = "The `id` of the last event that was seen; wins over `after`")),
    responses(
        (status = OK, description = "The stream; or a page, for who accepts JSON alone", content(
            (EventStreamMessage = "text/event-stream"), (EventsPage = "application/json"),
        )),
    ),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["invalid_last_event_id", "too_many_streams"]))),
)]
pub(in crate::http) async fn session(
    State(state): State<ApiState>,
    Caller(principal): Caller,
    holder: Holder,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
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
        None if query.turn.is_some() => {
            let detail = "turn says which call_id is meant: give that too";
            return Err(ApiError::bad_request("invalid_query", detail).field("/turn", detail));
        }
        None => None,
        Some(id) => {
            let key = CallKey::new(query.turn, id);
            Some(key.map_err(|error| ApiError::bad_request("invalid_query", error.to_string()))?)
        }
    };
    let types = types(query.types.as_deref().unwrap_or_default())?;
    let events = EventQuery { session_id, after, call, types, limit, bytes: 0 };
    let permit = sse::stream_permit(state)?;
    if !sse::wants_json(headers) {
        return Ok(sse::respond(state, holder, permit, events, until));
    }
    let page = sse::page(state, events, wait).await.map_err(SessionError::from)?;
    Ok(json_page(&page, after))
}

/// The types that are asked for; one that there is not would only be waited for in vain.
fn types(list: &str) -> Result<Vec<String>, ApiError> {
    let names = list.split(',').map(str::trim).filter(|name| !name.is_empty());
    let known = |name: &str| {
        let there = AgentEvent::KINDS.contains(&name).then(|| name.to_owned());
        there.ok_or_else(|| {
            let shown = crate::domain::visible::clipped(name, 40);
            let detail =
                format!("there is no event type {shown}; there are {}", AgentEvent::KINDS.join(", "));
            ApiError::bad_request("invalid_query", detail.clone()).field("/types", detail)
        })
    };
    names.map(known).collect()
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
