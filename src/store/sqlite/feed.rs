//! What has just been committed, in memory: wakes those who follow a log and serves those who are
//! close to its end, without the database.
//!
//! Only the writer publishes, after each commit and in the log's order, so that a tail is always an
//! unbroken part of the log up to its latest event. What a tail cannot answer is read from the
//! database.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::codec::{PAGE_ITEMS_MAX, page_bytes};
use crate::domain::event::Resolution;
use crate::domain::identity::CallKey;
use crate::store::{EventPage, EventQuery, StreamedEvent};

/// The most events and bytes in one session's tail.
const TAIL: Bounds = Bounds { events: 256, bytes: 64 << 10 };
/// For each reader that follows a session its tail may have so much more, up to [`TAIL_MAX`]: many readers rest
/// between two pages, and must not all go to the database for what happened meanwhile.
const TAIL_PER_FOLLOWER: Bounds = Bounds { events: 8, bytes: 4 << 10 };
const TAIL_MAX: Bounds = Bounds { events: 4096, bytes: 4 << 20 };
/// The same for the log of all sessions.
const LOG_TAIL: Bounds = Bounds { events: 1024, bytes: 1 << 20 };
/// The most sessions that have a tail; the one that was silent for longest loses it first.
const TAILS_MAX: usize = 256;
/// The most bytes of all sessions' tails together; what was silent for longest goes first.
const TAILS_BYTES_MAX: usize = 24 << 20;
/// Beyond so many followed sessions, those that nobody follows any more are looked for.
const WATCHES_SWEEP: usize = 256;

#[derive(Debug, Clone, Copy)]
struct Bounds {
    events: usize,
    bytes: usize,
}

impl Bounds {
    fn for_followers(followers: usize) -> Self {
        let of = |least: usize, each: usize, most: usize| {
            least.saturating_add(each.saturating_mul(followers)).min(most)
        };
        Self {
            events: of(TAIL.events, TAIL_PER_FOLLOWER.events, TAIL_MAX.events),
            bytes: of(TAIL.bytes, TAIL_PER_FOLLOWER.bytes, TAIL_MAX.bytes),
        }
    }
}

/// An event as it was committed.
#[derive(Debug, Clone)]
pub(super) struct Logged {
    pub(super) position: u64,
    /// In its session; of an event of no session the position.
    pub(super) seq: u64,
    pub(super) session: Option<Arc<str>>,
    /// The first event of the session that is kept.
    pub(super) earliest: u64,
    /// The position from which on the whole log is complete.
    pub(super) complete_from: u64,
    pub(super) kind: &'static str,
    /// The storage key of its call.
    pub(super) call: Option<String>,
    pub(super) ends_call: bool,
    /// How an approval came to its end, where it tells that.
    pub(super) resolution: Option<Resolution>,
    pub(super) json: String,
    /// How much of it the database has in the event's own row: the rest is in its call's.
    pub(super) stored: usize,
}

/// The tails and the watches.
#[derive(Debug)]
pub(super) struct Feed {
    tails: Mutex<Tails>,
    watches: Mutex<HashMap<String, watch::Sender<u64>>>,
    whole: watch::Sender<u64>,
    sweep_at: Mutex<usize>,
}

#[derive(Debug)]
struct Tails {
    sessions: HashMap<Arc<str>, Tail>,
    /// Of all sessions' tails together.
    bytes: usize,
    whole: Tail,
    tick: u64,
}

/// The end of one log.
#[derive(Debug, Default)]
struct Tail {
    events: VecDeque<(u64, Arc<Logged>)>,
    bytes: usize,
    earliest: u64,
    /// When it was written to last, in publications.
    tick: u64,
}

impl Feed {
    /// Of a log whose latest event is at `position`.
    pub(super) fn new(position: u64) -> Self {
        Self {
            tails: Mutex::new(Tails { sessions: HashMap::new(), bytes: 0, whole: Tail::default(), tick: 0 }),
            watches: Mutex::new(HashMap::new()),
            whole: watch::Sender::new(position),
            sweep_at: Mutex::new(WATCHES_SWEEP),
        }
    }

    /// Takes what was committed, in order.
    pub(super) fn publish(&self, events: impl Iterator<Item = Logged>) {
        let mut latest: Option<u64> = None;
        let mut sessions: Vec<(Arc<str>, u64)> = Vec::new();
        let mut bounds = TAIL;
        let mut tails = lock(&self.tails);
        for event in events {
            latest = Some(event.position);
            if let Some(session) = &event.session {
                match sessions.last_mut() {
                    Some((last, seq)) if Arc::ptr_eq(last, session) => *seq = event.seq,
                    _ => {
                        sessions.push((Arc::clone(session), event.seq));
                        bounds = Bounds::for_followers(self.followers(Some(session)));
                    }
                }
            }
            tails.push(Arc::new(event), bounds);
        }
        drop(tails);
        let Some(latest) = latest else { return };
        self.whole.send_replace(latest);
        let mut watches = lock(&self.watches);
        for (session, seq) in sessions {
            let Some(sender) = watches.get(session.as_ref()) else { continue };
            if sender.receiver_count() == 0 {
                watches.remove(session.as_ref());
            } else {
                raise(sender, seq);
            }
        }
    }

    /// A page, where the tail reaches back to it.
    pub(super) fn page(&self, query: &EventQuery) -> Option<EventPage> {
        let tails = lock(&self.tails);
        let tail = match &query.session_id {
            None => &tails.whole,
            Some(session) => tails.sessions.get(session.as_str())?,
        };
        let later = tail.later(query.after)?;
        let (latest, earliest) = (tail.last()?, tail.earliest);
        // What follows copies text: the writer need not wait for that.
        drop(tails);
        Some(page_of(&later, latest, earliest, query))
    }

    /// How many follow a session, or the whole log.
    pub(super) fn followers(&self, session_id: Option<&str>) -> usize {
        match session_id {
            None => self.whole.receiver_count(),
            Some(session_id) => lock(&self.watches).get(session_id).map_or(0, watch::Sender::receiver_count),
        }
    }

    /// Follows the whole log.
    pub(super) fn watch_all(&self) -> watch::Receiver<u64> {
        self.whole.subscribe()
    }

    /// Follows a session. It is registered before `known` asks for the present number, so that no
    /// event falls between the two.
    pub(super) fn watch(&self, session_id: &str, known: impl FnOnce() -> u64) -> watch::Receiver<u64> {
        let mut receiver = {
            let mut watches = lock(&self.watches);
            if !watches.contains_key(session_id) {
                self.sweep(&mut watches);
            }
            watches.entry(session_id.to_owned()).or_insert_with(|| watch::Sender::new(0)).subscribe()
        };
        let tail = lock(&self.tails).sessions.get(session_id).and_then(Tail::last);
        let latest = tail.unwrap_or_else(known);
        if let Some(sender) = lock(&self.watches).get(session_id) {
            raise(sender, latest);
        }
        receiver.mark_unchanged();
        receiver
    }

    fn sweep(&self, watches: &mut HashMap<String, watch::Sender<u64>>) {
        let mut at = lock(&self.sweep_at);
        if watches.len() >= *at {
            watches.retain(|_, sender| sender.receiver_count() > 0);
            *at = (watches.len() * 2).max(WATCHES_SWEEP);
        }
    }

    #[cfg(test)]
    pub(super) fn watched(&self) -> usize {
        lock(&self.watches).len()
    }

    /// The events and bytes in a session's tail, and the bytes of all.
    #[cfg(test)]
    pub(super) fn held(&self, session_id: &str) -> (usize, usize, usize) {
        let tails = lock(&self.tails);
        let of = tails.sessions.get(session_id).map_or((0, 0), |tail| (tail.events.len(), tail.bytes));
        (of.0, of.1, tails.bytes)
    }

    #[cfg(test)]
    pub(super) fn forget_tails(&self) {
        let mut tails = lock(&self.tails);
        tails.sessions.clear();
        tails.bytes = 0;
        tails.whole.events.clear();
        tails.whole.bytes = 0;
    }
}

/// Never goes back: a number read earlier may arrive later.
fn raise(sender: &watch::Sender<u64>, seq: u64) {
    sender.send_if_modified(|present| {
        let later = seq > *present;
        if later {
            *present = seq;
        }
        later
    });
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tails {
    fn push(&mut self, event: Arc<Logged>, bounds: Bounds) {
        self.tick += 1;
        if let Some(session) = &event.session {
            if !self.sessions.contains_key(session) {
                if self.sessions.len() >= TAILS_MAX {
                    self.drop_oldest();
                }
                self.sessions.insert(Arc::clone(session), Tail::default());
            }
            if let Some(tail) = self.sessions.get_mut(session) {
                tail.tick = self.tick;
                tail.earliest = event.earliest;
                self.bytes -= tail.bytes;
                tail.push(event.seq, Arc::clone(&event), bounds);
                self.bytes += tail.bytes;
            }
            while self.bytes > TAILS_BYTES_MAX {
                self.drop_oldest();
            }
        }
        self.whole.earliest = event.complete_from;
        self.whole.push(event.position, event, LOG_TAIL);
    }

    fn drop_oldest(&mut self) {
        let oldest =
            self.sessions.iter().min_by_key(|(_, tail)| tail.tick).map(|(session, _)| Arc::clone(session));
        if let Some(tail) = oldest.and_then(|session| self.sessions.remove(&session)) {
            self.bytes -= tail.bytes;
        }
    }
}

impl Tail {
    fn last(&self) -> Option<u64> {
        self.events.back().map(|(id, _)| *id)
    }

    fn push(&mut self, id: u64, event: Arc<Logged>, bounds: Bounds) {
        if self.last().is_some_and(|last| last + 1 != id) {
            self.events.clear();
            self.bytes = 0;
        }
        self.bytes += event.json.len();
        self.events.push_back((id, event));
        // One event beyond the bound leaves the tail empty, and its readers to the database.
        while self.events.len() > bounds.events || self.bytes > bounds.bytes {
            let Some((_, dropped)) = self.events.pop_front() else { break };
            self.bytes -= dropped.json.len();
        }
    }

    /// All events after a number, where none is missing.
    fn later(&self, after: u64) -> Option<Vec<(u64, Arc<Logged>)>> {
        let (first, latest) = (self.events.front()?.0, self.last()?);
        let next = after.checked_add(1)?;
        if next < first || after > latest {
            return None;
        }
        let skipped = usize::try_from(next - first).ok()?;
        Some(self.events.iter().skip(skipped).cloned().collect())
    }
}

fn page_of(later: &[(u64, Arc<Logged>)], latest: u64, earliest: u64, query: &EventQuery) -> EventPage {
    let mut page = EventPage { events: Vec::new(), next_after: latest, latest, earliest };
    let limit = query.limit.clamp(1, PAGE_ITEMS_MAX);
    let bytes_max = page_bytes(query.bytes);
    let call = query.call.as_ref().map(CallKey::storage_key);
    let (mut bytes, mut last) = (0, query.after);
    for (id, event) in later {
        let wanted = (call.is_none() || call == event.call)
            && (query.types.is_empty() || query.types.iter().any(|kind| kind == event.kind));
        if !wanted {
            continue;
        }
        if page.events.len() == limit || (bytes > 0 && bytes + event.json.len() > bytes_max) {
            page.next_after = last;
            break;
        }
        (bytes, last) = (bytes + event.json.len(), *id);
        page.events.push(StreamedEvent {
            id: *id,
            kind: event.kind.to_owned(),
            json: event.json.clone(),
            ends_call: event.ends_call,
        });
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(session: &Arc<str>, seq: u64, bytes: usize) -> Logged {
        Logged {
            position: seq,
            seq,
            session: Some(Arc::clone(session)),
            earliest: 1,
            complete_from: 1,
            kind: "tool_token",
            call: None,
            ends_call: false,
            resolution: None,
            json: "x".repeat(bytes),
            stored: bytes,
        }
    }

    #[test]
    fn a_tail_is_as_long_as_its_followers_make_it_and_all_have_a_bound() {
        let feed = Feed::new(0);
        let mut next = HashMap::new();
        let mut write = |session: &Arc<str>, count: u64| {
            let seq: &mut u64 = next.entry(Arc::clone(session)).or_default();
            for _ in 0..count {
                *seq += 1;
                feed.publish(std::iter::once(event(session, *seq, 4096)));
            }
        };
        let quiet: Arc<str> = "quiet".into();
        write(&quiet, 100);
        assert_eq!(feed.held("quiet"), (16, TAIL.bytes, TAIL.bytes));
        let busy: Arc<str> = "busy".into();
        let followers: Vec<_> = (0..2000).map(|_| feed.watch("busy", || 0)).collect();
        write(&busy, 2000);
        assert_eq!(feed.held("busy"), (1024, TAIL_MAX.bytes, TAIL_MAX.bytes + TAIL.bytes));
        let query =
            EventQuery { session_id: Some("busy".into()), after: 1500, limit: 1000, ..EventQuery::default() };
        assert_eq!(feed.page(&query).unwrap().events.len(), 500);
        drop(followers);
        write(&busy, 1);
        assert_eq!(feed.held("busy").1, TAIL.bytes, "nobody follows any more");
        for number in 0..20 {
            let session: Arc<str> = format!("s{number}").into();
            let followers: Vec<_> = (0..2000).map(|_| feed.watch(&session, || 0)).collect();
            write(&session, 1024);
            drop(followers);
            assert!(feed.held(&session).2 <= TAILS_BYTES_MAX);
        }
        assert_eq!(feed.held("s19").1, TAIL_MAX.bytes);
        assert_eq!(feed.held("s0").1, 0, "the one that was silent for longest went first");
    }
}
