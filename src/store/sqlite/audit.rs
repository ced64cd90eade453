//! The audit log: written within the steps that it tells of, bounded by age and rows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::SqliteStore;
use super::bounded::PrepareBounded as _;
use super::call_rows;
use super::codec::{Item, after, count, fill, from_json, int, sql_failed, to_json};
use super::tx::Tx;
use crate::domain::approval::{Approval, Decision};
use crate::domain::audit::{AuditDecision, AuditDropped, AuditEntry, AuditKind, AuditRecord};
use crate::domain::clock::Timestamp;
use crate::domain::event::Resolution;
use crate::domain::grant::Grant;
use crate::domain::redact;
use crate::domain::visible;
use crate::store::{AuditFilter, AuditStore, Page, PageRequest, StoreError};

/// The bounds are held after so many entries, or with the first one after so long.
const CHECK_EVERY: usize = 256;
const CHECK_AFTER_MS: i64 = 60 * 60 * 1_000;
/// The most entries that one check drops: a lowered bound is reached in several.
const DROP_MAX: i64 = 2_048;
/// One page looks at so many entries at most, however few of them its filter wants.
const SCAN_MAX: i64 = 10_000;
/// The longest pattern that is kept, in characters.
const PATTERN_MAX: usize = 500;
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

/// How much of the log is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditBounds {
    /// Entries older than so many days are dropped.
    pub days: u64,
    /// At most so many entries are kept, give or take those since the last check.
    pub rows: u64,
}

impl Default for AuditBounds {
    fn default() -> Self {
        Self { days: 90, rows: 500_000 }
    }
}

/// The bounds in force, shared with whoever changes them.
#[derive(Debug)]
pub(super) struct SharedBounds {
    days: AtomicU64,
    rows: AtomicU64,
}

impl SharedBounds {
    pub(super) fn new(bounds: AuditBounds) -> Arc<Self> {
        Arc::new(Self { days: bounds.days.into(), rows: bounds.rows.into() })
    }

    fn set(&self, bounds: AuditBounds) {
        self.days.store(bounds.days, Ordering::Relaxed);
        self.rows.store(bounds.rows, Ordering::Relaxed);
    }
}

/// When the writer holds the bounds again.
#[derive(Debug)]
pub(super) struct Keeper {
    bounds: Arc<SharedBounds>,
    since: usize,
    checked: Option<Timestamp>,
}

impl Keeper {
    pub(super) fn new(bounds: Arc<SharedBounds>) -> Self {
        Self { bounds, since: 0, checked: None }
    }

    /// Counts an entry; the moment before which nothing is kept and how many are, where it is time to
    /// hold the bounds.
    fn due(&mut self, now: Timestamp) -> Option<(i64, i64)> {
        self.since += 1;
        let now = now.as_millisecond();
        let long_ago = self.checked.is_none_or(|at| now - at.as_millisecond() >= CHECK_AFTER_MS);
        if self.since < CHECK_EVERY && !long_ago {
            return None;
        }
        self.since = 0;
        self.checked = Timestamp::from_millisecond(now).ok();
        let days = int(self.bounds.days.load(Ordering::Relaxed));
        let rows = int(self.bounds.rows.load(Ordering::Relaxed)).max(1);
        Some((now.saturating_sub(days.saturating_mul(DAY_MS)), rows))
    }
}

/// An entry, written as far as it can be outside the writer's thread.
#[derive(Debug)]
pub(super) struct PreparedAudit {
    kind: AuditKind,
    decision: AuditDecision,
    who: String,
    tool: Option<String>,
    call: Option<String>,
    body: String,
}

impl PreparedAudit {
    pub(super) fn new(record: &AuditRecord) -> Result<Self, StoreError> {
        Ok(Self {
            kind: record.kind,
            decision: record.decision,
            who: record.by.clone(),
            tool: record.tool_name.clone(),
            call: record.call_id.clone(),
            body: to_json(record)?,
        })
    }

    pub(super) fn all(records: &[AuditRecord]) -> Result<Vec<Self>, StoreError> {
        records.iter().map(Self::new).collect()
    }
}

/// Writes entries of a session, 0 for none, and drops what is over the bounds.
pub(super) fn append(tx: &mut Tx<'_>, session: i64, entries: &[PreparedAudit]) -> Result<(), StoreError> {
    for entry in entries {
        insert(tx, session, entry)?;
        let now = tx.now();
        if let Some((oldest, rows)) = tx.audit_keeper().due(now) {
            trim(tx, oldest, rows)?;
        }
    }
    Ok(())
}

fn insert(tx: &Tx<'_>, session: i64, entry: &PreparedAudit) -> Result<(), StoreError> {
    tx.write(
        "INSERT INTO audit (at, session, kind, decision, who, tool, call, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        (
            tx.now().as_millisecond(),
            session,
            entry.kind.as_str(),
            entry.decision.as_str(),
            &entry.who,
            &entry.tool,
            &entry.call,
            &entry.body,
        ),
    )
    .map(drop)
}

/// Drops the oldest entries that are over a bound, and says so in an entry.
fn trim(tx: &mut Tx<'_>, oldest: i64, rows: i64) -> Result<(), StoreError> {
    // Not the least and the greatest number at once, for which SQLite would look through the whole log.
    let ends =
        tx.read("SELECT id, at, (SELECT max(id) FROM audit) FROM audit ORDER BY id LIMIT 1", [], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
        })?;
    let Some((first, first_at, last)) = ends else { return Ok(()) };
    // Numbers have no gaps. The entry that tells of this takes a place, too.
    let by_rows = last - rows + 2;
    let by_age = if first_at >= oldest { first } else { first_not_older(tx, first, oldest)? };
    let keep_from = by_rows.max(by_age).min(first + DROP_MAX).min(last);
    if keep_from <= first {
        return Ok(());
    }
    let mut told = AuditRecord::new(AuditKind::Retention, AuditDecision::Dropped, "server");
    told.dropped = Some(AuditDropped {
        from: count(first),
        to: count(keep_from - 1),
        bound: if by_age >= by_rows { "age" } else { "rows" }.to_owned(),
    });
    insert(tx, 0, &PreparedAudit::new(&told)?)?;
    tx.write("UPDATE audit_state SET kept_from = ?1 WHERE id = 1", [keep_from])?;
    tx.write("DELETE FROM audit WHERE id < ?1", [keep_from]).map(drop)
}

/// The first entry that is not too old, or how far one step goes.
fn first_not_older(tx: &Tx<'_>, first: i64, oldest: i64) -> Result<i64, StoreError> {
    let kept = tx.read(
        "SELECT min(id) FROM (SELECT id, at FROM audit ORDER BY id LIMIT ?2) WHERE at >= ?1",
        (oldest, DROP_MAX),
        |row| row.get::<_, Option<i64>>(0),
    )?;
    Ok(kept.flatten().unwrap_or(first + DROP_MAX))
}

/// Tells how an approval came to its end; called in the step that ends it, with its row as that leaves it.
pub(super) fn resolved(
    tx: &mut Tx<'_>,
    session: i64,
    approval_id: &str,
    resolution: Resolution,
) -> Result<(), StoreError> {
    let found = tx.read(
        "SELECT body, decision FROM approvals WHERE approval_id = ?1 AND session = ?2",
        (approval_id, session),
        |row| Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?)),
    )?;
    // An event of an approval that is not there tells of nothing.
    let Some((body, decision)) = found else { return Ok(()) };
    let approval: Approval = from_json(0, &body).map_err(sql_failed)?;
    let decision: Option<Decision> =
        decision.map(|text| from_json(1, &text)).transpose().map_err(sql_failed)?;
    let outcome = match resolution {
        Resolution::Allow => AuditDecision::Allow,
        Resolution::Deny => AuditDecision::Deny,
        Resolution::Expired => AuditDecision::Expired,
        Resolution::Cancelled => AuditDecision::Cancelled,
        Resolution::Superseded => AuditDecision::Superseded,
    };
    let decided = decision.filter(|_| matches!(resolution, Resolution::Allow | Resolution::Deny));
    let by = decided.as_ref().map_or("server", |decision| decision.by.as_str());
    let mut told =
        AuditRecord::new(AuditKind::Approval, outcome, by).of_call(&approval.session_id, &approval.call);
    told.tool_name = Some(approval.tool_name);
    told.approval_id = Some(approval.approval_id);
    if let Some(decision) = decided {
        told.scope = Some(decision.request.scope);
        told.edited = Some(decision.request.arguments.is_some());
        told.pattern = decision.request.pattern.as_deref().map(shown);
    }
    append(tx, session, &[PreparedAudit::new(&told)?])
}

/// Tells that a grant was made or revoked, or that its time is over.
pub(super) fn granted(
    tx: &mut Tx<'_>,
    session: i64,
    grant: &Grant,
    decision: AuditDecision,
    by: &str,
) -> Result<(), StoreError> {
    let mut told = AuditRecord::new(AuditKind::Grant, decision, by);
    told.session_id.clone_from(&grant.session_id);
    told.approval_id = Some(grant.approval_id.clone());
    told.grant_id = Some(grant.grant_id.clone());
    told.expires_at = Some(grant.expires_at);
    told.scope = Some(grant.scope);
    told.pattern = Some(shown(&grant.pattern));
    told.directory = grant.directory.as_deref().map(shown);
    append(tx, session, &[PreparedAudit::new(&told)?])
}

/// A rule as it may be kept: an exact command in it may hold a secret.
fn shown(pattern: &str) -> String {
    visible::clipped(&redact::text(pattern), PATTERN_MAX)
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item<AuditEntry>> {
    let id: i64 = row.get(0)?;
    let body = row.get_ref(2)?.as_str()?;
    let time = Timestamp::from_millisecond(row.get(1)?).unwrap_or_default();
    Ok((id, body.len(), AuditEntry { seq: count(id), time, record: from_json(2, body)? }))
}

impl SqliteStore {
    /// Keeps so much of the audit log from its next entry on.
    pub fn keep_audit(&self, bounds: AuditBounds) {
        self.audit_bounds.set(bounds);
    }
}

#[async_trait]
impl AuditStore for SqliteStore {
    async fn audit(&self, filter: AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>, StoreError> {
        let from = after(&page)?;
        self.pool.read(move |db| list(db, &filter, from, page.limit)).await
    }

    async fn latest_changes(&self, session_id: &str, limit: usize) -> Result<Vec<AuditEntry>, StoreError> {
        let session_id = session_id.to_owned();
        self.pool
            .read(move |db| {
                let session = call_rows::session_row(db, &session_id)?;
                let mut statement = db.prepare_bounded(LATEST_CHANGES).map_err(sql_failed)?;
                let limit = i64::try_from(limit).unwrap_or(i64::MAX);
                let rows = statement.query_map((session, limit), item).map_err(sql_failed)?;
                rows.map(|row| row.map(|(_, _, entry)| entry).map_err(sql_failed)).collect()
            })
            .await
    }

    async fn note(&self, session_id: &str, entries: Vec<AuditRecord>) -> Result<(), StoreError> {
        let (session_id, entries) = (session_id.to_owned(), PreparedAudit::all(&entries)?);
        let note = move |tx: &mut Tx<'_>| {
            let session = call_rows::session_row(tx.db(), &session_id)?;
            append(tx, session, &entries)
        };
        self.writer.run(false, note).await
    }
}

const LATEST_CHANGES: &str = "SELECT id, at, body FROM audit INDEXED BY audit_of_changes
    WHERE session = ?1 AND kind = 'verdict' AND decision = 'allow' AND tool IN ('Write', 'Edit', 'ApplyPatch', 'Bash')
    ORDER BY id DESC LIMIT ?2";
/// The last entry of a session that one page looks at, where there are more.
const PAGE_OF_SESSION: &str =
    "SELECT id FROM audit INDEXED BY audit_of_session WHERE session = ?1 AND id > ?2
    ORDER BY id LIMIT 1 OFFSET ?3";

macro_rules! wanted {
    ($from:literal) => {
        concat!(
            "SELECT id, at, body FROM audit ",
            $from,
            " AND id > ?1 AND id <= ?2 AND (?4 IS NULL OR kind = ?4) AND (?5 IS NULL OR decision = ?5)
              AND (?6 IS NULL OR who = ?6) AND (?7 IS NULL OR tool = ?7) AND (?8 IS NULL OR call = ?8)
              AND at >= ?9 AND at < ?10 ORDER BY id"
        )
    };
}

fn list(
    db: &Connection,
    filter: &AuditFilter,
    from: i64,
    limit: usize,
) -> Result<Page<AuditEntry>, StoreError> {
    const OF_ALL: &str = wanted!("NOT INDEXED WHERE ?3 IS NULL");
    const OF_SESSION: &str = wanted!("INDEXED BY audit_of_session WHERE session = ?3");
    let session = filter.session_id.as_deref().map(|id| call_rows::session_row(db, id)).transpose()?;
    let (first, last) = db
        .prepare_bounded("SELECT (SELECT min(id) FROM audit), (SELECT max(id) FROM audit)")
        .and_then(|mut ends| {
            ends.query_row([], |row| Ok((row.get::<_, Option<i64>>(0)?, row.get::<_, Option<i64>>(1)?)))
        })
        .optional()
        .map_err(sql_failed)?
        .unwrap_or_default();
    let last = last.unwrap_or(0);
    let from = from.max(first.unwrap_or(1) - 1);
    let up_to = match session {
        Some(session) => db
            .prepare_bounded(PAGE_OF_SESSION)
            .and_then(|mut end| end.query_row((session, from, SCAN_MAX - 1), |row| row.get(0)).optional())
            .map_err(sql_failed)?
            .unwrap_or(last),
        None => last.min(from.saturating_add(SCAN_MAX)),
    };
    let mut statement =
        db.prepare_bounded(if session.is_some() { OF_SESSION } else { OF_ALL }).map_err(sql_failed)?;
    let moment = |time: Option<Timestamp>, otherwise| time.map_or(otherwise, Timestamp::as_millisecond);
    let rows = statement
        .query_map(
            (
                from,
                up_to,
                session,
                filter.kind.map(AuditKind::as_str),
                filter.decision.map(AuditDecision::as_str),
                &filter.by,
                &filter.tool,
                &filter.call_id,
                moment(filter.since, i64::MIN),
                moment(filter.until, i64::MAX),
            ),
            item,
        )
        .map_err(sql_failed)?;
    let mut page = fill(limit, rows)?;
    if page.next_cursor.is_none() && up_to < last {
        page.next_cursor = Some(up_to.to_string());
    }
    Ok(page)
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
