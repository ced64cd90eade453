//! The log: how an event becomes the JSON that is streamed, appending, reading, retention.

use std::fmt::Write as _;
use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, OptionalExtension as _, Row};
use tokio::sync::watch;

use super::SqliteStore;
use super::bounded::PrepareBounded as _;
use super::codec::{PAGE_ITEMS_MAX, count, int, page_bytes, sql_failed, to_json};
use super::feed::Logged;
use super::heads::{Head, LogEnd};
use super::tx::Tx;
use crate::domain::clock::Timestamp;
use crate::domain::event::{AgentEvent, Resolution};
use crate::domain::identity::CallKey;
use crate::domain::result::ToolResult;
use crate::store::{EventLog, EventPage, EventQuery, StoreError, StreamedEvent};

/// One page looks at so many numbers at most, however few of their events its filter wants.
const SCAN_MAX: u64 = 50_000;
/// The most events that one command drops for the retention.
const DROP_MAX: u64 = 1024;
/// A result from so many bytes on is kept once: finding it costs more than a shorter one does.
const SHARED_MIN: usize = 512;
/// So many events of no session are kept.
const GLOBAL_KEPT: u64 = 10_000;

/// An event written as JSON, but for its place in the log.
#[derive(Debug)]
pub(super) struct PreparedEvent {
    pub(super) kind: &'static str,
    /// The storage key of its call.
    pub(super) call: Option<String>,
    pub(super) ends_call: bool,
    /// Whether it may follow its call's end: the end of what that left in the background.
    pub(super) after_end: bool,
    /// Which approval came to its end, and how, where it tells that.
    pub(super) resolved: Option<(String, Resolution)>,
    body: String,
    /// How many bytes at the end of `body` are not stored, since the call's row has them.
    elsewhere: usize,
}

/// A call's result as it stands in the call's row. It is final, so the event that tells it need not keep it too.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowResult<'a> {
    pub(super) key: &'a str,
    pub(super) result: &'a ToolResult,
    pub(super) json: &'a str,
}

impl RowResult<'_> {
    /// The event's JSON, made of the row's, where the event tells this result.
    fn body_of(&self, event: &AgentEvent) -> Option<Result<String, StoreError>> {
        let AgentEvent::ToolComplete { call, result } = event else { return None };
        let same = CallKey::from(call).storage_key() == self.key
            && result.success == self.result.success
            && result.result == self.result.result
            && result.display_preference == self.result.display_preference
            && result.images == self.result.images;
        if !same {
            return None;
        }
        let empty = AgentEvent::ToolComplete { call: call.clone(), result: ToolResult::default() };
        let bodies = to_json(&empty).and_then(|body| Ok((body, to_json(&ToolResult::default())?)));
        bodies
            .map(|(mut body, end)| {
                // The result is the last there is.
                let kept = body.strip_suffix('}')?.strip_suffix(end.as_str())?.len();
                body.truncate(kept);
                body.reserve_exact(self.json.len() + 1);
                body.push_str(self.json);
                body.push('}');
                Some(body)
            })
            .transpose()
    }
}

impl PreparedEvent {
    pub(super) fn new(event: &AgentEvent) -> Result<Self, StoreError> {
        Self::beside(event, None)
    }

    fn beside(event: &AgentEvent, row: Option<RowResult<'_>>) -> Result<Self, StoreError> {
        let long = row.filter(|row| row.json.len() >= SHARED_MIN);
        let shared = long.and_then(|row| Some((row.body_of(event)?, row.json.len() + 1)));
        let (body, elsewhere) = match shared {
            Some((body, elsewhere)) => (body?, elsewhere),
            None => (to_json(event)?, 0),
        };
        Ok(Self {
            kind: event.kind(),
            call: event.call().map(|key| key.storage_key()),
            ends_call: event.ends_call(),
            after_end: matches!(event, AgentEvent::BashCompleted { .. }),
            resolved: match event {
                AgentEvent::ToolApprovalResolved { approval_id, decision, .. } => {
                    Some((approval_id.clone(), *decision))
                }
                _ => None,
            },
            body,
            elsewhere,
        })
    }

    /// Those of a step; `row` is the result that the step gives its call.
    pub(super) fn all(events: &[AgentEvent], row: Option<RowResult<'_>>) -> Result<Vec<Self>, StoreError> {
        events.iter().map(|event| Self::beside(event, row)).collect()
    }

    /// Writes its place before its content: the text that a `LoggedEvent` would have.
    pub(super) fn place(self, end: LogEnd, session: Option<(&Head, u64)>, now: Timestamp) -> Logged {
        let position = end.position + 1;
        let seq = session.map_or(position, |(_, seq)| seq);
        let mut json = String::with_capacity(self.body.len() + 224);
        let _ = write!(json, "{{\"seq\":{seq},");
        if let Some((head, _)) = session {
            let name = serde_json::Value::from(head.session_id.as_ref());
            let _ = write!(json, "\"session_id\":{name},");
        }
        let _ = write!(json, "\"time\":\"{now}\",");
        json.push_str(self.body.strip_prefix('{').unwrap_or(&self.body));
        Logged {
            position,
            seq,
            session: session.map(|(head, _)| Arc::clone(&head.session_id)),
            earliest: session.map_or(1, |(head, _)| head.earliest),
            complete_from: end.complete_from,
            kind: self.kind,
            call: self.call,
            ends_call: self.ends_call,
            resolution: self.resolved.map(|(_, resolution)| resolution),
            stored: json.len() - self.elsewhere,
            json,
        }
    }
}

#[async_trait]
impl EventLog for SqliteStore {
    async fn append(&self, session_id: Option<&str>, events: Vec<AgentEvent>) -> Result<u64, StoreError> {
        let events = PreparedEvent::all(&events, None)?;
        match session_id.map(str::to_owned) {
            None => self.writer.run(false, move |tx| append_global(tx, events)).await,
            Some(session_id) => {
                self.writer.run(false, move |tx| append_to_session(tx, &session_id, events)).await
            }
        }
    }

    async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError> {
        if let Some(page) = self.feed.page(&query) {
            return Ok(page);
        }
        self.pool.read(move |db| read_page(db, &query)).await
    }

    fn latest(&self, session_id: Option<&str>) -> watch::Receiver<u64> {
        match session_id {
            None => self.feed.watch_all(),
            Some(session_id) => self.feed.watch(session_id, || self.last_seq(session_id)),
        }
    }

    fn followers(&self, session_id: Option<&str>) -> usize {
        self.feed.followers(session_id)
    }
}

impl SqliteStore {
    /// One look-up in an index, on a connection kept for it.
    fn last_seq(&self, session_id: &str) -> u64 {
        let db = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let found = db
            .prepare_bounded(
                "SELECT max(seq) FROM events WHERE session = (SELECT id FROM sessions WHERE session_id = ?1)",
            )
            .and_then(|mut statement| statement.query_row([session_id], |row| row.get::<_, Option<i64>>(0)));
        match found {
            Ok(seq) => count(seq.unwrap_or(0)),
            Err(error) => {
                tracing::error!(%error, "the latest number of a session could not be read");
                0
            }
        }
    }
}

fn append_global(tx: &mut Tx<'_>, events: Vec<PreparedEvent>) -> Result<u64, StoreError> {
    let mut last = tx.position();
    for event in events {
        last = tx.log_global(event)?;
    }
    trim_global(tx)?;
    Ok(last)
}

/// Writes one event of no session.
pub(super) fn log_of_no_session(tx: &mut Tx<'_>, event: PreparedEvent) -> Result<(), StoreError> {
    tx.log_global(event)?;
    trim_global(tx)
}

/// Drops what is older than is kept. A change of the config that is so old is no gap for those who follow the
/// log; what became of a worker's ask is one.
fn trim_global(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let last_dropped = tx.read(
        "SELECT seq FROM events WHERE session = 0 ORDER BY seq DESC LIMIT 1 OFFSET ?1",
        [int(GLOBAL_KEPT)],
        |row| row.get::<_, i64>(0),
    )?;
    let Some(last_dropped) = last_dropped else { return Ok(()) };
    let gap = tx.read(
        "SELECT max(position) FROM events WHERE session = 0 AND seq <= ?1 AND kind LIKE 'tool\\_%' ESCAPE '\\'",
        [last_dropped],
        |row| row.get::<_, Option<i64>>(0),
    )?;
    tx.write("DELETE FROM events WHERE session = 0 AND seq <= ?1", [last_dropped])?;
    if let Some(position) = gap.flatten() {
        tx.write("UPDATE log_state SET dropped_to = max(dropped_to, ?1)", [position])?;
        tx.dropped_to(count(position));
    }
    Ok(())
}

fn append_to_session(
    tx: &mut Tx<'_>,
    session_id: &str,
    events: Vec<PreparedEvent>,
) -> Result<u64, StoreError> {
    let mut head = tx.active(session_id)?;
    for event in events {
        if event.ends_call {
            return Err(StoreError::Failed(format!("{} is written by a step of its call alone", event.kind)));
        }
        super::calls::log_beside_steps(tx, &mut head, event)?;
    }
    let last = head.last_seq;
    tx.done(head)?;
    Ok(last)
}

/// Drops a session's oldest events, once enough of them are beyond the bound to be worth a step.
pub(super) fn trim(tx: &mut Tx<'_>, head: &mut Head, kept: u64) -> Result<(), StoreError> {
    let excess = (head.last_seq + 1).saturating_sub(head.earliest + kept);
    if excess < (kept / 16).clamp(1, 256) {
        return Ok(());
    }
    let dropped_to = head.earliest - 1 + excess.min(DROP_MAX);
    let position = tx.read(
        "SELECT position FROM events WHERE session = ?1 AND seq = ?2",
        (head.id, int(dropped_to)),
        |row| row.get::<_, i64>(0),
    )?;
    tx.write("DELETE FROM events WHERE session = ?1 AND seq <= ?2", (head.id, int(dropped_to)))?;
    tx.write("UPDATE log_state SET dropped_to = max(dropped_to, ?1)", [position.unwrap_or(0)])?;
    head.earliest = dropped_to + 1;
    tx.dropped_to(count(position.unwrap_or(0)));
    Ok(())
}

/// The position from which on nothing of the whole log was dropped.
pub(super) fn complete_from(db: &Connection) -> Result<u64, StoreError> {
    db.prepare_bounded("SELECT dropped_to FROM log_state")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, i64>(0)))
        .map(|dropped_to| count(dropped_to) + 1)
        .map_err(sql_failed)
}

/// The position of the latest event.
pub(super) fn last_position(db: &Connection) -> Result<u64, StoreError> {
    db.prepare_bounded("SELECT max(position) FROM events")
        .and_then(|mut statement| statement.query_row([], |row| row.get::<_, Option<i64>>(0)))
        .map(|position| count(position.unwrap_or(0)))
        .map_err(sql_failed)
}

const OF_SESSION: &str = "SELECT seq, kind, ends_call, body, call FROM events
    WHERE session = ?1 AND seq > ?2 AND seq <= ?3
      AND (?4 IS NULL OR call = ?4)
      AND (?5 IS NULL OR kind IN (SELECT value FROM json_each(?5)))
    ORDER BY seq LIMIT ?6";

const OF_ALL: &str = "SELECT position, kind, ends_call, body, call FROM events e
    WHERE ?1 = 0 AND position > ?2 AND position <= ?3
      AND (?4 IS NULL OR (SELECT key FROM calls c WHERE c.id = e.call) = ?4)
      AND (?5 IS NULL OR kind IN (SELECT value FROM json_each(?5)))
    ORDER BY position LIMIT ?6";

/// Where to look, and for what.
struct Scan {
    session: i64,
    /// The call's id within a session, its storage key in the whole log.
    call: Option<SqlValue>,
    after: u64,
    until: u64,
    /// Where the next page begins when this one is not full.
    next_after: u64,
    latest: u64,
    earliest: u64,
}

impl Scan {
    /// Nothing that is wanted lies beyond `end`.
    fn up_to(mut self, end: u64) -> Self {
        self.until = end.min(self.after.saturating_add(SCAN_MAX));
        self.next_after = if self.until == end { self.latest } else { self.until };
        self
    }
}

fn read_page(db: &Connection, query: &EventQuery) -> Result<EventPage, StoreError> {
    let (sql, scan) = match &query.session_id {
        Some(session_id) => (OF_SESSION, scan_session(db, session_id, query)?),
        None => (OF_ALL, scan_all(db, query)?),
    };
    let types = if query.types.is_empty() { None } else { Some(to_json(&query.types)?) };
    let limit = query.limit.clamp(1, PAGE_ITEMS_MAX);
    let bytes_max = page_bytes(query.bytes);
    let mut page = EventPage {
        events: Vec::new(),
        next_after: scan.next_after.max(query.after),
        latest: scan.latest,
        earliest: scan.earliest,
    };
    let mut statement = db.prepare_bounded(sql).map_err(sql_failed)?;
    let mut rows = statement
        .query((scan.session, int(scan.after), int(scan.until), scan.call, types, int(limit as u64 + 1)))
        .map_err(sql_failed)?;
    let (mut bytes, mut last) = (0, query.after);
    while let Some(row) = rows.next().map_err(sql_failed)? {
        let event = streamed(db, row).map_err(sql_failed)?;
        if page.events.len() == limit || (bytes > 0 && bytes + event.json.len() > bytes_max) {
            page.next_after = last;
            break;
        }
        (bytes, last) = (bytes + event.json.len(), event.id);
        page.events.push(event);
    }
    Ok(page)
}

fn scan_session(db: &Connection, session_id: &str, query: &EventQuery) -> Result<Scan, StoreError> {
    let (session, latest, earliest) = db
        .prepare_bounded(
            "SELECT id, (SELECT max(seq) FROM events WHERE session = s.id),
                        (SELECT min(seq) FROM events WHERE session = s.id)
             FROM sessions s WHERE session_id = ?1",
        )
        .and_then(|mut statement| {
            let numbers = |row: &Row<'_>| {
                let (last, first): (Option<i64>, Option<i64>) = (row.get(1)?, row.get(2)?);
                Ok((row.get::<_, i64>(0)?, count(last.unwrap_or(0)), count(first.unwrap_or(1)).max(1)))
            };
            statement.query_row([session_id], numbers).optional()
        })
        .map_err(sql_failed)?
        .ok_or(StoreError::NotFound)?;
    // What was dropped need not be looked through.
    let after = query.after.max(earliest - 1);
    let mut scan = Scan { session, call: None, after, until: 0, next_after: 0, latest, earliest };
    let Some(key) = &query.call else { return Ok(scan.up_to(latest)) };
    // A call's events lie between its first and its last.
    let (id, first, last) = call_span(db, session, key)?.unwrap_or((0, latest + 1, latest));
    scan.call = Some(id.into());
    scan.after = after.max(first.saturating_sub(1));
    Ok(scan.up_to(last))
}

fn call_span(db: &Connection, session: i64, key: &CallKey) -> Result<Option<(i64, u64, u64)>, StoreError> {
    db.prepare_bounded("SELECT id, first_seq, last_seq FROM calls WHERE session = ?1 AND key = ?2")
        .and_then(|mut statement| {
            let span = |row: &Row<'_>| Ok((row.get(0)?, count(row.get(1)?), count(row.get(2)?)));
            statement.query_row((session, key.storage_key()), span).optional()
        })
        .map_err(sql_failed)
}

fn scan_all(db: &Connection, query: &EventQuery) -> Result<Scan, StoreError> {
    let latest = last_position(db)?;
    let scan = Scan {
        session: 0,
        call: query.call.as_ref().map(|key| key.storage_key().into()),
        after: query.after,
        until: 0,
        next_after: 0,
        latest,
        earliest: complete_from(db)?,
    };
    Ok(scan.up_to(latest))
}

fn streamed(db: &Connection, row: &Row<'_>) -> rusqlite::Result<StreamedEvent> {
    let mut json: String = row.get(3)?;
    if !json.ends_with('}') {
        // Cut where its call's result follows.
        let mut statement = db.prepare_bounded("SELECT result FROM calls WHERE id = ?1")?;
        statement.query_row([row.get::<_, i64>(4)?], |call| {
            json.push_str(call.get_ref(0)?.as_str()?);
            Ok(())
        })?;
        json.push('}');
    }
    Ok(StreamedEvent { id: count(row.get(0)?), kind: row.get(1)?, ends_call: row.get(2)?, json })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fixture::{Fixture, call_of, finish, key, of, step, token};
    use super::super::{SqliteOptions, SqliteStore};
    use super::*;
    use crate::domain::call::CallStatus;
    use crate::domain::event::{CallRef, LoggedEvent};
    use crate::domain::result::Image;
    use crate::store::{CallStore as _, SessionStore as _};
    use serde_json::json;

    fn config(revision: u64) -> AgentEvent {
        AgentEvent::ConfigChanged { revision, keys: vec!["limits".to_owned()], restart_needed: Vec::new() }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn numbers_are_gapless_under_many_appenders() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let appenders = (0..50).map(|n| {
            let store: Arc<SqliteStore> = Arc::clone(&f.store);
            tokio::spawn(async move {
                for part in 0..20 {
                    let events =
                        vec![token("c", &format!("{n}.{part}a")), token("c", &format!("{n}.{part}b"))];
                    store.append(Some("s"), events).await.unwrap();
                }
            })
        });
        for appender in appenders.collect::<Vec<_>>() {
            appender.await.unwrap();
        }
        f.feed.forget_tails();
        let kinds = f.kinds("s").await;
        assert_eq!(kinds.len(), 2 + 50 * 20 * 2);
        // The events of one append stand together, those of one appender in its order.
        let texts: Vec<String> =
            f.all(of("s")).await.into_iter().skip(2).map(|(_, _, json)| content(&json)).collect();
        for pair in texts.chunks(2) {
            assert_eq!(pair[0].trim_end_matches('a'), pair[1].trim_end_matches('b'));
        }
        let of_seven: Vec<&String> = texts.iter().filter(|text| text.starts_with("7.")).collect();
        assert_eq!(of_seven.len(), 40);
        let sorted = (0..20).flat_map(|part| [format!("7.{part}a"), format!("7.{part}b")]);
        assert!(of_seven.into_iter().eq(&sorted.collect::<Vec<_>>()));
        assert_eq!(f.get("c").await.last_seq, 2 + 50 * 20 * 2);
    }

    fn content(json: &str) -> String {
        match serde_json::from_str::<LoggedEvent>(json).unwrap().event {
            AgentEvent::ToolToken { content, .. } => content,
            other => panic!("{other:?}"),
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_streamed_is_the_logged_event() {
        let f = Fixture::new().await;
        f.accept_one("a\"b").await;
        f.append(Some("s"), vec![token("a\"b", "\u{1b}\"\n")]).await.unwrap();
        f.append(None, vec![config(7)]).await.unwrap();
        for from_database in [false, true] {
            if from_database {
                f.feed.forget_tails();
            }
            for (id, kind, json) in f.all(of("s")).await {
                let event: LoggedEvent = serde_json::from_str(&json).unwrap();
                assert_eq!(serde_json::to_string(&event).unwrap(), json);
                assert_eq!((event.seq, event.event.kind()), (id, kind.as_str()));
                assert_eq!(event.session_id.as_deref(), Some("s"));
            }
            let all = f.all(EventQuery { limit: 1000, ..EventQuery::default() }).await;
            let positions: Vec<u64> = all.iter().map(|(id, ..)| *id).collect();
            assert_eq!(positions, [1, 2, 3, 4, 5]);
            let last: LoggedEvent = serde_json::from_str(&all[4].2).unwrap();
            assert_eq!((last.seq, last.session_id, last.event), (5, None, config(7)));
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_event_after_its_calls_end_is_dropped_but_for_the_shells() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        f.step(finish("c", &[CallStatus::Queued])).await.unwrap();
        assert_eq!(f.append(Some("s"), vec![token("c", "late")]).await.unwrap(), 3);
        let ended = AgentEvent::BashCompleted {
            bash_id: "b".to_owned(),
            tool_call_id: Some("c".to_owned()),
            turn: None,
            exit_code: Some(0),
            signal: None,
            status: "exited".to_owned(),
            tail: String::new(),
        };
        assert_eq!(f.append(Some("s"), vec![ended]).await.unwrap(), 4);
        assert_eq!(f.kinds("s").await, ["session_started", "tool_start", "tool_complete", "bash_completed"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn appending_writes_no_end_and_nothing_of_unknown_calls() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let end = finish("c", &[CallStatus::Queued]).events;
        assert!(matches!(f.append(Some("s"), end).await, Err(StoreError::Failed(_))));
        let half = vec![token("c", "undone"), token("unknown", "x")];
        assert!(matches!(f.append(Some("s"), half).await, Err(StoreError::NotFound)));
        assert!(matches!(f.append(Some("nobody"), vec![]).await, Err(StoreError::NotFound)));
        assert_eq!(f.append(Some("s"), vec![token("c", "x")]).await.unwrap(), 3);
        assert_eq!(f.kinds("s").await, ["session_started", "tool_start", "tool_token"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn pages_and_filters() {
        let f = Fixture::new().await;
        f.accept_one("a").await;
        f.accept_one("b").await;
        f.accept(call_of("other", key("a"), json!({}))).await.unwrap();
        for part in 0..10 {
            let call = if part % 2 == 0 { "a" } else { "b" };
            f.append(Some("s"), vec![token(call, &part.to_string())]).await.unwrap();
        }
        f.step(finish("a", &[CallStatus::Queued])).await.unwrap();
        for from_database in [false, true] {
            if from_database {
                f.feed.forget_tails();
            }
            let page = f.events(EventQuery { limit: 4, ..of("s") }).await.unwrap();
            assert_eq!((page.events.len(), page.next_after, page.latest, page.earliest), (4, 4, 14, 1));
            // The filter's last event is found, and everything after it is passed over.
            let of_b = EventQuery { call: Some(key("b")), limit: 3, ..of("s") };
            let page = f.events(of_b.clone()).await.unwrap();
            assert_eq!(page.events.iter().map(|event| event.id).collect::<Vec<_>>(), [3, 5, 7]);
            assert_eq!(page.next_after, 7);
            let page = f.events(EventQuery { after: 7, limit: 50, ..of_b }).await.unwrap();
            assert_eq!(page.events.iter().map(|event| event.id).collect::<Vec<_>>(), [9, 11, 13]);
            assert_eq!(page.next_after, 14);
            let types = vec!["tool_start".to_owned(), "tool_complete".to_owned(), "' OR 1=1 --".to_owned()];
            let of_a = EventQuery { call: Some(key("a")), types, ..of("s") };
            let ends: Vec<bool> =
                f.events(of_a.clone()).await.unwrap().events.iter().map(|event| event.ends_call).collect();
            assert_eq!(ends, [false, true]);
            // The log of all finds both calls with this id.
            let all = f.all(EventQuery { session_id: None, ..of_a }).await;
            assert_eq!(all.len(), 3);
            let nothing = EventQuery { call: Some(key("nothing")), ..of("s") };
            let page = f.events(nothing).await.unwrap();
            assert_eq!((page.events.len(), page.next_after), (0, 14));
            // A cursor from beyond the end stays where it is.
            let page = f.events(EventQuery { after: u64::MAX, ..of("s") }).await.unwrap();
            assert_eq!((page.events.len(), page.next_after), (0, u64::MAX));
        }
        assert!(matches!(f.events(of("nobody")).await, Err(StoreError::NotFound)));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_page_is_bounded_in_bytes() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let long = "x".repeat(super::super::codec::PAGE_BYTES_MAX / 2);
        for _ in 0..3 {
            f.append(Some("s"), vec![token("c", &long)]).await.unwrap();
        }
        let page = f.events(EventQuery { after: 2, ..of("s") }).await.unwrap();
        assert_eq!((page.events.len(), page.next_after, page.latest), (1, 3, 5));
        assert_eq!(f.all(of("s")).await.len(), 5);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn the_oldest_events_are_dropped() {
        let options = SqliteOptions { events_per_session: 100, ..SqliteOptions::default() };
        let f = Fixture::with(options).await;
        f.accept_one("c").await;
        for part in 0..500 {
            f.append(Some("s"), vec![token("c", &part.to_string())]).await.unwrap();
        }
        f.feed.forget_tails();
        let page = f.events(of("s")).await.unwrap();
        assert_eq!(page.latest, 502);
        assert!((392..=403).contains(&page.earliest), "{}", page.earliest);
        let numbers: Vec<u64> = page.events.iter().map(|event| event.id).collect();
        assert_eq!(numbers, (page.earliest..=502).collect::<Vec<_>>());
        // The log of all says from where it has no gap; the other session's events are before it.
        let all = f.events(EventQuery { limit: 1000, ..EventQuery::default() }).await.unwrap();
        assert_eq!(all.earliest, page.earliest + 1);
        assert_eq!(f.kinds("other").await, ["session_started"]);
        // A new start finds the same.
        let f = f.reopened().await;
        assert_eq!(f.events(of("s")).await.unwrap().earliest, page.earliest);
        assert_eq!(f.append(Some("s"), vec![token("c", "x")]).await.unwrap(), 503);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_long_result_is_kept_once_and_read_whole() {
        let f = Fixture::new().await;
        let long = "a \"line\"\n".repeat(1000);
        for (id, text) in [("short", "x"), ("long", long.as_str()), ("other", long.as_str())] {
            f.accept_one(id).await;
            let mut step = finish(id, &[CallStatus::Queued]);
            let result = ToolResult {
                images: vec![Image { media_type: "image/png".to_owned(), data: "}".to_owned() }],
                ..ToolResult::ok(text).with_details(json!({"n": 1}))
            };
            // An event that tells something else than the row has is kept whole.
            let told = if id == "other" { ToolResult::ok(text) } else { result.clone() };
            step.patch.result = Some(result);
            step.events = vec![AgentEvent::ToolComplete { call: CallRef::from(&key(id)), result: told }];
            f.step(step).await.unwrap();
        }
        let told = f.all(of("s")).await;
        f.feed.forget_tails();
        assert_eq!(f.all(of("s")).await, told, "the database says what the commit said");
        let reader = super::super::schema::open_reader(f.dir.path()).unwrap();
        let sql = "SELECT length(body) FROM events WHERE kind = 'tool_complete' ORDER BY seq";
        let mut statement = reader.prepare(sql).unwrap();
        let stored = statement.query_map([], |row| row.get::<_, i64>(0)).unwrap();
        let stored: Vec<usize> = stored.map(|length| length.unwrap().try_into().unwrap()).collect();
        let whole: Vec<usize> = told.iter().filter(|e| e.1 == "tool_complete").map(|e| e.2.len()).collect();
        assert_eq!((stored[0], stored[2]), (whole[0], whole[2]));
        assert!(stored[1] < 300 && whole[1] > 10_000, "{stored:?}");
        for (_, _, json) in &told {
            serde_json::from_str::<LoggedEvent>(json).unwrap();
        }
        let mut again = step("long", &[CallStatus::Completed], CallStatus::Completed);
        again.patch.result = Some(ToolResult::ok("another"));
        assert!(matches!(f.step(again).await, Err(StoreError::Failed(_))), "a result is final");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn followers_are_woken_after_the_commit() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let mut session = f.latest(Some("s"));
        let mut all = f.latest(None);
        assert_eq!((*session.borrow(), *all.borrow()), (2, 3));
        f.append(Some("s"), vec![token("c", "x"), token("c", "y")]).await.unwrap();
        // The answer comes after both, so neither has to wait.
        assert!(session.has_changed().unwrap() && all.has_changed().unwrap());
        assert_eq!((*session.borrow_and_update(), *all.borrow_and_update()), (4, 5));
        f.append(None, vec![config(1)]).await.unwrap();
        assert!(!session.has_changed().unwrap());
        assert_eq!(*all.borrow(), 6);
        // Nobody follows: nothing is remembered.
        drop(session);
        f.append(Some("s"), vec![token("c", "z")]).await.unwrap();
        assert_eq!(f.feed.watched(), 0);
        // One that has been silent since the start is known from the database.
        let f = f.reopened().await;
        assert_eq!((*f.latest(Some("s")).borrow(), *f.latest(Some("nobody")).borrow()), (5, 0));
        for n in 0..2000 {
            drop(f.latest(Some(&format!("nobody-{n}"))));
        }
        assert!(f.feed.watched() <= 600, "{}", f.feed.watched());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_follower_sees_each_event_once() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        let store = Arc::clone(&f.store);
        let follower = tokio::spawn(async move {
            let mut latest = store.latest(Some("s"));
            let mut query = of("s");
            let mut seen = Vec::new();
            while seen.len() < 302 {
                let page = store.events(query.clone()).await.unwrap();
                seen.extend(page.events.iter().map(|event| event.id));
                query.after = page.next_after;
                if page.events.is_empty() {
                    latest.wait_for(|seq| *seq > query.after).await.unwrap();
                }
            }
            seen
        });
        for part in 0..300 {
            if part % 50 == 0 {
                f.feed.forget_tails();
            }
            f.append(Some("s"), vec![token("c", &part.to_string())]).await.unwrap();
        }
        assert_eq!(follower.await.unwrap(), (1..=302).collect::<Vec<_>>());
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_ended_session_takes_no_events() {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        f.step(finish("c", &[CallStatus::Queued])).await.unwrap();
        f.end_session("s").await.unwrap();
        for events in [vec![], vec![token("c", "x")]] {
            assert!(matches!(f.append(Some("s"), events).await, Err(StoreError::SessionEnded)));
        }
        let again = step("c", &[CallStatus::Completed], CallStatus::Completed);
        assert!(matches!(f.step(again).await, Err(StoreError::SessionEnded)));
        assert_eq!(f.get("c").await.status, CallStatus::Completed);
    }
}
