//! `GET /v1/config`: the config in force, without secrets, and what keeps the file from being it.

use std::path::PathBuf;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::config::Config;
use crate::domain::clock::Timestamp;
use crate::domain::event::ConfigFault;
use crate::http::auth::Operator;
use crate::http::params::NoQuery;
use crate::permission::InForce;

/// The config in force.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct ConfigAnswer {
    /// Counts from 1 since the server started.
    revision: u64,
    /// When it was put in force.
    loaded_at: Timestamp,
    /// The file that it was read from; null where there is no file.
    #[schema(value_type = Option<String>)]
    source: Option<PathBuf>,
    /// Keys that the file has changed, but that need a restart to take effect.
    restart_needed: Vec<String>,
    /// Its sections, as in the config file; secrets are `(redacted)`.
    #[schema(value_type = Object)]
    config: Config,
    /// Why the file is not in force; left out where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<ConfigProblemAnswer>,
}

/// What is wrong with the file.
#[derive(Serialize, ToSchema)]
struct ConfigProblemAnswer {
    /// All of it in words.
    error: String,
    /// Each fault with its line and key.
    errors: Vec<ConfigFault>,
    /// Since when.
    since: Timestamp,
}

/// Get the config in force
///
/// All keys with their values, secrets redacted; and what is wrong with the file, where it is not in force.
#[utoipa::path(
    get,
    path = "/v1/config",
    operation_id = "getConfig",
    tag = "server",
    responses((status = OK, description = "The config", body = ConfigAnswer)),
    security(("bearer" = ["operator"])),
)]
pub(in crate::http) async fn config(
    State(in_force): State<Arc<InForce>>,
    Operator(_): Operator,
    NoQuery: NoQuery,
) -> Json<ConfigAnswer> {
    let status = in_force.status();
    let revision = &status.revision;
    Json(ConfigAnswer {
        revision: revision.number,
        loaded_at: revision.loaded_at,
        source: revision.source.clone(),
        restart_needed: revision.restart_needed.clone(),
        config: revision.config.redacted(),
        problem: status.problem.as_ref().map(|problem| ConfigProblemAnswer {
            error: problem.error.to_string(),
            errors: problem.error.faults(),
            since: problem.since,
        }),
    })
}
