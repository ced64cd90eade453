//! The HTTP interface from outside: a real server, real sockets; modules mirror the routes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod approvals;
mod audit;
mod calls;
mod config;
mod events;
mod permissions;
mod server;
mod sessions;
mod support;
mod tools;
mod turns;
mod wrong_requests;
