//! Decisions on approvals: checked against what would run now, recorded, and told to the call.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;

use super::error::SessionError;
use super::live::{LiveCall, LiveSession};
use super::principal::Principal;
use super::service::Sessions;
use crate::domain::approval::{
    Approval, ApprovalStatus, Choice, Decision, DecisionRequest, Granted, Offer, Scope as GrantScope,
};
use crate::domain::audit::{AuditDecision, AuditKind, AuditRecord};
use crate::domain::call::{Call, ToolCall};
use crate::domain::clock::Timestamp;
use crate::domain::digest::Digest;
use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::grant::Grant;
use crate::domain::result::ToolError;
use crate::domain::session::RuntimeFlags;
use crate::executor::{ToolExecutionContext, ToolExecutionSessionFlags};
use crate::permission::{ResolvedCall, Reviewed, Scope};
use crate::store::StoreError;

/// The longest message to a model, in bytes.
const MESSAGE_BYTES_MAX: usize = 16 * 1024;

impl Sessions {
    /// Decides an approval. An equal decision again answers the same; another one is a conflict.
    pub async fn decide(
        &self,
        principal: &Principal,
        approval_id: &str,
        request: DecisionRequest,
    ) -> Result<Approval, SessionError> {
        if !principal.is_operator() {
            return Err(SessionError::forbidden("operator_required", "only an operator decides approvals"));
        }
        let approval = self.approval(approval_id).await?;
        let pending = approval.status == ApprovalStatus::Pending && approval.worker.is_none();
        if pending && request.decision == Choice::Allow && !self.allows_here() {
            let text =
                "only the host that this server forwards its approvals to allows; here they can be denied";
            return Err(SessionError::forbidden("host_decides", text));
        }
        self.decide_as(principal, approval_id, request).await
    }

    /// The same for a reviewer of this server, or of the host that it forwards to.
    pub(super) async fn decide_as(
        &self,
        principal: &Principal,
        approval_id: &str,
        mut request: DecisionRequest,
    ) -> Result<Approval, SessionError> {
        if request.message.as_ref().is_some_and(|message| message.len() > MESSAGE_BYTES_MAX) {
            let text = format!("a message has at most {MESSAGE_BYTES_MAX} bytes");
            return Err(SessionError::invalid("/message", text));
        }
        let approval = self.approval(approval_id).await?;
        if approval.status != ApprovalStatus::Pending {
            return repeated(approval, &request);
        }
        let longest_s = self.grants_hold_s(&approval);
        settle_offer(&approval, &mut request, longest_s)?;
        if approval.worker.is_some() {
            return match self.decide_worker_ask(principal, &approval, request.clone()).await {
                Err(StoreError::ApprovalMoved(current)) => repeated(*current, &request),
                decided => Ok(decided?),
            };
        }
        let live = self.active(principal, &approval.session_id).await?;
        let live_call = live.open_call(&approval.call);
        let digest = match (request.decision, &live_call) {
            (Choice::Deny, _) => approval.digest.clone(),
            (Choice::Allow, Some(live_call)) => {
                match self.digest_now(principal, &live, live_call, &approval, &request).await {
                    Ok(digest) => digest,
                    Err(refused) => return self.overtaken(approval_id, &request, refused).await,
                }
            }
            (Choice::Allow, None) => {
                let call = self.store().call(&approval.session_id, &approval.call).await?;
                let refused =
                    call.map_or(SessionError::NotFound("call"), |call| SessionError::NotWaiting(call.status));
                return self.overtaken(approval_id, &request, refused).await;
            }
        };
        let grant = self.grant(&live, &approval, &request, principal);
        let event = AgentEvent::ToolApprovalResolved {
            call: CallRef::from(&approval.call),
            approval_id: approval.approval_id.clone(),
            decision: request.decision.into(),
            scope: request.scope,
            by: principal.name.clone(),
            arguments: request.arguments.clone(),
        };
        let at = self.0.parts.clock.now();
        let granted = grant
            .as_ref()
            .map(|grant| Granted { grant_id: grant.grant_id.clone(), expires_at: grant.expires_at });
        let decision =
            Decision { request: request.clone(), by: principal.name.clone(), at, digest, grant: granted };
        match self.store().decide(approval_id, decision, grant, event).await {
            Ok(decided) => {
                if decided.decision.as_ref().is_some_and(|decision| decision.grant.is_some()) {
                    self.0.dated.notify_one();
                }
                if let Some(live_call) = live_call {
                    live_call.decided();
                    live_call.wake.notify_one();
                }
                Ok(decided)
            }
            Err(StoreError::ApprovalMoved(current)) => repeated(*current, &request),
            Err(error) => Err(error.into()),
        }
    }

    /// A decision that cannot be made: because another one was quicker, which then stands, or for
    /// the reason that was found.
    async fn overtaken(
        &self,
        approval_id: &str,
        request: &DecisionRequest,
        refused: SessionError,
    ) -> Result<Approval, SessionError> {
        let approval = self.approval(approval_id).await?;
        match approval.status {
            ApprovalStatus::Pending | ApprovalStatus::Superseded => Err(refused),
            _ => repeated(approval, request),
        }
    }

    /// Judges the call as it would run now. What the reviewer was shown must still hold, also where the arguments
    /// are edited: what the edit leaves as it was (the files that would run, where a path leads) was shown, too.
    async fn digest_now(
        &self,
        principal: &Principal,
        live: &Arc<LiveSession>,
        live_call: &LiveCall,
        approval: &Approval,
        request: &DecisionRequest,
    ) -> Result<Digest, SessionError> {
        let call =
            self.store().call(live.id(), &approval.call).await?.ok_or(SessionError::NotFound("call"))?;
        let edited =
            request.arguments.as_ref().map(|edited| resolve_with(live, &call, edited)).transpose()?;
        // The config in force now, which may be another one than when it was asked.
        let revision = self.revision();
        let flags = self.flags(live, &revision).await;
        let scope = Arc::new(Scope {
            directory: judged_directory(approval, live),
            revision: Some(revision),
            ..self.scope(live, live_call, &call)
        });
        let deciding = Deciding { principal, live, approval, request, call: &call, scope: &scope, flags };
        let asked = resolve_with(live, &call, &call.arguments)?;
        let digest = match self.verdict_now(&deciding, &asked).await? {
            Reviewed::Allowed => approval.digest.clone(),
            Reviewed::Ask(ask) if ask.digest == approval.digest => ask.digest,
            Reviewed::Ask(ask) => {
                let entry = superseded_decision(deciding.refusal((*ask.audit).clone()));
                let new = self.0.parts.desk.open(&scope, &ask, Some(approval), Some(entry)).await;
                let new = new.map_err(|error| match error {
                    ToolError::Internal(_) => SessionError::Busy,
                    moved => SessionError::conflict("superseded", moved.to_string()),
                })?;
                live_call.asks_again(&new.approval_id);
                live_call.wake.notify_one();
                return Err(SessionError::Superseded(Box::new(new)));
            }
        };
        match edited {
            None => Ok(digest),
            Some(edited) => Ok(match self.verdict_now(&deciding, &edited).await? {
                Reviewed::Allowed => digest,
                Reviewed::Ask(ask) => ask.digest,
            }),
        }
    }

    /// What a call with these arguments comes to now. A refusal is an error, and the audit log is told of it.
    async fn verdict_now(
        &self,
        deciding: &Deciding<'_>,
        resolved: &ResolvedCall,
    ) -> Result<Reviewed, SessionError> {
        let Deciding { live, call, scope, flags, .. } = deciding;
        let (event_tx, _closed) = tokio::sync::mpsc::channel(1);
        let ctx = ToolExecutionContext::for_dispatch(
            live.id(),
            &call.key.call_id,
            &event_tx,
            &live.schemas,
            ToolExecutionSessionFlags::from(flags),
            flags.can_async_resume,
            None,
            Some(&resolved.arguments),
        )
        .within(scope);
        let previewer = live.executor.previewer(&resolved.tool_name);
        let gate = live.executor.gate_for(&resolved.tool_name);
        match gate.review_decision(resolved, &*previewer, ctx.circumstances()).await {
            Ok(review) => Ok(review.into_verdict()),
            Err((error, entry)) => {
                let entry = entry.map(|entry| deciding.refusal(entry));
                self.note_late(live, entry.into_iter().collect()).await;
                Err(refused(error))
            }
        }
    }

    fn grant(
        &self,
        live: &LiveSession,
        approval: &Approval,
        request: &DecisionRequest,
        principal: &Principal,
    ) -> Option<Grant> {
        let pattern = request.pattern.clone()?;
        if request.decision == Choice::Deny || request.scope == GrantScope::Once {
            return None;
        }
        let fits = |offer: &&Offer| offer.scope == request.scope && offer.pattern.as_ref() == Some(&pattern);
        let offer = approval.offers.iter().find(fits)?.clone();
        Some(self.new_grant(live, approval, offer, request.expires_in_s, &principal.name))
    }

    /// How long what this approval grants holds at most, in seconds: no longer than was shown, and no longer than
    /// the config says now.
    fn grants_hold_s(&self, approval: &Approval) -> u64 {
        let configured = self.revision().config.approvals.grants_expire_after_s;
        approval.grants_expire_in_s.map_or(configured, |shown| shown.min(configured))
    }

    /// A grant that comes from an approval, and holds for `hold_s` seconds, or as long as it may.
    pub(super) fn new_grant(
        &self,
        live: &LiveSession,
        approval: &Approval,
        Offer { scope, pattern, directory }: Offer,
        hold_s: Option<u64>,
        granted_by: &str,
    ) -> Grant {
        let of_session = scope == GrantScope::Session;
        let now = self.0.parts.clock.now();
        let longest_s = self.grants_hold_s(approval);
        let hold_s = hold_s.map_or(longest_s, |hold_s| hold_s.min(longest_s));
        let hold = i64::try_from(hold_s).unwrap_or(i64::MAX).saturating_mul(1_000);
        let end = Timestamp::from_millisecond(now.as_millisecond().saturating_add(hold));
        Grant {
            grant_id: self.0.parts.ids.make("grt"),
            pattern: pattern.unwrap_or_default(),
            directory,
            scope,
            session_id: of_session.then(|| live.id().to_owned()),
            agent: live.record.owner.clone(),
            workspace_root: live.record.workspace_root.clone(),
            approval_id: approval.approval_id.clone(),
            granted_by: granted_by.to_owned(),
            created_at: now,
            expires_at: end.unwrap_or(now),
        }
    }
}

/// A decision that is being held against what would run.
struct Deciding<'a> {
    principal: &'a Principal,
    live: &'a LiveSession,
    approval: &'a Approval,
    request: &'a DecisionRequest,
    call: &'a Call,
    scope: &'a Arc<Scope>,
    flags: RuntimeFlags,
}

impl Deciding<'_> {
    /// What the audit log is told where it is not taken: of whom it is, and what was judged.
    fn refusal(&self, judged: AuditRecord) -> AuditRecord {
        AuditRecord {
            kind: AuditKind::Decision,
            decision: AuditDecision::Refused,
            by: self.principal.name.clone(),
            approval_id: Some(self.approval.approval_id.clone()),
            scope: Some(self.request.scope),
            edited: Some(self.request.arguments.is_some()),
            ..judged
        }
    }
}

/// The same where what would run is no longer what was shown.
fn superseded_decision(mut entry: AuditRecord) -> AuditRecord {
    if let Some(reason) = &mut entry.reason {
        "superseded".clone_into(&mut reason.by);
        reason.text = format!("what would run is no longer what was shown; {}", reason.text);
    }
    entry
}

/// A decision on what is decided already: the same one is answered, another one is refused.
fn repeated(approval: Approval, request: &DecisionRequest) -> Result<Approval, SessionError> {
    let mut request = request.clone();
    // A repeat may leave out the pattern that the first one was completed with.
    let same = settle_offer(&approval, &mut request, u64::MAX).is_ok()
        && approval.decision.as_ref().is_some_and(|decision| decision.request == request);
    if same { Ok(approval) } else { Err(SessionError::Decided(Box::new(approval))) }
}

/// Holds scope, pattern and time against what was offered, and completes the pattern where only one fits.
fn settle_offer(
    approval: &Approval,
    request: &mut DecisionRequest,
    longest_s: u64,
) -> Result<(), SessionError> {
    let refuse =
        |pointer: &str, message: &str| Err(SessionError::unprocessable("not_offered", pointer, message));
    if request.decision == Choice::Deny {
        let more = request.arguments.is_some() || request.pattern.is_some() || request.expires_in_s.is_some();
        if more || request.scope != GrantScope::Once {
            return refuse("/decision", "a denial takes no scope, pattern, time or arguments");
        }
        return Ok(());
    }
    settle_time(approval, request, longest_s)?;
    if request.arguments.is_some() && approval.worker.is_some() {
        return refuse(
            "/arguments",
            "a worker's call is judged where it runs: deny it, and say what to do instead",
        );
    }
    if request.arguments.is_some() && request.scope != GrantScope::Once {
        return refuse("/scope", "edited arguments are allowed once only");
    }
    if request.scope == GrantScope::Once {
        return match &request.pattern {
            None => Ok(()),
            Some(_) => refuse("/pattern", "an allow for once stores no pattern"),
        };
    }
    let fitting: Vec<&String> = approval
        .offers
        .iter()
        .filter(|offer| offer.scope == request.scope)
        .filter_map(|offer| offer.pattern.as_ref())
        .collect();
    match (&request.pattern, fitting.as_slice()) {
        (Some(pattern), _) if fitting.contains(&pattern) => Ok(()),
        (Some(_), _) => refuse("/pattern", "this pattern is not among the approval's offers"),
        (None, [only]) => {
            request.pattern = Some((*only).clone());
            Ok(())
        }
        (None, []) => refuse("/scope", "nothing is offered for this scope"),
        (None, _) => refuse("/pattern", "several patterns are offered for this scope; name one"),
    }
}

/// Holds a chosen time against what it is for, and against the longest.
fn settle_time(approval: &Approval, request: &DecisionRequest, longest_s: u64) -> Result<(), SessionError> {
    let Some(chosen) = request.expires_in_s else { return Ok(()) };
    let offered = approval.offers.iter().any(|offer| offer.pattern.is_some());
    // An allow of request_permissions is for once, and grants what was asked for.
    let grants = approval.grants_expire_in_s.is_some() && (request.scope != GrantScope::Once || !offered);
    let refuse = |message: String| Err(SessionError::unprocessable("not_offered", "/expires_in_s", message));
    match chosen {
        _ if !grants => refuse("nothing is granted that would hold so long".to_owned()),
        0 => refuse("what is granted holds for a second at least".to_owned()),
        chosen if chosen > longest_s => {
            refuse(format!("what is granted here holds for {longest_s} seconds at most"))
        }
        _ => Ok(()),
    }
}

fn resolve_with(live: &LiveSession, call: &Call, arguments: &Value) -> Result<ResolvedCall, SessionError> {
    if !arguments.is_object() {
        let message = "edited arguments must be a JSON object";
        return Err(SessionError::unprocessable("invalid_arguments", "/arguments", message));
    }
    let made = ToolCall::new(&call.key.call_id, &call.tool_name, arguments.to_string());
    live.executor.resolve_exact(&made, &call.tool_name, None).map_err(refused)
}

fn refused(error: ToolError) -> SessionError {
    match error {
        ToolError::InvalidArguments(message) => {
            SessionError::unprocessable("invalid_arguments", "/arguments", message)
        }
        ToolError::Denied { message, .. } => SessionError::unprocessable("denied", "/decision", message),
        ToolError::Internal(message) => SessionError::Internal(message),
        other => SessionError::unprocessable("cannot_run", "/decision", other.to_string()),
    }
}

/// The directory that the call was judged in; the workspace where none is recorded.
fn judged_directory(approval: &Approval, live: &LiveSession) -> PathBuf {
    approval.directory().unwrap_or_else(|| live.workspace.root().to_path_buf())
}
