//! `GET /v1/sessions/{sid}/calls/{cid}`: one call, waited for through its pauses.

use axum::Json;
use axum::extract::State;

use crate::domain::call::Call;
use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{CallPath, PathParams, QueryParams, WaitQuery};
use crate::session::Sessions;

/// Get a call
///
/// With `wait_ms` it waits for the call's end, through its pauses.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/calls/{cid}",
    operation_id = "getCall",
    tag = "calls",
    params(CallPath, WaitQuery),
    responses((status = OK, description = "The call as it stands", body = Call)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(CallPath { sid, cid }): PathParams<CallPath>,
    QueryParams(query): QueryParams<WaitQuery>,
) -> Result<Json<Call>, ApiError> {
    let wait = query.wait()?;
    Ok(Json(sessions.call(&principal, &sid, &query.key(cid)?, wait).await?))
}
