//! Connections that only read, used on the runtime's blocking threads: they never stop the writer.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::codec::sql_failed;
use super::schema;
use crate::store::StoreError;
use crate::telemetry::Metrics;
use crate::telemetry::metrics::Places;

/// How long a read waits for a connection before the store is called busy.
const WAIT: Duration = Duration::from_secs(10);

/// A few connections, each of which serves one read at a time.
#[derive(Debug)]
pub(super) struct ReadPool {
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
    size: usize,
    metrics: Metrics,
}

impl ReadPool {
    pub(super) fn open(dir: &Path, size: usize, metrics: Metrics) -> Result<Self, StoreError> {
        let size = size.max(1);
        let idle = (0..size).map(|_| schema::open_reader(dir)).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { idle: Mutex::new(idle), places: Arc::new(Semaphore::new(size)), size, metrics })
    }

    /// Reads under way, and how many may be.
    pub(super) fn places(&self) -> Places {
        Places { used: self.size - self.places.available_permits(), all: self.size }
    }

    /// Reads one consistent state; it ends with the closure, so no reader holds old pages back for
    /// longer than one page of answers takes.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let place = tokio::time::timeout(WAIT, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = place else {
            self.metrics.store().refused();
            return Err(StoreError::Busy);
        };
        let pool = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let borrowed = Borrowed { db: pool.lock().pop(), pool: &pool };
            let Some(db) = &borrowed.db else {
                return Err(StoreError::Failed("no connection to read with".to_owned()));
            };
            let tx = db.unchecked_transaction().map_err(sql_failed)?;
            let answer = work(&tx);
            drop(tx);
            // The connection is back before its place is free.
            drop(borrowed);
            drop(place);
            answer
        });
        reading.await.map_err(|error| StoreError::Failed(format!("a read did not end: {error}")))?
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Gives its connection back, whatever happens to the read.
struct Borrowed<'a> {
    db: Option<Connection>,
    pool: &'a ReadPool,
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        if let Some(db) = self.db.take() {
            self.pool.lock().push(db);
        }
    }
}
