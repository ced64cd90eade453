//! How a call ends: one status, one result, one event.

use super::live::{LiveCall, LiveSession};
use super::run::Run;
use super::service::Sessions;
use crate::domain::audit::AuditRecord;
use crate::domain::call::{Call, CallError, CallStatus};
use crate::domain::clock::Timestamp;
use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::identity::CallKey;
use crate::domain::result::{ToolError, ToolResult};
use crate::store::{ApprovalStep, CallPatch, CallStep, NewCall, StoreError};

/// Statuses from which a running call can end.
pub(super) const NOT_ENDED: &[CallStatus] = &[
    CallStatus::Queued,
    CallStatus::Running,
    CallStatus::AwaitingApproval,
    CallStatus::AwaitingAnswer,
    CallStatus::AwaitingResult,
];

/// An end: what is recorded and what is told.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Ending {
    pub(super) status: CallStatus,
    pub(super) result: ToolResult,
    pub(super) error: Option<CallError>,
    pub(super) event: AgentEvent,
    /// What the audit log is told with it.
    pub(super) audit: Vec<AuditRecord>,
}

impl Ending {
    /// The tool returned a result.
    pub(super) fn of_result(key: &CallKey, result: ToolResult) -> Self {
        let event = AgentEvent::ToolComplete { call: CallRef::from(key), result: result.clone() };
        Self { status: CallStatus::Completed, result, error: None, event, audit: Vec::new() }
    }

    /// There is an error in its place.
    pub(super) fn of_error(key: &CallKey, error: ToolError) -> Self {
        let call = CallRef::from(key);
        let (code, message) = (error.code().to_owned(), error.to_string());
        let (status, event) = match error {
            ToolError::Denied { by, message, .. } => {
                (CallStatus::Denied, AgentEvent::ToolDenied { call, by, message })
            }
            ToolError::Cancelled { message } => {
                (CallStatus::Cancelled, AgentEvent::ToolCancelled { call, reason: message })
            }
            _ => {
                let event = AgentEvent::ToolError { call, error: message.clone(), code: code.clone() };
                (CallStatus::Failed, event)
            }
        };
        let result = ToolResult::unsuccessful(&message);
        Self { status, result, error: Some(CallError { code, message }), event, audit: Vec::new() }
    }

    /// It was cancelled by its client or with its session.
    pub(super) fn cancelled(key: &CallKey, reason: &str) -> Self {
        Self::of_error(key, ToolError::Cancelled { message: reason.to_owned() })
    }

    /// The server ended while it ran.
    pub(super) fn interrupted(key: &CallKey, reason: &str) -> Self {
        let event = AgentEvent::ToolInterrupted { call: CallRef::from(key), reason: reason.to_owned() };
        let error = Some(CallError { code: "interrupted".to_owned(), message: reason.to_owned() });
        Self {
            status: CallStatus::Interrupted,
            result: ToolResult::unsuccessful(reason),
            error,
            event,
            audit: Vec::new(),
        }
    }

    /// Puts it into a record that is not made yet.
    pub(super) fn put_into(mut self, new: &mut NewCall, started_at: Option<Timestamp>, now: Timestamp) {
        let call = &mut new.call;
        call.status = self.status;
        call.details = self.result.details.take();
        call.result = Some(self.result);
        call.error = self.error;
        call.started_at = started_at;
        call.finished_at = Some(now);
        new.events.push(self.event);
    }

    /// The step that records it.
    pub(super) fn step(
        mut self,
        call: &Call,
        from: &'static [CallStatus],
        started_at: Option<Timestamp>,
        now: Timestamp,
        approval: ApprovalStep,
    ) -> CallStep {
        CallStep {
            session_id: call.session_id.clone(),
            key: call.key.clone(),
            from,
            to: self.status,
            patch: CallPatch {
                details: self.result.details.take(),
                result: Some(self.result),
                error: self.error,
                started_at,
                finished_at: Some(now),
                ..CallPatch::default()
            },
            approval,
            events: vec![self.event],
            audit: self.audit,
            sync: false,
        }
    }
}

impl Sessions {
    /// Ends a run: its call's record and its end are one step where nothing was recorded yet.
    pub(super) async fn finish_run(&self, run: &Run, ending: Ending, started_at: Option<Timestamp>) {
        match run.admission.admit_ended(ending, started_at, self.0.parts.clock.now()).await {
            Ok(Ok(ended)) => close(&run.live, &run.live_call, ended),
            Ok(Err(mut ending)) => {
                ending.audit = run.admission.noted();
                self.finish(&run.live, &run.live_call, &run.call, ending, started_at).await;
            }
            Err(_) => abandon(run),
        }
    }

    /// Tells the audit log of a verdict whose step somebody else's end of the call forestalled.
    pub(super) async fn note_late(&self, live: &LiveSession, audit: Vec<AuditRecord>) {
        if audit.is_empty() {
            return;
        }
        if let Err(error) = self.store().note(live.id(), audit).await {
            tracing::error!(session_id = live.id(), %error, "a verdict was not recorded");
        }
    }

    /// Records an end, tells everyone who waits and forgets the call. A call that has ended
    /// otherwise meanwhile stays as it is.
    pub(super) async fn finish(
        &self,
        live: &LiveSession,
        live_call: &LiveCall,
        call: &Call,
        ending: Ending,
        started_at: Option<Timestamp>,
    ) {
        let now = self.0.parts.clock.now();
        let step = ending.step(call, NOT_ENDED, started_at, now, ApprovalStep::None);
        let audit = step.audit.clone();
        match self.store().step(step).await {
            Ok(ended) => close(live, live_call, ended),
            Err(StoreError::CallMoved(ended)) => {
                // Its end was recorded by somebody else, who does not know what the gate said.
                self.note_late(live, audit).await;
                close(live, live_call, *ended);
            }
            Err(error) => {
                // The end is lost with the store; what waits looks there and finds the call open,
                // and the next start interrupts it.
                tracing::error!(session_id = live.id(), %error, "the end of a call was not recorded");
                live.forget(&call.key);
                live_call.give_up();
            }
        }
    }
}

/// Forgets a call that was not accepted: what there is of it stands in the store.
pub(super) fn abandon(run: &Run) {
    run.live.forget(&run.call.key);
    run.live_call.give_up();
}

/// Tells everyone who waits that a call has ended and forgets it.
pub(super) fn close(live: &LiveSession, live_call: &LiveCall, ended: Call) {
    live.forget(&ended.key);
    live_call.publish(ended);
    live_call.cancel.cancel();
}
