//! Grants: kept in the database, and in memory, since each call that is judged asks for them; each holds until
//! its time, or its session, is over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::{Connection, Row};
use serde_json::Value;

use super::SqliteStore;
use super::audit;
use super::bounded::PrepareBounded as _;
use super::call_rows;
use super::codec::{Item, after, fill, from_json, from_time, sql_failed, to_json};
use super::tx::Tx;
use crate::domain::approval::Scope;
use crate::domain::audit::AuditDecision;
use crate::domain::clock::Timestamp;
use crate::domain::grant::Grant;
use crate::store::{GrantStore, Page, PageRequest, StoreError};

/// The most grants that one step expires.
const EXPIRED_AT_ONCE: usize = 64;

/// A grant with its JSON.
pub(super) struct PreparedGrant {
    grant: Grant,
    body: String,
}

impl PreparedGrant {
    pub(super) fn new(grant: &Grant) -> Result<Self, StoreError> {
        Ok(Self { body: to_json(grant)?, grant: grant.clone() })
    }

    /// Inserts it, from an approval of this session; one that stands is granted anew, under its id.
    pub(super) fn insert(&self, tx: &mut Tx<'_>, session: i64) -> Result<(), StoreError> {
        tx.grants_change();
        let grant = &self.grant;
        tx.write(
            "INSERT INTO grants (grant_id, session_id, expires_at, body) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (grant_id) DO UPDATE SET expires_at = excluded.expires_at, body = excluded.body",
            (&grant.grant_id, &grant.session_id, grant.expires_at.as_millisecond(), &self.body),
        )?;
        audit::granted(tx, session, &self.grant, AuditDecision::Granted, &self.grant.granted_by)
    }
}

/// All grants as they were read last. The writer has them forgotten after the commit of each change
/// and before its answer: who has been answered sees the change, and a request that goes away
/// leaves no revoked grant behind. A read that began before a change is not kept.
#[derive(Debug, Default)]
pub(super) struct GrantCache {
    state: Mutex<Cached>,
}

#[derive(Debug, Default)]
struct Cached {
    changes: u64,
    all: Option<Arc<Vec<Grant>>>,
}

impl GrantCache {
    pub(super) fn forget(&self) {
        let mut state = self.lock();
        state.changes += 1;
        state.all = None;
    }

    /// The grants, or how many changes there were before they have to be read.
    fn get(&self) -> Result<Arc<Vec<Grant>>, u64> {
        let state = self.lock();
        state.all.clone().ok_or(state.changes)
    }

    fn keep(&self, changes: u64, all: &Arc<Vec<Grant>>) {
        let mut state = self.lock();
        if state.changes == changes {
            state.all = Some(Arc::clone(all));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Cached> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item<Grant>> {
    let body = row.get_ref(1)?.as_str()?;
    Ok((row.get(0)?, body.len(), from_json(1, body)?))
}

/// Gives the grants of versions that knew no end of them one: so long after they were made, or the end of their
/// session, if that came first.
pub(super) fn date(db: &mut Connection, hold: Duration) -> Result<(), StoreError> {
    const UNDATED: &str = "SELECT g.id, g.body, s.ended_at FROM grants g
        LEFT JOIN sessions s ON s.session_id = g.session_id WHERE g.expires_at IS NULL";
    let dated = |row: &Row<'_>| -> rusqlite::Result<(i64, i64, String)> {
        let mut body: Value = from_json(1, row.get_ref(1)?.as_str()?)?;
        let created = from_time(1, body["created_at"].as_str().unwrap_or_default())?;
        let ended = row.get_ref(2)?.as_str_or_null()?.map(|time| from_time(2, time)).transpose()?;
        let end = expiry(created, hold);
        let end = ended.map_or(end, |ended| ended.min(end));
        body["expires_at"] = Value::from(end.to_string());
        Ok((row.get(0)?, end.as_millisecond(), body.to_string()))
    };
    let tx = db.transaction().map_err(sql_failed)?;
    let undated: Vec<_> = {
        let mut statement = tx.prepare(UNDATED).map_err(sql_failed)?;
        let rows = statement.query_map([], dated).map_err(sql_failed)?;
        rows.collect::<Result<_, _>>().map_err(sql_failed)?
    };
    for row in undated {
        tx.execute("UPDATE grants SET expires_at = ?2, body = ?3 WHERE id = ?1", row).map_err(sql_failed)?;
    }
    tx.commit().map_err(sql_failed)
}

/// The end of what begins now and holds so long.
fn expiry(from: Timestamp, hold: Duration) -> Timestamp {
    let hold = i64::try_from(hold.as_millis()).unwrap_or(i64::MAX);
    Timestamp::from_millisecond(from.as_millisecond().saturating_add(hold)).unwrap_or(from)
}

/// Ends the grants of a session that ends.
pub(super) fn end_with_session(tx: &mut Tx<'_>, session: i64, session_id: &str) -> Result<(), StoreError> {
    while let Some((_, _, grant)) = tx.read(
        "DELETE FROM grants WHERE id = (SELECT min(id) FROM grants WHERE session_id = ?1) RETURNING id, body",
        [session_id],
        item,
    )? {
        tx.grants_change();
        audit::granted(tx, session, &grant, AuditDecision::Expired, "server")?;
    }
    Ok(())
}

fn expire(tx: &mut Tx<'_>, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
    for _ in 0..EXPIRED_AT_ONCE {
        let due = tx.read(
            "DELETE FROM grants WHERE id = (SELECT id FROM grants WHERE expires_at <= ?1 ORDER BY expires_at LIMIT 1)
                RETURNING id, body",
            [now.as_millisecond()],
            item,
        )?;
        let Some((_, _, grant)) = due else { break };
        tx.grants_change();
        let session = session_of(tx, &grant)?;
        audit::granted(tx, session, &grant, AuditDecision::Expired, "server")?;
    }
    let next = tx.read("SELECT min(expires_at) FROM grants", [], |row| row.get::<_, Option<i64>>(0))?;
    Ok(next.flatten().and_then(|at| Timestamp::from_millisecond(at).ok()))
}

/// The session that a grant belongs to, 0 for none.
fn session_of(tx: &Tx<'_>, grant: &Grant) -> Result<i64, StoreError> {
    let row = grant.session_id.as_deref().map(|id| call_rows::session_row(tx.db(), id));
    row.transpose().map(Option::unwrap_or_default)
}

impl SqliteStore {
    async fn all_grants(&self) -> Result<Arc<Vec<Grant>>, StoreError> {
        let changes = match self.grants.get() {
            Ok(all) => return Ok(all),
            Err(changes) => changes,
        };
        let read = self.pool.read(|db| {
            let mut statement =
                db.prepare_bounded("SELECT id, body FROM grants ORDER BY id").map_err(sql_failed)?;
            let rows = statement.query_map([], item).map_err(sql_failed)?;
            rows.map(|row| row.map(|(_, _, grant)| grant).map_err(sql_failed)).collect()
        });
        let all = Arc::new(read.await?);
        self.grants.keep(changes, &all);
        Ok(all)
    }
}

#[async_trait]
impl GrantStore for SqliteStore {
    async fn grants(&self, page: PageRequest) -> Result<Page<Grant>, StoreError> {
        let (from, now) = (after(&page)?, self.clock.now().as_millisecond());
        self.pool
            .read(move |db| {
                let mut statement = db
                    .prepare_bounded(
                        "SELECT id, body FROM grants WHERE id > ?1 AND expires_at > ?2 ORDER BY id",
                    )
                    .map_err(sql_failed)?;
                fill(page.limit, statement.query_map([from, now], item).map_err(sql_failed)?)
            })
            .await
    }

    async fn grants_for(
        &self,
        session_id: &str,
        agent: &str,
        workspace_root: &str,
    ) -> Result<Vec<Grant>, StoreError> {
        let now = self.clock.now();
        let holds = |grant: &&Grant| match grant.scope {
            _ if grant.expires_at <= now => false,
            Scope::Once => false,
            Scope::Session => grant.session_id.as_deref() == Some(session_id),
            Scope::Always => grant.agent == agent && grant.workspace_root == workspace_root,
        };
        Ok(self.all_grants().await?.iter().filter(holds).cloned().collect())
    }

    async fn revoke(&self, grant_id: &str, by: &str) -> Result<bool, StoreError> {
        let (grant_id, by) = (grant_id.to_owned(), by.to_owned());
        let revoke = move |tx: &mut Tx<'_>| {
            tx.grants_change();
            let now = tx.now().as_millisecond();
            let gone = tx.read(
                "DELETE FROM grants WHERE grant_id = ?1 AND expires_at > ?2 RETURNING id, body",
                (grant_id, now),
                item,
            )?;
            let Some((_, _, grant)) = gone else { return Ok(false) };
            let session = session_of(tx, &grant)?;
            audit::granted(tx, session, &grant, AuditDecision::Revoked, &by).map(|()| true)
        };
        self.writer.run(true, revoke).await
    }

    async fn expire_grants(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.writer.run(false, move |tx| expire(tx, now)).await
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::fixture::{Fixture, Hands, ask, decision, moment, resolved};
    use super::*;
    use crate::domain::approval::Choice;
    use crate::domain::clock::Clock as _;
    use crate::domain::event::Resolution;
    use crate::store::{ApprovalStore as _, AuditFilter, AuditStore as _, CallStore as _, SessionStore as _};

    pub(in super::super) fn grant(id: &str, scope: Scope) -> Grant {
        Grant {
            grant_id: id.to_owned(),
            pattern: format!("Bash({id})"),
            directory: Some(".".to_owned()),
            scope,
            session_id: (scope == Scope::Session).then(|| "s".to_owned()),
            agent: "agent".to_owned(),
            workspace_root: "/w".to_owned(),
            approval_id: "a".to_owned(),
            granted_by: "operator".to_owned(),
            created_at: moment(),
            expires_at: "2222-02-22T00:00:00Z".parse().unwrap(),
        }
    }

    async fn give(f: &Fixture, grant: Grant) {
        let id = grant.grant_id.clone();
        f.accept_one(&id).await;
        f.step(ask(&id, &id)).await.unwrap();
        let event = resolved(&id, &id, Resolution::Allow);
        f.decide(&id, decision(Choice::Allow, None), Some(grant), event).await.unwrap();
    }

    async fn holding(f: &Fixture, session: &str, agent: &str, root: &str) -> Vec<String> {
        let grants = f.grants_for(session, agent, root).await.unwrap();
        grants.into_iter().map(|grant| grant.grant_id).collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn grants_hold_where_they_were_given() {
        let f = Fixture::new().await;
        assert_eq!(holding(&f, "s", "agent", "/w").await, [""; 0]);
        give(&f, grant("session", Scope::Session)).await;
        give(&f, grant("always", Scope::Always)).await;
        for _ in 0..2 {
            assert_eq!(holding(&f, "s", "agent", "/w").await, ["session", "always"]);
            assert_eq!(holding(&f, "other", "agent", "/w").await, ["always"]);
            assert_eq!(holding(&f, "other", "someone", "/w").await, [""; 0]);
            assert_eq!(holding(&f, "other", "agent", "/elsewhere").await, [""; 0]);
        }
        let f = f.reopened().await;
        assert_eq!(holding(&f, "s", "agent", "/w").await, ["session", "always"]);
        let page = f.grants(PageRequest { cursor: None, limit: 1 }).await.unwrap();
        assert_eq!((page.items[0].grant_id.as_str(), page.next_cursor.is_some()), ("session", true));
        assert!(f.revoke("always", "operator").await.unwrap());
        assert!(!f.revoke("always", "operator").await.unwrap());
        assert_eq!(holding(&f, "s", "agent", "/w").await, ["session"]);
        assert_eq!(f.grants(PageRequest { cursor: None, limit: 9 }).await.unwrap().items.len(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_revocation_holds_though_its_request_went_away() {
        let f = Fixture::new().await;
        give(&f, grant("always", Scope::Always)).await;
        assert_eq!(holding(&f, "s", "agent", "/w").await, ["always"]);
        // Polled once: the command is queued, then nobody waits for its answer.
        let mut request = Box::pin(f.revoke("always", "operator"));
        let _ = futures_util::poll!(&mut request);
        drop(request);
        // A later command is answered after it.
        f.revoke("nothing", "operator").await.unwrap();
        assert_eq!(holding(&f, "s", "agent", "/w").await, [""; 0]);
    }

    fn after(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(moment().as_millisecond() + ms).unwrap()
    }

    /// What the audit log tells of grants.
    async fn told(f: &Fixture) -> Vec<String> {
        let page = f.audit(AuditFilter::default(), PageRequest { cursor: None, limit: 999 }).await.unwrap();
        let grants = page.items.iter().filter_map(|entry| {
            let of = entry.record.grant_id.as_ref()?;
            Some(format!("{} {of} by {}", entry.record.decision.as_str(), entry.record.by))
        });
        grants.collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_grant_holds_until_its_time_is_over_and_not_a_moment_longer() {
        let hands = Hands::at(moment());
        let f = Fixture::at(&hands).await;
        give(&f, Grant { expires_at: after(1_000), ..grant("always", Scope::Always) }).await;
        give(&f, Grant { expires_at: after(2_000), ..grant("session", Scope::Session) }).await;
        hands.go_on(999);
        assert_eq!(holding(&f, "s", "agent", "/w").await, ["always", "session"]);
        hands.go_on(1);
        assert_eq!(holding(&f, "s", "agent", "/w").await, ["session"]);
        let listed = f.grants(PageRequest { cursor: None, limit: 9 }).await.unwrap().items;
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert!(!f.revoke("always", "operator").await.unwrap(), "there is nothing left to take back");
        assert_eq!(told(&f).await, ["granted always by operator", "granted session by operator"]);
        // Only its removal waits for the sweep.
        assert_eq!(f.expire_grants(hands.now()).await.unwrap(), Some(after(2_000)));
        assert_eq!(f.expire_grants(hands.now()).await.unwrap(), Some(after(2_000)));
        assert_eq!(told(&f).await[2..], ["expired always by server"]);
        hands.go_on(5_000);
        assert_eq!(f.expire_grants(hands.now()).await.unwrap(), None);
        assert_eq!(told(&f).await[3..], ["expired session by server"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn many_expire_a_bounded_number_at_once() {
        let f = Fixture::at(&Hands::at(moment())).await;
        let many = i64::try_from(EXPIRED_AT_ONCE).unwrap() + 1;
        for n in 1..=many {
            give(&f, Grant { expires_at: after(n), ..grant(&n.to_string(), Scope::Always) }).await;
        }
        assert_eq!(f.expire_grants(after(many)).await.unwrap(), Some(after(many)));
        assert_eq!(f.expire_grants(after(many)).await.unwrap(), None);
        let told = told(&f).await;
        let expired: Vec<_> = told.iter().filter(|line| line.starts_with("expired")).collect();
        assert_eq!(expired.len(), EXPIRED_AT_ONCE + 1, "each once");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn grants_of_a_session_end_with_it() {
        let f = Fixture::new().await;
        give(&f, grant("session", Scope::Session)).await;
        give(&f, grant("always", Scope::Always)).await;
        f.end_session("s").await.unwrap();
        assert_eq!(holding(&f, "s", "agent", "/w").await, ["always"]);
        assert_eq!(told(&f).await[2..], ["expired session by server"]);
        f.end_session("s").await.unwrap();
        assert_eq!(told(&f).await.len(), 3);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_granted_anew_holds_longer_under_its_id() {
        let hands = Hands::at(moment());
        let f = Fixture::at(&hands).await;
        give(&f, Grant { expires_at: after(1_000), ..grant("g", Scope::Session) }).await;
        let anew = Grant { expires_at: after(2_000), ..grant("g", Scope::Session) };
        f.accept_one("again").await;
        f.step(ask("again", "again")).await.unwrap();
        let event = resolved("again", "again", Resolution::Allow);
        f.decide("again", decision(Choice::Allow, None), Some(anew.clone()), event).await.unwrap();
        hands.go_on(1_500);
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap(), [anew]);
        assert_eq!(f.expire_grants(hands.now()).await.unwrap(), Some(after(2_000)));
        assert_eq!(told(&f).await, ["granted g by operator", "granted g by operator"]);
    }

    #[test]
    fn a_read_that_began_before_a_change_is_not_kept() {
        let cache = GrantCache::default();
        let before = cache.get().unwrap_err();
        cache.forget();
        cache.keep(before, &Arc::new(vec![grant("stale", Scope::Always)]));
        let now = cache.get().unwrap_err();
        cache.keep(now, &Arc::new(Vec::new()));
        assert!(cache.get().is_ok());
    }
}
