//! `GET /v1/info`: version, tools, executors, floor and limits.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::approval::PENDING_MAX;
use crate::http::auth::Caller;
use crate::http::body::{BATCH_BODY_MAX, BODY_MAX};
use crate::http::params::{NoQuery, WAIT_MAX_MS};
use crate::http::snapshot::Snapshot;
use crate::http::state::Facts;
use crate::sandbox::FloorStatus;
use crate::session::{BATCH_MAX, Sessions};

/// What a client may want to know before it begins.
#[derive(Serialize, ToSchema)]
pub(in crate::http) struct Info {
    /// `toolgate`.
    name: &'static str,
    /// The program's version.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// The version of this interface.
    api_version: u32,
    /// The tools that every session has.
    tools: Vec<String>,
    /// What owns tools, in the order of asking.
    executors: Vec<&'static str>,
    /// The floor under commands.
    floor: FloorStatus,
    /// The sandbox level in force.
    sandbox: &'static str,
    /// The bounds in force.
    limits: InfoLimits,
}

/// Bounds: a request or a call beyond one is refused.
#[derive(Serialize, ToSchema)]
struct InfoLimits {
    /// Bytes of a request's body.
    body_bytes: usize,
    /// Bytes of a batch's body.
    batch_body_bytes: usize,
    /// Calls of a batch.
    batch_calls: usize,
    /// The longest wait of a request, in milliseconds.
    wait_ms: u64,
    /// Approvals that wait in one session.
    pending_approvals_per_session: usize,
    /// Approvals that wait in all sessions of one token.
    pending_approvals_per_token: usize,
    /// Active sessions of one token.
    sessions_per_token: usize,
    /// Open calls of one session.
    open_calls_per_session: usize,
    /// Calls that run at once.
    running_calls: usize,
    /// Requests at once.
    requests: usize,
    /// Event streams and long polls at once.
    streams: usize,
    /// Bytes kept of one call's output.
    artifact_bytes: u64,
}

/// Get what the server is and has
///
/// Version, tools, the floor under commands, and the limits in force.
#[utoipa::path(
    get,
    path = "/v1/info",
    operation_id = "getInfo",
    tag = "server",
    responses((status = OK, description = "The server", body = Info)),
    security(("bearer" = ["agent"])),
)]
pub(in crate::http) async fn info(
    State(sessions): State<Sessions>,
    State(facts): State<Arc<Facts>>,
    Snapshot(revision): Snapshot,
    Caller(_): Caller,
    NoQuery: NoQuery,
) -> Json<Info> {
    let limits = &revision.config.limits;
    Json(Info {
        name: "toolgate",
        version: env!("CARGO_PKG_VERSION"),
        api_version: 1,
        tools: sessions.shared_tools(),
        executors: vec!["overlay", "builtin"],
        floor: facts.floor.clone(),
        sandbox: "none",
        limits: InfoLimits {
            body_bytes: BODY_MAX,
            batch_body_bytes: BATCH_BODY_MAX,
            batch_calls: BATCH_MAX,
            wait_ms: WAIT_MAX_MS,
            pending_approvals_per_session: PENDING_MAX,
            pending_approvals_per_token: limits.approvals_per_token,
            sessions_per_token: limits.sessions_per_token,
            open_calls_per_session: limits.open_calls_per_session,
            running_calls: limits.running_calls,
            requests: limits.requests,
            streams: limits.streams,
            artifact_bytes: limits.artifact_bytes,
        },
    })
}
