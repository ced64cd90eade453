//! Toolgate as a library: the rooms that the binary is made of.
//!
//! ARCHITECTURE.md walks one call through them; `tests/tidy.rs` holds the direction of their imports.

pub mod app;
pub mod cli;
pub mod config;
pub mod domain;
pub mod executor;
pub mod http;
pub mod permission;
pub mod process;
pub mod sandbox;
pub mod session;
pub mod store;
pub mod telemetry;
pub mod tools;
pub mod workspace;
