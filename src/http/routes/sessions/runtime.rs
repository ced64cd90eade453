//! `GET` and `PATCH /v1/sessions/{sid}/runtime`: the flags of `runtime.json`.

use axum::Json;
use axum::extract::State;

use crate::domain::session::RuntimeFlags;
use crate::http::auth::{Caller, Operator};
use crate::http::body::JsonBody;
use crate::http::change::to_its_end;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::{RuntimePatch, Sessions};

pub(in crate::http) async fn get(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    NoQuery: NoQuery,
) -> Result<Json<RuntimeFlags>, ApiError> {
    Ok(Json(sessions.runtime(&principal, &sid).await?))
}

pub(in crate::http) async fn patch(
    State(sessions): State<Sessions>,
    Operator(principal): Operator,
    PathParams(sid): PathParams<String>,
    NoQuery: NoQuery,
    JsonBody(patch): JsonBody<RuntimePatch>,
) -> Result<Json<RuntimeFlags>, ApiError> {
    let change = async move { sessions.patch_runtime(&principal, &sid, &patch).await };
    Ok(Json(to_its_end(change).await?))
}
