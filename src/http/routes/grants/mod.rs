//! Operations on grants.

pub(in crate::http) mod list;
pub(in crate::http) mod revoke;
