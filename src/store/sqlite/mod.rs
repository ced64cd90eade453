//! The store on SQLite: one writer, grouped commits, readers that never stop it.
//!
//! `writer` runs commands in one thread, `tx` is what they can do, `heads` what they need not look
//! up. `feed` tells what was committed, `pool` reads what lies further back. A file for each kind of
//! record holds its SQL.

mod approvals;
mod audit;
mod bounded;
mod call_rows;
mod calls;
mod codec;
mod events;
mod feed;
mod folding;
mod forwarded_asks;
mod grants;
mod heads;
mod pool;
mod schema;
mod sessions;
mod tx;
mod worker_asks;
mod writer;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod long_log_tests;

use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::Connection;

pub use self::audit::AuditBounds;
use self::audit::SharedBounds;
use self::feed::Feed;
use self::grants::GrantCache;
use self::heads::{Heads, LogEnd};
use self::pool::ReadPool;
use self::writer::{QueueBounds, Writer, WriterParts};
use super::{Store, StoreError};
use crate::domain::clock::SharedClock;
use crate::telemetry::Metrics;
use crate::telemetry::metrics::StoreLoad;

/// What an owner may set.
#[derive(Debug, Clone)]
pub struct SqliteOptions {
    /// How many of the latest events of a session are kept, at least; older ones are dropped.
    pub events_per_session: u64,
    /// How much of the audit log is kept.
    pub audit: AuditBounds,
    /// How long grants hold, from when they were made, that an older version has left without an end.
    pub grants_hold: Duration,
    /// The commands that may wait for the writer.
    pub queue_length: usize,
    /// How long a command waits for a place in the full queue before it is refused as busy.
    pub queue_wait: Duration,
    /// How many reads may go on at once.
    pub readers: usize,
    /// Where it is counted what happens.
    pub metrics: Metrics,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self {
            events_per_session: 1_000_000,
            audit: AuditBounds::default(),
            grants_hold: Duration::from_hours(30 * 24),
            queue_length: 4096,
            queue_wait: Duration::from_secs(5),
            readers: 4,
            metrics: Metrics::default(),
        }
    }
}

/// The store of one folder. Dropping it writes what is queued and gives the folder free.
#[derive(Debug)]
pub struct SqliteStore {
    // Dropped in this order: the writer ends while the folder is still locked.
    writer: Writer,
    pool: Arc<ReadPool>,
    /// For the one number that is asked for outside of the pool.
    numbers: Mutex<Connection>,
    feed: Arc<Feed>,
    clock: SharedClock,
    grants: Arc<GrantCache>,
    events_kept: Arc<AtomicU64>,
    audit_bounds: Arc<SharedBounds>,
    metrics: Metrics,
    files: schema::Files,
    _lock: File,
}

impl SqliteStore {
    /// Opens the store of a folder: makes what is missing, brings an older one up to date. Fails, in
    /// words for the owner, where another server holds the folder, or the database is damaged, of
    /// another program or of a newer version.
    pub fn open(dir: &Path, clock: SharedClock, options: &SqliteOptions) -> Result<Self, StoreError> {
        let lock = schema::lock_folder(dir)?;
        let mut db = schema::open_writer(dir)?;
        grants::date(&mut db, options.grants_hold)?;
        let checkpoints = schema::open_second(dir)?;
        let metrics = options.metrics.clone();
        metrics.store().opened(sessions::active_count(&db)?);
        let pool = Arc::new(ReadPool::open(dir, options.readers, metrics.clone())?);
        let numbers = Mutex::new(schema::open_reader(dir)?);
        let position = events::last_position(&db)?;
        let complete_from = events::complete_from(&db)?;
        let audit_bounds = SharedBounds::new(options.audit);
        let keeper = audit::Keeper::new(Arc::clone(&audit_bounds));
        let heads = Heads::new(LogEnd { position, complete_from }, keeper);
        let feed = Arc::new(Feed::new(position));
        let grants = Arc::new(GrantCache::default());
        let events_kept = Arc::new(AtomicU64::new(options.events_per_session));
        let parts = WriterParts {
            db,
            checkpoints,
            clock: Arc::clone(&clock),
            heads,
            feed: Arc::clone(&feed),
            grants: Arc::clone(&grants),
            events_kept: Arc::clone(&events_kept),
            metrics: metrics.clone(),
        };
        let bounds = QueueBounds { length: options.queue_length, wait: options.queue_wait };
        let writer = Writer::start(parts, bounds)?;
        let files = schema::Files::of(dir);
        Ok(Self {
            writer,
            pool,
            numbers,
            feed,
            clock,
            grants,
            events_kept,
            audit_bounds,
            metrics,
            files,
            _lock: lock,
        })
    }

    /// Keeps this many of the latest events of a session from its next event on.
    pub fn keep_events(&self, per_session: u64) {
        self.events_kept.store(per_session, Ordering::Relaxed);
    }

    /// Writes all that is queued, then refuses more; reads go on. For a shutdown that must not block
    /// the runtime, as dropping the store would for a moment.
    pub async fn close(&self) {
        self.writer.close().await;
    }
}

impl Store for SqliteStore {
    fn is_healthy(&self) -> bool {
        self.writer.is_healthy()
    }

    fn load(&self) -> StoreLoad {
        let (database_bytes, wal_bytes) = self.files.sizes();
        StoreLoad {
            healthy: self.writer.is_healthy(),
            queue: self.writer.queue(),
            readers: self.pool.places(),
            database_bytes,
            wal_bytes,
        }
    }
}
