//! The command line from outside: the real program, a real server, pipes and a terminal.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod calls;
mod completions;
mod decisions;
mod edge;
mod events;
mod failures;
mod help;
mod hostile;
mod pipes;
mod rules;
mod server;
mod sessions;
mod support;
mod tls;
mod watch;
