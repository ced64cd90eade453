//! `GET /v1/sessions/{sid}/todos`: the tasks that the session's agent has set itself.

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{NoQuery, PathParams};
use crate::session::Sessions;

pub(in crate::http) async fn todos(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    NoQuery: NoQuery,
) -> Result<Json<Value>, ApiError> {
    Ok(Json(json!({ "todos": sessions.todos(&principal, &sid).await? })))
}
