//! The HTTP interface, version 1: the only room that knows axum and wire shapes.

mod access;
mod auth;
mod body;
mod change;
mod error;
mod formats;
mod guard;
mod named_fields;
mod openapi;
mod paging;
mod params;
mod router;
mod routes;
mod serve;
mod snapshot;
mod sse;
mod state;
mod unheard;

pub use openapi::openapi_text;
pub use router::router;
pub use serve::{Listening, ServeLimits, serve};
pub use state::{ApiState, Facts};
