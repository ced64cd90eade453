//! `GET /v1/events`: the events of all sessions, and those of the config, with a cursor of their own.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::session::{EventsQuery, answer};
use crate::http::auth::{Holder, Operator};
use crate::http::error::ApiError;
use crate::http::openapi::{EventStreamMessage, EventsPage};
use crate::http::params::QueryParams;
use crate::http::state::ApiState;

/// Follow the events of all sessions
///
/// A stream of server-sent events: `id` is the place to go on from, with `Last-Event-ID` (which wins) or `after`;
/// without either it begins at the beginning. Each later event comes exactly once. Where events were dropped,
/// `resync_required` says from where it goes on. With `Accept: application/json` the answer is a page, waited
/// for by `wait_ms` where there is nothing yet.
/// `id` and `after` are a cursor of this log, not sequence numbers of a session. Config events, and those of
/// approvals that workers forward, come only here.
#[utoipa::path(
    get,
    path = "/v1/events",
    operation_id = "listEvents",
    tag = "events",
    params(EventsQuery,
        ("last-event-id" = Option<u64>, Header, description = "The `id` of the last event that was seen; wins over `after`")),
    responses(
        (status = OK, description = "The stream; or a page, for who accepts JSON alone", content(
            (EventStreamMessage = "text/event-stream"), (EventsPage = "application/json"),
        )),
    ),
    security(("bearer" = ["operator"])),
    extensions(("x-problems" = json!(["invalid_last_event_id", "too_many_streams"]))),
)]
pub(in crate::http) async fn all(
    State(state): State<ApiState>,
    Operator(_): Operator,
    holder: Holder,
    QueryParams(query): QueryParams<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    answer(&state, holder, None, query, &headers).await
}
