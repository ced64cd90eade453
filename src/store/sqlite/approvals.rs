//! Approvals: opened, superseded, spent and closed by the steps of their call; decided by people.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension as _, Row};

use super::SqliteStore;
use super::bounded::PrepareBounded as _;
use super::call_rows;
use super::calls::{known_call, log_beside_steps};
use super::codec::{
    Item, after, fill, from_json, from_json_opt, from_name, sql_failed, to_json, to_json_opt,
};
use super::events::{PreparedEvent, log_of_no_session};
use super::folding::Folding;
use super::forwarded_asks;
use super::grants::PreparedGrant;
use super::tx::Tx;
use super::worker_asks;
use crate::domain::approval::{Approval, ApprovalStatus, Choice, Decision, PENDING_MAX};
use crate::domain::event::AgentEvent;
use crate::domain::grant::Grant;
use crate::domain::identity::CallKey;
use crate::store::{ApprovalFilter, ApprovalStep, ApprovalStore, Page, PageRequest, StoreError};
use crate::telemetry::metrics::between;

/// What a step does to approvals, with a new one as JSON.
pub(super) enum PreparedApprovals {
    None,
    Open(NewRow),
    Supersede { old: String, seen: ApprovalStatus, new: NewRow },
    Spend { approval_id: String, grants: Vec<PreparedGrant> },
    Close(ApprovalStatus),
}

/// A new approval.
pub(super) struct NewRow {
    approval_id: String,
    body: String,
    of_token: usize,
    /// Until when it may wait at the host.
    at_host: Option<i64>,
}

impl PreparedApprovals {
    /// An approval is bound to its call: one of another call is refused.
    pub(super) fn new(step: ApprovalStep, session_id: &str, key: &CallKey) -> Result<Self, StoreError> {
        let row = |approval: Box<Approval>, of_token| {
            let own = approval.session_id == session_id && approval.call == *key;
            if !own || approval.status != ApprovalStatus::Pending || approval.decision.is_some() {
                return Err(StoreError::Failed(
                    "a new approval is its call's own, pending and undecided".to_owned(),
                ));
            }
            let (body, at_host) = (to_json(&approval)?, forwarded_asks::ends_at(&approval));
            Ok(NewRow { body, approval_id: approval.approval_id, of_token, at_host })
        };
        Ok(match step {
            ApprovalStep::None => Self::None,
            ApprovalStep::Open { new, of_token } => Self::Open(row(new, of_token)?),
            ApprovalStep::Supersede { old, seen, new, of_token } => {
                Self::Supersede { old, seen, new: row(new, of_token)? }
            }
            ApprovalStep::Spend(approval_id) => Self::Spend { approval_id, grants: Vec::new() },
            ApprovalStep::Redeem { approval_id, grants } => {
                let grants = grants.iter().map(PreparedGrant::new).collect::<Result<_, _>>()?;
                Self::Spend { approval_id, grants }
            }
            ApprovalStep::Close(status) => Self::Close(status),
        })
    }
}

/// Does a step's part on approvals of one call.
pub(super) fn apply(
    tx: &mut Tx<'_>,
    session: i64,
    call: i64,
    step: PreparedApprovals,
) -> Result<(), StoreError> {
    match step {
        PreparedApprovals::None => Ok(()),
        PreparedApprovals::Open(new) => open(tx, session, call, &new),
        PreparedApprovals::Supersede { old, seen, new } => {
            let sql = if seen == ApprovalStatus::Pending {
                "UPDATE approvals SET status = 'superseded' WHERE approval_id = ?1 AND call = ?2
                    AND status = 'pending'"
            } else {
                "UPDATE approvals SET status = 'superseded' WHERE approval_id = ?1 AND call = ?2
                    AND status = 'allowed' AND spent = 0"
            };
            move_on(tx, &old, call, sql)?;
            open(tx, session, call, &new)
        }
        PreparedApprovals::Spend { approval_id, grants } => {
            move_on(
                tx,
                &approval_id,
                call,
                "UPDATE approvals SET spent = 1
                    WHERE approval_id = ?1 AND call = ?2 AND status = 'allowed' AND spent = 0",
            )?;
            grants.iter().try_for_each(|grant| grant.insert(tx, session))
        }
        PreparedApprovals::Close(status) => match close(tx, call, status)? {
            Some(_) => Ok(()),
            None => Err(none_waits(tx, call)?),
        },
    }
}

/// That nothing of a call waits any more, and how the latest approval stands.
fn none_waits(tx: &Tx<'_>, call: i64) -> Result<StoreError, StoreError> {
    let latest = tx.read(
        "SELECT approval_id FROM approvals WHERE call = ?1 ORDER BY id DESC LIMIT 1",
        [call],
        |row| row.get::<_, String>(0),
    )?;
    let Some(latest) = latest else { return Ok(StoreError::NotFound) };
    let found = by_id(tx.db(), &latest)?.ok_or(StoreError::NotFound)?;
    Ok(StoreError::ApprovalMoved(Box::new(found.approval)))
}

/// Gives what waits of a call this status; which one it was.
pub(super) fn close(tx: &Tx<'_>, call: i64, status: ApprovalStatus) -> Result<Option<String>, StoreError> {
    tx.read(
        "UPDATE approvals SET status = ?2 WHERE call = ?1 AND status = 'pending' RETURNING approval_id",
        (call, status.as_str()),
        |row| row.get(0),
    )
}

/// A conditional update of one approval of a call; where it does not hold, the approval has moved.
fn move_on(tx: &Tx<'_>, approval_id: &str, call: i64, sql: &'static str) -> Result<(), StoreError> {
    if tx.write(sql, (approval_id, call))? == 1 {
        return Ok(());
    }
    let found = by_id(tx.db(), approval_id)?.filter(|found| found.call == call);
    Err(found.map_or(StoreError::NotFound, |found| StoreError::ApprovalMoved(Box::new(found.approval))))
}

fn open(tx: &Tx<'_>, session: i64, call: i64, new: &NewRow) -> Result<(), StoreError> {
    // One open approval a call: an earlier one is superseded by name, never by oversight.
    let standing = tx.read(
        "SELECT approval_id FROM approvals
            WHERE call = ?1 AND (status = 'pending' OR (status = 'allowed' AND spent = 0))",
        [call],
        |row| row.get::<_, String>(0),
    )?;
    if let Some(standing) = standing {
        let found = by_id(tx.db(), &standing)?.ok_or(StoreError::NotFound)?;
        return Err(StoreError::ApprovalMoved(Box::new(found.approval)));
    }
    if pending(tx.db(), session)? >= PENDING_MAX {
        return Err(StoreError::TooManyPending);
    }
    if pending_of_token(tx, session)? >= new.of_token {
        return Err(StoreError::TooManyOfToken);
    }
    tx.write(
        "INSERT INTO approvals (approval_id, session, call, status, spent, body)
            VALUES (?1, ?2, ?3, 'pending', 0, ?4)",
        (&new.approval_id, session, call, &new.body),
    )?;
    new.at_host.map_or(Ok(()), |until| forwarded_asks::open(tx, &new.approval_id, until))
}

/// An approval with its place.
pub(super) struct Found {
    pub(super) approval: Approval,
    session: i64,
    call: i64,
}

macro_rules! approval_columns {
    () => {
        "SELECT a.id, a.body, a.status, a.decision, a.call, a.session FROM approvals a "
    };
}

pub(super) fn approval(row: &Row<'_>) -> rusqlite::Result<Approval> {
    let mut approval: Approval = from_json(1, row.get_ref(1)?.as_str()?)?;
    approval.status = from_name(2, row.get_ref(2)?.as_str()?)?;
    approval.decision = from_json_opt(3, row.get_ref(3)?.as_str_or_null()?)?;
    Ok(approval)
}

fn item(row: &Row<'_>) -> rusqlite::Result<Item<Found>> {
    Ok((row.get(0)?, row.get_ref(1)?.as_str()?.len(), found(row)?))
}

pub(super) fn found(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found { approval: approval(row)?, call: row.get(4)?, session: row.get(5)? })
}

/// What waits in a session, oldest first.
pub(super) const WAITING_OF_SESSION: &str = concat!(
    approval_columns!(),
    "INDEXED BY approvals_pending WHERE a.session = ?1 AND a.status = 'pending' ORDER BY a.id"
);

pub(super) fn by_id(db: &Connection, approval_id: &str) -> Result<Option<Found>, StoreError> {
    db.prepare_bounded(concat!(approval_columns!(), "WHERE a.approval_id = ?1"))
        .and_then(|mut statement| statement.query_row([approval_id], found).optional())
        .map_err(sql_failed)
}

fn pending(db: &Connection, session: i64) -> Result<usize, StoreError> {
    db.prepare_bounded("SELECT count(*) FROM approvals WHERE session = ?1 AND status = 'pending'")
        .and_then(|mut statement| statement.query_row([session], |row| row.get::<_, i64>(0)))
        .map(|waiting| usize::try_from(waiting).unwrap_or(usize::MAX))
        .map_err(sql_failed)
}

/// What waits in all sessions of the token that owns this one.
fn pending_of_token(tx: &Tx<'_>, session: i64) -> Result<usize, StoreError> {
    // What waits is looked through, not the token's sessions: SQLite does not turn a CROSS JOIN round.
    let waiting = tx.read(
        "SELECT count(*) FROM approvals a INDEXED BY approvals_pending CROSS JOIN sessions s ON s.id = a.session
            WHERE a.status = 'pending' AND s.owner = (SELECT owner FROM sessions WHERE id = ?1)",
        [session],
        |row| row.get::<_, i64>(0),
    )?;
    Ok(usize::try_from(waiting.unwrap_or(0)).unwrap_or(usize::MAX))
}

#[async_trait]
impl ApprovalStore for SqliteStore {
    async fn approval(&self, approval_id: &str) -> Result<Option<Approval>, StoreError> {
        let approval_id = approval_id.to_owned();
        self.pool.read(move |db| Ok(by_id(db, &approval_id)?.map(|found| found.approval))).await
    }

    async fn approvals(
        &self,
        filter: ApprovalFilter,
        page: PageRequest,
    ) -> Result<Page<Approval>, StoreError> {
        let from = after(&page)?;
        self.pool.read(move |db| list(db, &filter, from, page.limit)).await
    }

    async fn decide(
        &self,
        approval_id: &str,
        decision: Decision,
        grant: Option<Grant>,
        event: AgentEvent,
    ) -> Result<Approval, StoreError> {
        let edited = match decision.request.decision {
            Choice::Allow => to_json_opt(decision.request.arguments.as_ref())?,
            Choice::Deny => None,
        };
        let made = Made {
            approval_id: approval_id.to_owned(),
            text: to_json(&decision)?,
            decision,
            edited,
            grant: grant.as_ref().map(PreparedGrant::new).transpose()?,
            event: PreparedEvent::new(&event)?,
        };
        if made.event.ends_call {
            return Err(StoreError::Failed("a decision does not end its call by itself".to_owned()));
        }
        let (choice, at) = (made.decision.request.decision, made.decision.at);
        let approval = self.writer.run(true, move |tx| decide(tx, made)).await?;
        self.metrics.calls().decided(choice, between(approval.created_at, at));
        Ok(approval)
    }

    async fn pending_count(&self, session_id: &str) -> Result<usize, StoreError> {
        let session_id = session_id.to_owned();
        self.pool.read(move |db| pending(db, call_rows::session_row(db, &session_id)?)).await
    }
}

/// The two ways to list: by status, where the few that wait have an index of their own.
fn list(
    db: &Connection,
    filter: &ApprovalFilter,
    from: i64,
    limit: usize,
) -> Result<Page<Approval>, StoreError> {
    const WAITING: &str = concat!(
        approval_columns!(),
        "INDEXED BY approvals_pending WHERE a.status = 'pending' AND a.id > ?1 AND (?2 IS NULL OR a.session = ?2) ORDER BY a.id"
    );
    const OF_ALL: &str =
        concat!(approval_columns!(), "WHERE a.id > ?1 AND (?2 IS NULL OR a.status = ?2) ORDER BY a.id");
    const OF_SESSION: &str = concat!(
        approval_columns!(),
        "WHERE a.session = ?3 AND a.id > ?1 AND (?2 IS NULL OR a.status = ?2) ORDER BY a.id"
    );
    let session = filter.session_id.as_deref().map(|id| call_rows::session_row(db, id)).transpose()?;
    let status = filter.status.map(ApprovalStatus::as_str);
    let sql = match (filter.status, session) {
        (Some(ApprovalStatus::Pending), _) => WAITING,
        (_, None) => OF_ALL,
        (_, Some(_)) => OF_SESSION,
    };
    let mut statement = db.prepare_bounded(sql).map_err(sql_failed)?;
    let rows = match (filter.status, session) {
        (Some(ApprovalStatus::Pending), session) => statement.query_map((from, session), item),
        (_, None) => statement.query_map((from, status), item),
        (_, Some(session)) => statement.query_map((from, status, session), item),
    };
    let mut folding = Folding::new(db);
    let named = |row: rusqlite::Result<Item<Found>>| -> Option<rusqlite::Result<Item<Approval>>> {
        let (id, weight, Found { mut approval, session, .. }) = match row {
            Ok(found) => found,
            Err(error) => return Some(Err(error)),
        };
        let waits = approval.status == ApprovalStatus::Pending;
        match if waits { folding.name(session, &mut approval) } else { Ok(false) } {
            Ok(folded) => (!(folded && filter.fold)).then_some(Ok((id, weight, approval))),
            Err(error) => Some(Err(error)),
        }
    };
    fill(limit, rows.map_err(sql_failed)?.filter_map(named))
}

/// A decision, written as far as it can be outside the writer's thread.
struct Made {
    approval_id: String,
    decision: Decision,
    text: String,
    edited: Option<String>,
    grant: Option<PreparedGrant>,
    event: PreparedEvent,
}

fn decide(tx: &mut Tx<'_>, made: Made) -> Result<Approval, StoreError> {
    let found = by_id(tx.db(), &made.approval_id)?.ok_or(StoreError::NotFound)?;
    let mut approval = found.approval;
    if approval.status != ApprovalStatus::Pending {
        return Err(StoreError::ApprovalMoved(Box::new(approval)));
    }
    let head = approval.worker.is_none().then(|| tx.active(&approval.session_id)).transpose()?;
    approval.status = match made.decision.request.decision {
        Choice::Allow => ApprovalStatus::Allowed,
        Choice::Deny => ApprovalStatus::Denied,
    };
    tx.write(
        "UPDATE approvals SET status = ?2, decision = ?3 WHERE approval_id = ?1",
        (&made.approval_id, approval.status.as_str(), &made.text),
    )?;
    if let Some(mut head) = head {
        if let Some(grant) = &made.grant {
            grant.insert(tx, head.id)?;
        }
        if let Some(edited) = &made.edited {
            call_rows::edit(tx, found.call, edited)?;
            // Read again when it is next needed.
            known_call(tx, &mut head, &approval.call.storage_key())?;
        }
        log_beside_steps(tx, &mut head, made.event)?;
        tx.done(head)?;
    } else {
        worker_asks::no_longer_open(tx, &made.approval_id)?;
        log_of_no_session(tx, made.event)?;
    }
    approval.decision = Some(made.decision);
    Ok(approval)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::fixture::{Fixture, approval, ask, decision, finish, key, resolved, step, token};
    use super::*;
    use crate::domain::approval::Scope;
    use crate::domain::call::CallStatus;
    use crate::domain::event::Resolution;
    use crate::store::{CallStep, CallStore as _, EventLog as _, GrantStore as _, SessionStore as _};
    use serde_json::json;

    const WAITS: &[CallStatus] = &[CallStatus::AwaitingApproval];

    fn open_step(new: Box<Approval>) -> ApprovalStep {
        ApprovalStep::Open { new, of_token: PENDING_MAX }
    }

    async fn waiting() -> Fixture {
        let f = Fixture::new().await;
        f.accept_one("c").await;
        f.step(ask("c", "a1")).await.unwrap();
        f
    }

    fn start(call: &str, approval_id: &str) -> CallStep {
        CallStep {
            approval: ApprovalStep::Spend(approval_id.to_owned()),
            sync: true,
            ..step(call, WAITS, CallStatus::Running)
        }
    }

    async fn allow(f: &Fixture, id: &str, call: &str) -> Result<Approval, StoreError> {
        f.decide(id, decision(Choice::Allow, None), None, resolved(call, id, Resolution::Allow)).await
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_approval_is_spent_once_and_by_its_own_call() {
        let f = waiting().await;
        f.accept_one("d").await;
        f.step(ask("d", "a2")).await.unwrap();
        let moved = f.step(start("c", "a1")).await.unwrap_err();
        assert!(matches!(moved, StoreError::ApprovalMoved(it) if it.status == ApprovalStatus::Pending));
        let allowed = allow(&f, "a1", "c").await.unwrap();
        assert_eq!(allowed.status, ApprovalStatus::Allowed);
        assert_eq!(f.approval("a1").await.unwrap(), Some(allowed));
        assert!(matches!(f.step(start("d", "a1")).await, Err(StoreError::NotFound)));
        let racing: Vec<_> = (0..20)
            .map(|_| {
                let store = Arc::clone(&f.store);
                // From `running` too: only the approval's own state stands in the way then.
                let from = &[CallStatus::AwaitingApproval, CallStatus::Running];
                tokio::spawn(async move { store.step(CallStep { from, ..start("c", "a1") }).await })
            })
            .collect();
        let mut spent = 0;
        for task in racing {
            match task.await.unwrap() {
                Ok(_) => spent += 1,
                Err(StoreError::ApprovalMoved(it)) => assert_eq!(it.approval_id, "a1"),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(spent, 1);
        let f = f.reopened().await;
        let again = CallStep { from: &[CallStatus::Running], ..start("c", "a1") };
        assert!(matches!(f.step(again).await, Err(StoreError::ApprovalMoved(_))));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_an_allow_grants_holds_from_the_step_that_spends_it() {
        let f = waiting().await;
        let grants = vec![
            super::super::grants::tests::grant("g1", Scope::Session),
            super::super::grants::tests::grant("g2", Scope::Session),
        ];
        let redeem = || CallStep {
            approval: ApprovalStep::Redeem { approval_id: "a1".to_owned(), grants: grants.clone() },
            sync: true,
            ..finish("c", WAITS)
        };
        assert!(matches!(f.step(redeem()).await, Err(StoreError::ApprovalMoved(_))), "nobody decided");
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap(), []);
        allow(&f, "a1", "c").await.unwrap();
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap(), []);
        assert_eq!(f.step(redeem()).await.unwrap().status, CallStatus::Completed);
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap(), grants);
        assert!(matches!(f.step(redeem()).await, Err(StoreError::CallMoved(_))));
        let f = f.reopened().await;
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap(), grants);
        let again = CallStep {
            from: &[CallStatus::Completed],
            patch: crate::store::CallPatch::default(),
            events: Vec::new(),
            ..redeem()
        };
        assert!(matches!(f.step(again).await, Err(StoreError::ApprovalMoved(_))));
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap().len(), 2);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn p15_a_decision_is_made_once() {
        let f = waiting().await;
        let racing: Vec<_> = [Choice::Allow, Choice::Deny]
            .into_iter()
            .cycle()
            .take(20)
            .map(|choice| {
                let store = Arc::clone(&f.store);
                let event = resolved("c", "a1", choice.into());
                tokio::spawn(async move { store.decide("a1", decision(choice, None), None, event).await })
            })
            .collect();
        let mut decided = Vec::new();
        let mut standing = Vec::new();
        for task in racing {
            match task.await.unwrap() {
                Ok(approval) => decided.push(approval),
                Err(StoreError::ApprovalMoved(approval)) => standing.push(*approval),
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(decided.len(), 1);
        assert!(standing.iter().all(|it| *it == decided[0]));
        let kinds = f.kinds("s").await;
        assert_eq!(kinds[2..], ["tool_approval_requested", "tool_approval_resolved"]);
        // After the call was cancelled.
        f.accept_one("d").await;
        f.step(ask("d", "a2")).await.unwrap();
        let end = CallStep {
            approval: ApprovalStep::Close(ApprovalStatus::Cancelled),
            to: CallStatus::Cancelled,
            ..finish("d", WAITS)
        };
        f.step(end).await.unwrap();
        let late = allow(&f, "a2", "d").await.unwrap_err();
        assert!(matches!(late, StoreError::ApprovalMoved(it) if it.status == ApprovalStatus::Cancelled));
        assert!(matches!(allow(&f, "nothing", "d").await, Err(StoreError::NotFound)));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_expiry_after_the_decision_changes_nothing() {
        let f = waiting().await;
        let expire = CallStep {
            approval: ApprovalStep::Close(ApprovalStatus::Expired),
            to: CallStatus::Denied,
            ..finish("c", WAITS)
        };
        allow(&f, "a1", "c").await.unwrap();
        let before = f.kinds("s").await;
        let late = f.step(expire).await.unwrap_err();
        assert!(matches!(late, StoreError::ApprovalMoved(it) if it.status == ApprovalStatus::Allowed));
        assert_eq!(f.kinds("s").await, before);
        f.step(start("c", "a1")).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_superseded_one_makes_way() {
        let f = waiting().await;
        let second = CallStep {
            approval: open_step(approval("a2", "c")),
            ..step("c", WAITS, CallStatus::AwaitingApproval)
        };
        // Not beside it.
        let refused = f.step(second.clone()).await.unwrap_err();
        assert!(matches!(refused, StoreError::ApprovalMoved(it) if it.approval_id == "a1"));
        let instead = |old: &str, seen: ApprovalStatus, new: &str| CallStep {
            approval: ApprovalStep::Supersede {
                old: old.to_owned(),
                seen,
                new: approval(new, "c"),
                of_token: PENDING_MAX,
            },
            ..second.clone()
        };
        let (pending, allowed) = (ApprovalStatus::Pending, ApprovalStatus::Allowed);
        assert!(matches!(f.step(instead("a1", allowed, "a2")).await, Err(StoreError::ApprovalMoved(_))));
        f.step(instead("a1", pending, "a2")).await.unwrap();
        assert_eq!(f.approval("a1").await.unwrap().unwrap().status, ApprovalStatus::Superseded);
        assert!(matches!(allow(&f, "a1", "c").await, Err(StoreError::ApprovalMoved(_))));
        // One that was allowed and not spent as well; what was superseded cannot be again.
        allow(&f, "a2", "c").await.unwrap();
        // But not by who saw it wait: the decision was first.
        let late = f.step(instead("a2", pending, "a3")).await.unwrap_err();
        assert!(matches!(late, StoreError::ApprovalMoved(it) if it.status == allowed));
        f.step(instead("a2", allowed, "a3")).await.unwrap();
        assert!(matches!(f.step(start("c", "a2")).await, Err(StoreError::ApprovalMoved(_))));
        assert!(matches!(f.step(instead("a2", allowed, "a4")).await, Err(StoreError::ApprovalMoved(_))));
        assert_eq!(f.approval("a4").await.unwrap(), None);
        assert_eq!(f.pending_count("s").await.unwrap(), 1);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn so_many_may_wait_in_a_session() {
        let f = Fixture::new().await;
        for n in 0..=PENDING_MAX {
            f.accept_one(&format!("c{n}")).await;
        }
        for n in 0..PENDING_MAX {
            f.step(ask(&format!("c{n}"), &format!("a{n}"))).await.unwrap();
        }
        let last = format!("c{PENDING_MAX}");
        let before = f.kinds("s").await.len();
        assert!(matches!(f.step(ask(&last, "more")).await, Err(StoreError::TooManyPending)));
        assert_eq!((f.kinds("s").await.len(), f.get(&last).await.status), (before, CallStatus::Queued));
        assert_eq!(f.pending_count("s").await.unwrap(), PENDING_MAX);
        allow(&f, "a7", "c7").await.unwrap();
        f.step(ask(&last, "more")).await.unwrap();
        assert_eq!(f.pending_count("other").await.unwrap(), 0);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn edited_arguments_become_the_calls() {
        let f = waiting().await;
        let edited = json!({"path": "edited"});
        let allowed = decision(Choice::Allow, Some(edited.clone()));
        f.decide("a1", allowed, None, resolved("c", "a1", Resolution::Allow)).await.unwrap();
        let call = f.get("c").await;
        assert_eq!((call.arguments, call.requested_arguments), (edited, Some(json!({"path": "a"}))));
        let running = f.step(start("c", "a1")).await.unwrap();
        assert_eq!(running, f.get("c").await);
        // A refusal edits nothing.
        f.accept_one("d").await;
        f.step(ask("d", "a2")).await.unwrap();
        let denied = decision(Choice::Deny, Some(json!({"path": "edited"})));
        f.decide("a2", denied, None, resolved("d", "a2", Resolution::Deny)).await.unwrap();
        assert_eq!(f.get("d").await.requested_arguments, None);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn what_waits_still_waits_after_a_start() {
        let f = waiting().await;
        let asked = f.approval("a1").await.unwrap().unwrap();
        assert_eq!(asked, *approval("a1", "c"));
        let f = f.reopened().await;
        assert_eq!(f.approval("a1").await.unwrap(), Some(asked.clone()));
        assert_eq!(f.get("c").await.status, CallStatus::AwaitingApproval);
        let waiting = |session_id: Option<&str>| ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            session_id: session_id.map(str::to_owned),
            fold: false,
        };
        let first = PageRequest { cursor: None, limit: 100 };
        for (filter, found) in [
            (waiting(None), 1),
            (waiting(Some("s")), 1),
            (waiting(Some("other")), 0),
            (ApprovalFilter { status: Some(ApprovalStatus::Allowed), ..ApprovalFilter::default() }, 0),
            (ApprovalFilter { session_id: Some("s".to_owned()), ..ApprovalFilter::default() }, 1),
            (ApprovalFilter::default(), 1),
        ] {
            let page = f.approvals(filter.clone(), first.clone()).await.unwrap();
            assert_eq!(page.items.len(), found, "{filter:?}");
        }
        allow(&f, "a1", "c").await.unwrap();
        assert!(f.approvals(waiting(None), first).await.unwrap().items.is_empty());
        f.step(start("c", "a1")).await.unwrap();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_failed_decision_leaves_no_grant() {
        let f = waiting().await;
        let unknown = token("unknown", "an event that cannot be written");
        let grant = super::super::grants::tests::grant("g", Scope::Session);
        let lost = f.decide("a1", decision(Choice::Allow, None), Some(grant.clone()), unknown).await;
        assert!(matches!(lost, Err(StoreError::NotFound)));
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap(), []);
        assert_eq!(f.approval("a1").await.unwrap().unwrap().status, ApprovalStatus::Pending);
        let event = resolved("c", "a1", Resolution::Allow);
        f.decide("a1", decision(Choice::Allow, None), Some(grant.clone()), event).await.unwrap();
        assert_eq!(f.grants_for("s", "agent", "/w").await.unwrap(), [grant]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn ending_the_session_leaves_nothing_waiting() {
        let f = waiting().await;
        f.end_session("s").await.unwrap();
        assert_eq!(f.approval("a1").await.unwrap().unwrap().status, ApprovalStatus::Cancelled);
        let call = f.get("c").await;
        assert_eq!((call.status, call.last_seq), (CallStatus::Cancelled, 5));
        assert!(call.result.is_some() && call.finished_at.is_some());
        let kinds = f.kinds("s").await;
        assert_eq!(kinds[3..], ["tool_approval_resolved", "tool_cancelled", "session_ended"]);
        assert!(matches!(allow(&f, "a1", "c").await, Err(StoreError::ApprovalMoved(_))));
        assert!(matches!(f.append(Some("s"), vec![]).await, Err(StoreError::SessionEnded)));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn nobody_is_asked_about_a_call_that_is_over() {
        let f = waiting().await;
        // The step says nothing of the approval.
        f.step(finish("c", WAITS)).await.unwrap();
        assert_eq!(f.approval("a1").await.unwrap().unwrap().status, ApprovalStatus::Cancelled);
        assert_eq!(f.kinds("s").await[3..], ["tool_approval_resolved", "tool_complete"]);
        assert_eq!(f.get("c").await.last_seq, 5);
    }

    #[test]
    fn an_approval_of_another_call_is_refused() {
        let other = approval("a", "other");
        assert!(PreparedApprovals::new(open_step(other), "s", &key("c")).is_err());
        let decided = Box::new(Approval { status: ApprovalStatus::Allowed, ..*approval("a", "c") });
        assert!(PreparedApprovals::new(open_step(decided), "s", &key("c")).is_err());
        assert!(PreparedApprovals::new(open_step(approval("a", "c")), "s", &key("c")).is_ok());
    }
}
