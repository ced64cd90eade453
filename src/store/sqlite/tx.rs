//! What a command of the writer can do: read, write, find a session's head, append to the log.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Params, Row};

use super::audit::{self, Keeper};
use super::bounded::PrepareBounded as _;
use super::codec::{count, int, sql_failed};
use super::events::{PreparedEvent, trim};
use super::feed::Logged;
use super::heads::{Head, Heads, LogEnd};
use crate::domain::clock::Timestamp;
use crate::store::StoreError;

/// One command's part of the open transaction.
pub(super) struct Tx<'a> {
    db: &'a Connection,
    heads: &'a mut Heads,
    outbox: &'a mut Vec<Logged>,
    now: Timestamp,
    events_kept: u64,
    grants_changed: bool,
    /// Sessions whose heads were given back with changes.
    changed: Vec<Arc<str>>,
}

impl<'a> Tx<'a> {
    pub(super) fn new(
        db: &'a Connection,
        heads: &'a mut Heads,
        outbox: &'a mut Vec<Logged>,
        now: Timestamp,
        events_kept: u64,
    ) -> Self {
        Self { db, heads, outbox, now, events_kept, grants_changed: false, changed: Vec::new() }
    }

    /// The moment of this transaction.
    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    /// Writes; how many rows changed.
    pub(super) fn write(&self, sql: &'static str, params: impl Params) -> Result<usize, StoreError> {
        self.db.prepare_bounded(sql).and_then(|mut statement| statement.execute(params)).map_err(sql_failed)
    }

    /// Reads at most one row.
    pub(super) fn read<T>(
        &self,
        sql: &'static str,
        params: impl Params,
        map: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, StoreError> {
        self.db
            .prepare_bounded(sql)
            .and_then(|mut statement| statement.query_row(params, map).optional())
            .map_err(sql_failed)
    }

    /// The connection, for what reading shares with other connections.
    pub(super) fn db(&self) -> &Connection {
        self.db
    }

    /// When the bounds of the audit log are held again.
    pub(super) fn audit_keeper(&mut self) -> &mut Keeper {
        &mut self.heads.audit
    }

    /// Takes a session's head; it has to be given to [`Tx::done`] in the end.
    pub(super) fn session(&mut self, session_id: &str) -> Result<Head, StoreError> {
        if let Some(head) = self.heads.take(session_id) {
            return Ok(head);
        }
        let found = self.read(
            "SELECT id, status = 'ended',
                    (SELECT max(seq) FROM events WHERE session = s.id),
                    (SELECT min(seq) FROM events WHERE session = s.id),
                    (SELECT max(id) FROM calls WHERE id >= s.id << 32 AND id < (s.id + 1) << 32)
             FROM sessions s WHERE session_id = ?1",
            [session_id],
            |row| {
                let id: i64 = row.get(0)?;
                let mut head = Head::new(session_id, id);
                head.ended = row.get(1)?;
                head.last_seq = count(row.get::<_, Option<i64>>(2)?.unwrap_or(0));
                head.earliest = count(row.get::<_, Option<i64>>(3)?.unwrap_or(1));
                if let Some(last) = row.get::<_, Option<i64>>(4)? {
                    head.next_call = last + 1;
                }
                Ok(head)
            },
        )?;
        found.ok_or(StoreError::NotFound)
    }

    /// The same, of a session that takes steps.
    pub(super) fn active(&mut self, session_id: &str) -> Result<Head, StoreError> {
        let head = self.session(session_id)?;
        if !head.ended {
            return Ok(head);
        }
        self.heads.put_back(head);
        Err(StoreError::SessionEnded)
    }

    /// The end of what a command does to a session; drops what the retention no longer keeps.
    pub(super) fn done(&mut self, mut head: Head) -> Result<(), StoreError> {
        trim(self, &mut head, self.events_kept)?;
        self.changed.push(Arc::clone(&head.session_id));
        self.heads.put_back(head);
        Ok(())
    }

    /// Gives back a head that the command left as it was.
    pub(super) fn put_back(&mut self, head: Head) {
        self.heads.put_back(head);
    }

    /// This command changes grants: those in memory no longer hold once it is committed.
    pub(super) fn grants_change(&mut self) {
        self.grants_changed = true;
    }

    /// Whether [`Tx::grants_change`] was called.
    pub(super) fn changes_grants(&self) -> bool {
        self.grants_changed
    }

    /// What the command has changed is undone: no head that it gave back holds.
    pub(super) fn undo(self, end: LogEnd) {
        for session_id in self.changed {
            self.heads.take(&session_id);
        }
        self.heads.set_end(end);
    }

    /// Appends an event of a session, about the call with this id in the database; its number.
    pub(super) fn log(
        &mut self,
        head: &mut Head,
        call: Option<i64>,
        event: PreparedEvent,
    ) -> Result<u64, StoreError> {
        let (seq, ended) = (head.last_seq + 1, event.resolved.clone());
        let logged = event.place(self.heads.end(), Some((head, seq)), self.now);
        self.insert(head.id, call, logged)?;
        head.last_seq = seq;
        if let Some((approval_id, resolution)) = ended {
            audit::resolved(self, head.id, &approval_id, resolution)?;
        }
        Ok(seq)
    }

    /// Appends an event of no session; its number is its position.
    pub(super) fn log_global(&mut self, event: PreparedEvent) -> Result<u64, StoreError> {
        let ended = event.resolved.clone();
        let logged = event.place(self.heads.end(), None, self.now);
        let position = logged.position;
        self.insert(0, None, logged)?;
        if let Some((approval_id, resolution)) = ended {
            audit::resolved(self, 0, &approval_id, resolution)?;
        }
        Ok(position)
    }

    /// The position of the latest event.
    pub(super) fn position(&self) -> u64 {
        self.heads.end().position
    }

    /// The whole log has a gap up to this position.
    pub(super) fn dropped_to(&mut self, position: u64) {
        let end = self.heads.end();
        self.heads.set_end(LogEnd { complete_from: end.complete_from.max(position + 1), ..end });
    }

    fn insert(&mut self, session: i64, call: Option<i64>, logged: Logged) -> Result<(), StoreError> {
        self.write(
            "INSERT INTO events (position, session, seq, call, ends_call, kind, body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (
                int(logged.position),
                session,
                int(logged.seq),
                call,
                logged.ends_call,
                logged.kind,
                logged.json.get(..logged.stored).unwrap_or(&logged.json),
            ),
        )?;
        self.heads.set_end(LogEnd { position: logged.position, ..self.heads.end() });
        self.outbox.push(logged);
        Ok(())
    }
}
