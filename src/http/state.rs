//! What handlers take their parts from: handles, no logic.

use std::sync::{Arc, RwLock};

use axum::extract::FromRef;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::auth::Authenticator;
use crate::config::Config;
use crate::sandbox::FloorStatus;
use crate::session::Sessions;
use crate::store::Store;

/// The handles that the routes share.
#[derive(Clone)]
pub struct ApiState {
    /// Sessions and calls.
    pub sessions: Sessions,
    /// The log that streams read.
    pub store: Arc<dyn Store>,
    /// Who may call.
    pub auth: Arc<Authenticator>,
    /// The live config.
    pub config: Arc<RwLock<Config>>,
    /// What does not change while the server runs.
    pub facts: Arc<Facts>,
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
    pub streams: Arc<Semaphore>,
    /// Requests at once.
    pub requests: Arc<Semaphore>,
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

impl FromRef<ApiState> for Arc<RwLock<Config>> {
    fn from_ref(state: &ApiState) -> Self {
        Arc::clone(&state.config)
    }
}

impl FromRef<ApiState> for Arc<Facts> {
    fn from_ref(state: &ApiState) -> Self {
        Arc::clone(&state.facts)
    }
}
