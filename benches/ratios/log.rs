//! The least that a durable log costs: a row of SQLite that is committed before an answer, with the settings of the server's.

use std::cell::Cell;
use std::path::Path;

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

/// Most rows of one transaction, as in the server.
const GROUP_MAX: usize = 256;

/// A table of rows.
pub(crate) struct Log {
    db: Connection,
    /// Whether commits are synced to the disk as the connection is set.
    synced: Cell<bool>,
}

impl Log {
    pub(crate) fn create(folder: &Path) -> Self {
        let db = Connection::open(folder.join("log.sqlite")).expect("a database");
        db.pragma_update(None, "journal_mode", "WAL").expect("a setting");
        db.pragma_update(None, "wal_autocheckpoint", 16_384).expect("a setting");
        db.execute_batch("CREATE TABLE log (id INTEGER PRIMARY KEY, body BLOB)").expect("a table");
        db.pragma_update(None, "synchronous", "NORMAL").expect("a setting");
        Self { db, synced: Cell::new(false) }
    }

    /// Commits rows; `synced`: to the disk, else to the kernel.
    pub(crate) fn commit(&self, rows: &[&[u8]], synced: bool) {
        if self.synced.replace(synced) != synced {
            let mode = if synced { "FULL" } else { "NORMAL" };
            self.db.pragma_update(None, "synchronous", mode).expect("a setting");
        }
        let insert = || {
            self.db.execute_batch("BEGIN IMMEDIATE")?;
            for row in rows {
                self.db.prepare_cached("INSERT INTO log (body) VALUES (?1)")?.execute([row])?;
            }
            self.db.execute_batch("COMMIT")
        };
        insert().expect("a commit");
    }

    /// Gives it to a thread that commits what waits together.
    pub(crate) fn into_thread(self) -> Sender {
        let (queue, mut rows) = mpsc::channel::<Message>(1024);
        std::thread::spawn(move || {
            while let Some(first) = rows.blocking_recv() {
                let mut group = vec![first];
                group.extend(std::iter::from_fn(|| rows.try_recv().ok()).take(GROUP_MAX - 1));
                let bodies: Vec<&[u8]> = group.iter().map(|row| row.body.as_ref()).collect();
                self.commit(&bodies, group.iter().any(|row| row.synced));
                for row in group {
                    let _ = row.committed.send(());
                }
            }
        });
        Sender(queue)
    }
}

struct Message {
    body: axum::body::Bytes,
    synced: bool,
    committed: oneshot::Sender<()>,
}

/// The way to a log's thread.
#[derive(Clone)]
pub(crate) struct Sender(mpsc::Sender<Message>);

impl Sender {
    /// Waits until the row is committed; `synced`: to the disk, else to the kernel.
    pub(crate) async fn commit(&self, body: axum::body::Bytes, synced: bool) {
        let (committed, done) = oneshot::channel();
        self.0.send(Message { body, synced, committed }).await.expect("the thread runs");
        done.await.expect("a commit");
    }
}
