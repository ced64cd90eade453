//! What the tests stand on: a server of their own, runs of the program, a terminal.

mod pty;
mod run;
mod screen;
mod server;

pub(crate) use pty::Pty;
pub(crate) use run::{Run, bare, program};
pub(crate) use server::TestServer;

use std::time::Duration;

/// A failsafe: no test waits for this long unless it fails.
pub(crate) const FAILSAFE: Duration = Duration::from_mins(1);
