//! The clock, injected so that tests can fix the time.

use std::sync::Arc;

/// A moment, RFC 3339 in UTC on the wire, kept to the millisecond.
pub type Timestamp = jiff::Timestamp;

/// Tells the time. The only implementation that asks the machine is [`SystemClock`].
pub trait Clock: Send + Sync + std::fmt::Debug {
    /// The present moment, truncated to the millisecond.
    fn now(&self) -> Timestamp;
}

/// A clock handle that every layer can keep.
pub type SharedClock = Arc<dyn Clock>;

/// The machine's own clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that asks the machine")]
    fn now(&self) -> Timestamp {
        truncate(Timestamp::now())
    }
}

/// Cuts a moment to whole milliseconds: what is stored equals what was answered.
pub fn truncate(moment: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(moment.as_millisecond()).unwrap_or(moment)
}
