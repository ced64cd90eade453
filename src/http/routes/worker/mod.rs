//! Operations of workers: approvals that servers of their own forward to this one.

pub(in crate::http) mod ask;
pub(in crate::http) mod standing;
pub(in crate::http) mod withdraw;
