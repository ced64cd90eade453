//! Asks that this server forwarded: kept from the opening of their approval until the host has nothing of them that
//! waits.

use async_trait::async_trait;

use super::SqliteStore;
use super::bounded::PrepareBounded as _;
use super::codec::sql_failed;
use super::tx::Tx;
use crate::domain::approval::Approval;
use crate::domain::clock::Timestamp;
use crate::store::{FORWARDED_SLACK_MS, ForwardedAsks, StoreError};

/// The moment from which on the host has ended a forwarded ask by itself; none for an approval that is not forwarded.
pub(super) fn ends_at(approval: &Approval) -> Option<i64> {
    approval.forwarded.then(|| approval.expires_at.as_millisecond().saturating_add(FORWARDED_SLACK_MS))
}

/// Remembers an ask that goes to the host.
pub(super) fn open(tx: &Tx<'_>, approval_id: &str, expires_at: i64) -> Result<(), StoreError> {
    tx.write(
        "INSERT INTO forwarded_asks (approval, expires_at) SELECT id, ?2 FROM approvals WHERE approval_id = ?1",
        (approval_id, expires_at),
    )
    .map(drop)
}

#[async_trait]
impl ForwardedAsks for SqliteStore {
    async fn stale_asks(&self, after: Option<String>, limit: usize) -> Result<Vec<String>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.pool
            .read(move |db| {
                let mut statement = db
                    .prepare_bounded(
                        "SELECT a.approval_id FROM forwarded_asks f JOIN approvals a ON a.id = f.approval
                         WHERE a.status <> 'pending'
                           AND f.approval > coalesce((SELECT id FROM approvals WHERE approval_id = ?1), 0)
                         ORDER BY f.approval LIMIT ?2",
                    )
                    .map_err(sql_failed)?;
                let rows = statement.query_map((after, limit), |row| row.get(0)).map_err(sql_failed)?;
                rows.collect::<Result<_, _>>().map_err(sql_failed)
            })
            .await
    }

    async fn settle_ask(&self, approval_id: &str) -> Result<(), StoreError> {
        let approval_id = approval_id.to_owned();
        let settle = move |tx: &mut Tx<'_>| {
            tx.write(
                "DELETE FROM forwarded_asks
                    WHERE approval = (SELECT id FROM approvals WHERE approval_id = ?1 AND status <> 'pending')",
                [approval_id],
            )
            .map(drop)
        };
        self.writer.run(false, settle).await
    }

    async fn forget_asks(&self, now: Timestamp) -> Result<(), StoreError> {
        let forget = move |tx: &mut Tx<'_>| {
            tx.write("DELETE FROM forwarded_asks WHERE expires_at <= ?1", [now.as_millisecond()]).map(drop)
        };
        self.writer.run(false, forget).await
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Fixture, approval, ask, finish, moment};
    use super::*;
    use crate::domain::call::CallStatus;
    use crate::store::{ApprovalStep, CallStep, CallStore as _};

    async fn forwarded(f: &Fixture, id: &str) {
        let new = Box::new(Approval { forwarded: true, ..*approval(&format!("apr-{id}"), id) });
        f.accept_one(id).await;
        f.step(CallStep {
            approval: ApprovalStep::Open { new, of_token: 99 },
            ..ask(id, &format!("apr-{id}"))
        })
        .await
        .unwrap();
    }

    async fn stale(f: &Fixture) -> Vec<String> {
        f.stale_asks(None, 9).await.unwrap()
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn an_ask_is_stale_from_the_end_of_its_approval_until_the_host_has_let_go_of_it() {
        let f = Fixture::new().await;
        for id in ["a", "b", "c"] {
            forwarded(&f, id).await;
        }
        f.accept_one("own").await;
        f.step(ask("own", "apr-own")).await.unwrap();
        f.settle_ask("apr-a").await.unwrap();
        assert_eq!(stale(&f).await, [""; 0], "what waits is not settled, and not stale");
        for id in ["a", "b", "c", "own"] {
            f.step(finish(id, &[CallStatus::AwaitingApproval])).await.unwrap();
        }
        let f = f.reopened().await;
        assert_eq!(stale(&f).await, ["apr-a", "apr-b", "apr-c"]);
        assert_eq!(f.stale_asks(None, 2).await.unwrap(), ["apr-a", "apr-b"]);
        assert_eq!(f.stale_asks(Some("apr-b".to_owned()), 2).await.unwrap(), ["apr-c"]);
        f.settle_ask("apr-b").await.unwrap();
        assert_eq!(stale(&f).await, ["apr-a", "apr-c"]);
        let end = moment().as_millisecond() + FORWARDED_SLACK_MS;
        f.forget_asks(Timestamp::from_millisecond(end - 1).unwrap()).await.unwrap();
        assert_eq!(stale(&f).await.len(), 2, "the host may still have it");
        f.forget_asks(Timestamp::from_millisecond(end).unwrap()).await.unwrap();
        assert_eq!(stale(&f).await, [""; 0]);
    }
}
