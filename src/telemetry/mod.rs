//! What tells an operator how the server does: numbers, the log, traces. Each is a handle that is
//! passed down; nothing here knows who uses it.

pub mod metrics;

pub use metrics::Metrics;
