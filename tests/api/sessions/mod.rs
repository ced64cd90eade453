//! `/v1/sessions` and what lies under a session.

mod create;
mod end;
mod ownership;
mod runtime;
mod tools;
mod workspace;
