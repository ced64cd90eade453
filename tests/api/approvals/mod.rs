//! `/v1/approvals` and `/v1/grants`: what waits, who decides, what that covers.

mod binding;
mod commands;
mod decide;
mod edits;
pub(crate) mod forwarded;
mod forwarding_fails;
mod git;
mod grants;
mod held;
mod list;
mod modes;
mod reviewers;
mod worker;
