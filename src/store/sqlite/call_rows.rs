//! The rows of calls: written once, patched by steps, read back whole.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::bounded::PrepareBounded as _;
use super::codec::{
    Item, count, from_json, from_json_opt, from_name, from_time, int, sql_failed, to_json, to_json_opt,
};
use super::events::RowResult;
use super::heads::{Head, OpenCall};
use super::tx::Tx;
use crate::domain::call::{Call, CallStatus};
use crate::domain::clock::truncate;
use crate::domain::digest::Digest;
use crate::domain::identity::CallKey;
use crate::domain::schema::ToolMutability;
use crate::store::{CallPatch, StoreError};

/// Arguments up to so many bytes stand in the call's own row, which each step writes again.
const INLINE_MAX: usize = 1024;

macro_rules! call_columns {
    () => {
        "c.id, c.key, c.status, c.tool_name, c.mutability, c.first_seq, c.last_seq, c.created_at,
         c.started_at, c.finished_at, c.approval_id, c.error, c.question,
         coalesce(c.arguments, (SELECT body FROM long_arguments WHERE id = c.id * 2)),
         coalesce(c.requested_arguments, (SELECT body FROM long_arguments WHERE id = c.id * 2 + 1)),
         c.details, c.result, s.session_id, c.fingerprint"
    };
}

/// A session's calls with an id after ?1 and before ?2.
pub(super) const OF_SESSION: &str = concat!(
    "SELECT ",
    call_columns!(),
    " FROM calls c JOIN sessions s ON s.id = c.session WHERE c.id > ?1 AND c.id < ?2 ORDER BY c.id"
);
/// All open calls of active sessions.
pub(super) const OPEN: &str = concat!(
    "SELECT ",
    call_columns!(),
    " FROM calls c JOIN sessions s ON s.id = c.session
      WHERE c.open = 1 AND s.status = 'active' ORDER BY c.id"
);
const BY_KEY: &str = concat!(
    "SELECT ",
    call_columns!(),
    " FROM calls c JOIN sessions s ON s.id = c.session WHERE s.session_id = ?1 AND c.key = ?2"
);
const IN_SESSION: &str = concat!(
    "SELECT ",
    call_columns!(),
    " FROM calls c JOIN sessions s ON s.id = c.session WHERE c.session = ?1 AND c.key = ?2"
);
/// The first call of a session that has not ended.
pub(super) const NOT_ENDED: &str = "SELECT key FROM calls INDEXED BY calls_open
    WHERE open = 1 AND id >= ?1 << 32 AND id < (?1 + 1) << 32 AND status <> 'backgrounded'
    ORDER BY id LIMIT 1";

fn call(row: &Row<'_>) -> rusqlite::Result<Call> {
    let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let maybe = |column: usize| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
    Ok(Call {
        session_id: row.get(17)?,
        key: CallKey::from_storage_key(text(1)?),
        tool_name: row.get(3)?,
        arguments: from_json(13, text(13)?)?,
        requested_arguments: from_json_opt(14, maybe(14)?)?,
        status: from_name(2, text(2)?)?,
        result: from_json_opt(16, maybe(16)?)?,
        details: from_json_opt(15, maybe(15)?)?,
        error: from_json_opt(11, maybe(11)?)?,
        approval_id: row.get(10)?,
        question: from_json_opt(12, maybe(12)?)?,
        mutability: from_name(4, text(4)?)?,
        created_at: from_time(7, text(7)?)?,
        started_at: maybe(8)?.map(|time| from_time(8, time)).transpose()?,
        finished_at: maybe(9)?.map(|time| from_time(9, time)).transpose()?,
        first_seq: count(row.get(5)?),
        last_seq: count(row.get(6)?),
    })
}

/// A call with its id and about its size: the bytes of its long columns.
pub(super) fn item(row: &Row<'_>) -> rusqlite::Result<Item<Call>> {
    Ok((row.get(0)?, weight(row)?, call(row)?))
}

fn weight(row: &Row<'_>) -> rusqlite::Result<usize> {
    let mut bytes = 512;
    for column in 13..=16 {
        bytes += row.get_ref(column)?.as_str_or_null()?.map_or(0, str::len);
    }
    Ok(bytes)
}

pub(super) fn by_key(db: &Connection, session_id: &str, key: &str) -> Result<Option<Call>, StoreError> {
    db.prepare_bounded(BY_KEY)
        .and_then(|mut statement| statement.query_row((session_id, key), call).optional())
        .map_err(sql_failed)
}

pub(super) fn fingerprint(
    db: &Connection,
    session_id: &str,
    key: &str,
) -> Result<Option<Digest>, StoreError> {
    db.prepare_bounded(
        "SELECT c.fingerprint FROM calls c JOIN sessions s ON s.id = c.session
         WHERE s.session_id = ?1 AND c.key = ?2",
    )
    .and_then(|mut statement| statement.query_row((session_id, key), |row| digest(row, 0)).optional())
    .map_err(sql_failed)
}

/// The keys of a session's calls.
pub(super) fn keys(db: &Connection, session_id: &str) -> Result<Vec<CallKey>, StoreError> {
    let mut statement = db
        .prepare_bounded(
            "SELECT c.key FROM calls c JOIN sessions s ON s.id = c.session WHERE s.session_id = ?1",
        )
        .map_err(sql_failed)?;
    let keys = statement
        .query_map([session_id], |row| Ok(CallKey::from_storage_key(row.get_ref(0)?.as_str()?)))
        .map_err(sql_failed)?;
    keys.map(|key| key.map_err(sql_failed)).collect()
}

fn digest(row: &Row<'_>, column: usize) -> rusqlite::Result<Digest> {
    from_name(column, row.get_ref(column)?.as_str()?)
}

/// The row of a session.
pub(super) fn session_row(db: &Connection, session_id: &str) -> Result<i64, StoreError> {
    db.prepare_bounded("SELECT id FROM sessions WHERE session_id = ?1")
        .and_then(|mut statement| statement.query_row([session_id], |row| row.get(0)).optional())
        .map_err(sql_failed)?
        .ok_or(StoreError::NotFound)
}

/// Reads a call in the writer's thread.
pub(super) fn load(tx: &Tx<'_>, session: i64, key: &str) -> Result<Option<OpenCall>, StoreError> {
    tx.read(IN_SESSION, (session, key), |row| {
        Ok(OpenCall {
            id: row.get(0)?,
            fingerprint: digest(row, 18)?,
            call: Arc::new(call(row)?),
            weight: weight(row)?,
        })
    })
}

/// A call's row, and whether it has ended.
pub(super) fn standing(tx: &Tx<'_>, session: i64, key: &str) -> Result<Option<(i64, bool)>, StoreError> {
    tx.read("SELECT id, status FROM calls WHERE session = ?1 AND key = ?2", (session, key), |row| {
        let status: CallStatus = from_name(1, row.get_ref(1)?.as_str()?)?;
        Ok((row.get(0)?, status.has_ended()))
    })
}

/// Records that an event was written beside a call's steps; `closes` where it was its very last.
pub(super) fn touch(tx: &Tx<'_>, id: i64, last_seq: u64, closes: bool) -> Result<(), StoreError> {
    tx.write(
        "UPDATE calls SET last_seq = ?2, open = CASE WHEN ?3 THEN 0 ELSE open END WHERE id = ?1",
        (id, int(last_seq), closes),
    )
    .map(drop)
}

/// What is answered equals what will be read: moments in milliseconds, and the details of a result
/// beside it.
pub(super) fn normalise(call: &mut Call) {
    call.created_at = truncate(call.created_at);
    call.started_at = call.started_at.map(truncate);
    call.finished_at = call.finished_at.map(truncate);
    let inner = call.result.as_mut().and_then(|result| result.details.take());
    if call.details.is_none() {
        call.details = inner;
    }
}

/// The long parts of a call as JSON.
pub(super) struct PreparedCall {
    arguments: String,
    requested: Option<String>,
    error: Option<String>,
    question: Option<String>,
    details: Option<String>,
    result: Option<String>,
}

impl PreparedCall {
    pub(super) fn new(call: &Call) -> Result<Self, StoreError> {
        Ok(Self {
            arguments: to_json(&call.arguments)?,
            requested: to_json_opt(call.requested_arguments.as_ref())?,
            error: to_json_opt(call.error.as_ref())?,
            question: to_json_opt(call.question.as_ref())?,
            details: to_json_opt(call.details.as_ref())?,
            result: to_json_opt(call.result.as_ref())?,
        })
    }

    /// The result as the row will have it.
    pub(super) fn result<'a>(&'a self, key: &'a str, call: &'a Call) -> Option<RowResult<'a>> {
        Some(RowResult { key, result: call.result.as_ref()?, json: self.result.as_deref()? })
    }

    /// About the bytes that the call takes in memory.
    pub(super) fn weight(&self) -> usize {
        512 + self.arguments.len() + self.requested.as_ref().map_or(0, String::len)
    }

    /// Inserts the call, unless one has its key already: whether it did.
    pub(super) fn insert(
        &self,
        tx: &Tx<'_>,
        (head, id, key): (&Head, i64, &str),
        fingerprint: &Digest,
        call: &Call,
        (first_seq, last_seq): (u64, u64),
    ) -> Result<bool, StoreError> {
        let (arguments, long) = split(Some(self.arguments.as_str()));
        let (requested, long_requested) = split(self.requested.as_deref());
        let open = !call.status.has_ended() || call.status == CallStatus::Backgrounded;
        let inserted = tx.write(
            "INSERT INTO calls (id, session, key, open, status, fingerprint, tool_name, mutability,
                first_seq, last_seq, created_at, started_at, finished_at, approval_id, error, question,
                arguments, requested_arguments, details, result)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)
             ON CONFLICT (session, key) DO NOTHING",
            rusqlite::params![
                id,
                head.id,
                key,
                open,
                call.status.as_str(),
                fingerprint.as_str(),
                call.tool_name,
                mutability(call.mutability),
                int(first_seq),
                int(last_seq),
                call.created_at.to_string(),
                call.started_at.map(|time| time.to_string()),
                call.finished_at.map(|time| time.to_string()),
                call.approval_id,
                self.error,
                self.question,
                arguments,
                requested,
                self.details,
                self.result,
            ],
        )?;
        if inserted == 1 {
            write_long(tx, id * 2, long)?;
            write_long(tx, id * 2 + 1, long_requested)?;
        }
        Ok(inserted == 1)
    }
}

fn mutability(mutability: ToolMutability) -> &'static str {
    match mutability {
        ToolMutability::ReadOnly => "read_only",
        ToolMutability::Mutating => "mutating",
    }
}

/// A text for the call's own row, or for the table of long ones.
fn split(text: Option<&str>) -> (Option<&str>, Option<&str>) {
    if text.is_some_and(|text| text.len() > INLINE_MAX) { (None, text) } else { (text, None) }
}

fn write_long(tx: &Tx<'_>, id: i64, body: Option<&str>) -> Result<(), StoreError> {
    let Some(body) = body else { return Ok(()) };
    tx.write("INSERT OR REPLACE INTO long_arguments (id, body) VALUES (?1, ?2)", (id, body)).map(drop)
}

/// Puts edited arguments in a call's place; what was requested is kept the first time.
pub(super) fn edit(tx: &Tx<'_>, id: i64, arguments: &str) -> Result<(), StoreError> {
    tx.write(
        "INSERT INTO long_arguments (id, body) SELECT ?1 * 2 + 1, body FROM long_arguments
            WHERE id = ?1 * 2 AND EXISTS (SELECT 1 FROM calls WHERE id = ?1 AND requested_arguments IS NULL)
         ON CONFLICT DO NOTHING",
        [id],
    )?;
    let (inline, long) = split(Some(arguments));
    tx.write(
        "UPDATE calls SET arguments = ?2, requested_arguments = CASE
            WHEN EXISTS (SELECT 1 FROM long_arguments WHERE id = ?1 * 2 + 1) THEN NULL
            ELSE coalesce(requested_arguments, arguments) END
         WHERE id = ?1",
        (id, inline),
    )?;
    tx.write("DELETE FROM long_arguments WHERE id = ?1 * 2", [id])?;
    write_long(tx, id * 2, long)
}

/// What a step changes, with its long parts as JSON.
pub(super) struct PreparedPatch {
    patch: CallPatch,
    arguments: Option<String>,
    error: Option<String>,
    question: Option<String>,
    details: Option<String>,
    result: Option<String>,
}

impl PreparedPatch {
    pub(super) fn new(mut patch: CallPatch) -> Result<Self, StoreError> {
        patch.started_at = patch.started_at.map(truncate);
        patch.finished_at = patch.finished_at.map(truncate);
        let inner = patch.result.as_mut().and_then(|result| result.details.take());
        if patch.details.is_none() {
            patch.details = inner;
        }
        Ok(Self {
            arguments: to_json_opt(patch.arguments.as_ref())?,
            error: to_json_opt(patch.error.as_ref())?,
            question: to_json_opt(patch.question.as_ref())?,
            details: to_json_opt(patch.details.as_ref())?,
            result: to_json_opt(patch.result.as_ref())?,
            patch,
        })
    }

    /// The result that the step gives its call, as the row will have it.
    pub(super) fn result<'a>(&'a self, key: &'a str) -> Option<RowResult<'a>> {
        Some(RowResult { key, result: self.patch.result.as_ref()?, json: self.result.as_deref()? })
    }

    /// The bytes that the call grows by.
    pub(super) fn weight(&self) -> usize {
        [&self.arguments, &self.details, &self.result].into_iter().flatten().map(String::len).sum()
    }

    /// Writes the step to the call's row; `closes` where nothing of the call can happen any more.
    pub(super) fn write(
        &self,
        tx: &Tx<'_>,
        id: i64,
        to: CallStatus,
        closes: bool,
        last_seq: u64,
    ) -> Result<(), StoreError> {
        if let Some(arguments) = &self.arguments {
            edit(tx, id, arguments)?;
        }
        tx.write(
            "UPDATE calls SET status = ?2, open = CASE WHEN ?3 THEN 0 ELSE open END, last_seq = ?4,
                started_at = coalesce(?5, started_at), finished_at = coalesce(?6, finished_at),
                approval_id = coalesce(?7, approval_id), error = coalesce(?8, error),
                question = coalesce(?9, question), details = coalesce(?10, details),
                result = coalesce(?11, result)
             WHERE id = ?1",
            rusqlite::params![
                id,
                to.as_str(),
                closes,
                int(last_seq),
                self.patch.started_at.map(|time| time.to_string()),
                self.patch.finished_at.map(|time| time.to_string()),
                self.patch.approval_id,
                self.error,
                self.question,
                self.details,
                self.result,
            ],
        )
        .map(drop)
    }

    /// The same to the call in memory.
    pub(super) fn apply(self, call: &mut Call) {
        let patch = self.patch;
        if let Some(arguments) = patch.arguments {
            edit_in_memory(call, arguments);
        }
        set(&mut call.result, patch.result);
        set(&mut call.details, patch.details);
        set(&mut call.error, patch.error);
        set(&mut call.approval_id, patch.approval_id);
        set(&mut call.question, patch.question);
        set(&mut call.started_at, patch.started_at);
        set(&mut call.finished_at, patch.finished_at);
    }
}

/// What [`edit`] does to the row.
pub(super) fn edit_in_memory(call: &mut Call, arguments: serde_json::Value) {
    let old = std::mem::replace(&mut call.arguments, arguments);
    call.requested_arguments.get_or_insert(old);
}

fn set<T>(field: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *field = value;
    }
}
