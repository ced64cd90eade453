//! `GET /healthz` and `/readyz`: liveness, and readiness with its reasons.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::http::state::Facts;
use crate::permission::InForce;
use crate::store::Store;

/// The process answers.
pub(in crate::http) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "ok" }))
}

/// Whether calls can be taken, and what is not as it should be.
pub(in crate::http) async fn readyz(
    State(store): State<Arc<dyn Store>>,
    State(facts): State<Arc<Facts>>,
    State(in_force): State<Arc<InForce>>,
) -> (StatusCode, Json<Value>) {
    let mut reasons = Vec::new();
    let closing = facts.closing.is_cancelled();
    if closing {
        reasons.push("the server is shutting down".to_owned());
    }
    let stored = store.is_healthy();
    if !stored {
        reasons.push("the store does not take writes".to_owned());
    }
    if let Some(reason) = &facts.floor.reason_if_missing {
        reasons.push(format!("there is no floor under commands: {reason}"));
    }
    let status = in_force.status();
    if let Some(problem) = &status.problem {
        let revision = status.revision.number;
        let stays = format!("the last good config stays in force (revision {revision})");
        let faults = problem.error.faults();
        reasons.extend(faults.iter().map(|fault| format!("{stays}: {fault}")));
    }
    let ready = stored && !closing;
    let code = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (code, Json(json!({ "ready": ready, "reasons": reasons })))
}
