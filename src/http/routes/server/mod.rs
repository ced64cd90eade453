//! The server itself.

pub(in crate::http) mod config;
pub(in crate::http) mod info;
pub(in crate::http) mod metrics;
pub(in crate::http) mod openapi;
pub(in crate::http) mod probes;
pub(in crate::http) mod reload;
