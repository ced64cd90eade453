//! Takes back what waits at the host although nobody waits for it here: tried until the host has heard of it, or has
//! ended it by itself, also after a restart.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::service::Sessions;
use crate::permission::{ApprovalProxy, Withdrawn};
use crate::store::StoreError;

/// How long it is waited after a failure, at first and at most.
const RETRY_FIRST: Duration = Duration::from_millis(200);
const RETRY_MOST: Duration = Duration::from_secs(30);
/// How long it is waited until it is looked again where nothing is left.
const LOOK_AGAIN: Duration = Duration::from_mins(1);
/// An ask that the host does not know may still be on its way there for so long: longer than any request takes.
const ON_ITS_WAY: Duration = Duration::from_mins(2);
/// How many are read at once.
const PAGE: usize = 64;

/// What a round came to.
#[derive(Default)]
struct Round {
    /// Something is left to be tried again.
    left: bool,
    /// The host gave no answer.
    lost: bool,
}

impl Sessions {
    /// Withdraws stale asks until the server goes down.
    pub(super) async fn withdraw_stale(self, host: Arc<dyn ApprovalProxy>) {
        let (mut unknown, mut pause) = (HashMap::new(), RETRY_FIRST);
        loop {
            let round = tokio::select! {
                () = self.0.stopping.cancelled() => return,
                round = self.withdraw_all(&*host, &mut unknown) => round,
            };
            let round = round.unwrap_or_else(|error| {
                tracing::error!(%error, "forwarded asks could not be looked for");
                Round { left: true, lost: true }
            });
            let wait = if round.left { pause } else { LOOK_AGAIN };
            pause = if round.left { (pause * 2).min(RETRY_MOST) } else { RETRY_FIRST };
            let overtaken = async {
                // A host that is out of reach is not asked more often for what comes meanwhile.
                if round.lost { std::future::pending().await } else { self.0.overtaken.notified().await }
            };
            tokio::select! {
                () = self.0.stopping.cancelled() => return,
                () = overtaken => pause = RETRY_FIRST,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Tries each that is stale once, until the host gives no answer.
    async fn withdraw_all(
        &self,
        host: &dyn ApprovalProxy,
        unknown: &mut HashMap<String, Instant>,
    ) -> Result<Round, StoreError> {
        let (mut round, mut after) = (Round::default(), None);
        loop {
            let stale = self.store().stale_asks(after.take(), PAGE).await?;
            for approval_id in &stale {
                match host.withdraw(approval_id).await {
                    Ok(Withdrawn::Gone) => {}
                    Ok(Withdrawn::Unknown) => {
                        let since = *unknown.entry(approval_id.clone()).or_insert_with(Instant::now);
                        if since.elapsed() < ON_ITS_WAY {
                            round.left = true;
                            continue;
                        }
                    }
                    Err(error) => {
                        tracing::warn!(%error, "an ask could not be taken back yet; it is tried again");
                        return Ok(Round { left: true, lost: true });
                    }
                }
                unknown.remove(approval_id);
                self.store().settle_ask(approval_id).await?;
            }
            if stale.len() < PAGE {
                if !round.left {
                    unknown.clear();
                }
                return Ok(round);
            }
            after = stale.last().cloned();
        }
    }
}
