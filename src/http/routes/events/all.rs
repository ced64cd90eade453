//! `GET /v1/events`: the events of all sessions, and those of the config, with a cursor of their own.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use super::session::{EventsQuery, answer};
use crate::http::auth::{Holder, Operator};
use crate::http::error::ApiError;
use crate::http::params::QueryParams;
use crate::http::state::ApiState;

pub(in crate::http) async fn all(
    State(state): State<ApiState>,
    Operator(_): Operator,
    holder: Holder,
    QueryParams(query): QueryParams<EventsQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    answer(&state, holder, None, query, &headers).await
}
