//! The event log.

pub(in crate::http) mod all;
pub(in crate::http) mod session;
