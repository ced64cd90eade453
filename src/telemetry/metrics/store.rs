//! Numbers of the store.

use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::histogram::{DISK, GROUPS, Histogram};
use super::{Labels, labels};

/// Numbers of the store.
#[derive(Debug)]
pub struct StoreMetrics {
    commits: Histogram,
    groups: Histogram,
    failed: Counter,
    busy: Counter,
    events: Family<Labels<1>, Counter>,
    sessions: Gauge,
}

impl StoreMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            commits: Histogram::new(DISK),
            groups: Histogram::new(GROUPS),
            failed: Counter::default(),
            busy: Counter::default(),
            events: Family::default(),
            sessions: Gauge::default(),
        };
        registry.register(
            "toolgate_store_commit_duration_seconds",
            "How long a transaction took, its commit included",
            metrics.commits.clone(),
        );
        registry.register(
            "toolgate_store_commit_commands",
            "How many commands were written in one transaction",
            metrics.groups.clone(),
        );
        registry.register(
            "toolgate_store_commits_failed",
            "Transactions that were lost",
            metrics.failed.clone(),
        );
        registry.register(
            "toolgate_store_busy",
            "Commands and reads that were refused since they had waited too long",
            metrics.busy.clone(),
        );
        registry.register("toolgate_events", "Events in the log, by type", metrics.events.clone());
        registry.register("toolgate_sessions_active", "Sessions that take calls", metrics.sessions.clone());
        metrics
    }

    /// A group of commands was committed.
    pub fn committed(&self, commands: usize, took: Duration) {
        self.commits.observe(took);
        self.groups.observe_units(commands as u64);
    }

    /// A transaction was lost.
    pub fn lost(&self) {
        self.failed.inc();
    }

    /// Something was refused since the store had no time for it.
    pub fn refused(&self) {
        self.busy.inc();
    }

    /// An event is in the log.
    pub fn logged(&self, kind: &'static str) {
        self.events.get_or_create(&labels([("type", kind)])).inc();
        match kind {
            "session_started" => drop(self.sessions.inc()),
            "session_ended" => drop(self.sessions.dec()),
            _ => {}
        }
    }

    /// So many sessions were active when the store was opened.
    pub fn opened(&self, sessions: u64) {
        self.sessions.set(i64::try_from(sessions).unwrap_or(i64::MAX));
    }
}
