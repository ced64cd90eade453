//! `GET` and `PATCH /v1/sessions/{sid}/runtime`: the flags of `runtime.json`.

use axum::Json;
use axum::extract::State;

use crate::domain::session::RuntimeFlags;
use crate::http::auth::{Caller, Operator};
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams, SessionPath};
use crate::session::{RuntimePatch, Sessions};

/// Get a session's flags
///
/// As they are in force: those of its `runtime.json`, never wider than the config admits.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/runtime",
    operation_id = "getRuntime",
    tag = "sessions",
    params(SessionPath),
    responses((status = OK, description = "The flags", body = RuntimeFlags)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    NoQuery: NoQuery,
) -> Result<Json<RuntimeFlags>, ApiError> {
    Ok(Json(sessions.runtime(&principal, &sid).await?))
}

/// Change a session's flags
///
/// What is left out stays. It takes effect on the next call.
#[utoipa::path(
    patch,
    path = "/v1/sessions/{sid}/runtime",
    operation_id = "updateRuntime",
    tag = "sessions",
    params(SessionPath),
    request_body = RuntimePatch,
    responses((status = OK, description = "The flags as they are now", body = RuntimeFlags)),
    security(("bearer" = ["operator"])),
    extensions(("x-problems" = json!(["exceeds_max_mode", "session_ended", "workspace_unavailable", "shutting_down"]))),
)]
pub(in crate::http) async fn patch(
    State(sessions): State<Sessions>,
    Operator(principal): Operator,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    NoQuery: NoQuery,
    JsonBody(patch): JsonBody<RuntimePatch>,
) -> Result<Json<RuntimeFlags>, ApiError> {
    let change = async move { sessions.patch_runtime(&principal, &sid, &patch).await };
    Ok(Json(to_its_end(change).await?))
}
