//! The revision that a request goes by: taken once, when it comes in.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::Extensions;
use axum::http::request::Parts;

use super::state::ApiState;
use crate::permission::Revision;

/// What was in force when the request came in.
#[derive(Debug, Clone)]
pub(super) struct Snapshot(pub(super) Arc<Revision>);

/// The snapshot that the guard took. What has not passed the guard gets one of its own.
pub(super) fn snapshot(extensions: &Extensions, state: &ApiState) -> Arc<Revision> {
    match extensions.get::<Snapshot>() {
        Some(Snapshot(revision)) => Arc::clone(revision),
        None => state.in_force.now(),
    }
}

impl FromRequestParts<ApiState> for Snapshot {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Infallible> {
        Ok(Self(snapshot(&parts.extensions, state)))
    }
}
