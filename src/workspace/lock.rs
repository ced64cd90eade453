//! One writer at a time on a file: an async lock for each path that is in use.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

type Table = Mutex<HashMap<PathBuf, Arc<AsyncMutex<()>>>>;

/// The locks of files that are being written, by real path. An entry lives only while someone holds or awaits
/// it, so the table is never larger than the number of calls at work.
#[derive(Clone, Default)]
pub struct FileLocks {
    table: Arc<Table>,
}

/// Held while a file is read, changed and written back; released on drop.
pub struct FileGuard {
    guards: Vec<(Option<OwnedMutexGuard<()>>, Lease)>,
}

/// An interest in a table entry; the last one to go removes it, also when a waiter is cancelled.
struct Lease {
    table: Arc<Table>,
    path: PathBuf,
    lock: Option<Arc<AsyncMutex<()>>>,
}

impl FileLocks {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits until nobody else works on the file at this real path.
    pub async fn lock(&self, real: &Path) -> FileGuard {
        self.lock_all([real.to_path_buf()]).await
    }

    /// Waits for all of these files. They are taken in one order, so two calls never wait for each other.
    pub async fn lock_all(&self, reals: impl IntoIterator<Item = PathBuf>) -> FileGuard {
        let mut paths: Vec<PathBuf> = reals.into_iter().collect();
        paths.sort();
        paths.dedup();
        let mut guards = Vec::with_capacity(paths.len());
        for path in paths {
            let (lock, lease) = self.lease(path);
            guards.push((Some(lock.lock_owned().await), lease));
        }
        FileGuard { guards }
    }

    fn lease(&self, path: PathBuf) -> (Arc<AsyncMutex<()>>, Lease) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        let lock = Arc::clone(table.entry(path.clone()).or_default());
        let lease = Lease { table: Arc::clone(&self.table), path, lock: Some(Arc::clone(&lock)) };
        (lock, lease)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.table.lock().unwrap().len()
    }
}

impl Drop for FileGuard {
    fn drop(&mut self) {
        for (guard, _) in &mut self.guards {
            // Before its lease, whose drop counts who else is there.
            guard.take();
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        self.lock.take();
        // New interest is taken under this same lock, so the count cannot grow meanwhile.
        if table.get(&self.path).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            table.remove(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn writers_of_one_file_follow_each_other_and_the_table_empties() {
        let locks = FileLocks::new();
        let inside = Arc::new(AtomicU32::new(0));
        let tasks: Vec<_> = (0..32)
            .map(|_| {
                let (locks, inside) = (locks.clone(), Arc::clone(&inside));
                tokio::spawn(async move {
                    let _guard = locks.lock(Path::new("/w/a")).await;
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two inside at once");
                    tokio::task::yield_now().await;
                    inside.fetch_sub(1, Ordering::SeqCst);
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(locks.len(), 0);
    }

    #[tokio::test]
    async fn a_cancelled_waiter_leaves_nothing_behind() {
        let locks = FileLocks::new();
        let held = locks.lock(Path::new("/w/a")).await;
        let waiter = tokio::spawn({
            let locks = locks.clone();
            async move { drop(locks.lock(Path::new("/w/a")).await) }
        });
        tokio::task::yield_now().await;
        waiter.abort();
        assert!(waiter.await.unwrap_err().is_cancelled());
        assert_eq!(locks.len(), 1);
        drop(held);
        assert_eq!(locks.len(), 0);
    }

    #[tokio::test]
    async fn sets_taken_in_opposite_order_do_not_deadlock() {
        let locks = FileLocks::new();
        let (a, b) = (PathBuf::from("/w/a"), PathBuf::from("/w/b"));
        let one = locks.lock_all([a.clone(), b.clone(), a.clone()]).await;
        let other = locks.lock_all([b, a]);
        tokio::pin!(other);
        assert!(futures_util::poll!(&mut other).is_pending());
        drop(one);
        drop(other.await);
        assert_eq!(locks.len(), 0);
    }
}
