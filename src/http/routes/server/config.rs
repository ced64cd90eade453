//! `GET /v1/config`: the config in force, without secrets.

use axum::Json;
use serde_json::{Value, json};

use crate::http::auth::Operator;
use crate::http::params::NoQuery;
use crate::http::snapshot::Snapshot;

pub(in crate::http) async fn config(
    Snapshot(revision): Snapshot,
    Operator(_): Operator,
    NoQuery: NoQuery,
) -> Json<Value> {
    Json(json!({ "config": revision.config.redacted() }))
}
