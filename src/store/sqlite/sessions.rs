//! Sessions: made once under their id, ended once.

use std::sync::Arc;

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::SqliteStore;
use super::bounded::PrepareBounded as _;
use super::call_rows;
use super::calls::cancel_in_ended_session;
use super::codec::{Item, after, count, fill, from_json, from_name, from_time, sql_failed, to_json};
use super::events::PreparedEvent;
use super::grants;
use super::tx::Tx;
use crate::domain::call::Call;
use crate::domain::clock::truncate;
use crate::domain::event::AgentEvent;
use crate::domain::session::{RuntimeFlags, Session, SessionStatus};
use crate::store::{Created, Page, PageRequest, SessionRecord, SessionStore, StoreError};

macro_rules! session_columns {
    () => {
        "SELECT s.id, s.session_id, s.status, s.owner, s.workspace, s.workspace_root, s.labels, s.tools,
                s.runtime, s.fingerprint, s.session_token, s.created_at, s.ended_at,
                (SELECT max(seq) FROM events WHERE session = s.id)
         FROM sessions s "
    };
}

fn record(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    let text = |column: usize| row.get_ref(column)?.as_str().map_err(rusqlite::Error::from);
    let ended_at = row.get_ref(12)?.as_str_or_null()?;
    Ok(SessionRecord {
        session: Session {
            session_id: row.get(1)?,
            workspace: row.get(4)?,
            labels: from_json(6, text(6)?)?,
            status: from_name(2, text(2)?)?,
            runtime: from_json(8, text(8)?)?,
            created_at: from_time(11, text(11)?)?,
            ended_at: ended_at.map(|time| from_time(12, time)).transpose()?,
            last_seq: count(row.get::<_, Option<i64>>(13)?.unwrap_or(0)),
        },
        owner: row.get(3)?,
        workspace_root: row.get(5)?,
        tools: from_json(7, text(7)?)?,
        fingerprint: from_name(9, text(9)?)?,
        session_token: row.get(10)?,
    })
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item<SessionRecord>> {
    let bytes = row.get_ref(6)?.as_str()?.len() + row.get_ref(7)?.as_str()?.len();
    Ok((row.get(0)?, 512 + bytes, record(row)?))
}

fn by_id(db: &Connection, session_id: &str) -> Result<Option<SessionRecord>, StoreError> {
    db.prepare_bounded(concat!(session_columns!(), "WHERE s.session_id = ?1"))
        .and_then(|mut statement| statement.query_row([session_id], record).optional())
        .map_err(sql_failed)
}

/// How many take calls.
pub(super) fn active_count(db: &Connection) -> Result<u64, StoreError> {
    db.query_row("SELECT count(*) FROM sessions WHERE status = 'active'", [], |row| row.get(0))
        .map(count)
        .map_err(sql_failed)
}

#[async_trait]
impl SessionStore for SqliteStore {
    async fn create_session(&self, mut record: SessionRecord) -> Result<Created, StoreError> {
        record.session.created_at = truncate(record.session.created_at);
        record.session.status = SessionStatus::Active;
        record.session.ended_at = None;
        let started = PreparedEvent::new(&AgentEvent::SessionStarted {})?;
        let columns = Columns::new(&record)?;
        self.writer.run(false, move |tx| create(tx, record, &columns, started)).await
    }

    async fn session(&self, session_id: &str) -> Result<Option<SessionRecord>, StoreError> {
        let session_id = session_id.to_owned();
        self.pool.read(move |db| by_id(db, &session_id)).await
    }

    async fn sessions(
        &self,
        owner: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<SessionRecord>, StoreError> {
        let owner = owner.map(str::to_owned);
        let from = after(&page)?;
        self.pool
            .read(move |db| match owner {
                None => {
                    let sql = concat!(session_columns!(), "WHERE s.id > ?1 ORDER BY s.id");
                    let mut statement = db.prepare_bounded(sql).map_err(sql_failed)?;
                    fill(page.limit, statement.query_map([from], item).map_err(sql_failed)?)
                }
                Some(owner) => {
                    let sql = concat!(session_columns!(), "WHERE s.owner = ?2 AND s.id > ?1 ORDER BY s.id");
                    let mut statement = db.prepare_bounded(sql).map_err(sql_failed)?;
                    fill(page.limit, statement.query_map((from, owner), item).map_err(sql_failed)?)
                }
            })
            .await
    }

    async fn active_sessions(&self) -> Result<Vec<SessionRecord>, StoreError> {
        self.pool
            .read(|db| {
                let sql = concat!(session_columns!(), "WHERE s.status = 'active' ORDER BY s.id");
                let mut statement = db.prepare_bounded(sql).map_err(sql_failed)?;
                let rows = statement.query_map([], record).map_err(sql_failed)?;
                rows.collect::<Result<_, _>>().map_err(sql_failed)
            })
            .await
    }

    async fn set_runtime(
        &self,
        session_id: &str,
        runtime: RuntimeFlags,
        problem: Option<String>,
    ) -> Result<(), StoreError> {
        let session_id = session_id.to_owned();
        let text = to_json(&runtime)?;
        let event = PreparedEvent::new(&AgentEvent::RuntimeChanged { runtime, problem })?;
        self.writer
            .run(false, move |tx| {
                let mut head = tx.active(&session_id)?;
                tx.write("UPDATE sessions SET runtime = ?2 WHERE id = ?1", (head.id, text))?;
                tx.log(&mut head, None, event)?;
                tx.done(head)
            })
            .await
    }

    async fn end_session(&self, session_id: &str) -> Result<SessionRecord, StoreError> {
        let session_id = session_id.to_owned();
        let ended = PreparedEvent::new(&AgentEvent::SessionEnded {})?;
        let (record, cancelled) = self.writer.run(true, move |tx| end(tx, &session_id, ended)).await?;
        for call in cancelled {
            self.metrics.calls().ended(&call);
        }
        Ok(record)
    }
}

/// The columns of a new session that are JSON.
struct Columns {
    labels: String,
    tools: String,
    runtime: String,
}

impl Columns {
    fn new(record: &SessionRecord) -> Result<Self, StoreError> {
        Ok(Self {
            labels: to_json(&record.session.labels)?,
            tools: to_json(&record.tools)?,
            runtime: to_json(&record.session.runtime)?,
        })
    }
}

fn create(
    tx: &mut Tx<'_>,
    mut record: SessionRecord,
    columns: &Columns,
    started: PreparedEvent,
) -> Result<Created, StoreError> {
    let session = &record.session;
    let inserted = tx.write(
        "INSERT INTO sessions (session_id, status, owner, workspace, workspace_root, labels, tools,
            runtime, fingerprint, session_token, created_at)
         VALUES (?1, 'active', ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (session_id) DO NOTHING",
        rusqlite::params![
            session.session_id,
            record.owner,
            session.workspace,
            record.workspace_root,
            columns.labels,
            columns.tools,
            columns.runtime,
            record.fingerprint.as_str(),
            record.session_token,
            session.created_at.to_string(),
        ],
    )?;
    if inserted == 0 {
        let known = by_id(tx.db(), &session.session_id)?.ok_or(StoreError::NotFound)?;
        let same = known.fingerprint == record.fingerprint && known.owner == record.owner;
        return Ok(if same { Created::Existing(known) } else { Created::Conflict });
    }
    let mut head = tx.active(&session.session_id)?;
    record.session.last_seq = tx.log(&mut head, None, started)?;
    tx.done(head)?;
    Ok(Created::New(record))
}

/// Ends a session. Its calls were cancelled before; one that was accepted since then is cancelled
/// here, so that none stays open in a session that takes no more steps.
fn end(
    tx: &mut Tx<'_>,
    session_id: &str,
    ended: PreparedEvent,
) -> Result<(SessionRecord, Vec<Arc<Call>>), StoreError> {
    let mut head = tx.session(session_id)?;
    if head.ended {
        tx.put_back(head);
        let record = by_id(tx.db(), session_id)?.ok_or(StoreError::NotFound)?;
        return Ok((record, Vec::new()));
    }
    let mut cancelled = Vec::new();
    while let Some(key) = tx.read(call_rows::NOT_ENDED, [head.id], |row| row.get::<_, String>(0))? {
        cancelled.push(cancel_in_ended_session(tx, &mut head, &key)?);
    }
    let now = tx.now().to_string();
    tx.write("UPDATE sessions SET status = 'ended', ended_at = ?2 WHERE id = ?1", (head.id, now))?;
    grants::end_with_session(tx, head.id, session_id)?;
    tx.log(&mut head, None, ended)?;
    head.ended = true;
    head.forget_calls();
    tx.done(head)?;
    Ok((by_id(tx.db(), session_id)?.ok_or(StoreError::NotFound)?, cancelled))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, new_call, of, session};
    use super::*;
    use crate::domain::digest::Digest;
    use crate::domain::session::PermissionMode;
    use crate::store::CallStore as _;

    #[tokio::test(flavor = "multi_thread")]
    async fn a_session_is_made_once() {
        let f = Fixture::new().await;
        let Created::New(made) = f.create_session(session("new")).await.unwrap() else { panic!("new") };
        assert_eq!(made.session.last_seq, 1);
        assert_eq!(f.session("new").await.unwrap(), Some(made.clone()));
        assert_eq!(f.create_session(session("new")).await.unwrap(), Created::Existing(made.clone()));
        let body = SessionRecord { fingerprint: Digest::of(b"else"), ..session("new") };
        assert_eq!(f.create_session(body).await.unwrap(), Created::Conflict);
        let owner = SessionRecord { owner: "someone".to_owned(), ..session("new") };
        assert_eq!(f.create_session(owner).await.unwrap(), Created::Conflict);
        assert_eq!(f.kinds("new").await, ["session_started"]);
        assert_eq!(f.session("nobody").await.unwrap(), None);
        let f = f.reopened().await;
        assert_eq!(f.session("new").await.unwrap(), Some(made));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_session_ends_once_and_its_id_is_not_used_again() {
        let f = Fixture::new().await;
        f.accept(new_call("open")).await.unwrap();
        let ended = f.end_session("s").await.unwrap();
        assert_eq!((ended.session.status, ended.session.last_seq), (SessionStatus::Ended, 4));
        assert!(ended.session.ended_at.is_some());
        assert_eq!(f.end_session("s").await.unwrap(), ended);
        let f = f.reopened().await;
        assert_eq!(f.end_session("s").await.unwrap(), ended);
        assert_eq!(f.create_session(session("s")).await.unwrap(), Created::Existing(ended));
        assert_eq!(f.kinds("s").await, ["session_started", "tool_start", "tool_cancelled", "session_ended"]);
        assert!(matches!(f.accept(new_call("late")).await, Err(StoreError::SessionEnded)));
        assert!(matches!(f.accept(new_call("open")).await, Err(StoreError::SessionEnded)));
        let runtime = RuntimeFlags::default();
        assert!(matches!(f.set_runtime("s", runtime, None).await, Err(StoreError::SessionEnded)));
        assert!(matches!(f.end_session("nobody").await, Err(StoreError::NotFound)));
        let active = f.active_sessions().await.unwrap();
        assert_eq!(active.iter().map(|it| it.session.session_id.as_str()).collect::<Vec<_>>(), ["other"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn flags_are_kept_and_said() {
        let f = Fixture::new().await;
        let mut flags = RuntimeFlags { permission_mode: PermissionMode::Plan, ..RuntimeFlags::default() };
        flags.others.insert("mine".to_owned(), 7.into());
        f.set_runtime("s", flags.clone(), Some("line 3".to_owned())).await.unwrap();
        assert_eq!(f.session("s").await.unwrap().unwrap().session.runtime, flags);
        let (_, kind, json) = f.all(of("s")).await.pop().unwrap();
        assert_eq!(kind, "runtime_changed");
        assert!(json.contains(r#""mine":7"#) && json.contains(r#""problem":"line 3""#), "{json}");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn lists_are_of_an_owner_or_of_all() {
        let f = Fixture::new().await;
        for n in 0..4 {
            let record = SessionRecord { owner: format!("owner-{}", n % 2), ..session(&format!("n{n}")) };
            f.create_session(record).await.unwrap();
        }
        let names = |page: &Page<SessionRecord>| {
            page.items.iter().map(|it| it.session.session_id.clone()).collect::<Vec<_>>()
        };
        let first = PageRequest { cursor: None, limit: 1 };
        let page = f.sessions(Some("owner-1"), first).await.unwrap();
        assert_eq!(names(&page), ["n1"]);
        let second = PageRequest { cursor: page.next_cursor, limit: 5 };
        let page = f.sessions(Some("owner-1"), second.clone()).await.unwrap();
        assert_eq!((names(&page), page.next_cursor), (vec!["n3".to_owned()], None));
        assert_eq!(names(&f.sessions(None, second).await.unwrap()), ["n2", "n3"]);
    }
}
