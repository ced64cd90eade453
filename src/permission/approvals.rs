//! The desk over the store: one open approval per call, each allow spent once.

use std::sync::Arc;

use async_trait::async_trait;

use super::changed;
use super::desk::{ApprovalDesk, Ask, Standing, Start};
use super::scope::Scope;
use crate::domain::approval::{Approval, ApprovalStatus, Choice, PENDING_MAX, Scope as GrantScope, claim};
use crate::domain::audit::AuditRecord;
use crate::domain::call::{Call, CallStatus};
use crate::domain::clock::SharedClock;
use crate::domain::event::{AgentEvent, CallRef, Resolution};
use crate::domain::identity::Ids;
use crate::domain::result::{DeniedBy, ToolError};
use crate::store::{ApprovalStep, CallPatch, CallStep, Store, StoreError};

/// Statuses in which a call can come to wait for an approval, or start.
const NOT_STARTED: &[CallStatus] = &[CallStatus::Queued, CallStatus::AwaitingApproval];

/// Approvals in the store.
#[derive(Clone)]
pub struct StoreDesk {
    store: Arc<dyn Store>,
    clock: SharedClock,
    ids: Arc<dyn Ids>,
}

/// What came of opening an approval.
enum Opened {
    /// It waits.
    New(Box<Approval>),
    /// The call's approval was decided or superseded meanwhile, and stands like this.
    Moved(Box<Approval>),
}

impl StoreDesk {
    /// A desk over a store. An approval waits as long as the config that its call goes by says.
    pub fn new(store: Arc<dyn Store>, clock: SharedClock, ids: Arc<dyn Ids>) -> Self {
        Self { store, clock, ids }
    }

    /// Opens an approval for an ask, in the place of `old` where one stood; `refused` is what the audit log is told
    /// of a decision on that one.
    pub async fn open(
        &self,
        scope: &Scope,
        ask: &Ask,
        old: Option<&Approval>,
        refused: Option<AuditRecord>,
    ) -> Result<Approval, ToolError> {
        match self.open_unless_moved(scope, ask, old, refused).await? {
            Opened::New(approval) => Ok(*approval),
            Opened::Moved(current) => Err(refused_step(StoreError::ApprovalMoved(current))),
        }
    }

    async fn open_unless_moved(
        &self,
        scope: &Scope,
        ask: &Ask,
        old: Option<&Approval>,
        refused: Option<AuditRecord>,
    ) -> Result<Opened, ToolError> {
        let Some(session_id) = &scope.session_id else {
            return Err(ToolError::Internal("an approval needs a session".to_owned()));
        };
        let mut approval = self.approval(session_id, scope, ask);
        (approval.changed_files, approval.changed_files_left_out) =
            changed::of_ask(&self.store, session_id, scope, ask).await.map_err(store_failed)?;
        let told = AuditRecord { approval_id: Some(approval.approval_id.clone()), ..(*ask.audit).clone() };
        let call = CallRef::from(&scope.key);
        let mut events = Vec::new();
        if let Some(old) = old {
            events.push(AgentEvent::ToolApprovalResolved {
                call: call.clone(),
                approval_id: old.approval_id.clone(),
                decision: Resolution::Superseded,
                scope: GrantScope::Once,
                by: "server".to_owned(),
                arguments: None,
            });
        }
        events.push(AgentEvent::ToolApprovalRequested { call, approval: Box::new(approval.clone()) });
        let new = Box::new(approval.clone());
        let limits = scope.revision.as_ref().map(|revision| revision.config.limits.clone());
        let of_token = limits.unwrap_or_default().approvals_per_token;
        let step = CallStep {
            session_id: session_id.clone(),
            key: scope.key.clone(),
            from: NOT_STARTED,
            to: CallStatus::AwaitingApproval,
            patch: CallPatch { approval_id: Some(approval.approval_id.clone()), ..CallPatch::default() },
            approval: match old {
                None => ApprovalStep::Open { new, of_token },
                Some(old) => {
                    ApprovalStep::Supersede { old: old.approval_id.clone(), seen: old.status, new, of_token }
                }
            },
            events,
            audit: refused.into_iter().chain([told]).collect(),
            sync: false,
        };
        match self.store.step(step).await {
            Ok(_) => Ok(Opened::New(Box::new(approval))),
            Err(StoreError::ApprovalMoved(current)) => Ok(Opened::Moved(current)),
            Err(StoreError::TooManyPending) => Err(too_many(PENDING_MAX, "this session")),
            Err(StoreError::TooManyOfToken) => Err(too_many(of_token, "the sessions of this token")),
            Err(error) => Err(refused_step(error)),
        }
    }

    fn approval(&self, session_id: &str, scope: &Scope, ask: &Ask) -> Approval {
        let now = self.clock.now();
        let approvals = scope.revision.as_ref().map(|revision| revision.config.approvals.clone());
        let approvals = approvals.unwrap_or_default();
        let waits_s = approvals.expire_after_s;
        let waits = i64::try_from(waits_s).unwrap_or(i64::MAX).saturating_mul(1_000);
        let expires = now.as_millisecond().saturating_add(waits);
        Approval {
            approval_id: self.ids.make("apr"),
            session_id: session_id.to_owned(),
            call: scope.key.clone(),
            tool_name: ask.tool_name.clone(),
            arguments: ask.arguments.clone(),
            digest: ask.digest.clone(),
            status: ApprovalStatus::Pending,
            reason: ask.reason.clone(),
            cwd: ask.directory.clone(),
            cwd_exact: ask.exact_directory.clone(),
            cwd_from: ask.asked_from.clone(),
            sandbox: ask.sandbox.clone(),
            diff: ask.preview.diff.clone(),
            leaves: ask.leaves.clone(),
            display: ask.display.clone(),
            claim: claim(&ask.tool_name, &ask.arguments),
            offers: ask.offers.clone(),
            grants_expire_in_s: ask.grants.then_some(approvals.grants_expire_after_s),
            created_at: now,
            expires_at: crate::domain::clock::Timestamp::from_millisecond(expires).unwrap_or(now),
            decision: None,
            changed_files: Vec::new(),
            changed_files_left_out: 0,
            identical: Vec::new(),
            worker: None,
            forwarded: approvals.forward_to.is_some() && !ask.petition,
        }
    }

    /// The approval that a call stands by.
    async fn standing_of(&self, call: &Call) -> Result<Option<Approval>, ToolError> {
        match &call.approval_id {
            None => Ok(None),
            Some(id) => self.store.approval(id).await.map_err(store_failed),
        }
    }
}

#[async_trait]
impl ApprovalDesk for StoreDesk {
    async fn consult(&self, scope: &Scope, ask: &Ask) -> Result<Standing, ToolError> {
        let Some(session_id) = &scope.session_id else {
            return Err(ToolError::Internal("an approval needs a session".to_owned()));
        };
        if let Some(admission) = &scope.admission {
            admission.admit().await?;
        }
        let call = self.store.call(session_id, &scope.key).await.map_err(store_failed)?;
        let call = call.ok_or_else(|| ToolError::Internal("the call is not recorded".to_owned()))?;
        let Some(approval) = self.standing_of(&call).await? else {
            if let Some(moot) = &ask.moot {
                return Err(ToolError::Execution(moot.clone()));
            }
            if ask.petition && scope.revision.as_ref().is_some_and(|now| now.config.host_decides()) {
                return Err(ToolError::Denied {
                    by: DeniedBy::NoHuman,
                    code: "denied",
                    message: "The host of this server decides on each call by itself; nothing more is granted here."
                        .to_owned(),
                });
            }
            return Ok(Standing::Waiting(Box::new(self.open(scope, ask, None, None).await?)));
        };
        let fits = match &approval.decision {
            Some(decision) => decision.digest == ask.digest,
            None => approval.digest == ask.digest,
        };
        match approval.status {
            ApprovalStatus::Pending if fits => Ok(Standing::Waiting(Box::new(approval))),
            ApprovalStatus::Allowed if fits => Ok(Standing::Allowed { approval_id: approval.approval_id }),
            ApprovalStatus::Pending | ApprovalStatus::Allowed => {
                match self.open_unless_moved(scope, ask, Some(&approval), None).await? {
                    // Whoever decided meanwhile wakes the call, which is then judged again as it was decided.
                    Opened::New(standing) | Opened::Moved(standing) => Ok(Standing::Waiting(standing)),
                }
            }
            ApprovalStatus::Superseded => {
                Ok(Standing::Waiting(Box::new(self.open(scope, ask, None, None).await?)))
            }
            ApprovalStatus::Denied => Ok(denied_by_reviewer(&approval)),
            ApprovalStatus::Expired => Ok(Standing::Denied {
                by: DeniedBy::Expired,
                message: "Nobody decided on this call in time.".to_owned(),
            }),
            ApprovalStatus::Cancelled => {
                Err(ToolError::Cancelled { message: "The call was cancelled before it ran.".to_owned() })
            }
        }
    }

    async fn begin(&self, scope: &Scope, start: Start) -> Result<(), ToolError> {
        let Some(session_id) = &scope.session_id else { return Ok(()) };
        // A read-only call that nobody was asked about changes nothing, so its start need not be
        // recorded: after a crash it counts as interrupted all the same.
        if !start.mutating && start.approval_id.is_none() {
            if let Some(admission) = &scope.admission {
                admission.permitted(self.clock.now());
            }
            return Ok(());
        }
        let now = self.clock.now();
        if start.petition && start.approval_id.is_some() {
            if let Some(admission) = &scope.admission {
                admission.permitted(now);
            }
            return Ok(());
        }
        if start.approval_id.is_none()
            && let Some(admission) = &scope.admission
            && admission.admit_running(now, start.mutating).await?
        {
            return Ok(());
        }
        let audit = scope.admission.as_ref().map(|admission| admission.noted()).unwrap_or_default();
        let step = CallStep {
            session_id: session_id.clone(),
            key: scope.key.clone(),
            from: NOT_STARTED,
            to: CallStatus::Running,
            patch: CallPatch { started_at: Some(now), ..CallPatch::default() },
            approval: start.approval_id.map_or(ApprovalStep::None, ApprovalStep::Spend),
            events: Vec::new(),
            audit: audit.clone(),
            sync: start.mutating,
        };
        let started = self.store.step(step).await;
        let Some(admission) = &scope.admission else { return started.map(drop).map_err(refused_step) };
        match started {
            Ok(running) => admission.started(running),
            Err(error) => {
                // What the gate said goes with the end that comes now.
                for entry in audit {
                    admission.note(entry);
                }
                return Err(refused_step(error));
            }
        }
        Ok(())
    }
}

/// More wait than may.
fn too_many(bound: usize, place: &str) -> ToolError {
    ToolError::Denied {
        by: DeniedBy::NoHuman,
        code: "too_many_pending",
        message: format!(
            "{bound} approvals wait in {place} already; let some be decided before asking for more"
        ),
    }
}

fn denied_by_reviewer(approval: &Approval) -> Standing {
    let said = approval
        .decision
        .as_ref()
        .filter(|decision| decision.request.decision == Choice::Deny)
        .and_then(|decision| decision.request.message.clone());
    let message = match said {
        Some(message) => format!("The reviewer denied this call: {message}"),
        None => "The reviewer denied this call.".to_owned(),
    };
    Standing::Denied { by: DeniedBy::Reviewer, message }
}

/// A step that came too late is no fault of the store's: the call was cancelled, or its session
/// ended, or another start of it came first.
fn refused_step(error: StoreError) -> ToolError {
    match error {
        StoreError::CallMoved(call) => {
            ToolError::Cancelled { message: format!("The call is {} already.", call.status.as_str()) }
        }
        StoreError::SessionEnded => ToolError::Cancelled { message: "The session has ended.".to_owned() },
        StoreError::ApprovalMoved(approval) => ToolError::Denied {
            by: DeniedBy::Reviewer,
            code: "approval_spent",
            message: format!("The approval of this call is {} and cannot be used.", approval.status.as_str()),
        },
        other => store_failed(other),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what map_err hands over")]
fn store_failed(error: StoreError) -> ToolError {
    tracing::error!(%error, "the store failed");
    ToolError::Internal("the server could not record the call; try again".to_owned())
}
