//! `GET /v1/info`: version, tools, executors, floor and limits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::http::auth::Caller;
use crate::http::body::{BATCH_BODY_MAX, BODY_MAX};
use crate::http::params::{NoQuery, WAIT_MAX_MS};
use crate::http::snapshot::Snapshot;
use crate::http::state::Facts;
use crate::session::{BATCH_MAX, Sessions};

pub(in crate::http) async fn info(
    State(sessions): State<Sessions>,
    State(facts): State<Arc<Facts>>,
    Snapshot(revision): Snapshot,
    Caller(_): Caller,
    NoQuery: NoQuery,
) -> Json<Value> {
    let limits = &revision.config.limits;
    Json(json!({
        "name": "toolgate",
        "version": env!("CARGO_PKG_VERSION"),
        "api_version": 1,
        "tools": sessions.shared_tools(),
        "executors": ["overlay", "builtin"],
        "floor": facts.floor,
        "sandbox": "none",
        "limits": {
            "body_bytes": BODY_MAX,
            "batch_body_bytes": BATCH_BODY_MAX,
            "batch_calls": BATCH_MAX,
            "wait_ms": WAIT_MAX_MS,
            "pending_approvals_per_session": crate::domain::approval::PENDING_MAX,
            "sessions_per_token": limits.sessions_per_token,
            "open_calls_per_session": limits.open_calls_per_session,
            "running_calls": limits.running_calls,
            "requests": limits.requests,
            "streams": limits.streams,
            "artifact_bytes": limits.artifact_bytes,
        },
    }))
}
