//! The routes: a folder a resource, a file an operation.

pub(super) mod approvals;
pub(super) mod audit;
pub(super) mod calls;
pub(super) mod events;
pub(super) mod grants;
pub(super) mod permissions;
pub(super) mod server;
pub(super) mod sessions;
pub(super) mod turns;
pub(super) mod worker;
