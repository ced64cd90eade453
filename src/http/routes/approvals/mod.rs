//! Operations on approvals.

pub(in crate::http) mod decide;
pub(in crate::http) mod get;
pub(in crate::http) mod list;
