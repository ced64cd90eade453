//! Lines on their way out: a bounded queue and the thread that writes it. When nobody reads, lines are
//! dropped and counted; whoever logs never waits.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant};

use prometheus_client::metrics::counter::Counter;

/// The most lines that wait.
const LINES_MAX: usize = 8 * 1024;
/// The most bytes that wait.
const BYTES_MAX: usize = 4 * 1024 * 1024;
/// About how much is written at once.
const WRITE_BYTES: usize = 64 * 1024;
/// How long a flush waits before it looks again for room in a full queue.
const FULL_PAUSE: Duration = Duration::from_millis(2);

enum Message {
    Line(String),
    /// Answer once everything before it was written.
    Flush(SyncSender<()>),
}

/// The entrance. Cheap to clone.
#[derive(Clone)]
pub(super) struct Queue {
    sender: SyncSender<Message>,
    waiting: Arc<AtomicUsize>,
    dropped: Counter,
}

impl Queue {
    /// Starts the thread; it ends when the last entrance is gone.
    pub(super) fn start(sink: impl Write + Send + 'static, dropped: Counter) -> Self {
        let (sender, receiver) = sync_channel(LINES_MAX);
        let waiting = Arc::new(AtomicUsize::new(0));
        let queue = Self { sender, waiting: Arc::clone(&waiting), dropped: dropped.clone() };
        let writer = Writer { receiver, waiting, dropped, sink };
        // Without the thread the receiver is gone, and every line counts as dropped.
        let _ = std::thread::Builder::new().name("log".to_owned()).spawn(move || writer.run());
        queue
    }

    /// Takes a line, or counts it as dropped.
    pub(super) fn send(&self, line: String) {
        let bytes = line.len();
        let waiting = self.waiting.fetch_add(bytes, Ordering::Relaxed);
        let fits = waiting.saturating_add(bytes) <= BYTES_MAX;
        if !fits || self.sender.try_send(Message::Line(line)).is_err() {
            self.waiting.fetch_sub(bytes, Ordering::Relaxed);
            self.dropped.inc();
        }
    }

    /// Waits until everything was written, at most so long.
    pub(super) fn flush(&self, within: Duration) {
        let deadline = Instant::now() + within;
        let (done, written) = sync_channel(1);
        let mut question = Message::Flush(done);
        loop {
            let rest = deadline.saturating_duration_since(Instant::now());
            question = match self.sender.try_send(question) {
                Ok(()) => {
                    let _ = written.recv_timeout(rest);
                    return;
                }
                Err(TrySendError::Full(question)) if !rest.is_zero() => question,
                Err(_) => return,
            };
            std::thread::sleep(rest.min(FULL_PAUSE));
        }
    }
}

struct Writer<W> {
    receiver: Receiver<Message>,
    waiting: Arc<AtomicUsize>,
    dropped: Counter,
    sink: W,
}

impl<W: Write> Writer<W> {
    fn run(mut self) {
        let mut told = self.dropped.get();
        let mut batch = String::new();
        while let Ok(first) = self.receiver.recv() {
            let (mut flushed, mut lines) = (Vec::new(), 0);
            let mut next = Some(first);
            while let Some(message) = next {
                match message {
                    Message::Line(line) => {
                        batch.push_str(&line);
                        lines += 1;
                    }
                    Message::Flush(done) => flushed.push(done),
                }
                next = if batch.len() < WRITE_BYTES { self.receiver.try_recv().ok() } else { None };
            }
            let written = self.sink.write_all(batch.as_bytes()).and_then(|()| self.sink.flush());
            self.waiting.fetch_sub(batch.len(), Ordering::Relaxed);
            batch.clear();
            if written.is_err() {
                self.dropped.inc_by(lines);
            }
            for done in flushed {
                let _ = done.send(());
            }
            let dropped = self.dropped.get();
            if written.is_ok() && dropped > told {
                // It takes its place in the queue like any other line.
                tracing::warn!(lines = dropped - told, "lines of this log were dropped: nobody read it");
                told = dropped;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;
    use std::sync::{Mutex, mpsc};

    use super::*;

    /// Takes nothing until it is told to.
    struct Stuck {
        released: Receiver<()>,
        taken: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let _ = self.released.recv();
            self.taken.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn stuck() -> (Queue, Sender<()>, Arc<Mutex<Vec<u8>>>, Counter) {
        let (release, released) = mpsc::channel();
        let (taken, dropped) = (Arc::new(Mutex::new(Vec::new())), Counter::default());
        let sink = Stuck { released, taken: Arc::clone(&taken) };
        (Queue::start(sink, dropped.clone()), release, taken, dropped)
    }

    #[test]
    fn a_reader_that_never_reads_costs_lines_and_no_time() {
        let (queue, release, taken, dropped) = stuck();
        let all = LINES_MAX as u64 * 3;
        for _ in 0..all {
            queue.send("a line\n".to_owned());
        }
        assert!(dropped.get() > 0, "the queue has a bound");
        queue.flush(Duration::from_millis(1));
        drop(release);
        let kept = all - dropped.get();
        queue.flush(Duration::from_secs(30));
        assert_eq!(taken.lock().unwrap().len() as u64, kept * 7, "what was not dropped is written");
        assert_eq!(queue.waiting.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn long_lines_are_bounded_by_their_bytes() {
        let (queue, release, _, dropped) = stuck();
        for _ in 0..64 {
            queue.send("x".repeat(BYTES_MAX / 16));
        }
        assert!(dropped.get() >= 64 - 17, "{}", dropped.get());
        assert!(queue.waiting.load(Ordering::Relaxed) <= BYTES_MAX);
        drop(release);
    }

    #[test]
    fn a_sink_that_fails_counts_its_lines() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
                Err(std::io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
        }
        let dropped = Counter::default();
        let queue = Queue::start(Closed, dropped.clone());
        queue.send("lost\n".to_owned());
        queue.flush(Duration::from_secs(30));
        assert_eq!(dropped.get(), 1);
    }
}
