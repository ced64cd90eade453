//! The process tree and the floor, against real processes.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod bash;
mod floor;
mod replaced;
mod support;
mod tree;
