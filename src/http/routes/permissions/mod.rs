//! Operations on what may run.

pub(in crate::http) mod explain;
