//! The worker's side of forwarded approvals: while a call waits, its ask is put to the host, whose decision is
//! then taken as any reviewer's: judged against what would run now, bound to it, spent once.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;

use super::error::SessionError;
use super::finish::Ending;
use super::principal::{Principal, Role};
use super::run::Run;
use super::service::Sessions;
use crate::domain::approval::{Approval, ApprovalStatus, Choice, DecisionRequest, Scope as GrantScope};
use crate::domain::result::{DeniedBy, ToolError};
use crate::permission::{ApprovalProxy, Ask, ProxyDecision, ProxyError};

/// How long it is waited until a decision is recorded again that the store was too busy for.
const RETRY: Duration = Duration::from_millis(500);

/// What the wait came to.
enum Heard {
    Host(Result<ProxyDecision, ProxyError>),
    /// Something else became of the approval.
    Overtaken,
    Cancelled,
    Expired,
}

impl Sessions {
    /// The host that decides a call, where one does: what outlasts the call is not a host's to allow.
    pub(super) fn host_for(&self, run: &Run) -> Option<Arc<dyn ApprovalProxy>> {
        let host = self.0.parts.host.as_ref()?;
        run.resolved.petition().is_none().then(|| Arc::clone(host))
    }

    /// Whether an operator of this server may allow.
    pub(super) fn allows_here(&self) -> bool {
        self.0.parts.host.is_none() || !self.revision().config.host_decides()
    }

    /// Waits for the host's decision; whether the call goes on.
    pub(super) async fn decided_by_host(
        &self,
        run: &mut Run,
        approval: &Approval,
        host: Arc<dyn ApprovalProxy>,
    ) -> bool {
        let (ask, scope) = (Ask::of(approval), Arc::clone(&run.scope));
        let expiry = tokio::time::sleep(self.left_of(approval));
        let heard = {
            let answer = host.request(&ask, &scope);
            tokio::pin!(answer, expiry);
            loop {
                tokio::select! {
                    biased;
                    () = run.live_call.cancel.cancelled() => break Heard::Cancelled,
                    // It is asked again after the start, by the same id.
                    () = self.0.stopping.cancelled() => return false,
                    () = run.live_call.wake.notified() => {
                        if !self.still_waits(approval).await {
                            break Heard::Overtaken;
                        }
                    }
                    answer = &mut answer => break Heard::Host(answer),
                    () = &mut expiry => break Heard::Expired,
                }
            }
        };
        let goes_on = match heard {
            Heard::Host(Ok(decision)) => {
                let goes_on = self.take_from_host(run, approval, decision).await;
                // Where this fails the host is told once more than needed.
                let _ = self.store().settle_ask(&approval.approval_id).await;
                return goes_on;
            }
            Heard::Host(Err(error)) => self.refuse(run, error.to_string()).await,
            Heard::Overtaken => self.reload(run).await,
            Heard::Expired => self.expire(run, approval).await,
            Heard::Cancelled => false,
        };
        // It waits there in vain.
        self.0.overtaken.notify_one();
        goes_on
    }

    /// Whether an approval still waits; also where that cannot be read now.
    async fn still_waits(&self, approval: &Approval) -> bool {
        let found = self.store().approval(&approval.approval_id).await;
        found.ok().flatten().is_none_or(|found| found.status == ApprovalStatus::Pending)
    }

    /// Records the host's decision as a reviewer's.
    async fn take_from_host(&self, run: &mut Run, approval: &Approval, decision: ProxyDecision) -> bool {
        let (choice, by, message) = match decision {
            ProxyDecision::Allow { by } => (Choice::Allow, by, None),
            ProxyDecision::Deny { by, message } => (Choice::Deny, by, message),
        };
        let reviewer = Principal::new(format!("host:{by}"), Role::Operator);
        let request = DecisionRequest {
            decision: choice,
            scope: GrantScope::Once,
            pattern: None,
            arguments: None,
            expires_in_s: None,
            message,
        };
        loop {
            let decided = self.decide_as(&reviewer, &approval.approval_id, request.clone()).await;
            // What woke this call is what was just done.
            let _ = run.live_call.wake.notified().now_or_never();
            match decided {
                Ok(_)
                | Err(
                    SessionError::Decided(_)
                    | SessionError::Superseded(_)
                    | SessionError::NotWaiting(_)
                    | SessionError::NotFound(_)
                    | SessionError::Ended,
                ) => return self.reload(run).await,
                Err(
                    error @ (SessionError::Busy | SessionError::Internal(_) | SessionError::ShuttingDown),
                ) => {
                    tracing::warn!(%error, "the host's decision could not be recorded yet");
                }
                Err(error) => {
                    return self
                        .refuse(run, format!("the host's decision does not hold here: {error}"))
                        .await;
                }
            }
            tokio::select! {
                () = run.live_call.cancel.cancelled() => return false,
                () = self.0.stopping.cancelled() => return false,
                () = tokio::time::sleep(RETRY) => {}
            }
        }
    }

    /// Nobody there could decide: the call is denied, and its approval ends with it.
    async fn refuse(&self, run: &Run, message: String) -> bool {
        let denied = ToolError::Denied { by: DeniedBy::NoHuman, code: "denied", message };
        let ending = Ending::of_error(&run.call.key, denied);
        self.finish(&run.live, &run.live_call, &run.call, ending, None).await;
        false
    }
}
