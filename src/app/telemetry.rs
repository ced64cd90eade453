//! The log: to standard error, filtered by `RUST_LOG`.

use tracing_subscriber::EnvFilter;

/// Starts the log; `info` where `RUST_LOG` says nothing.
pub(super) fn start() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    // A second start, as in a test process, keeps the first log.
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .try_init();
}
