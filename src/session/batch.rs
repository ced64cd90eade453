//! A batch: accepted as a whole or not at all, then run in order, read-only neighbours together.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument as _;

use super::accept::{Preparing, Reservation, Submitted, Tried};
use super::admission::Admission;
use super::error::SessionError;
use super::live::{LiveCall, LiveSession, Waiting, id_conflict};
use super::principal::Principal;
use super::run::Run;
use super::service::Sessions;
use crate::domain::call::{Call, CallStatus, ToolCall};
use crate::domain::identity::CallKey;
use crate::domain::schema::ToolMutability;
use crate::executor::schedule;
use crate::permission::ResolvedCall;
use crate::store::Accepted;

/// The most calls of one batch.
pub const BATCH_MAX: usize = 128;

/// A batch as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The calls, in the order of the request.
    pub calls: Vec<Call>,
    /// Whether any of them has not ended.
    pub open: bool,
}

/// What becomes of a request that finds calls waiting for a person already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownPauses {
    /// It is answered at once.
    Answer,
    /// It waits until that is decided, or until there is another pause to tell of. Calls that wait for the
    /// client's own result are told at once all the same.
    Wait,
}

/// One place of a batch.
struct Member {
    key: CallKey,
    class: (ToolMutability, bool),
    open: Option<Arc<LiveCall>>,
    to_run: Option<Box<(Call, ResolvedCall)>>,
}

/// A batch that goes its way.
struct Started {
    keys: Vec<CallKey>,
    open: Vec<Option<Arc<LiveCall>>>,
    runs: Vec<Range<usize>>,
}

impl Sessions {
    /// Accepts a batch and waits for it: until all have ended, until one that waits for someone
    /// holds up the rest (`pauses`: one that is news), or until the time is over.
    pub async fn submit_batch(
        &self,
        principal: &Principal,
        session_id: &str,
        turn: Option<String>,
        mut calls: Vec<ToolCall>,
        wait: Duration,
        pauses: KnownPauses,
    ) -> Result<Batch, SessionError> {
        check_shape(&calls)?;
        let live = self.active(principal, session_id).await?;
        for call in &mut calls {
            self.give_id(call);
        }
        let preparing = self.prepare_all(&live, turn.as_deref(), &calls).await?;
        let known = if pauses == KnownPauses::Wait { waiting_for_people(&preparing) } else { Vec::new() };
        let (sessions, its) = (self.clone(), Arc::clone(&live));
        // In a task of its own: records that are made while the client goes away are run.
        let starting = async move { sessions.start_batch(&its, preparing).await };
        let started = self.0.tasks.spawn(starting.in_current_span());
        let started = started.await.map_err(|error| SessionError::Internal(error.to_string()))??;
        let Started { keys, open, runs } = started;
        tokio::select! {
            () = settled(&open, &runs, &known) => {}
            () = tokio::time::sleep(wait) => {}
            () = self.0.stopping.cancelled() => {}
        }
        self.collect(&live, &keys, &open).await
    }

    /// Prepares all calls, once it is clear whose their ids are. It holds no id while it waits, so
    /// that two batches cannot wait for each other.
    async fn prepare_all(
        &self,
        live: &LiveSession,
        turn: Option<&str>,
        calls: &[ToolCall],
    ) -> Result<Vec<Preparing>, SessionError> {
        'again: loop {
            let mut preparing = Vec::with_capacity(calls.len());
            for call in calls {
                let undecided = match self.prepare(live, turn.map(str::to_owned), call) {
                    Ok(Tried::Contested(other)) => other,
                    // Who is accepting the same call may still give up.
                    Ok(Tried::Ready(Preparing::Joined(_, open))) if open.current().is_none() => open,
                    Ok(Tried::Ready(prepared)) => {
                        preparing.push(prepared);
                        continue;
                    }
                    Err(error) => {
                        release(live, &preparing);
                        return Err(error);
                    }
                };
                release(live, &preparing);
                drop(preparing);
                undecided.accepted().await;
                continue 'again;
            }
            return Ok(preparing);
        }
    }

    /// Records what was prepared and starts it.
    async fn start_batch(
        &self,
        live: &Arc<LiveSession>,
        preparing: Vec<Preparing>,
    ) -> Result<Started, SessionError> {
        let mut members = self.accept_members(live, preparing).await?;
        let classes: Vec<_> = members.iter().map(|member| member.class).collect();
        let runs = schedule::runs(&classes);
        let keys = members.iter().map(|member| member.key.clone()).collect();
        let open = members.iter().map(|member| member.open.clone()).collect();
        self.drive(live, &mut members, runs.clone());
        Ok(Started { keys, open, runs })
    }

    /// Records all calls in one step.
    async fn accept_members(
        &self,
        live: &Arc<LiveSession>,
        preparing: Vec<Preparing>,
    ) -> Result<Vec<Member>, SessionError> {
        let mut fresh = Vec::new();
        for item in &preparing {
            if let Preparing::New(prepared) = item {
                fresh.push(prepared.new.clone());
            }
        }
        for item in &preparing {
            if let Err(error) = live.note(&**self.store(), item.key()).await {
                release(live, &preparing);
                return Err(error);
            }
        }
        let accepted = match self.store().accept_all(fresh).await {
            Ok(Ok(accepted)) => accepted,
            Ok(Err(index)) => {
                release(live, &preparing);
                let fresh = preparing.iter().filter(|item| matches!(item, Preparing::New(_)));
                return Err(fresh
                    .into_iter()
                    .nth(index)
                    .map_or(SessionError::Busy, |item| id_conflict(item.key())));
            }
            Err(error) => {
                release(live, &preparing);
                return Err(error.into());
            }
        };
        let mut accepted = accepted.into_iter();
        preparing
            .into_iter()
            .map(|item| match item {
                Preparing::Joined(key, open) => {
                    let mutability = open.current().map_or(ToolMutability::ReadOnly, |call| call.mutability);
                    let class = (mutability, mutability == ToolMutability::ReadOnly);
                    Ok(Member { key, class, open: Some(open), to_run: None })
                }
                Preparing::New(prepared) => {
                    let key = prepared.new.call.key.clone();
                    let answer = accepted.next().unwrap_or(Accepted::Conflict);
                    let class =
                        prepared.resolved.as_ref().map_or((ToolMutability::ReadOnly, true), |resolved| {
                            (resolved.mutability, resolved.concurrency_safe)
                        });
                    let mut reservation =
                        Reservation { live, key: &key, live_call: &prepared.live_call, kept: false };
                    match (answer, prepared.resolved) {
                        (Accepted::New(call), Some(resolved)) => {
                            reservation.kept = true;
                            drop(reservation);
                            prepared.live_call.publish(call.clone());
                            let to_run = Some(Box::new((call, resolved)));
                            Ok(Member { key, class, open: Some(prepared.live_call), to_run })
                        }
                        (answer, resolved) => {
                            let settled = self.settle(live, reservation, answer, resolved)?;
                            let open = match settled {
                                Submitted::Open(_, open) => Some(open),
                                Submitted::Recorded(_) => None,
                            };
                            Ok(Member { key, class: (ToolMutability::ReadOnly, true), open, to_run: None })
                        }
                    }
                }
            })
            .collect()
    }

    /// Runs the members in a task of their own: a client that goes away does not end the batch.
    fn drive(&self, live: &Arc<LiveSession>, members: &mut [Member], runs: Vec<Range<usize>>) {
        let mut members: Vec<_> =
            members.iter_mut().map(|member| (member.open.clone(), member.to_run.take())).collect();
        let (sessions, live) = (self.clone(), Arc::clone(live));
        let driving = async move {
            for run in runs {
                // One that was joined is driven by who brought it, and waited for all the same. Two
                // batches cannot wait for each other: what one joins was there before its own calls.
                let open =
                    members[run].iter_mut().filter_map(|(open, to_run)| Some((open.take()?, to_run.take())));
                let ends = open.map(|(live_call, to_run)| sessions.member(&live, live_call, to_run));
                futures_util::future::join_all(ends).await;
                if sessions.0.stopping.is_cancelled() {
                    return;
                }
            }
        };
        self.0.tasks.spawn(driving.in_current_span());
    }

    /// Runs one member, where it is this batch's to run, and waits for its end, through pauses.
    async fn member(
        &self,
        live: &Arc<LiveSession>,
        live_call: Arc<LiveCall>,
        to_run: Option<Box<(Call, ResolvedCall)>>,
    ) {
        if let Some(accepted) = to_run {
            let (call, resolved) = *accepted;
            // The directory is taken when the member's turn comes: a `cd` before it counts.
            let admission = Admission::recorded(self, &live_call, call.key.clone());
            let run: Run = self.run_of(live, &live_call, call, resolved, admission);
            let sessions = self.clone();
            // A task each, so that neighbours are really side by side.
            let running = async move { sessions.run(run, None).await };
            let _ = self.0.tasks.spawn(running.in_current_span()).await;
        }
        tokio::select! {
            _ = live_call.wait(Waiting::ForAnswer) => {}
            () = self.0.stopping.cancelled() => {}
        }
    }

    async fn collect(
        &self,
        live: &LiveSession,
        keys: &[CallKey],
        open: &[Option<Arc<LiveCall>>],
    ) -> Result<Batch, SessionError> {
        let mut calls = Vec::with_capacity(keys.len());
        for (key, open) in keys.iter().zip(open) {
            let current = match open {
                // One that was joined may still be on its way into the store.
                Some(open) => open.accepted().await,
                None => None,
            };
            let call = match current {
                Some(call) => Call::clone(&call),
                None => self.store().call(live.id(), key).await?.ok_or_else(|| id_conflict(key))?,
            };
            calls.push(call);
        }
        let open = calls.iter().any(|call| !call.status.has_ended());
        Ok(Batch { calls, open })
    }
}

/// The calls that wait for a person now.
fn waiting_for_people(preparing: &[Preparing]) -> Vec<Arc<Call>> {
    let for_person =
        |call: &Arc<Call>| matches!(call.status, CallStatus::AwaitingApproval | CallStatus::AwaitingAnswer);
    let joined = preparing.iter().filter_map(|item| match item {
        Preparing::Joined(_, open) => open.current(),
        Preparing::New(_) => None,
    });
    joined.filter(for_person).collect()
}

/// Waits until nothing of the batch moves by itself any more and there is news: all have ended, or one
/// waits for someone that did not do so in `known`.
async fn settled(open: &[Option<Arc<LiveCall>>], runs: &[Range<usize>], known: &[Arc<Call>]) {
    for run in runs {
        loop {
            let mut still_known = Vec::new();
            let mut news = false;
            for open in open[run.clone()].iter().flatten() {
                let Some(call) = open.wait(Waiting::ForAnswerOrPause).await else { continue };
                if call.status.has_ended() {
                    continue;
                }
                let same = |known: &&Arc<Call>| {
                    known.key == call.key
                        && known.status == call.status
                        && known.approval_id == call.approval_id
                };
                match known.iter().find(same) {
                    Some(known) => still_known.push(Box::pin(open.moved_on(known))),
                    None => news = true,
                }
            }
            if news {
                return;
            }
            if still_known.is_empty() {
                break;
            }
            futures_util::future::select_all(still_known).await;
        }
    }
}

fn check_shape(calls: &[ToolCall]) -> Result<(), SessionError> {
    if calls.is_empty() || calls.len() > BATCH_MAX {
        return Err(SessionError::invalid("/calls", format!("a batch has 1 to {BATCH_MAX} calls")));
    }
    let mut seen = HashSet::new();
    for (index, call) in calls.iter().enumerate() {
        if !call.id.is_empty() && !seen.insert(&call.id) {
            let pointer = format!("/calls/{index}/id");
            return Err(SessionError::invalid(pointer, "this id is in the batch twice"));
        }
    }
    Ok(())
}

/// Frees the ids that were reserved.
fn release(live: &LiveSession, preparing: &[Preparing]) {
    for item in preparing {
        if let Preparing::New(prepared) = item {
            live.forget(item.key());
            prepared.live_call.give_up();
        }
    }
}
