//! The one thread that writes: it groups what waits in its queue into one transaction, and answers
//! only after the commit.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::bounded::PrepareBounded as _;
use super::feed::{Feed, Logged};
use super::grants::GrantCache;
use super::heads::Heads;
use super::tx::Tx;
use crate::domain::clock::SharedClock;
use crate::store::StoreError;
use crate::telemetry::Metrics;
use crate::telemetry::metrics::Places;

/// The most commands of one transaction.
const GROUP_MAX: usize = 256;
/// After so many commands the checkpoint thread is woken.
const CHECKPOINT_EVERY: usize = 256;

/// How long the writer's queue is and how long a command waits to enter it.
#[derive(Debug, Clone, Copy)]
pub(super) struct QueueBounds {
    pub(super) length: usize,
    pub(super) wait: Duration,
}

/// A handle to the writer's thread. Dropping it writes all that is queued, then ends the thread.
#[derive(Debug)]
pub(super) struct Writer {
    queue: Option<mpsc::Sender<Message>>,
    wait: Duration,
    healthy: Arc<AtomicBool>,
    metrics: Metrics,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// What the writer's thread needs.
pub(super) struct WriterParts {
    pub(super) db: Connection,
    pub(super) checkpoints: Connection,
    pub(super) clock: SharedClock,
    pub(super) heads: Heads,
    pub(super) feed: Arc<Feed>,
    pub(super) grants: Arc<GrantCache>,
    /// How many events of a session are kept.
    pub(super) events_kept: Arc<AtomicU64>,
    pub(super) metrics: Metrics,
}

enum Message {
    Job(Box<dyn Job>),
    /// Takes no more, writes what is queued, ends.
    Close,
}

/// One command, whatever it answers.
trait Job: Send {
    fn sync(&self) -> bool;
    /// Runs it; whether what it wrote is to be kept.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;
    /// Sends the answer: its own, or that its transaction was lost.
    fn answer(self: Box<Self>, lost: Option<&str>);
}

struct Command<F, T, E> {
    sync: bool,
    work: Option<F>,
    result: Option<Result<T, E>>,
    reply: oneshot::Sender<Result<T, E>>,
}

impl<F, T, E> Job for Command<F, T, E>
where
    F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send,
    T: Send,
    E: From<StoreError> + Send,
{
    fn sync(&self) -> bool {
        self.sync
    }

    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let Some(work) = self.work.take() else { return false };
        self.result.insert(work(tx)).is_ok()
    }

    fn answer(self: Box<Self>, lost: Option<&str>) {
        let failed = |text: &str| Err(StoreError::Failed(text.to_owned()).into());
        let answer = match (lost, self.result) {
            (Some(text), _) => failed(text),
            (None, Some(result)) => result,
            (None, None) => failed("the command did not run"),
        };
        // Nobody waits for it where the request has gone away; it happened all the same.
        let _ = self.reply.send(answer);
    }
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(parts: WriterParts, bounds: QueueBounds) -> Result<Self, StoreError> {
        let (queue, commands) = mpsc::channel(bounds.length.max(1));
        let healthy = Arc::new(AtomicBool::new(true));
        let (wake, woken) = sync_channel(1);
        let (checkpoints, metrics) = (parts.checkpoints, parts.metrics);
        let checkpointer = spawn("store-checkpoint", move || {
            while woken.recv().is_ok() {
                checkpoint(&checkpoints, "PRAGMA wal_checkpoint(PASSIVE)");
            }
        })?;
        let state = Thread {
            db: parts.db,
            clock: parts.clock,
            heads: parts.heads,
            feed: parts.feed,
            events_kept: parts.events_kept,
            grants: parts.grants,
            grants_changed: false,
            outbox: Vec::new(),
            synced: false,
            since_checkpoint: 0,
            wake,
            healthy: Arc::clone(&healthy),
            metrics: metrics.clone(),
        };
        let thread = spawn("store-writer", move || {
            state.serve(commands);
            let _ = checkpointer.join();
        })?;
        let (queue, thread) = (Some(queue), Mutex::new(Some(thread)));
        Ok(Self { queue, wait: bounds.wait, healthy, metrics, thread })
    }

    /// Commands that wait, and how many may.
    pub(super) fn queue(&self) -> Places {
        let Some(queue) = &self.queue else { return Places::default() };
        let all = queue.max_capacity();
        Places { used: all - queue.capacity(), all }
    }

    /// Runs a command in the writer's thread; an error of it undoes what it wrote. Where the queue
    /// is full it waits for a place, then gives up as busy. Once queued it happens, also when the
    /// caller no longer waits.
    pub(super) async fn run<T, E>(
        &self,
        sync: bool,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Command { sync, work: Some(work), result: None, reply });
        self.enqueue(Message::Job(job)).await?;
        match answer.await {
            Ok(answer) => answer,
            Err(_) => Err(ended().into()),
        }
    }

    async fn enqueue(&self, message: Message) -> Result<(), StoreError> {
        use mpsc::error::TrySendError::{Closed, Full};
        let Some(queue) = &self.queue else { return Err(ended()) };
        let message = match queue.try_send(message) {
            Ok(()) => return Ok(()),
            Err(Closed(_)) => return Err(ended()),
            Err(Full(message)) => message,
        };
        match tokio::time::timeout(self.wait, queue.reserve()).await {
            Ok(Ok(place)) => {
                place.send(message);
                Ok(())
            }
            Ok(Err(_)) => Err(ended()),
            Err(_) => {
                self.metrics.store().refused();
                Err(StoreError::Busy)
            }
        }
    }

    /// Whether the latest transaction could be committed. Where it could not, this also asks for a
    /// new attempt, whose outcome a later question tells.
    pub(super) fn is_healthy(&self) -> bool {
        let Some(queue) = &self.queue else { return false };
        if queue.is_closed() {
            return false;
        }
        let healthy = self.healthy.load(Ordering::Acquire);
        if !healthy {
            let (reply, _) = oneshot::channel::<Result<(), StoreError>>();
            let probe = |tx: &mut Tx<'_>| tx.write("UPDATE log_state SET probes = probes + 1", []).map(drop);
            let job = Box::new(Command { sync: true, work: Some(probe), result: None, reply });
            let _ = queue.try_send(Message::Job(job));
        }
        healthy
    }

    /// Writes all that is queued, takes no more, and waits for the thread's end.
    pub(super) async fn close(&self) {
        if let Some(queue) = &self.queue {
            let _ = queue.send(Message::Close).await;
            queue.closed().await;
        }
        let thread = self.take_thread();
        let _ = tokio::task::spawn_blocking(move || thread.map(JoinHandle::join)).await;
    }

    fn take_thread(&self) -> Option<JoinHandle<()>> {
        self.thread.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.take_thread() {
            let _ = thread.join();
        }
    }
}

fn ended() -> StoreError {
    StoreError::Failed("the store is closed".to_owned())
}

fn spawn(name: &str, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(body)
        .map_err(|error| StoreError::Failed(format!("the thread {name} did not start: {error}")))
}

fn checkpoint(db: &Connection, sql: &str) {
    if let Err(error) = db.query_row(sql, [], |_| Ok(())) {
        tracing::warn!(%error, "a checkpoint of the database failed; the next one tries again");
    }
}

/// What the thread owns.
struct Thread {
    db: Connection,
    clock: SharedClock,
    heads: Heads,
    feed: Arc<Feed>,
    events_kept: Arc<AtomicU64>,
    grants: Arc<GrantCache>,
    grants_changed: bool,
    /// Events written in the open transaction.
    outbox: Vec<Logged>,
    /// Whether commits are synced to the disk as the connection is set.
    synced: bool,
    since_checkpoint: usize,
    wake: SyncSender<()>,
    healthy: Arc<AtomicBool>,
    metrics: Metrics,
}

impl Thread {
    fn serve(mut self, mut commands: mpsc::Receiver<Message>) {
        let mut group: Vec<Box<dyn Job>> = Vec::with_capacity(GROUP_MAX);
        while let Some(first) = commands.blocking_recv() {
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Job(job) => group.push(job),
                    Message::Close => commands.close(),
                }
                next = if group.len() < GROUP_MAX { commands.try_recv().ok() } else { None };
            }
            self.commit(&mut group);
        }
        checkpoint(&self.db, "PRAGMA wal_checkpoint(TRUNCATE)");
    }

    /// Runs a group in one transaction and answers all of it.
    fn commit(&mut self, group: &mut Vec<Box<dyn Job>>) {
        if group.is_empty() {
            return;
        }
        let (end, began) = (self.heads.end(), Instant::now());
        let lost = match self.transact(group) {
            Ok(()) => {
                self.count(group.len(), began.elapsed());
                // Before the answers: who has been answered sees its own events.
                self.feed.publish(self.outbox.drain(..));
                None
            }
            Err(error) => {
                self.metrics.store().lost();
                self.outbox.clear();
                self.heads.forget_all();
                self.heads.set_end(end);
                if !self.db.is_autocommit()
                    && let Err(error) = self.db.execute_batch("ROLLBACK")
                {
                    tracing::error!(%error, "a lost transaction could not be rolled back");
                }
                tracing::error!(%error, commands = group.len(), "a transaction was lost");
                Some(error.to_string())
            }
        };
        if std::mem::take(&mut self.grants_changed) {
            self.grants.forget();
        }
        self.healthy.store(lost.is_none(), Ordering::Release);
        self.since_checkpoint += group.len();
        for job in group.drain(..) {
            job.answer(lost.as_deref());
        }
        if self.since_checkpoint >= CHECKPOINT_EVERY {
            self.since_checkpoint = 0;
            // Full means that one is asked for already.
            let _ = self.wake.try_send(());
        }
    }

    /// Counts what was committed.
    fn count(&self, commands: usize, took: Duration) {
        self.metrics.store().committed(commands, took);
        for event in &self.outbox {
            self.metrics.store().logged(event.kind);
            if let Some(resolution) = event.resolution {
                self.metrics.calls().resolved(resolution);
            }
        }
    }

    fn transact(&mut self, group: &mut [Box<dyn Job>]) -> Result<(), rusqlite::Error> {
        self.set_synced(group.iter().any(|job| job.sync()))?;
        let alone = group.len() == 1;
        let now = self.clock.now();
        let events_kept = self.events_kept.load(Ordering::Relaxed).max(1);
        self.control("BEGIN IMMEDIATE")?;
        for job in group {
            if !alone {
                self.control("SAVEPOINT command")?;
            }
            let (end, logged) = (self.heads.end(), self.outbox.len());
            let mut tx = Tx::new(&self.db, &mut self.heads, &mut self.outbox, now, events_kept);
            let kept = job.run(&mut tx);
            self.grants_changed |= tx.changes_grants();
            if !kept {
                tx.undo(end);
                self.outbox.truncate(logged);
                // A full disk, for one, makes SQLite roll the whole transaction back by itself.
                if self.db.is_autocommit() {
                    return Err(rusqlite::Error::SqliteFailure(
                        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ABORT_ROLLBACK),
                        Some("the transaction was rolled back by the database".to_owned()),
                    ));
                }
                if alone {
                    return self.control("ROLLBACK");
                }
                self.control("ROLLBACK TO command")?;
            }
            if !alone {
                self.control("RELEASE command")?;
            }
        }
        self.control("COMMIT")
    }

    fn control(&self, sql: &'static str) -> Result<(), rusqlite::Error> {
        self.db.prepare_bounded(sql)?.execute([]).map(drop)
    }

    /// NORMAL survives the end of the process, FULL that of the machine.
    fn set_synced(&mut self, synced: bool) -> Result<(), rusqlite::Error> {
        if self.synced != synced {
            self.db.pragma_update(None, "synchronous", if synced { "FULL" } else { "NORMAL" })?;
            self.synced = synced;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc as std_mpsc;

    use super::super::SqliteOptions;
    use super::super::fixture::{Fixture, new_call, of, token};
    use super::super::schema;
    use super::*;
    use crate::store::{CallStore as _, EventLog as _, Store as _};
    use futures_util::poll;

    type Release = std_mpsc::Sender<()>;

    /// Holds the writer up in a command, until the sender is dropped.
    async fn hold(f: &Fixture) -> (Release, tokio::task::JoinHandle<Result<(), StoreError>>) {
        let (release, released) = std_mpsc::channel();
        let (entered, in_it) = oneshot::channel();
        let store = Arc::clone(&f.store);
        let held = tokio::spawn(async move {
            store
                .writer
                .run(false, move |_| {
                    let _ = entered.send(());
                    let _ = released.recv();
                    Ok(())
                })
                .await
        });
        in_it.await.unwrap();
        (release, held)
    }

    fn tokens(f: &Fixture) -> i64 {
        let reader = schema::open_reader(f.dir.path()).unwrap();
        let sql = "SELECT count(*) FROM events WHERE kind = 'tool_token'";
        reader.query_row(sql, [], |row| row.get(0)).unwrap()
    }

    /// Queues a command: polled once, it waits for its answer.
    macro_rules! queued {
        ($command:expr) => {{
            let mut command = Box::pin($command);
            assert!(poll!(&mut command).is_pending());
            command
        }};
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn no_answer_comes_before_its_commit() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let (release, held) = hold(&f).await;
        let mut append = queued!(f.append(Some("s"), vec![token("c", "x")]));
        // The next command of the same transaction: when it runs, the append has run.
        let (entered, in_it) = oneshot::channel();
        let (commit, committing) = std_mpsc::channel::<()>();
        let last = queued!(f.writer.run(false, move |_| {
            let _ = entered.send(());
            let _ = committing.recv();
            Ok::<(), StoreError>(())
        }));
        drop(release);
        held.await.unwrap().unwrap();
        in_it.await.unwrap();
        let latest = f.latest(Some("s"));
        assert!(poll!(&mut append).is_pending());
        assert_eq!((tokens(&f), *latest.borrow(), f.all(of("s")).await.len()), (0, 2, 2));
        drop(commit);
        assert_eq!(append.await.unwrap(), 3);
        assert_eq!((tokens(&f), *latest.borrow(), f.all(of("s")).await.len()), (1, 3, 3));
        last.await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_command_that_fails_takes_nothing_else_with_it() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let (release, held) = hold(&f).await;
        let one = queued!(f.append(Some("s"), vec![token("c", "1")]));
        let bad = queued!(f.append(Some("s"), vec![token("c", "undone"), token("unknown", "")]));
        let two = queued!(f.append(Some("s"), vec![token("c", "2")]));
        drop(release);
        held.await.unwrap().unwrap();
        assert_eq!(one.await.unwrap(), 3);
        assert!(matches!(bad.await, Err(StoreError::NotFound)));
        assert_eq!(two.await.unwrap(), 4);
        assert_eq!(f.kinds("s").await.len(), 4);
        f.feed.forget_tails();
        assert_eq!(f.kinds("s").await.len(), 4);
        assert!(f.is_healthy());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_lost_transaction_is_lost_whole() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let (release, held) = hold(&f).await;
        let before = queued!(f.append(Some("s"), vec![token("c", "lost")]));
        // As SQLite does by itself where the disk is full.
        let full = queued!(f.writer.run(false, |tx| {
            tx.db().execute_batch("ROLLBACK").unwrap();
            Err::<(), _>(StoreError::Failed("the disk is full".to_owned()))
        }));
        let after = queued!(f.accept(new_call("d")));
        drop(release);
        held.await.unwrap().unwrap();
        assert!(matches!(before.await, Err(StoreError::Failed(_))));
        assert!(matches!(full.await, Err(StoreError::Failed(_))));
        assert!(matches!(after.await, Err(StoreError::Failed(_))));
        assert!(!f.is_healthy(), "and asks for a new attempt");
        // No number was used up.
        assert_eq!(f.append(Some("s"), vec![token("c", "kept")]).await.unwrap(), 3);
        assert!(f.is_healthy());
        assert_eq!(f.accept_one("d").await.first_seq, 4);
        assert_eq!(*f.latest(None).borrow(), 5);
        let f = f.reopened().await;
        assert_eq!(f.kinds("s").await.len(), 4);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nothing_is_told_of_a_commit_that_fails() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let latest = f.latest(Some("s"));
        let (release, held) = hold(&f).await;
        let append = queued!(f.append(Some("s"), vec![token("c", "lost")]));
        // A constraint that is looked at by the commit alone.
        let broken = queued!(f.writer.run(false, |tx| {
            tx.db()
                .execute_batch(
                    "ROLLBACK; PRAGMA foreign_keys = ON; BEGIN IMMEDIATE;
                     CREATE TEMP TABLE p (id INTEGER PRIMARY KEY);
                     CREATE TEMP TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED);
                     INSERT INTO c VALUES (1); SAVEPOINT command",
                )
                .unwrap();
            Ok::<(), StoreError>(())
        }));
        drop(release);
        held.await.unwrap().unwrap();
        assert!(matches!(broken.await, Err(StoreError::Failed(text)) if text.contains("FOREIGN KEY")));
        assert!(matches!(append.await, Err(StoreError::Failed(_))));
        assert_eq!((*latest.borrow(), f.all(of("s")).await.len()), (2, 2));
        assert_eq!(f.append(Some("s"), vec![token("c", "kept")]).await.unwrap(), 3);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_queue_is_bounded() {
        let options = SqliteOptions {
            queue_length: 2,
            queue_wait: Duration::from_millis(20),
            ..SqliteOptions::default()
        };
        let f = Fixture::with(options).await;
        f.accept_one("c").await;
        let (release, held) = hold(&f).await;
        let one = queued!(f.append(Some("s"), vec![token("c", "1")]));
        let two = queued!(f.append(Some("s"), vec![token("c", "2")]));
        let three = f.append(Some("s"), vec![token("c", "3")]).await;
        assert!(matches!(three, Err(StoreError::Busy)));
        drop(release);
        held.await.unwrap().unwrap();
        assert_eq!((one.await.unwrap(), two.await.unwrap()), (3, 4));
        assert_eq!(f.append(Some("s"), vec![token("c", "3")]).await.unwrap(), 5);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn closing_writes_what_is_queued() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let (release, held) = hold(&f).await;
        let queued = queued!(f.append(Some("s"), vec![token("c", "1")]));
        let store = Arc::clone(&f.store);
        let closing = tokio::spawn(async move { store.close().await });
        drop(release);
        held.await.unwrap().unwrap();
        assert_eq!(queued.await.unwrap(), 3);
        closing.await.unwrap();
        let late = f.append(Some("s"), vec![token("c", "2")]).await;
        assert!(matches!(late, Err(StoreError::Failed(_))));
        assert!(!f.is_healthy());
        assert_eq!(f.kinds("s").await.len(), 3, "reading goes on");
    }

    const CHILD: &str = "STORE_TEST_CHILD_DIR";

    /// Not a test by itself: what [`what_was_answered_survives_a_kill`] starts and kills.
    #[tokio::test(flavor = "multi_thread")]
    async fn child_that_is_killed() {
        let Ok(dir) = std::env::var(CHILD) else { return };
        let store = super::super::fixture::open_in(dir.as_ref(), &SqliteOptions::default());
        loop {
            let seq = store.append(Some("s"), vec![token("c", "x"), token("c", "y")]).await.unwrap();
            println!("answered {seq}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_was_answered_survives_a_kill() {
        use std::io::BufRead as _;
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let Fixture { store, dir } = f;
        store.close().await;
        drop(store);
        #[expect(clippy::disallowed_methods, reason = "this test starts itself again, to be killed")]
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "store::sqlite::writer::tests::child_that_is_killed", "--nocapture"])
            .env(CHILD, dir.path())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut answers = lines.filter_map(|line| line.rsplit_once("answered ")?.1.parse::<u64>().ok());
        assert!(answers.by_ref().any(|seq| seq > 500), "it got as far as that");
        child.kill().unwrap();
        let last = answers.last().unwrap_or(501);
        child.wait().unwrap();
        let store = Arc::new(super::super::fixture::open_in(dir.path(), &SqliteOptions::default()));
        let f = Fixture { store, dir };
        let kept = f.kinds("s").await.len() as u64;
        assert!(kept >= last, "{kept} kept, {last} answered");
        assert_eq!(kept % 2, 0, "and no half of an append");
    }
}
