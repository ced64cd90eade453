//! `POST /v1/config/reload`: has the config loaded now, and answers what came of it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::config::{ConfigError, ReloadError, ReloadHandle};
use crate::http::auth::Operator;
use crate::http::error::ApiError;
use crate::http::params::NoQuery;

/// What came of a load.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct ReloadAnswer {
    /// The revision in force.
    revision: u64,
    /// The keys that this load changed; none where the file says what was in force already.
    changed: Vec<String>,
    /// Keys that the file has changed, but that need a restart to take effect.
    restart_needed: Vec<String>,
}

/// Load the config now
///
/// Answers once the file is in force, or with what is wrong with it: then the last good config stays.
#[utoipa::path(
    post,
    path = "/v1/config/reload",
    operation_id = "reloadConfig",
    tag = "server",
    responses((status = OK, description = "It is in force", body = ReloadAnswer)),
    security(("bearer" = ["operator"])),
    extensions(("x-problems" = json!(["config_invalid", "busy", "shutting_down"]))),
)]
pub(in crate::http) async fn reload(
    State(reloads): State<ReloadHandle>,
    Operator(_): Operator,
    NoQuery: NoQuery,
) -> Result<Json<ReloadAnswer>, ApiError> {
    let reloaded = reloads.reload().await.map_err(refused)?;
    Ok(Json(ReloadAnswer {
        revision: reloaded.revision,
        changed: reloaded.keys,
        restart_needed: reloaded.restart_needed,
    }))
}

fn refused(error: ReloadError) -> ApiError {
    let text = error.to_string();
    match error {
        ReloadError::Invalid(error) => invalid(&error),
        ReloadError::Busy => ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", text).retry_after(1),
        ReloadError::ShuttingDown => {
            ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", text).retry_after(5)
        }
    }
}

/// Each fault with its key, and its line in words.
fn invalid(error: &ConfigError) -> ApiError {
    let detail = format!("the last good config stays in force:\n{error}");
    let problem = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "config_invalid", detail);
    error.faults().into_iter().fold(problem, |problem, fault| {
        let message = match fault.line {
            Some(line) => format!("line {line}: {}", fault.message),
            None => fault.message,
        };
        problem.field(fault.key, message)
    })
}
