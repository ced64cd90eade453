//! `/v1/approvals` and `/v1/grants`: what waits, who decides, what that covers.

mod binding;
mod commands;
mod decide;
mod edits;
mod grants;
mod list;
mod modes;
