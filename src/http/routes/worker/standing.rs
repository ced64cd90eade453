//! `GET /v1/worker/approvals/{ask}`: how a worker's own ask stands, waited for.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use crate::domain::worker::WorkerStanding;
use crate::http::auth::Worker;
use crate::http::error::ApiError;
use crate::http::params::{AskPath, PathParams, QueryParams, wait};
use crate::http::sse::stream_permit;
use crate::http::state::ApiState;

/// How long to wait.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct StandingQuery {
    /// How long to wait for a decision, in milliseconds.
    #[param(maximum = 300_000, default = 0)]
    wait_ms: Option<u64>,
}

/// Get how an ask stands
#[utoipa::path(
    get,
    path = "/v1/worker/approvals/{ask}",
    operation_id = "getAsk",
    tag = "workers",
    params(AskPath, StandingQuery),
    responses((status = OK, description = "How it stands", body = WorkerStanding)),
    security(("bearer" = ["worker"])),
    extensions(("x-problems" = json!(["too_many_streams"]))),
)]
pub(in crate::http) async fn standing(
    State(state): State<ApiState>,
    Worker(principal): Worker,
    PathParams(AskPath { ask }): PathParams<AskPath>,
    QueryParams(query): QueryParams<StandingQuery>,
) -> Result<Json<WorkerStanding>, ApiError> {
    let wait = wait(query.wait_ms.unwrap_or(0))?;
    let place = if wait.is_zero() { None } else { Some(stream_permit(&state)?) };
    let approval = state.sessions.worker_ask(&principal, &ask, wait).await?;
    drop(place);
    Ok(Json(approval.into()))
}
