//! `GET /v1/sessions/{sid}/guidance`: text for the system prompt.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::Sessions;

pub(in crate::http) async fn guidance(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    NoQuery: NoQuery,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(json!({ "text": sessions.guidance(&principal, &sid).await? })))
}
