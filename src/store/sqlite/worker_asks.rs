//! Asks of workers: taken once under their worker's id, withdrawn, expired; each with its event.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _};

use super::SqliteStore;
use super::approvals::{approval, by_id};
use super::bounded::PrepareBounded as _;
use super::codec::{sql_failed, to_json};
use super::events::{PreparedEvent, log_of_no_session};
use super::tx::Tx;
use crate::domain::approval::{Approval, ApprovalStatus, Scope};
use crate::domain::clock::Timestamp;
use crate::domain::event::{AgentEvent, CallRef, Resolution};
use crate::store::{Asked, ENDED_KEPT, NewWorkerAsk, StoreError, WorkerAsks};

/// The most asks that one step expires.
const EXPIRED_AT_ONCE: usize = 64;
/// The most asks that one step forgets.
const PRUNED_AT_ONCE: i64 = 64;

/// An ask as it is written.
struct Prepared {
    token: String,
    ask_id: String,
    fingerprint: String,
    pending_max: usize,
    expires_at: i64,
    body: String,
    event: PreparedEvent,
    approval: Approval,
}

impl Prepared {
    fn new(new: NewWorkerAsk) -> Result<Self, StoreError> {
        let NewWorkerAsk { ask_id, fingerprint, approval, pending_max } = new;
        let Some(worker) = &approval.worker else {
            return Err(StoreError::Failed("an ask is a worker's".to_owned()));
        };
        if approval.status != ApprovalStatus::Pending || approval.decision.is_some() {
            return Err(StoreError::Failed("a new approval is pending and undecided".to_owned()));
        }
        let event = AgentEvent::ToolApprovalRequested {
            call: CallRef::from(&approval.call),
            approval: Box::new(approval.clone()),
        };
        Ok(Self {
            token: worker.token.clone(),
            ask_id,
            fingerprint: fingerprint.as_str().to_owned(),
            pending_max,
            expires_at: approval.expires_at.as_millisecond(),
            body: to_json(&approval)?,
            event: PreparedEvent::new(&event)?,
            approval,
        })
    }
}

#[async_trait]
impl WorkerAsks for SqliteStore {
    async fn ask_for_worker(&self, new: NewWorkerAsk) -> Result<Asked, StoreError> {
        let new = Prepared::new(new)?;
        self.writer.run(false, move |tx| ask(tx, new)).await
    }

    async fn worker_ask(&self, token: &str, ask_id: &str) -> Result<Option<Approval>, StoreError> {
        let (token, ask_id) = (token.to_owned(), ask_id.to_owned());
        self.pool.read(move |db| Ok(find(db, &token, &ask_id)?.map(|(approval, _)| approval))).await
    }

    async fn withdraw_worker_ask(&self, token: &str, ask_id: &str) -> Result<Option<Approval>, StoreError> {
        let (token, ask_id) = (token.to_owned(), ask_id.to_owned());
        let withdraw = move |tx: &mut Tx<'_>| {
            let Some((approval, _)) = find(tx.db(), &token, &ask_id)? else { return Ok(None) };
            if approval.status != ApprovalStatus::Pending {
                return Ok(Some(approval));
            }
            close(tx, approval, ApprovalStatus::Cancelled, Resolution::Cancelled, &token).map(Some)
        };
        self.writer.run(false, withdraw).await
    }

    async fn expire_worker_asks(&self, now: Timestamp) -> Result<(usize, Option<Timestamp>), StoreError> {
        self.writer.run(false, move |tx| expire(tx, now)).await
    }

    async fn prune_worker_asks(&self, before: Timestamp) -> Result<bool, StoreError> {
        self.writer.run(false, move |tx| prune(tx, before)).await
    }
}

/// The approval of an ask, with the fingerprint that it was taken with.
fn find(db: &Connection, token: &str, ask_id: &str) -> Result<Option<(Approval, String)>, StoreError> {
    db.prepare_bounded(
        "SELECT a.id, a.body, a.status, a.decision, a.call, w.fingerprint
            FROM worker_asks w JOIN approvals a ON a.id = w.approval WHERE w.token = ?1 AND w.ask_id = ?2",
    )
    .and_then(|mut statement| {
        statement.query_row([token, ask_id], |row| Ok((approval(row)?, row.get(5)?))).optional()
    })
    .map_err(sql_failed)
}

fn ask(tx: &mut Tx<'_>, new: Prepared) -> Result<Asked, StoreError> {
    if let Some((approval, fingerprint)) = find(tx.db(), &new.token, &new.ask_id)? {
        let same = fingerprint == new.fingerprint;
        return Ok(if same { Asked::Existing(approval) } else { Asked::Conflict });
    }
    let waiting =
        tx.read("SELECT count(*) FROM worker_asks WHERE token = ?1 AND open = 1", [&new.token], |row| {
            row.get::<_, i64>(0)
        })?;
    if usize::try_from(waiting.unwrap_or(0)).unwrap_or(usize::MAX) >= new.pending_max {
        return Err(StoreError::TooManyPending);
    }
    make_room(tx, &new.token)?;
    let id = tx.read("SELECT coalesce(max(id), 0) + 1 FROM approvals", [], |row| row.get::<_, i64>(0))?;
    let id = id.unwrap_or(1);
    tx.write(
        "INSERT INTO approvals (id, approval_id, session, call, status, spent, body)
            VALUES (?1, ?2, 0, -?1, 'pending', 0, ?3)",
        (id, &new.approval.approval_id, &new.body),
    )?;
    tx.write(
        "INSERT INTO worker_asks (approval, token, ask_id, fingerprint, expires_at, open)
            VALUES (?1, ?2, ?3, ?4, ?5, 1)",
        (id, &new.token, &new.ask_id, &new.fingerprint, new.expires_at),
    )?;
    log_of_no_session(tx, new.event)?;
    Ok(Asked::New(new.approval))
}

/// Of a token's asks that are over the oldest go, where there are more than are kept.
fn make_room(tx: &Tx<'_>, token: &str) -> Result<(), StoreError> {
    let kept = i64::try_from(ENDED_KEPT).unwrap_or(i64::MAX);
    let last = tx.read(
        "SELECT approval FROM worker_asks WHERE token = ?1 AND open = 0 ORDER BY approval DESC LIMIT 1 OFFSET ?2",
        (token, kept - 1),
        |row| row.get::<_, i64>(0),
    )?;
    let Some(last) = last else { return Ok(()) };
    tx.write(
        "DELETE FROM approvals WHERE id IN
            (SELECT approval FROM worker_asks WHERE token = ?1 AND open = 0 AND approval < ?2)",
        (token, last),
    )?;
    tx.write("DELETE FROM worker_asks WHERE token = ?1 AND open = 0 AND approval < ?2", (token, last))
        .map(drop)
}

fn prune(tx: &Tx<'_>, before: Timestamp) -> Result<bool, StoreError> {
    for _ in 0..PRUNED_AT_ONCE {
        let gone = tx.read(
            "DELETE FROM worker_asks WHERE approval =
                (SELECT approval FROM worker_asks WHERE open = 0 AND expires_at < ?1 ORDER BY expires_at LIMIT 1)
                RETURNING approval",
            [before.as_millisecond()],
            |row| row.get::<_, i64>(0),
        )?;
        let Some(gone) = gone else { return Ok(false) };
        tx.write("DELETE FROM approvals WHERE id = ?1", [gone])?;
    }
    Ok(true)
}

/// It no longer waits.
pub(super) fn no_longer_open(tx: &Tx<'_>, approval_id: &str) -> Result<(), StoreError> {
    tx.write(
        "UPDATE worker_asks SET open = 0 WHERE approval = (SELECT id FROM approvals WHERE approval_id = ?1)",
        [approval_id],
    )
    .map(drop)
}

/// Ends one that waits, without a decision.
fn close(
    tx: &mut Tx<'_>,
    mut approval: Approval,
    status: ApprovalStatus,
    resolution: Resolution,
    by: &str,
) -> Result<Approval, StoreError> {
    tx.write(
        "UPDATE approvals SET status = ?2 WHERE approval_id = ?1",
        (&approval.approval_id, status.as_str()),
    )?;
    no_longer_open(tx, &approval.approval_id)?;
    let event = AgentEvent::ToolApprovalResolved {
        call: CallRef::from(&approval.call),
        approval_id: approval.approval_id.clone(),
        decision: resolution,
        scope: Scope::Once,
        by: by.to_owned(),
        arguments: None,
    };
    log_of_no_session(tx, PreparedEvent::new(&event)?)?;
    approval.status = status;
    Ok(approval)
}

fn expire(tx: &mut Tx<'_>, now: Timestamp) -> Result<(usize, Option<Timestamp>), StoreError> {
    let now = now.as_millisecond();
    let mut expired = 0;
    let due = |tx: &Tx<'_>| {
        tx.read(
            "SELECT w.expires_at, a.approval_id FROM worker_asks w JOIN approvals a ON a.id = w.approval
                WHERE w.open = 1 ORDER BY w.expires_at LIMIT 1",
            [],
            |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)),
        )
    };
    loop {
        let Some((at, approval_id)) = due(tx)? else { return Ok((expired, None)) };
        if at > now || expired == EXPIRED_AT_ONCE {
            return Ok((expired, Timestamp::from_millisecond(at).ok()));
        }
        let found = by_id(tx.db(), &approval_id)?.ok_or(StoreError::NotFound)?;
        close(tx, found.approval, ApprovalStatus::Expired, Resolution::Expired, "server")?;
        expired += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, approval as sample, decision, moment, resolved};
    use super::*;
    use crate::domain::approval::{Choice, Worker};
    use crate::domain::digest::Digest;
    use crate::store::{ApprovalFilter, ApprovalStore as _, EventLog as _, EventQuery, PageRequest};

    fn ask(id: &str, token: &str) -> NewWorkerAsk {
        let mut approval = *sample(&format!("apr_{token}_{id}"), id);
        approval.worker = Some(Worker { token: token.to_owned(), name: "w".to_owned() });
        let fingerprint = Digest::of(id.as_bytes());
        NewWorkerAsk { ask_id: id.to_owned(), fingerprint, approval, pending_max: 2 }
    }

    async fn events(f: &Fixture) -> Vec<String> {
        let query = EventQuery { limit: 1000, ..EventQuery::default() };
        let page = f.events(query).await.unwrap();
        let resolution = |json: &str| {
            let event: serde_json::Value = serde_json::from_str(json).unwrap();
            event["decision"].as_str().map(str::to_owned)
        };
        let all = page.events.iter().map(|event| resolution(&event.json).unwrap_or(event.kind.clone()));
        all.filter(|kind| kind != "session_started").collect()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_ask_is_taken_once_and_found_after_a_restart() {
        let f = Fixture::new().await;
        let new = ask("a", "t");
        assert_eq!(f.ask_for_worker(new.clone()).await.unwrap(), Asked::New(new.approval.clone()));
        let f = f.reopened().await;
        let again = NewWorkerAsk { approval: ask("z", "t").approval, ..new.clone() };
        assert_eq!(f.ask_for_worker(again).await.unwrap(), Asked::Existing(new.approval.clone()));
        let other = NewWorkerAsk { fingerprint: Digest::of(b"other"), ..new.clone() };
        assert_eq!(f.ask_for_worker(other).await.unwrap(), Asked::Conflict);
        assert_eq!(f.worker_ask("t", "a").await.unwrap(), Some(new.approval));
        assert_eq!(f.worker_ask("u", "a").await.unwrap(), None);
        assert_eq!(events(&f).await, ["tool_approval_requested"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_worker_has_its_bound_and_others_have_theirs() {
        let f = Fixture::new().await;
        for (id, token) in [("a", "t"), ("b", "t"), ("a", "u")] {
            assert!(matches!(f.ask_for_worker(ask(id, token)).await.unwrap(), Asked::New(_)));
        }
        assert!(matches!(f.ask_for_worker(ask("c", "t")).await, Err(StoreError::TooManyPending)));
        f.withdraw_worker_ask("t", "a").await.unwrap().unwrap();
        assert!(matches!(f.ask_for_worker(ask("c", "t")).await.unwrap(), Asked::New(_)));
        let filter = ApprovalFilter { status: Some(ApprovalStatus::Pending), session_id: None, fold: false };
        let page = f.approvals(filter, PageRequest { cursor: None, limit: 9 }).await.unwrap();
        let ids: Vec<&str> = page.items.iter().map(|item| item.approval_id.as_str()).collect();
        assert_eq!(ids, ["apr_t_b", "apr_u_a", "apr_t_c"]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_is_over_is_forgotten_after_its_time_and_not_before() {
        let f = Fixture::new().await;
        for (id, token) in [("waits", "t"), ("denied", "t"), ("denied", "u")] {
            f.ask_for_worker(ask(id, token)).await.unwrap();
        }
        for token in ["t", "u"] {
            let event = resolved("denied", &format!("apr_{token}_denied"), Resolution::Deny);
            f.decide(&format!("apr_{token}_denied"), decision(Choice::Deny, None), None, event)
                .await
                .unwrap();
        }
        assert!(!f.prune_worker_asks(moment()).await.unwrap());
        assert!(f.worker_ask("t", "denied").await.unwrap().is_some(), "its time is not over yet");
        let later = Timestamp::from_millisecond(moment().as_millisecond() + 1).unwrap();
        assert!(!f.prune_worker_asks(later).await.unwrap());
        for token in ["t", "u"] {
            assert_eq!(f.worker_ask(token, "denied").await.unwrap(), None);
        }
        assert_eq!(f.worker_ask("t", "waits").await.unwrap().unwrap().status, ApprovalStatus::Pending);
        let page =
            f.approvals(ApprovalFilter::default(), PageRequest { cursor: None, limit: 9 }).await.unwrap();
        assert_eq!(page.items.len(), 1, "nor is it in the list");
        assert!(matches!(f.ask_for_worker(ask("denied", "t")).await.unwrap(), Asked::New(_)), "asked anew");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn of_what_is_over_only_the_latest_are_kept() {
        let f = Fixture::new().await;
        let waits = ask("waits", "t");
        f.ask_for_worker(waits).await.unwrap();
        f.ask_for_worker(ask("old", "u")).await.unwrap();
        f.withdraw_worker_ask("u", "old").await.unwrap();
        for n in 0..=ENDED_KEPT {
            f.ask_for_worker(ask(&n.to_string(), "t")).await.unwrap();
            f.withdraw_worker_ask("t", &n.to_string()).await.unwrap();
        }
        f.ask_for_worker(ask("last", "t")).await.unwrap();
        assert_eq!(f.worker_ask("t", "0").await.unwrap(), None);
        for (token, id) in [("t", "1"), ("t", "waits"), ("u", "old")] {
            assert!(f.worker_ask(token, id).await.unwrap().is_some(), "{id}");
        }
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_ends_first_stands() {
        let f = Fixture::new().await;
        for id in ["a", "b"] {
            f.ask_for_worker(ask(id, "t")).await.unwrap();
        }
        let allow = || {
            let event = resolved("a", "apr_t_a", Resolution::Allow);
            f.decide("apr_t_a", decision(Choice::Allow, None), None, event)
        };
        assert_eq!(allow().await.unwrap().status, ApprovalStatus::Allowed);
        assert!(matches!(allow().await, Err(StoreError::ApprovalMoved(_))));
        let status = |approval: Option<Approval>| approval.unwrap().status;
        assert_eq!(status(f.withdraw_worker_ask("t", "a").await.unwrap()), ApprovalStatus::Allowed);
        let early = Timestamp::from_millisecond(moment().as_millisecond() - 1).unwrap();
        assert_eq!(f.expire_worker_asks(early).await.unwrap(), (0, Some(moment())));
        assert_eq!(f.expire_worker_asks(moment()).await.unwrap(), (1, None));
        assert_eq!(status(f.worker_ask("t", "a").await.unwrap()), ApprovalStatus::Allowed);
        assert_eq!(status(f.worker_ask("t", "b").await.unwrap()), ApprovalStatus::Expired);
        assert_eq!(f.withdraw_worker_ask("t", "none").await.unwrap(), None);
        let requested = "tool_approval_requested";
        assert_eq!(events(&f).await, [requested, requested, "allow", "expired"]);
    }
}
