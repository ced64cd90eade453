//! Ends: a call cancelled, a session ended, the server going down.

use std::sync::Arc;
use std::time::Duration;

use super::error::SessionError;
use super::finish::{Ending, close};
use super::live::{LiveSession, Waiting};
use super::principal::Principal;
use super::service::Sessions;
use crate::domain::call::{Call, CallStatus};
use crate::domain::identity::CallKey;
use crate::domain::session::Session;
use crate::store::{ApprovalStep, StoreError};

/// Statuses in which nothing runs that would have to end first.
const NOT_RUNNING: &[CallStatus] = &[
    CallStatus::Queued,
    CallStatus::AwaitingApproval,
    CallStatus::AwaitingAnswer,
    CallStatus::AwaitingResult,
];
/// How long a cancelled call's process tree may take to be gone; past that the answer comes with
/// the call as it stands.
const TREE_ENDS_WITHIN: Duration = Duration::from_secs(15);

impl Sessions {
    /// Cancels a call and answers how it ended; one that has ended is unchanged.
    pub async fn cancel(
        &self,
        principal: &Principal,
        session_id: &str,
        key: &CallKey,
    ) -> Result<Call, SessionError> {
        self.record(principal, session_id).await?;
        let find_open = || {
            let live = self.live_map().get(session_id).cloned()?;
            let open = live.open_call(key)?;
            Some((live, open))
        };
        loop {
            if let Some((live, open)) = find_open() {
                // While the call is still being accepted there is nothing to cancel yet.
                open.accepted().await;
                if let Some(call) = self.cancel_open(&live, key, "Cancelled by the client.").await? {
                    return Ok(call);
                }
            }
            let call = self.store().call(session_id, key).await?.ok_or(SessionError::NotFound("call"))?;
            // One that was accepted between the two looks is open, and not cancelled yet.
            if call.status.has_ended() || find_open().is_none() {
                return Ok(call);
            }
        }
    }

    /// Cancels an open call; none where it has ended by itself.
    async fn cancel_open(
        &self,
        live: &Arc<LiveSession>,
        key: &CallKey,
        reason: &str,
    ) -> Result<Option<Call>, SessionError> {
        let Some(open) = live.open_call(key) else { return Ok(None) };
        let fate = open.fate.lock().await;
        let Some(call) = self.store().call(live.id(), key).await? else { return Ok(None) };
        // An approval that still waits is closed, and told of, by the store in the same step.
        let now = self.0.parts.clock.now();
        let step = Ending::cancelled(key, reason).step(&call, NOT_RUNNING, None, now, ApprovalStep::None);
        let taken = self.store().step(step).await;
        drop(fate);
        match taken {
            Ok(ended) => {
                close(live, &open, ended.clone());
                Ok(Some(ended))
            }
            Err(StoreError::CallMoved(current)) if current.status == CallStatus::Running => {
                // The tool ends its own work; its run records how.
                open.cancel.cancel();
                Ok(self.wait_for(&open, Waiting::ForAnswer, TREE_ENDS_WITHIN).await)
            }
            Err(StoreError::CallMoved(current)) => Ok(Some(*current)),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a session: its calls and approvals are cancelled, their processes end, then it has
    /// ended. Again: the same.
    pub async fn end(&self, principal: &Principal, session_id: &str) -> Result<Session, SessionError> {
        let record = self.record(principal, session_id).await?;
        if !record.is_active() {
            return Ok(record.session);
        }
        let known = self.live_map().get(session_id).cloned();
        // Where the workspace is gone there is nothing to bring back: the store cancels what is open.
        if let Some(live) = known.or_else(|| self.enliven(record).ok()) {
            match self.cancel_all(&live).await {
                // Another end of it was quicker.
                Ok(()) | Err(SessionError::Ended) => {}
                Err(error) => {
                    live.end_failed();
                    return Err(error);
                }
            }
        }
        let ended = self.store().end_session(session_id).await;
        let live = self.live_map().remove(session_id);
        if let (Err(_), Some(live)) = (&ended, live) {
            live.end_failed();
            self.live_map().insert(session_id.to_owned(), live);
        }
        Ok(ended?.session)
    }

    async fn cancel_all(&self, live: &Arc<LiveSession>) -> Result<(), SessionError> {
        let mut open = live.begin_ending();
        while !open.is_empty() {
            let cancelled = open.iter().map(|key| self.cancel_with_session(live, key));
            for outcome in futures_util::future::join_all(cancelled).await {
                outcome?;
            }
            open = if live.has_open_calls() { live.begin_ending() } else { Vec::new() };
        }
        Ok(())
    }

    async fn cancel_with_session(&self, live: &Arc<LiveSession>, key: &CallKey) -> Result<(), SessionError> {
        let Some(open) = live.open_call(key) else { return Ok(()) };
        // What was being accepted when the end began can be cancelled only then.
        open.accepted().await;
        self.cancel_open(live, key, "The session was ended.").await?;
        // Its run may still have to see it.
        self.wait_for(&open, Waiting::ForAnswer, TREE_ENDS_WITHIN).await;
        Ok(())
    }

    /// Goes down: takes nothing more, gives running calls `grace` to end by themselves, then ends
    /// their trees and records them as interrupted. Waiting calls go on waiting at the next start.
    pub async fn shut_down(&self, grace: Duration) {
        self.0.tasks.close();
        // Nothing new is accepted from here on; what runs gets its grace.
        self.0.draining.cancel();
        let _ = tokio::time::timeout(grace, self.0.parts.running.emptied()).await;
        self.0.stopping.cancel();
        for live in self.live_map().values() {
            live.cancel_running();
        }
        self.0.tasks.wait().await;
    }
}
