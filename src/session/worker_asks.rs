//! The host's side of forwarded approvals: workers ask, wait and take back; people decide; time expires.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};

use super::error::SessionError;
use super::principal::Principal;
use super::service::Sessions;
use crate::domain::approval::{
    Approval, ApprovalStatus, AskReason, ChangedFile, Decision, DecisionRequest, Worker, claim,
};
use crate::domain::clock::Timestamp;
use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::visible;
use crate::domain::worker::WorkerAsk;
use crate::store::{Asked, NewWorkerAsk, StoreError};

/// The most characters of the line that shows a worker's call.
const DISPLAY_MAX: usize = 4_000;
/// How long it is waited until expired asks are looked for again after the store failed.
const STORE_FAILED: Duration = Duration::from_secs(5);

/// What those who wait for a worker's ask are told by.
#[derive(Debug, Default)]
pub(super) struct AskBoard {
    /// Counts what became of asks.
    changes: watch::Sender<u64>,
    /// A new one may be due before all others.
    opened: Notify,
}

impl AskBoard {
    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

impl Sessions {
    /// Takes a worker's ask, or finds it; whether it is new. An ask id is the worker's own name for it.
    pub async fn ask_for_worker(
        &self,
        principal: &Principal,
        ask_id: &str,
        ask: WorkerAsk,
    ) -> Result<(Approval, bool), SessionError> {
        if self.0.draining.is_cancelled() {
            return Err(SessionError::ShuttingDown);
        }
        let new = self.new_ask(principal, ask_id, ask)?;
        let bound = new.pending_max;
        match self.store().ask_for_worker(new).await {
            Ok(Asked::New(approval)) => {
                self.0.asks.opened.notify_one();
                Ok((approval, true))
            }
            Ok(Asked::Existing(approval)) => Ok((approval, false)),
            Ok(Asked::Conflict) => {
                Err(SessionError::conflict("ask_conflict", "another ask has this id; a repeat must be equal"))
            }
            Err(StoreError::TooManyPending) => Err(SessionError::TooMany(format!(
                "{bound} approvals of this worker wait already; let some be decided before asking for more"
            ))),
            Err(error) => Err(error.into()),
        }
    }

    fn new_ask(
        &self,
        principal: &Principal,
        ask_id: &str,
        ask: WorkerAsk,
    ) -> Result<NewWorkerAsk, SessionError> {
        let call = ask.check().map_err(|(pointer, message)| SessionError::invalid(pointer, message))?;
        let fingerprint = ask.fingerprint();
        let config = Arc::clone(&self.revision().config);
        let (now, seconds) =
            (self.0.parts.clock.now(), ask.expires_in_s.min(config.approvals.expire_after_s));
        let waits_ms = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        let expires = now.as_millisecond().saturating_add(waits_ms);
        // What is shown was escaped by the worker, who may not have told the truth.
        let line = |text: &str| visible::again(text);
        let approval = Approval {
            claim: claim(&ask.tool_name, &ask.arguments),
            approval_id: self.0.parts.ids.make("apr"),
            session_id: ask.session_id,
            call,
            tool_name: visible::one_line(&ask.tool_name),
            arguments: ask.arguments,
            digest: ask.digest,
            status: ApprovalStatus::Pending,
            reason: AskReason { text: line(&ask.reason.text), rule: ask.reason.rule.as_deref().map(line) },
            cwd: line(&ask.cwd),
            sandbox: line(&ask.sandbox),
            diff: ask.diff.as_deref().map(visible::lines_again),
            leaves: ask.leaves.map(|leaves| leaves.iter().map(|leaf| line(leaf)).collect()),
            display: visible::clipped_again(&ask.display, DISPLAY_MAX),
            // What a worker runs is not judged here: nothing can be granted beyond this once.
            offers: Vec::new(),
            grants_expire_in_s: None,
            created_at: now,
            expires_at: Timestamp::from_millisecond(expires).unwrap_or(now),
            decision: None,
            cwd_exact: None,
            cwd_from: None,
            changed_files: ask.changed_files.iter().map(shown_change).collect(),
            changed_files_left_out: ask.changed_files_left_out,
            identical: Vec::new(),
            worker: Some(Worker { token: principal.name.clone(), name: ask.worker }),
            forwarded: false,
        };
        let pending_max = config.limits.approvals_per_worker;
        Ok(NewWorkerAsk { ask_id: ask_id.to_owned(), fingerprint, approval, pending_max })
    }

    /// How a worker's ask stands, waited for as long as it is undecided and `wait` lasts.
    pub async fn worker_ask(
        &self,
        principal: &Principal,
        ask_id: &str,
        wait: Duration,
    ) -> Result<Approval, SessionError> {
        let mut changes = self.0.asks.changes.subscribe();
        let over = tokio::time::sleep(wait);
        tokio::pin!(over);
        loop {
            changes.mark_unchanged();
            let found = self.store().worker_ask(&principal.name, ask_id).await?;
            let approval = found.ok_or(SessionError::NotFound("ask"))?;
            if approval.status != ApprovalStatus::Pending {
                return Ok(approval);
            }
            tokio::select! {
                biased;
                () = &mut over => return Ok(approval),
                () = self.0.stopping.cancelled() => return Ok(approval),
                _ = changes.changed() => {}
            }
        }
    }

    /// Takes a worker's ask back; one that is decided or over is unchanged.
    pub async fn withdraw_worker_ask(
        &self,
        principal: &Principal,
        ask_id: &str,
    ) -> Result<Approval, SessionError> {
        let withdrawn = self.store().withdraw_worker_ask(&principal.name, ask_id).await?;
        self.0.asks.changed();
        withdrawn.ok_or(SessionError::NotFound("ask"))
    }

    /// Decides a worker's ask: allow once, or deny. It is judged again where it runs.
    pub(super) async fn decide_worker_ask(
        &self,
        principal: &Principal,
        approval: &Approval,
        request: DecisionRequest,
    ) -> Result<Approval, StoreError> {
        let event = AgentEvent::ToolApprovalResolved {
            call: CallRef::from(&approval.call),
            approval_id: approval.approval_id.clone(),
            decision: request.decision.into(),
            scope: request.scope,
            by: principal.name.clone(),
            arguments: None,
        };
        let (at, digest) = (self.0.parts.clock.now(), approval.digest.clone());
        let decision = Decision { request, by: principal.name.clone(), at, digest, grant: None };
        let decided = self.store().decide(&approval.approval_id, decision, None, event).await;
        self.0.asks.changed();
        decided
    }

    /// Expires workers' asks when their time is over, until the server goes down.
    pub(super) async fn expire_worker_asks(self) {
        loop {
            let now = self.0.parts.clock.now();
            let next = match self.store().expire_worker_asks(now).await {
                Ok((expired, next)) => {
                    if expired > 0 {
                        self.0.asks.changed();
                    }
                    next.map(|due| due.as_millisecond() - now.as_millisecond())
                        .map(|ms| Duration::from_millis(u64::try_from(ms).unwrap_or(0)))
                }
                Err(error) => {
                    tracing::error!(%error, "expired asks of workers could not be looked for");
                    Some(STORE_FAILED)
                }
            };
            let due = async {
                match next {
                    Some(next) => tokio::time::sleep(next).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = self.0.stopping.cancelled() => return,
                () = self.0.asks.opened.notified() => {}
                () = due => {}
            }
        }
    }
}

/// A change that a worker tells of, safe to look at. Its ids are shown escaped wherever they are.
fn shown_change(change: &ChangedFile) -> ChangedFile {
    ChangedFile {
        path: visible::again(&change.path),
        turn: change.turn.as_deref().map(visible::again),
        call_id: change.call_id.as_deref().map(visible::again),
        tool_name: change.tool_name.as_deref().map(visible::again),
        diff: change.diff.as_deref().map(visible::lines_again),
        ..change.clone()
    }
}
