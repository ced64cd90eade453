//! The log: one line an event, as text or JSON, with what the spans around it say.
//!
//! Texts from outside are values of fields, escaped and cut; they never are a format or a line of
//! their own. Writing happens on a thread of its own: whoever logs waits for nobody who reads.

mod layer;
mod line;
mod queue;

use std::time::Duration;

use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::{Layer, Registry, reload};

use crate::config::LogLevel;
use crate::domain::clock::SharedClock;
use crate::telemetry::Metrics;

pub use line::Format;

use layer::LogLayer;
use queue::Queue;

/// How long an end waits for what is still to be written: a reader that never reads must not hold it up.
const FLUSH_WITHIN: Duration = Duration::from_millis(300);

/// How to start a log.
pub struct LogOptions {
    /// How lines are written.
    pub format: Format,
    /// The least level.
    pub level: LogLevel,
    /// What is logged in the place of `level`, in the syntax of `RUST_LOG`.
    pub directives: Option<String>,
    /// The time of each line.
    pub clock: SharedClock,
}

/// A log that runs. Dropping it writes what is queued, within 300 ms.
pub struct Log {
    queue: Queue,
    control: LogControl,
}

/// Changes the level of a log that runs. Cheap to clone.
#[derive(Clone)]
pub struct LogControl {
    filter: reload::Handle<EnvFilter, Registry>,
    fixed: bool,
}

/// A layer of the subscriber.
pub(super) type AnyLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// What the parser of shell texts would write at the level of debug: whole commands, with whatever secrets are in
/// them. Who names one of these targets gets it all the same.
const SILENT: &str = "tokenize=off,parse=off,expansion=off,arithmetic=off";

/// The environment's directives cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("RUST_LOG cannot be read ({0}): write it as in info or warn,toolgate=debug")]
pub struct BadDirectives(String);

impl Log {
    /// A log into `sink`, and the layer that writes to it.
    pub(super) fn start(
        options: LogOptions,
        sink: impl std::io::Write + Send + 'static,
        metrics: &Metrics,
    ) -> Result<(Self, AnyLayer), BadDirectives> {
        let filter = match &options.directives {
            Some(text) => EnvFilter::try_new(format!("{SILENT},{text}"))
                .map_err(|error| BadDirectives(error.to_string()))?,
            None => of_level(options.level),
        };
        let queue = Queue::start(sink, metrics.log().dropped());
        let (filter, handle) = reload::Layer::new(filter);
        let layer = LogLayer::new(options.format, options.clock, queue.clone(), metrics);
        let control = LogControl { filter: handle, fixed: options.directives.is_some() };
        Ok((Self { queue, control }, Box::new(layer.with_filter(filter))))
    }

    /// What changes its level.
    pub fn control(&self) -> LogControl {
        self.control.clone()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.queue.flush(FLUSH_WITHIN);
    }
}

impl LogControl {
    /// Logs from this level on, unless the environment's directives are in force.
    pub fn set_level(&self, level: LogLevel) {
        if !self.fixed {
            // It fails only where the log is gone.
            let _ = self.filter.reload(of_level(level));
        }
    }
}

/// The level for what is ours; of what we are made of only what goes wrong.
fn of_level(level: LogLevel) -> EnvFilter {
    let others = match level {
        LogLevel::Off => "off",
        LogLevel::Error => "error",
        _ => "warn",
    };
    EnvFilter::new(format!("{others},toolgate={}", level.as_str()))
}

#[cfg(test)]
mod tests;
