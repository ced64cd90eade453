//! What handlers take their parts from: handles, no logic.

use std::sync::Arc;

use axum::extract::FromRef;
use tokio_util::sync::CancellationToken;

use crate::config::{Capacity, ReloadHandle};
use crate::permission::InForce;
use crate::sandbox::FloorStatus;
use crate::session::Sessions;
use crate::store::Store;
use crate::telemetry::Metrics;

/// The handles that the routes share.
#[derive(Clone)]
pub struct ApiState {
    /// Sessions and calls.
    pub sessions: Sessions,
    /// The log that streams read.
    pub store: Arc<dyn Store>,
    /// Config, rules and tokens in force; a request takes one snapshot of it.
    pub in_force: Arc<InForce>,
    /// Asks for a reload of the config.
    pub reloads: ReloadHandle,
    /// What does not change while the server runs.
    pub facts: Arc<Facts>,
    /// Where it is counted what happens.
    pub metrics: Metrics,
}

/// What does not change while the server runs.
#[derive(Debug)]
pub struct Facts {
    /// The floor under commands.
    pub floor: FloorStatus,
    /// Names of the listener that a `Host` header may have.
    pub own_hosts: Vec<String>,
    /// Cancelled when streams are to end.
    pub closing: CancellationToken,
    /// Streams and long polls at once.
    pub streams: Capacity,
    /// Requests at once.
    pub requests: Capacity,
}

impl FromRef<ApiState> for Sessions {
    fn from_ref(state: &ApiState) -> Self {
        state.sessions.clone()
    }
}

impl FromRef<ApiState> for Arc<dyn Store> {
    fn from_ref(state: &ApiState) -> Self {
        Arc::clone(&state.store)
    }
}

impl FromRef<ApiState> for Arc<InForce> {
    fn from_ref(state: &ApiState) -> Self {
        Arc::clone(&state.in_force)
    }
}

impl FromRef<ApiState> for ReloadHandle {
    fn from_ref(state: &ApiState) -> Self {
        state.reloads.clone()
    }
}

impl FromRef<ApiState> for Arc<Facts> {
    fn from_ref(state: &ApiState) -> Self {
        Arc::clone(&state.facts)
    }
}
