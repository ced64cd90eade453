//! Numbers of commands, their process trees and their output.

use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Counted;
use super::histogram::{DISK, Histogram};

/// Numbers of commands.
#[derive(Debug)]
pub struct CommandMetrics {
    starting: Gauge,
    starts: Histogram,
    failed: Counter,
    trees: Gauge,
    output: Counter,
    kept: Counter,
}

impl CommandMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            starting: Gauge::default(),
            starts: Histogram::new(DISK),
            failed: Counter::default(),
            trees: Gauge::default(),
            output: Counter::default(),
            kept: Counter::default(),
        };
        registry.register(
            "toolgate_commands_starting",
            "Commands that were handed to the spawner and do not run yet",
            metrics.starting.clone(),
        );
        registry.register(
            "toolgate_command_start_duration_seconds",
            "From the request of a command to its program running",
            metrics.starts.clone(),
        );
        registry.register(
            "toolgate_command_starts_failed",
            "Commands that did not come to run",
            metrics.failed.clone(),
        );
        registry.register(
            "toolgate_process_trees",
            "Process trees of commands that are alive",
            metrics.trees.clone(),
        );
        registry.register(
            "toolgate_output_bytes",
            "Bytes that commands have printed",
            metrics.output.clone(),
        );
        registry.register(
            "toolgate_artifact_bytes",
            "Bytes of output that were kept in artifacts",
            metrics.kept.clone(),
        );
        metrics
    }

    /// A command is to be started; it counts as failed unless it is [`Starting::started`].
    pub fn starting(&self) -> Starting<'_> {
        Starting { metrics: self, since: Instant::now(), running: false, _open: Counted::new(&self.starting) }
    }
}

/// A command that is being started.
#[derive(Debug)]
pub struct Starting<'a> {
    metrics: &'a CommandMetrics,
    since: Instant,
    running: bool,
    _open: Counted,
}

impl Starting<'_> {
    /// Its program runs; the meter of its tree and its output.
    pub fn started(mut self) -> CommandMeter {
        self.running = true;
        self.metrics.starts.observe(self.took());
        CommandMeter {
            output: self.metrics.output.clone(),
            kept: self.metrics.kept.clone(),
            _alive: Counted::new(&self.metrics.trees),
        }
    }

    fn took(&self) -> Duration {
        self.since.elapsed()
    }
}

impl Drop for Starting<'_> {
    fn drop(&mut self) {
        if !self.running {
            self.metrics.failed.inc();
        }
    }
}

/// Counts for one command; its tree counts as alive for as long as this lives.
#[derive(Debug)]
pub struct CommandMeter {
    output: Counter,
    kept: Counter,
    _alive: Counted,
}

impl CommandMeter {
    /// It has printed more.
    pub fn printed(&self, bytes: usize) {
        self.output.inc_by(bytes as u64);
    }

    /// So much of it is kept in its artifact.
    pub fn kept(&self, bytes: u64) {
        self.kept.inc_by(bytes);
    }
}
