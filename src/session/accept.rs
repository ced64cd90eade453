//! Accepting a call: one id, one call, recorded before anything runs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tracing::Instrument as _;

use super::admission::{Admission, Refusal};
use super::detach::Detachable;
use super::error::SessionError;
use super::finish::{Ending, abandon};
use super::live::{LiveCall, LiveSession, Reserved, Waiting, id_conflict};
use super::principal::Principal;
use super::service::Sessions;
use crate::domain::call::{Call, CallStatus, ToolCall};
use crate::domain::digest::Digest;
use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::identity::CallKey;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::executor::resolve;
use crate::permission::ResolvedCall;
use crate::store::{Accepted, NewCall};

/// The longest tool name that is recorded, in bytes; a longer one is a wrong request.
pub(super) const NAME_BYTES_MAX: usize = 1024;

/// A call whose id is reserved and whose record is made, not yet accepted by the store.
pub(super) struct Prepared {
    pub(super) live_call: Arc<LiveCall>,
    pub(super) new: NewCall,
    pub(super) resolved: Option<ResolvedCall>,
}

/// What a request for a call comes to before the store is asked.
pub(super) enum Preparing {
    /// It is new here.
    New(Box<Prepared>),
    /// It is open already.
    Joined(CallKey, Arc<LiveCall>),
}

impl Preparing {
    pub(super) fn key(&self) -> &CallKey {
        match self {
            Self::New(prepared) => &prepared.new.call.key,
            Self::Joined(key, _) => key,
        }
    }
}

/// What trying to prepare a call comes to.
pub(super) enum Tried {
    /// It is prepared.
    Ready(Preparing),
    /// Another call of this id is being accepted: try again when that is over.
    Contested(Arc<LiveCall>),
}

impl Sessions {
    /// Accepts a call and waits for it: the Call as it stands when it has ended, when it waits for
    /// someone, or when the time is over.
    pub async fn submit(
        &self,
        principal: &Principal,
        session_id: &str,
        turn: Option<String>,
        call: ToolCall,
        wait: Duration,
    ) -> Result<Call, SessionError> {
        let live = self.active(principal, session_id).await?;
        match self.prepare_one(&live, turn, call).await? {
            Preparing::Joined(key, open) => self.await_open(&live, &key, &open, wait).await,
            Preparing::New(prepared) => match *prepared {
                Prepared { live_call, new, resolved: Some(resolved) } => {
                    self.run_here(&live, live_call, new, resolved, wait).await
                }
                unresolved => {
                    let submitted = self.accept_whole(&live, Preparing::New(Box::new(unresolved))).await?;
                    match submitted {
                        Submitted::Recorded(call) => Ok(*call),
                        Submitted::Open(key, open) => self.await_open(&live, &key, &open, wait).await,
                    }
                }
            },
        }
    }

    /// Runs a call in the place of its request as long as that waits: its record is made with the
    /// first thing that has to be written of it.
    async fn run_here(
        &self,
        live: &Arc<LiveSession>,
        live_call: Arc<LiveCall>,
        new: NewCall,
        resolved: ResolvedCall,
        wait: Duration,
    ) -> Result<Call, SessionError> {
        let (key, call) = (new.call.key.clone(), new.call.clone());
        let fingerprint = new.fingerprint.clone();
        let mut reservation = Reservation { live, key: &key, live_call: &live_call, kept: false };
        let certainly_new = live.note(&**self.store(), &key).await?;
        let admission = Admission::pending(self, &live_call, new);
        let run = self.run_of(live, &live_call, call, resolved, admission);
        let admission = Arc::clone(&run.admission);
        reservation.kept = true;
        drop(reservation);
        let admit_first = !certainly_new || wait.is_zero();
        let sessions = self.clone();
        let work = async move {
            // Nothing of a call that may have been there runs before its record says that it is
            // new. Within the work: a record that is made while the client goes away is run.
            if admit_first && run.admission.admit().await.is_err() {
                return abandon(&run);
            }
            sessions.run(run, None).await;
        };
        let mut running = Detachable::new(&self.0.tasks, work);
        let enough = async {
            if wait.is_zero() {
                live_call.accepted().await;
            } else {
                live_call.wait(Waiting::ForAnswerOrPause).await;
            }
        };
        tokio::select! {
            biased;
            () = &mut running => {}
            () = enough => {}
            () = tokio::time::sleep(wait), if !wait.is_zero() => {}
            () = self.0.stopping.cancelled() => {}
        }
        drop(running);
        if self.0.stopping.is_cancelled() {
            // What runs is being ended: whoever waits hears how.
            self.wait_for(&live_call, Waiting::ForAnswerOrPause, Duration::ZERO).await;
        }
        if admission.admit().await.is_err() {
            return self.refused(live, &key, &fingerprint, &admission).await;
        }
        match live_call.current() {
            Some(call) => Ok(Call::clone(&call)),
            None => self.recorded(live, &key, &fingerprint).await,
        }
    }

    async fn refused(
        &self,
        live: &LiveSession,
        key: &CallKey,
        fingerprint: &Digest,
        admission: &Admission,
    ) -> Result<Call, SessionError> {
        match admission.refusal().await {
            Some(Refusal::Existing(call)) => Ok(*call),
            Some(Refusal::Error(error)) => Err(error),
            Some(Refusal::Told) | None => self.recorded(live, key, fingerprint).await,
        }
    }

    /// The same without waiting, for those who follow its events.
    pub async fn submit_detached(
        &self,
        principal: &Principal,
        session_id: &str,
        turn: Option<String>,
        call: ToolCall,
    ) -> Result<Call, SessionError> {
        let live = self.active(principal, session_id).await?;
        let preparing = self.prepare_one(&live, turn, call).await?;
        match self.accept_whole(&live, preparing).await? {
            Submitted::Recorded(call) => Ok(*call),
            Submitted::Open(key, open) => match open.accepted().await {
                Some(call) => Ok(Call::clone(&call)),
                None => self.recorded(&live, &key, &open.fingerprint).await,
            },
        }
    }

    /// Accepts in a task of its own: a record that is made while the client goes away is run.
    async fn accept_whole(
        &self,
        live: &Arc<LiveSession>,
        preparing: Preparing,
    ) -> Result<Submitted, SessionError> {
        let (sessions, live) = (self.clone(), Arc::clone(live));
        let accepting =
            self.0.tasks.spawn(async move { sessions.accept(&live, preparing).await }.in_current_span());
        accepting.await.map_err(|error| SessionError::Internal(error.to_string()))?
    }

    pub(super) async fn await_open(
        &self,
        live: &LiveSession,
        key: &CallKey,
        open: &LiveCall,
        wait: Duration,
    ) -> Result<Call, SessionError> {
        let accepted = open.accepted().await;
        if wait.is_zero()
            && let Some(call) = accepted
        {
            return Ok(Call::clone(&call));
        }
        match self.wait_for(open, Waiting::ForAnswerOrPause, wait).await {
            Some(call) => Ok(call),
            None => self.recorded(live, key, &open.fingerprint).await,
        }
    }

    /// What stands in the store under an id, for who asked for the call of this fingerprint.
    async fn recorded(
        &self,
        live: &LiveSession,
        key: &CallKey,
        fingerprint: &Digest,
    ) -> Result<Call, SessionError> {
        match self.store().fingerprint(live.id(), key).await? {
            Some(found) if found != *fingerprint => Err(id_conflict(key)),
            // Who was accepting it gave up: the id is free, and the client may try again.
            None => Err(SessionError::Busy),
            Some(_) => self.store().call(live.id(), key).await?.ok_or(SessionError::Busy),
        }
    }

    /// Prepares one call, once it is clear whose its id is.
    async fn prepare_one(
        &self,
        live: &LiveSession,
        turn: Option<String>,
        mut call: ToolCall,
    ) -> Result<Preparing, SessionError> {
        self.give_id(&mut call);
        loop {
            match self.prepare(live, turn.clone(), &call)? {
                Tried::Contested(other) => drop(other.accepted().await),
                // Who was accepting the same call gave up: it is this one's turn.
                Tried::Ready(Preparing::Joined(_, open)) if open.accepted().await.is_none() => {}
                Tried::Ready(preparing) => return Ok(preparing),
            }
        }
    }

    /// Makes an id where the client gave none.
    pub(super) fn give_id(&self, call: &mut ToolCall) {
        if call.id.is_empty() {
            call.id = self.0.parts.ids.make("call");
        }
    }

    /// Reserves the call's id and resolves it; nothing is recorded yet.
    pub(super) fn prepare(
        &self,
        live: &LiveSession,
        turn: Option<String>,
        call: &ToolCall,
    ) -> Result<Tried, SessionError> {
        if call.function.name.is_empty() || call.function.name.len() > NAME_BYTES_MAX {
            let message = format!("a tool's name has 1 to {NAME_BYTES_MAX} bytes");
            return Err(SessionError::invalid("/function/name", message));
        }
        let key = CallKey::new(turn, call.id.clone())?;
        let fingerprint = call.fingerprint();
        let open_max = self.revision().config.limits.open_calls_per_session;
        let live_call = match live.reserve(&key, &fingerprint, open_max)? {
            Reserved::Joined(open) => return Ok(Tried::Ready(Preparing::Joined(key, open))),
            Reserved::Contested(other) => return Ok(Tried::Contested(other)),
            Reserved::New(live_call) => live_call,
        };
        let resolution = resolve(&*live.executor, call);
        let (new, resolved) = self.new_call(live, key, call, fingerprint, resolution);
        Ok(Tried::Ready(Preparing::New(Box::new(Prepared { live_call, new, resolved }))))
    }

    fn new_call(
        &self,
        live: &LiveSession,
        key: CallKey,
        call: &ToolCall,
        fingerprint: Digest,
        resolution: Result<ResolvedCall, ToolError>,
    ) -> (NewCall, Option<ResolvedCall>) {
        let (tool_name, arguments, mutability, error, resolved) = match resolution {
            Ok(resolved) => (
                resolved.tool_name.clone(),
                (*resolved.arguments).clone(),
                resolved.mutability,
                None,
                Some(resolved),
            ),
            Err(error) => {
                let text = Value::String(call.function.arguments.clone());
                (call.function.name.clone(), text, ToolMutability::Mutating, Some(error), None)
            }
        };
        let now = self.0.parts.clock.now();
        let mut record = Call {
            session_id: live.id().to_owned(),
            key,
            tool_name,
            arguments,
            requested_arguments: None,
            status: CallStatus::Queued,
            result: None,
            details: None,
            error: None,
            approval_id: None,
            question: None,
            mutability,
            created_at: now,
            started_at: None,
            finished_at: None,
            first_seq: 0,
            last_seq: 0,
        };
        let mut events = vec![AgentEvent::ToolStart {
            call: CallRef::from(&record.key),
            tool_name: record.tool_name.clone(),
            arguments: record.arguments.clone(),
        }];
        if let Some(error) = error {
            let ending = Ending::of_error(&record.key, error);
            record.status = ending.status;
            record.result = Some(ending.result);
            record.error = ending.error;
            record.finished_at = Some(now);
            events.push(ending.event);
        }
        (NewCall { call: record, fingerprint, events, audit: Vec::new(), sync: false }, resolved)
    }

    /// Records a prepared call and starts it.
    pub(super) async fn accept(
        &self,
        live: &Arc<LiveSession>,
        preparing: Preparing,
    ) -> Result<Submitted, SessionError> {
        let prepared = match preparing {
            Preparing::Joined(key, open) => return Ok(Submitted::Open(key, open)),
            Preparing::New(prepared) => prepared,
        };
        let Prepared { live_call, new, resolved } = *prepared;
        let key = new.call.key.clone();
        let reservation = Reservation { live, key: &key, live_call: &live_call, kept: false };
        live.note(&**self.store(), &key).await?;
        let accepted = self.store().accept(new).await?;
        self.settle(live, reservation, accepted, resolved)
    }

    /// Makes of what the store said what the request gets.
    pub(super) fn settle(
        &self,
        live: &Arc<LiveSession>,
        mut reservation: Reservation<'_>,
        accepted: Accepted,
        resolved: Option<ResolvedCall>,
    ) -> Result<Submitted, SessionError> {
        match (accepted, resolved) {
            (Accepted::Conflict, _) => Err(id_conflict(reservation.key)),
            (Accepted::Existing(call), _) | (Accepted::New(call), None) => {
                Ok(Submitted::Recorded(Box::new(call)))
            }
            (Accepted::New(call), Some(resolved)) => {
                reservation.kept = true;
                let (key, open) = (reservation.key.clone(), Arc::clone(reservation.live_call));
                open.publish(call.clone());
                self.start(live, &open, call, resolved);
                Ok(Submitted::Open(key, open))
            }
        }
    }
}

/// What became of a request for a call.
pub(super) enum Submitted {
    /// It has ended, now or long ago.
    Recorded(Box<Call>),
    /// It is open.
    Open(CallKey, Arc<LiveCall>),
}

/// Frees a reserved id again unless the call was accepted, also when the request goes away.
pub(super) struct Reservation<'a> {
    pub(super) live: &'a LiveSession,
    pub(super) key: &'a CallKey,
    pub(super) live_call: &'a Arc<LiveCall>,
    pub(super) kept: bool,
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.live.forget(self.key);
            self.live_call.give_up();
        }
    }
}
