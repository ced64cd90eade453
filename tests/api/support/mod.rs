//! What the tests stand on: a server of their own, clients, event streams, raw sockets.

pub(crate) mod client;
pub(crate) mod contract;
pub(crate) mod exposition;
pub(crate) mod raw;
pub(crate) mod relay;
pub(crate) mod server;
pub(crate) mod session;
pub(crate) mod sse;
pub(crate) mod web;

pub(crate) use client::{Answer, Client};
pub(crate) use server::TestServer;
pub(crate) use session::TestSession;
pub(crate) use web::Web;

use std::time::Duration;

/// A failsafe: no test waits for this long unless it fails.
pub(crate) const FAILSAFE: Duration = Duration::from_mins(1);

/// A future's value; a panic when it hangs.
pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    let done = tokio::time::timeout(FAILSAFE, future).await;
    done.unwrap_or_else(|_| panic!("{what}: nothing within {FAILSAFE:?}"))
}
