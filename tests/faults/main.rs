//! The server under crashes, hostile commands and races: real processes, over HTTP.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod crash;
mod floor;
mod output;
mod petitions;
mod processes;
mod races;
mod support;
