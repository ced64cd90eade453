//! `PUT /v1/worker/approvals/{ask}`: a worker asks, once under an id of its own.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};

use crate::domain::worker::{ASK_BYTES_MAX, WorkerAsk, WorkerStanding};
use crate::http::auth::Worker;
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{AskPath, NoQuery, PathParams, check_ask_id};
use crate::session::Sessions;

/// Forward an ask
///
/// A server in a worker's container asks for an approval here. The id is the worker's own for it: the same ask
/// again finds the approval that it opened, however that stands, and another ask by the same id is 409. Operators
/// see it among `GET /v1/approvals` with its `worker`, and decide it there: once or not at all.
#[utoipa::path(
    put,
    path = "/v1/worker/approvals/{ask}",
    operation_id = "forwardAsk",
    tag = "workers",
    params(AskPath),
    request_body = WorkerAsk,
    responses(
        (status = CREATED, description = "It is new, and waits", body = WorkerStanding),
        (status = OK, description = "It was asked before", body = WorkerStanding),
    ),
    security(("bearer" = ["worker"])),
    extensions(("x-problems" = json!(["ask_conflict", "too_many", "shutting_down"]))),
)]
pub(in crate::http) async fn ask(
    State(sessions): State<Sessions>,
    Worker(principal): Worker,
    PathParams(AskPath { ask: id }): PathParams<AskPath>,
    NoQuery: NoQuery,
    JsonBody(ask): JsonBody<WorkerAsk, ASK_BYTES_MAX>,
) -> Result<Response, ApiError> {
    check_ask_id(&id)?;
    let asked = to_its_end(async move { sessions.ask_for_worker(&principal, &id, ask).await });
    let (approval, new) = asked.await?;
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Json(WorkerStanding::from(approval))).into_response())
}
