//! `GET /healthz` and `/readyz`: liveness, and readiness with its reasons.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::state::Facts;
use crate::permission::InForce;
use crate::store::Store;

/// The process answers.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Health {
    /// Always `ok`.
    status: HealthStatus,
}

/// What a process that answers says.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum HealthStatus {
    /// It answers.
    Ok,
}

/// Whether calls can be taken.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Readiness {
    /// Whether they can.
    ready: bool,
    /// What is not as it should be, also where calls can be taken.
    reasons: Vec<String>,
}

/// Whether the process answers
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "getHealth",
    tag = "server",
    responses((status = OK, description = "It does", body = Health)),
    security(()),
)]
pub(in crate::http) async fn healthz() -> Json<Health> {
    Json(Health { status: HealthStatus::Ok })
}

/// Whether calls can be taken
///
/// And what is not as it should be, also where they can.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "getReadiness",
    tag = "server",
    responses(
        (status = OK, description = "They can", body = Readiness),
        (status = SERVICE_UNAVAILABLE, description = "They cannot", body = Readiness),
    ),
    security(()),
)]
pub(in crate::http) async fn readyz(
    State(store): State<Arc<dyn Store>>,
    State(facts): State<Arc<Facts>>,
    State(in_force): State<Arc<InForce>>,
) -> (StatusCode, Json<Readiness>) {
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
    (code, Json(Readiness { ready, reasons }))
}
