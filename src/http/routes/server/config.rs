//! `GET /v1/config`: the config in force, without secrets.

use std::sync::{Arc, PoisonError, RwLock};

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::config::Config;
use crate::http::auth::Operator;
use crate::http::params::NoQuery;

pub(in crate::http) async fn config(
    State(config): State<Arc<RwLock<Config>>>,
    Operator(_): Operator,
    NoQuery: NoQuery,
) -> Json<Value> {
    let shown = config.read().unwrap_or_else(PoisonError::into_inner).redacted();
    Json(json!({ "config": shown }))
}
