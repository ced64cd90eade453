//! `DELETE /v1/worker/approvals/{ask}`: a worker takes its own ask back.

use axum::Json;
use axum::extract::State;

use crate::domain::worker::WorkerStanding;
use crate::http::auth::Worker;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{AskPath, NoQuery, PathParams};
use crate::session::Sessions;

/// Take an ask back
///
/// Its call no longer waits. What waited is `cancelled`; what is decided or over stays as it is.
#[utoipa::path(
    delete,
    path = "/v1/worker/approvals/{ask}",
    operation_id = "withdrawAsk",
    tag = "workers",
    params(AskPath),
    responses((status = OK, description = "How it stands now", body = WorkerStanding)),
    security(("bearer" = ["worker"])),
)]
pub(in crate::http) async fn withdraw(
    State(sessions): State<Sessions>,
    Worker(principal): Worker,
    PathParams(AskPath { ask }): PathParams<AskPath>,
    NoQuery: NoQuery,
) -> Result<Json<WorkerStanding>, ApiError> {
    let withdrawn = to_its_end(async move { sessions.withdraw_worker_ask(&principal, &ask).await });
    Ok(Json(withdrawn.await?.into()))
}
