//! Operations on sessions.

pub(in crate::http) mod create;
pub(in crate::http) mod end;
pub(in crate::http) mod get;
pub(in crate::http) mod guidance;
pub(in crate::http) mod list;
pub(in crate::http) mod runtime;
pub(in crate::http) mod todos;
pub(in crate::http) mod tools;
