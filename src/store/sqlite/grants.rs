//! Grants: kept in the database, and in memory, since each call that is judged asks for them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rusqlite::Row;

use super::SqliteStore;
use super::audit;
use super::call_rows;
use super::codec::{Item, after, fill, from_json, sql_failed, to_json};
use super::tx::Tx;
use crate::domain::approval::Scope;
use crate::domain::audit::AuditDecision;
use crate::domain::grant::Grant;
use crate::store::{GrantStore, Page, PageRequest, StoreError};

/// A grant with its JSON.
pub(super) struct PreparedGrant {
    grant: Grant,
    body: String,
}

impl PreparedGrant {
    pub(super) fn new(grant: &Grant) -> Result<Self, StoreError> {
        Ok(Self { body: to_json(grant)?, grant: grant.clone() })
    }

    /// Inserts it, from an approval of this session.
    pub(super) fn insert(&self, tx: &mut Tx<'_>, session: i64) -> Result<(), StoreError> {
        tx.grants_change();
        tx.write("INSERT INTO grants (grant_id, body) VALUES (?1, ?2)", (&self.grant.grant_id, &self.body))?;
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

impl SqliteStore {
    async fn all_grants(&self) -> Result<Arc<Vec<Grant>>, StoreError> {
        let changes = match self.grants.get() {
            Ok(all) => return Ok(all),
            Err(changes) => changes,
        };
        let read = self.pool.read(|db| {
            let mut statement =
                db.prepare_cached("SELECT id, body FROM grants ORDER BY id").map_err(sql_failed)?;
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
        let from = after(&page)?;
        self.pool
            .read(move |db| {
                let mut statement = db
                    .prepare_cached("SELECT id, body FROM grants WHERE id > ?1 ORDER BY id")
                    .map_err(sql_failed)?;
                fill(page.limit, statement.query_map([from], item).map_err(sql_failed)?)
            })
            .await
    }

    async fn grants_for(
        &self,
        session_id: &str,
        agent: &str,
        workspace_root: &str,
    ) -> Result<Vec<Grant>, StoreError> {
        let holds = |grant: &&Grant| match grant.scope {
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
            let gone =
                tx.read("DELETE FROM grants WHERE grant_id = ?1 RETURNING id, body", [grant_id], item)?;
            let Some((_, _, grant)) = gone else { return Ok(false) };
            let of_session = grant.session_id.as_deref().map(|id| call_rows::session_row(tx.db(), id));
            let session = of_session.transpose()?.unwrap_or(0);
            audit::granted(tx, session, &grant, AuditDecision::Revoked, &by).map(|()| true)
        };
        self.writer.run(true, revoke).await
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::fixture::{Fixture, ask, decision, moment, resolved};
    use super::*;
    use crate::domain::approval::Choice;
    use crate::domain::event::Resolution;
    use crate::store::{ApprovalStore as _, CallStore as _};

    pub(in super::super) fn grant(id: &str, scope: Scope) -> Grant {
        Grant {
            grant_id: id.to_owned(),
            pattern: format!("Bash({id})"),
            scope,
            session_id: (scope == Scope::Session).then(|| "s".to_owned()),
            agent: "agent".to_owned(),
            workspace_root: "/w".to_owned(),
            approval_id: "a".to_owned(),
            granted_by: "operator".to_owned(),
            created_at: moment(),
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
