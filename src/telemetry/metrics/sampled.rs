//! Numbers that are looked at when someone asks: what is open, how full it is, what may be.

use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::{Labels, labels};
use crate::config::LimitsConfig;
use crate::domain::call::CallStatus;

/// The statuses of calls that are open.
const OPEN: [CallStatus; 5] = [
    CallStatus::Queued,
    CallStatus::AwaitingApproval,
    CallStatus::AwaitingAnswer,
    CallStatus::AwaitingResult,
    CallStatus::Running,
];

/// Places of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Places {
    /// In use.
    pub used: usize,
    /// All there are.
    pub all: usize,
}

/// What the sessions hold now.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionLoad {
    /// The status of each open call.
    pub open: Vec<CallStatus>,
    /// Places of calls that run at once.
    pub running: Places,
}

/// How full the store is now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StoreLoad {
    /// Whether it takes writes.
    pub healthy: bool,
    /// Commands that wait for the writer.
    pub queue: Places,
    /// Reads under way.
    pub readers: Places,
    /// The database file, in bytes.
    pub database_bytes: u64,
    /// The write-ahead log, in bytes.
    pub wal_bytes: u64,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sampled {
    /// Of the sessions.
    pub sessions: SessionLoad,
    /// Of the store.
    pub store: StoreLoad,
    /// What the config admits.
    pub limits: LimitsConfig,
}

#[derive(Debug)]
pub(super) struct SampledGauges {
    open: Vec<(CallStatus, Gauge)>,
    running: PlaceGauges,
    queue: PlaceGauges,
    readers: PlaceGauges,
    healthy: Gauge,
    database_bytes: Gauge,
    wal_bytes: Gauge,
    limits: Family<Labels<1>, Gauge>,
}

#[derive(Debug)]
struct PlaceGauges {
    used: Gauge,
    all: Gauge,
}

impl PlaceGauges {
    fn register(registry: &mut Registry, used: (&str, &str), all: (&str, &str)) -> Self {
        let gauges = Self { used: Gauge::default(), all: Gauge::default() };
        registry.register(used.0, used.1, gauges.used.clone());
        registry.register(all.0, all.1, gauges.all.clone());
        gauges
    }

    fn set(&self, places: Places) {
        set(&self.used, places.used as u64);
        set(&self.all, places.all as u64);
    }
}

fn set(gauge: &Gauge, value: u64) {
    gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
}

impl SampledGauges {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let open: Family<Labels<1>, Gauge> = Family::default();
        let by_status =
            OPEN.map(|status| (status, open.get_or_create(&labels([("status", status.as_str())])).clone()));
        registry.register("toolgate_calls_open", "Calls that have not ended, by status", open);
        let running = PlaceGauges::register(
            registry,
            ("toolgate_call_places_in_use", "Calls that are judged or run now"),
            ("toolgate_call_places", "Calls that may run at once"),
        );
        let queue = PlaceGauges::register(
            registry,
            ("toolgate_store_queue_commands", "Commands that wait for the writer"),
            ("toolgate_store_queue_places", "Commands that may wait for the writer"),
        );
        let readers = PlaceGauges::register(
            registry,
            ("toolgate_store_readers_in_use", "Reads of the database under way"),
            ("toolgate_store_readers", "Reads of the database that may go on at once"),
        );
        let gauges = Self {
            open: by_status.into(),
            running,
            queue,
            readers,
            healthy: Gauge::default(),
            database_bytes: Gauge::default(),
            wal_bytes: Gauge::default(),
            limits: Family::default(),
        };
        registry.register(
            "toolgate_store_healthy",
            "1 where the latest transaction could be committed",
            gauges.healthy.clone(),
        );
        registry.register(
            "toolgate_store_database_bytes",
            "Size of the database file",
            gauges.database_bytes.clone(),
        );
        registry.register(
            "toolgate_store_wal_bytes",
            "Size of the write-ahead log",
            gauges.wal_bytes.clone(),
        );
        registry.register("toolgate_limit", "What the config admits, by its key", gauges.limits.clone());
        gauges
    }

    pub(super) fn set(&self, now: &Sampled) {
        for (status, gauge) in &self.open {
            let open = now.sessions.open.iter().filter(|open| *open == status).count();
            set(gauge, open as u64);
        }
        self.running.set(now.sessions.running);
        self.queue.set(now.store.queue);
        self.readers.set(now.store.readers);
        set(&self.healthy, u64::from(now.store.healthy));
        set(&self.database_bytes, now.store.database_bytes);
        set(&self.wal_bytes, now.store.wal_bytes);
        let limits = &now.limits;
        for (name, limit) in [
            ("connections", limits.connections as u64),
            ("requests", limits.requests as u64),
            ("streams", limits.streams as u64),
            ("sessions_per_token", limits.sessions_per_token as u64),
            ("approvals_per_token", limits.approvals_per_token as u64),
            ("open_calls_per_session", limits.open_calls_per_session as u64),
            ("running_calls", limits.running_calls as u64),
            ("artifact_bytes", limits.artifact_bytes),
        ] {
            set(&self.limits.get_or_create(&labels([("limit", name)])), limit);
        }
    }
}
