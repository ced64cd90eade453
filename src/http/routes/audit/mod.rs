//! Operations on the audit log.

pub(in crate::http) mod list;
