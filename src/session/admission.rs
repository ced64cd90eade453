//! A call's record, made in one step with the first thing that has to be written of it.
//!
//! Most read-only calls end within a few milliseconds: their record, their start and their end are
//! then one write in place of two. A call that may change something is recorded, as running, before
//! its tool is reached; a read that takes longer is recorded while it runs.

use std::sync::{Arc, PoisonError};

use async_trait::async_trait;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use super::error::SessionError;
use super::finish::Ending;
use super::live::{LiveCall, id_conflict};
use super::service::Sessions;
use crate::domain::audit::AuditRecord;
use crate::domain::call::{Call, CallStatus};
use crate::domain::clock::Timestamp;
use crate::domain::identity::CallKey;
use crate::domain::result::ToolError;
use crate::permission;
use crate::store::{Accepted, ApprovalStep, CallPatch, CallStep, NewCall, Store};

/// One call's record, made at most once.
pub(super) struct Admission {
    store: Arc<dyn Store>,
    live_call: Arc<LiveCall>,
    key: CallKey,
    /// Cancelled when what still runs is to end.
    stopping: CancellationToken,
    /// Since when a call that changes nothing may run.
    permitted: watch::Sender<Option<Timestamp>>,
    /// What the audit log is told with the next step: a verdict or two.
    noted: std::sync::Mutex<Vec<AuditRecord>>,
    state: Mutex<State>,
}

enum State {
    /// Nothing is written yet.
    Unrecorded(Box<NewCall>),
    /// The record is there.
    Recorded,
    /// It could not be made: nothing may run.
    Refused(Refusal),
}

/// Why a record was not made.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The same call was recorded before, and this is how it stands.
    Existing(Box<Call>),
    /// Something else.
    Error(SessionError),
    /// The refusal was told already.
    Told,
}

/// What recording came to.
enum Recording {
    /// The record was made now, as this.
    Made(Box<Call>),
    /// It was there.
    There,
}

impl Admission {
    /// Of a call that is not recorded yet.
    pub(super) fn pending(sessions: &Sessions, live_call: &Arc<LiveCall>, new: NewCall) -> Self {
        let key = new.call.key.clone();
        Self::new(sessions, live_call, key, State::Unrecorded(Box::new(new)))
    }

    /// Of a call that is.
    pub(super) fn recorded(sessions: &Sessions, live_call: &Arc<LiveCall>, key: CallKey) -> Self {
        Self::new(sessions, live_call, key, State::Recorded)
    }

    fn new(sessions: &Sessions, live_call: &Arc<LiveCall>, key: CallKey, state: State) -> Self {
        let (store, live_call) = (Arc::clone(sessions.store()), Arc::clone(live_call));
        Self {
            store,
            live_call,
            key,
            stopping: sessions.0.stopping.clone(),
            permitted: watch::Sender::new(None),
            noted: std::sync::Mutex::default(),
            state: Mutex::new(state),
        }
    }

    /// Shows everyone who asks that the call runs. Where the server goes down it is ended here: the
    /// end of all that runs may have come just before.
    fn running(&self, call: Call) {
        self.live_call.publish(call);
        if self.stopping.is_cancelled() {
            self.live_call.cancel.cancel();
        }
    }

    /// Records the call as queued, unless its record is there.
    pub(super) async fn admit(&self) -> Result<(), ToolError> {
        if let Recording::Made(call) = self.record(|_| {}).await? {
            self.live_call.publish(*call);
        }
        Ok(())
    }

    /// Records the call with its end in one step; the ending back where the record is there and the
    /// end takes a step of its own.
    pub(super) async fn admit_ended(
        &self,
        ending: Ending,
        started_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<Result<Call, Ending>, ToolError> {
        let mut ending = Some(ending);
        let recording = self
            .record(|new| {
                if let Some(ending) = ending.take() {
                    ending.put_into(new, started_at, now);
                }
            })
            .await?;
        match (recording, ending) {
            (Recording::Made(call), _) => Ok(Ok(*call)),
            (Recording::There, Some(ending)) => Ok(Err(ending)),
            (Recording::There, None) => Err(ToolError::Internal("an end was lost".to_owned())),
        }
    }

    /// Waits until a call that changes nothing may run.
    pub(super) async fn may_run(&self) {
        let mut permitted = self.permitted.subscribe();
        // The sender is this admission's own: it cannot be gone.
        let _ = permitted.wait_for(Option::is_some).await;
    }

    /// Records that it runs, where it is recorded as queued.
    pub(super) async fn tell_running(&self, session_id: &str) {
        let (started_at, audit) = (*self.permitted.borrow(), self.noted());
        let step = CallStep {
            session_id: session_id.to_owned(),
            key: self.key.clone(),
            from: &[CallStatus::Queued],
            to: CallStatus::Running,
            patch: CallPatch { started_at, ..CallPatch::default() },
            approval: ApprovalStep::None,
            events: Vec::new(),
            audit: audit.clone(),
            sync: false,
        };
        // It is for whoever looks: a call that has moved on needs it no more.
        match self.store.step(step).await {
            Ok(running) => self.live_call.publish(running),
            Err(_) => self.note_all(audit),
        }
    }

    fn note_all(&self, entries: Vec<AuditRecord>) {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner).extend(entries);
    }

    /// Hands over what the audit log is to be told.
    pub(super) fn noted(&self) -> Vec<AuditRecord> {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Why there is no record; told once.
    pub(super) async fn refusal(&self) -> Option<Refusal> {
        let mut state = self.state.lock().await;
        match &mut *state {
            State::Refused(refusal) => Some(std::mem::replace(refusal, Refusal::Told)),
            State::Unrecorded(_) | State::Recorded => None,
        }
    }

    /// Whether there is no record, and so nothing to end.
    pub(super) async fn is_refused(&self) -> bool {
        matches!(*self.state.lock().await, State::Refused(_))
    }

    async fn record(&self, change: impl FnOnce(&mut NewCall)) -> Result<Recording, ToolError> {
        let mut state = self.state.lock().await;
        let mut new = match std::mem::replace(&mut *state, State::Recorded) {
            State::Recorded => return Ok(Recording::There),
            State::Refused(refusal) => {
                *state = State::Refused(refusal);
                return Err(not_recorded());
            }
            State::Unrecorded(new) => new,
        };
        change(&mut new);
        new.audit = self.noted();
        let refusal = match self.store.accept(*new).await {
            Ok(Accepted::New(call)) => return Ok(Recording::Made(Box::new(call))),
            Ok(Accepted::Existing(call)) => Refusal::Existing(Box::new(call)),
            Ok(Accepted::Conflict) => Refusal::Error(id_conflict(&self.key)),
            Err(error) => Refusal::Error(error.into()),
        };
        *state = State::Refused(refusal);
        Err(not_recorded())
    }
}

/// What stops a run whose call has no record of its own.
fn not_recorded() -> ToolError {
    ToolError::Cancelled { message: "The call was not accepted.".to_owned() }
}

#[async_trait]
impl permission::Admission for Admission {
    async fn admit(&self) -> Result<(), ToolError> {
        Self::admit(self).await
    }

    async fn admit_running(&self, started_at: Timestamp, sync: bool) -> Result<bool, ToolError> {
        let as_running = |new: &mut NewCall| {
            new.call.status = CallStatus::Running;
            new.call.started_at = Some(started_at);
            new.sync = sync;
        };
        match self.record(as_running).await? {
            Recording::Made(call) => {
                self.running(*call);
                Ok(true)
            }
            Recording::There => Ok(false),
        }
    }

    fn permitted(&self, started_at: Timestamp) {
        self.permitted.send_replace(Some(started_at));
    }

    fn started(&self, running: Call) {
        self.running(running);
    }

    fn note(&self, entry: AuditRecord) {
        self.note_all(vec![entry]);
    }

    fn noted(&self) -> Vec<AuditRecord> {
        Self::noted(self)
    }
}
