//! The end of a call that asked people for what outlasts it: what they allowed is done with it.
//!
//! Such a call never counts as running. Until its last step it waits for its approval, be that allowed
//! or not, so a server that goes down in between finds it waiting and comes to the same end: rules are
//! granted, the approval spent and the call completed in one step of the store; the mode is written
//! before that step, and writing it again changes nothing.

use serde_json::json;

use super::create::write_flags;
use super::error::SessionError;
use super::finish::{Ending, close};
use super::run::Run;
use super::service::Sessions;
use crate::domain::approval::{Approval, ApprovalStatus, Offer, Scope};
use crate::domain::call::{Call, CallStatus};
use crate::domain::clock::Timestamp;
use crate::domain::grant::Grant;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::session::{PermissionMode, RuntimeFlags};
use crate::permission::{Petition, granted_in};
use crate::store::{ApprovalStep, StoreError};

impl Sessions {
    /// Does what was allowed and ends the call; just ends it where nobody had to be asked.
    pub(super) async fn finish_petition(&self, run: &Run, result: ToolResult, started_at: Timestamp) {
        // From here on a cancel comes too late, or came before.
        let _fate = run.live_call.fate.lock().await;
        let Some(call) = self.stored(run).await else { return };
        if call.status.has_ended() {
            return close(&run.live, &run.live_call, call);
        }
        if call.status != CallStatus::AwaitingApproval {
            return self.finish_run(run, Ending::of_result(&call.key, result), Some(started_at)).await;
        }
        match self.redeem(run, &call, result, started_at).await {
            Ok(Some(ended)) => close(&run.live, &run.live_call, ended),
            // The server goes down: the next start comes here again.
            Ok(None) => {}
            Err(error) => {
                tracing::error!(session_id = run.live.id(), %error, "what was allowed could not be done");
                let text = "the server could not do what was allowed; ask again".to_owned();
                let ending = Ending::of_error(&call.key, ToolError::Internal(text));
                self.finish(&run.live, &run.live_call, &call, ending, Some(started_at)).await;
            }
        }
    }

    /// The call as it ended; none where the server goes down meanwhile.
    async fn redeem(
        &self,
        run: &Run,
        call: &Call,
        mut result: ToolResult,
        started_at: Timestamp,
    ) -> Result<Option<Call>, SessionError> {
        let Some(petition) = run.resolved.petition() else { return Ok(None) };
        let approval_id = call.approval_id.as_deref().unwrap_or_default();
        let approval = self.store().approval(approval_id).await?;
        let approval = approval
            .filter(|approval| approval.status == ApprovalStatus::Allowed)
            .ok_or_else(|| SessionError::Internal("the call is not allowed".to_owned()))?;
        let grants = match petition {
            Petition::Rules { rules, .. } => {
                let (new, details) = self.grants_of(run, &approval, rules).await?;
                result = result.with_details(details);
                new
            }
            Petition::EndOfPlan { .. } => {
                if !self.leave_plan(run).await? {
                    return Ok(None);
                }
                Vec::new()
            }
        };
        let redeemed = ApprovalStep::Redeem { approval_id: approval.approval_id, grants };
        let now = self.0.parts.clock.now();
        let mut ending = Ending::of_result(&call.key, result);
        ending.audit = run.admission.noted();
        let mut step = ending.step(call, &[CallStatus::AwaitingApproval], Some(started_at), now, redeemed);
        step.sync = true;
        match self.persistently(run, || self.store().step(step.clone())).await {
            None => Ok(None),
            Some(Ok(ended)) => {
                self.0.dated.notify_one();
                Ok(Some(ended))
            }
            Some(Err(StoreError::CallMoved(moved))) => Ok(Some(*moved)),
            Some(Err(error)) => Err(error.into()),
        }
    }

    /// Writes and tells that the session no longer only plans; `false` where the server goes down
    /// before it is told: then the next start tells it.
    async fn leave_plan(&self, run: &Run) -> Result<bool, SessionError> {
        // What was changed by hand before is told first.
        let revision = self.revision();
        self.flags(&run.live, &revision).await;
        let Some(flags) = write_flags(&run.live, &revision, leave_plan)? else { return Ok(true) };
        let tell = || self.store().set_runtime(run.live.id(), flags.clone(), None);
        match self.persistently(run, tell).await {
            None => Ok(false),
            Some(told) => Ok(told.map(|()| true)?),
        }
    }

    /// Grants for the rules, and the ids of all for programs. A rule that the session was granted before keeps its
    /// grant, which then holds as long as the later of both: it is revoked by revoking one.
    async fn grants_of(
        &self,
        run: &Run,
        approval: &Approval,
        rules: &[String],
    ) -> Result<(Vec<Grant>, serde_json::Value), SessionError> {
        let record = &run.live.record;
        let held = self.store().grants_for(run.live.id(), &record.owner, &record.workspace_root).await?;
        let (by, hold_s) = approval
            .decision
            .as_ref()
            .map_or(("", None), |decision| (decision.by.as_str(), decision.request.expires_in_s));
        let (mut new, mut told) = (Vec::new(), Vec::new());
        // An allow is bound to the directory that it was asked in.
        let from = approval.directory().unwrap_or_default();
        for rule in rules {
            let directory = granted_in(rule, &from, run.live.workspace.root());
            let standing = held.iter().find(|grant| {
                grant.scope == Scope::Session && (&grant.pattern, &grant.directory) == (rule, &directory)
            });
            let offer = Offer { scope: Scope::Session, pattern: Some(rule.clone()), directory };
            let mut grant = self.new_grant(&run.live, approval, offer, hold_s, by);
            match standing {
                Some(standing) if standing.expires_at >= grant.expires_at => grant = standing.clone(),
                Some(standing) => {
                    grant.grant_id.clone_from(&standing.grant_id);
                    new.push(grant.clone());
                }
                None => new.push(grant.clone()),
            }
            let mut one =
                json!({"grant_id": grant.grant_id, "pattern": rule, "expires_at": grant.expires_at});
            if let Some(directory) = &grant.directory {
                one["directory"] = json!(directory);
            }
            told.push(one);
        }
        Ok((new, json!({ "grants": told })))
    }
}

/// Leaves plan mode; another mode, which somebody set meanwhile, stays.
fn leave_plan(flags: &mut RuntimeFlags) -> bool {
    let plans = flags.permission_mode == PermissionMode::Plan;
    if plans {
        flags.permission_mode = PermissionMode::Default;
    }
    plans
}
