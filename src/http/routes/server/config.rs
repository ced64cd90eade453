//! `GET /v1/config`: the config in force, without secrets, and what keeps the file from being so.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::http::auth::Operator;
use crate::http::params::NoQuery;
use crate::permission::InForce;

pub(in crate::http) async fn config(
    State(in_force): State<Arc<InForce>>,
    Operator(_): Operator,
    NoQuery: NoQuery,
) -> Json<Value> {
    let status = in_force.status();
    let revision = &status.revision;
    let mut shown = json!({
        "revision": revision.number,
        "loaded_at": revision.loaded_at,
        "source": revision.source,
        "restart_needed": revision.restart_needed,
        "config": revision.config.redacted(),
    });
    if let (Some(problem), Some(map)) = (&status.problem, shown.as_object_mut()) {
        let (error, since) = (&problem.error, problem.since);
        let problem = json!({ "error": error.to_string(), "errors": error.faults(), "since": since });
        map.insert("problem".to_owned(), problem);
    }
    Json(shown)
}
