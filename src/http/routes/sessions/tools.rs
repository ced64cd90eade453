//! `GET /v1/sessions/{sid}/tools`: what the session can call now, in a model API's shape.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::formats::{self, ToolFormat};
use crate::http::params::{PathParams, QueryParams};
use crate::session::Sessions;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::http) struct ToolsQuery {
    #[serde(default)]
    format: ToolFormat,
}

pub(in crate::http) async fn tools(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(sid): PathParams<String>,
    QueryParams(query): QueryParams<ToolsQuery>,
) -> Result<Json<Value>, ApiError> {
    let schemas = sessions.tools(&principal, &sid).await?;
    Ok(Json(json!({ "tools": formats::tools(query.format, &schemas) })))
}
