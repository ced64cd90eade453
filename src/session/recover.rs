//! The start: what waited still waits, what ran is interrupted, nothing runs twice.

use std::sync::Arc;

use super::admission::Admission;
use super::error::SessionError;
use super::finish::{Ending, NOT_ENDED};
use super::live::{LiveCall, LiveSession};
use super::run::{NEVER_CAME, WENT_DOWN};
use super::service::Sessions;
use crate::domain::approval::{Approval, ApprovalStatus};
use crate::domain::call::{Call, CallStatus, ToolCall};
use crate::domain::result::ToolError;
use crate::store::ApprovalStep;

impl Sessions {
    /// Takes up the open calls of the run before. Called once, before the first request.
    pub async fn recover(&self) -> Result<(), SessionError> {
        for call in self.store().open_calls().await? {
            let id = call.session_id.clone();
            if let Err(error) = self.take_up(call).await {
                tracing::error!(session_id = %id, %error, "an open call could not be taken up");
            }
        }
        self.0.tasks.spawn(self.clone().expire_worker_asks());
        self.0.tasks.spawn(self.clone().sweep());
        if let Some(host) = &self.0.parts.host {
            self.0.tasks.spawn(self.clone().withdraw_stale(Arc::clone(host)));
        }
        Ok(())
    }

    async fn take_up(&self, call: Call) -> Result<(), SessionError> {
        if call.status == CallStatus::Backgrounded {
            // It has its answer; its shell's end is the shells' own to tell.
            return Ok(());
        }
        if !call.status.is_waiting() {
            return self.interrupt(&call).await;
        }
        let record =
            self.store().session(&call.session_id).await?.ok_or(SessionError::NotFound("session"))?;
        let Ok(live) = self.enliven(record) else {
            // Its workspace is gone: there is nowhere left to run it.
            return self.interrupt(&call).await;
        };
        let fingerprint = self.store().fingerprint(&call.session_id, &call.key).await?;
        let fingerprint = fingerprint.ok_or(SessionError::NotFound("call"))?;
        let live_call = live.reopen(&call, fingerprint);
        if call.status == CallStatus::AwaitingApproval {
            self.wait_again(&live, &live_call, call).await?;
        }
        Ok(())
    }

    /// Waits for the decision again, or goes on with one that was recorded in the last moment.
    async fn wait_again(
        &self,
        live: &Arc<LiveSession>,
        live_call: &Arc<LiveCall>,
        call: Call,
    ) -> Result<(), SessionError> {
        let approval = match &call.approval_id {
            Some(id) => self.store().approval(id).await?,
            None => None,
        };
        let model_call = ToolCall::new(&call.key.call_id, &call.tool_name, call.arguments.to_string());
        let resolved = match live.executor.resolve_exact(&model_call, &call.tool_name, Some(&call.arguments))
        {
            Ok(resolved) => resolved,
            Err(error) => {
                let gone = ToolError::Execution(format!("the call cannot be run any more: {error}"));
                let ending = Ending::of_error(&call.key, gone);
                self.finish(live, live_call, &call, ending, None).await;
                return Ok(());
            }
        };
        let admission = Admission::recorded(self, live_call, call.key.clone());
        let mut run = self.run_of(live, live_call, call, resolved, admission);
        if let Some(approval) = &approval {
            // It was judged in this directory, and is bound to it.
            let directory = approval.directory().unwrap_or_else(|| run.scope.directory.clone());
            run.scope = Arc::new(crate::permission::Scope { directory, ..(*run.scope).clone() });
        }
        let waits: Option<Box<Approval>> =
            approval.filter(|approval| approval.status == ApprovalStatus::Pending).map(Box::new);
        let sessions = self.clone();
        self.0.tasks.spawn(async move { sessions.run(run, waits).await });
        Ok(())
    }

    async fn interrupt(&self, call: &Call) -> Result<(), SessionError> {
        let now = self.0.parts.clock.now();
        let reason = if call.status == CallStatus::Queued { NEVER_CAME } else { WENT_DOWN };
        let step = Ending::interrupted(&call.key, reason);
        let step = step.step(call, NOT_ENDED, None, now, ApprovalStep::None);
        self.store().step(step).await?;
        Ok(())
    }
}
