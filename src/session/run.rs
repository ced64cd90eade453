//! The run of one accepted call: judged, paused as long as it takes, run, ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use percent_encoding::AsciiSet;
use tokio::sync::mpsc;
use tracing::Instrument as _;
use tracing::field::Empty;

use super::admission::Admission;
use super::finish::{Ending, abandon, close};
use super::live::{LiveCall, LiveSession};
use super::pump::{AHEAD_MAX, pump};
use super::service::Sessions;
use crate::config::Place;
use crate::domain::approval::{Approval, ApprovalStatus, Scope as GrantScope};
use crate::domain::call::{Call, CallStatus, ToolCall};
use crate::domain::clock::Timestamp;
use crate::domain::digest::Digest;
use crate::domain::event::{AgentEvent, CallRef, Resolution};
use crate::domain::identity::CallKey;
use crate::domain::outcome::{HumanRequest, Question, ToolOutcome};
use crate::domain::result::{DeniedBy, ToolError, ToolResult};
use crate::executor::{ToolExecutionContext, ToolExecutionSessionFlags, ToolExecutor as _};
use crate::permission::{self, Artifact, ResolvedCall, Scope};
use crate::store::{ApprovalStep, CallPatch, CallStep, StoreError};
use crate::telemetry::trace;

/// Why a call ends that was running when the server went down.
pub(super) const WENT_DOWN: &str = "The server went down while this call ran; it is not run again by itself.";
/// Why a call ends whose turn had not come when the server went down.
pub(super) const NEVER_CAME: &str =
    "The server went down before this call had run to its end; it is not run by itself.";

/// How long a call waits before it asks a store again that was busy or failed, at first and at most.
const RETRY_FIRST: Duration = Duration::from_millis(50);
const RETRY_MOST: Duration = Duration::from_secs(5);
/// How long a call may run before it is recorded while it runs.
const TOLD_AFTER: Duration = Duration::from_millis(5);
/// How long an approved call that had to wait at the gate is tried again; the last time it waits at most as long.
const WAITS_MAX: Duration = Duration::from_mins(5);

/// What is escaped in a path segment or a query's value: all but the unreserved characters (RFC 3986, section 2.3).
const PATH_SEGMENT: &AsciiSet =
    &percent_encoding::NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// One run: the call, what it resolved to and where it works.
pub(super) struct Run {
    pub(super) live: Arc<LiveSession>,
    pub(super) live_call: Arc<LiveCall>,
    pub(super) call: Call,
    pub(super) resolved: ResolvedCall,
    pub(super) scope: Arc<Scope>,
    pub(super) admission: Arc<Admission>,
}

/// How one execution left the call.
enum Left {
    /// It has ended, or waits for someone whose answer ends it, or will be found at the next start.
    Done,
    /// It waits for a decision, until then at the latest.
    Undecided(Box<Approval>),
}

impl Sessions {
    /// Starts an accepted call in a task of its own: a client that goes away does not end it.
    pub(super) fn start(
        &self,
        live: &Arc<LiveSession>,
        live_call: &Arc<LiveCall>,
        call: Call,
        resolved: ResolvedCall,
    ) {
        let admission = Admission::recorded(self, live_call, call.key.clone());
        let run = self.run_of(live, live_call, call, resolved, admission);
        let sessions = self.clone();
        self.0.tasks.spawn(async move { sessions.run(run, None).await }.in_current_span());
    }

    pub(super) fn run_of(
        &self,
        live: &Arc<LiveSession>,
        live_call: &Arc<LiveCall>,
        call: Call,
        resolved: ResolvedCall,
        admission: Admission,
    ) -> Run {
        let admission = Arc::new(admission);
        let gates: Arc<dyn permission::Admission> = admission.clone();
        let scope = Scope { admission: Some(gates), ..self.scope(live, live_call, &call) };
        let (live, live_call) = (Arc::clone(live), Arc::clone(live_call));
        Run { live, live_call, call, resolved, scope: Arc::new(scope), admission }
    }

    /// Where a call works: fixed now, so that a `cd` that comes later does not move it.
    pub(super) fn scope(&self, live: &LiveSession, live_call: &LiveCall, call: &Call) -> Scope {
        Scope {
            session_id: Some(live.id().to_owned()),
            key: call.key.clone(),
            agent: live.record.owner.clone(),
            workspace_root: live.record.workspace_root.clone().into(),
            workspace: Arc::clone(&live.workspace),
            directory: live.working_directory.current(),
            working_directory: Arc::clone(&live.working_directory),
            reads: Arc::clone(&live.reads),
            locks: self.0.locks.clone(),
            launcher: self.0.parts.launcher.clone(),
            schemas: Some(Arc::clone(&live.schemas)),
            artifact: Some(Artifact {
                path: artifact_path(&live.folder, &call.key),
                url: artifact_url(live.id(), &call.key),
            }),
            todos: Some(live.todos.clone()),
            admission: None,
            revision: None,
            cancel: live_call.cancel.child_token(),
            waited: Arc::default(),
        }
    }

    /// Runs a call to its end, or to where only someone else can go on. `waits` is an approval that
    /// it waits for already.
    pub(super) async fn run(&self, run: Run, waits: Option<Box<Approval>>) {
        // At the level that is always there: every line within says which call.
        let span = tracing::error_span!(
            "call",
            "session.id" = run.live.id(),
            "gen_ai.tool.call.id" = run.call.key.call_id,
            turn = run.call.key.turn,
            "gen_ai.tool.name" = run.call.tool_name,
            "gen_ai.operation.name" = "execute_tool",
            "toolgate.call.status" = Empty,
            "otel.name" = Empty,
            "otel.status_code" = Empty,
        );
        trace::name(&span, || format!("execute_tool {}", run.call.tool_name));
        let live_call = Arc::clone(&run.live_call);
        self.run_within(run, waits).instrument(span.clone()).await;
        if let Some(call) = live_call.current() {
            let status = call.status.as_str();
            span.record("toolgate.call.status", status);
            span.in_scope(|| tracing::debug!(status, "the call has ended, or waits for someone"));
            if matches!(call.status, CallStatus::Failed | CallStatus::Interrupted) {
                span.record("otel.status_code", "ERROR");
            }
        }
    }

    async fn run_within(&self, mut run: Run, mut waits: Option<Box<Approval>>) {
        loop {
            if let Some(approval) = waits.take()
                && !self.decided(&mut run, &approval).await
            {
                return;
            }
            match self.execute(&mut run).await {
                Left::Done => return,
                Left::Undecided(approval) => waits = Some(approval),
            }
        }
    }

    /// Waits for the decision; whether the call goes on.
    async fn decided(&self, run: &mut Run, approval: &Approval) -> bool {
        if let Some(host) = self.host_for(run) {
            return self.decided_by_host(run, approval, host).await;
        }
        tokio::select! {
            biased;
            () = run.live_call.cancel.cancelled() => return false,
            () = self.0.stopping.cancelled() => return false,
            () = run.live_call.wake.notified() => {}
            () = tokio::time::sleep(self.left_of(approval)) => return self.expire(run, approval).await,
        }
        self.reload(run).await
    }

    /// How long an approval may wait yet.
    pub(super) fn left_of(&self, approval: &Approval) -> Duration {
        let left = approval.expires_at.as_millisecond() - self.now().as_millisecond();
        Duration::from_millis(u64::try_from(left).unwrap_or(0))
    }

    /// Takes what a person edited; whether the call still waits to be run.
    pub(super) async fn reload(&self, run: &mut Run) -> bool {
        let Some(stored) = self.stored(run).await else { return false };
        if stored.status.has_ended() {
            close(&run.live, &run.live_call, stored);
            return false;
        }
        if stored.arguments != *run.resolved.arguments {
            let call = ToolCall::new(&stored.key.call_id, &stored.tool_name, stored.arguments.to_string());
            match run.live.executor.resolve_exact(&call, &stored.tool_name, Some(&stored.arguments)) {
                Ok(resolved) => run.resolved = resolved,
                Err(error) => {
                    let ending = Ending::of_error(&stored.key, error);
                    self.finish(&run.live, &run.live_call, &stored, ending, None).await;
                    return false;
                }
            }
        }
        run.call = stored;
        true
    }

    /// Nobody decided in time; whether the call goes on, since someone did in the last moment.
    pub(super) async fn expire(&self, run: &mut Run, approval: &Approval) -> bool {
        let message = "Nobody decided on this call in time.".to_owned();
        let denied = ToolError::Denied { by: DeniedBy::Expired, code: "expired", message };
        let now = self.0.parts.clock.now();
        let closed = ApprovalStep::Close(ApprovalStatus::Expired);
        let mut step = Ending::of_error(&run.call.key, denied).step(
            &run.call,
            &[CallStatus::AwaitingApproval],
            None,
            now,
            closed,
        );
        step.events.insert(
            0,
            AgentEvent::ToolApprovalResolved {
                call: CallRef::from(&run.call.key),
                approval_id: approval.approval_id.clone(),
                decision: Resolution::Expired,
                scope: GrantScope::Once,
                by: "server".to_owned(),
                arguments: None,
            },
        );
        let expired = self.persistently(run, || self.store().step(step.clone())).await;
        match expired {
            Some(Ok(ended)) => {
                close(&run.live, &run.live_call, ended);
                false
            }
            Some(Err(StoreError::ApprovalMoved(_) | StoreError::CallMoved(_))) => self.reload(run).await,
            Some(Err(_)) | None => false,
        }
    }

    /// Executes once: to an end, or to a pause.
    async fn execute(&self, run: &mut Run) -> Left {
        let Some(place) = self.turn(run).await else { return Left::Done };
        let started_at = self.0.parts.clock.now();
        let outcome = self.dispatch_told(run).await;
        drop(place);
        if run.admission.is_refused().await {
            abandon(run);
            return Left::Done;
        }
        let key = run.call.key.clone();
        let ending = match outcome {
            Ok(ToolOutcome::NeedsHuman(request)) => return self.pause(run, request).await,
            Ok(ToolOutcome::Completed(result)) if run.resolved.petition().is_some() => {
                self.finish_petition(run, result, started_at).await;
                return Left::Done;
            }
            Ok(ToolOutcome::Completed(result)) => {
                Ending::of_result(&key, mended(result, run.resolved.repair))
            }
            Ok(ToolOutcome::Running(shell)) => {
                let event =
                    AgentEvent::ToolBackgrounded { call: CallRef::from(&key), bash_id: shell.bash_id };
                let result = shell.acknowledgement;
                Ending { status: CallStatus::Backgrounded, result, error: None, event, audit: Vec::new() }
            }
            Err(ToolError::Cancelled { message }) if self.0.stopping.is_cancelled() => {
                Ending::interrupted(&key, &format!("{WENT_DOWN}\n\n{message}"))
            }
            Err(error) => Ending::of_error(&key, error),
        };
        self.finish_run(run, ending, Some(started_at)).await;
        Left::Done
    }

    /// Waits for a place among the calls that run at once; none when the call is not to run.
    async fn turn(&self, run: &Run) -> Option<Place> {
        if run.live_call.cancel.is_cancelled() || self.0.stopping.is_cancelled() {
            return None;
        }
        if let Some(place) = self.0.parts.running.try_enter() {
            return Some(place);
        }
        if run.admission.admit().await.is_err() {
            abandon(run);
            return None;
        }
        tokio::select! {
            biased;
            () = run.live_call.cancel.cancelled() => None,
            () = self.0.stopping.cancelled() => None,
            place = self.0.parts.running.enter() => Some(place),
        }
    }

    /// Dispatches, and records the call as queued when that takes longer than an instant: whoever
    /// looks shall see it.
    async fn dispatch_told(&self, run: &Run) -> Result<ToolOutcome, ToolError> {
        let dispatched = self.dispatch(run);
        tokio::pin!(dispatched);
        tokio::select! {
            biased;
            outcome = &mut dispatched => return outcome,
            () = tokio::time::sleep(TOLD_AFTER) => {}
        }
        // Side by side: the dispatch may be in the middle of making the record itself, and would
        // never come to its end while it is not polled. A record that is begun is made to its end,
        // and a refusal is found when the tool is done.
        let mut ended = None;
        let admitting = run.admission.admit();
        tokio::pin!(admitting);
        loop {
            tokio::select! {
                biased;
                outcome = &mut dispatched, if ended.is_none() => ended = Some(outcome),
                _ = &mut admitting => break,
            }
        }
        if let Some(outcome) = ended {
            return outcome;
        }
        tokio::select! {
            biased;
            outcome = &mut dispatched => return outcome,
            () = run.admission.may_run() => {}
        }
        tokio::join!(dispatched, run.admission.tell_running(run.live.id())).0
    }

    /// Goes through the chain, once more where it had to wait for others at the gate, as long as a command may run.
    async fn dispatch(&self, run: &Run) -> Result<ToolOutcome, ToolError> {
        let until = Instant::now() + WAITS_MAX;
        loop {
            let waited = Arc::new(AtomicBool::new(false));
            let outcome = self.dispatch_now(run, Arc::clone(&waited)).await;
            if !waited.load(Ordering::Relaxed) || Instant::now() > until {
                return outcome;
            }
        }
    }

    /// Config and flags taken anew, the gate, the tool; its events reach the log first.
    async fn dispatch_now(&self, run: &Run, waited: Arc<AtomicBool>) -> Result<ToolOutcome, ToolError> {
        // One snapshot for all of it: judged under one revision, it also runs under that one.
        let revision = self.revision();
        let flags = self.flags(&run.live, &revision).await;
        let scope = Arc::new(Scope { revision: Some(revision), waited, ..(*run.scope).clone() });
        let (event_tx, event_rx) = mpsc::channel(AHEAD_MAX);
        let call =
            ToolCall::new(&run.call.key.call_id, &run.resolved.tool_name, run.resolved.argument_text());
        let execution = async {
            let ctx = ToolExecutionContext::for_dispatch(
                run.live.id(),
                &run.call.key.call_id,
                &event_tx,
                &run.live.schemas,
                ToolExecutionSessionFlags::from(&flags),
                flags.can_async_resume,
                None,
                Some(&run.resolved.arguments),
            )
            .within(&scope);
            let name = &run.resolved.tool_name;
            let outcome = run.live.executor.execute_exact_with_context_outcome(&call, name, ctx).await;
            drop(event_tx);
            outcome
        };
        let key = run.call.key.clone();
        let admission = Arc::clone(&run.admission);
        let pumped = pump(Arc::clone(self.store()), run.live.id().to_owned(), key, admission, event_rx);
        let (outcome, ()) = tokio::join!(execution, pumped);
        outcome
    }

    /// Records who is waited for.
    async fn pause(&self, run: &mut Run, request: HumanRequest) -> Left {
        let step = match request {
            HumanRequest::Approval(approval) => {
                // The desk has recorded it with the approval.
                return match self.stored(run).await {
                    Some(call) if call.status.has_ended() => {
                        close(&run.live, &run.live_call, call);
                        Left::Done
                    }
                    Some(call) => {
                        run.live_call.publish(call.clone());
                        run.call = call;
                        Left::Undecided(approval)
                    }
                    None => Left::Done,
                };
            }
            HumanRequest::Question(question) => self.question_step(run, question),
            HumanRequest::ClientResult => self.waiting_step(run, CallStatus::AwaitingResult),
        };
        if run.admission.admit().await.is_err() {
            abandon(run);
            return Left::Done;
        }
        if run.live_call.cancel.is_cancelled() && !self.0.stopping.is_cancelled() {
            // It was cancelled in the instant between its start and its pause.
            let ending = Ending::cancelled(&run.call.key, "Cancelled by the client.");
            self.finish_run(run, ending, None).await;
            return Left::Done;
        }
        let audit = step.audit.clone();
        match self.store().step(step).await {
            Ok(call) => run.live_call.publish(call),
            Err(StoreError::CallMoved(call)) => {
                self.note_late(&run.live, audit).await;
                close(&run.live, &run.live_call, *call);
            }
            Err(error) => {
                tracing::error!(session_id = run.live.id(), %error, "a pause could not be recorded");
                let internal =
                    ToolError::Internal("the server could not record the pause; try again".to_owned());
                let ending = Ending::of_error(&run.call.key, internal);
                self.finish(&run.live, &run.live_call, &run.call, ending, None).await;
            }
        }
        Left::Done
    }

    /// The call as it is recorded, asked for until the store answers; none when it is not there, or
    /// when the call or the server ends meanwhile.
    pub(super) async fn stored(&self, run: &Run) -> Option<Call> {
        let read = || self.store().call(run.live.id(), &run.call.key);
        self.persistently(run, read).await?.ok().flatten()
    }

    /// Does a step of the store again while that is busy or fails, so that no call is left without
    /// anyone who drives it; none when the call or the server ends meanwhile.
    pub(super) async fn persistently<T, F>(
        &self,
        run: &Run,
        step: impl Fn() -> F,
    ) -> Option<Result<T, StoreError>>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut pause = RETRY_FIRST;
        loop {
            match step().await {
                Err(error @ (StoreError::Busy | StoreError::Failed(_))) => {
                    tracing::error!(session_id = run.live.id(), %error, "a call waits for the store");
                }
                answered => return Some(answered),
            }
            tokio::select! {
                () = run.live_call.cancel.cancelled() => return None,
                () = self.0.stopping.cancelled() => return None,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(RETRY_MOST),
            }
        }
    }

    fn question_step(&self, run: &Run, question: Question) -> CallStep {
        let mut step = self.waiting_step(run, CallStatus::AwaitingAnswer);
        step.events.push(AgentEvent::NeedClarification {
            call: CallRef::from(&run.call.key),
            question: question.question.clone(),
            options: question.options.clone(),
        });
        step.patch.question = Some(question);
        step
    }

    fn waiting_step(&self, run: &Run, to: CallStatus) -> CallStep {
        CallStep {
            session_id: run.live.id().to_owned(),
            key: run.call.key.clone(),
            from: &[CallStatus::Queued, CallStatus::Running],
            to,
            patch: CallPatch { started_at: Some(self.now()), ..CallPatch::default() },
            approval: ApprovalStep::None,
            events: Vec::new(),
            audit: run.admission.noted(),
            sync: false,
        }
    }

    fn now(&self) -> Timestamp {
        self.0.parts.clock.now()
    }
}

/// Says what was mended in the model's own text: the chain gets the text as it was judged, and
/// cannot know.
fn mended(mut result: ToolResult, repair: Option<&'static str>) -> ToolResult {
    if let Some(repair) = repair {
        result.result = format!("Note: {repair}.\n\n{}", result.result);
    }
    result
}

/// Where a client gets a call's full output.
fn artifact_url(session_id: &str, key: &CallKey) -> String {
    let encoded = |text| percent_encoding::utf8_percent_encode(text, PATH_SEGMENT);
    let url = format!("/v1/sessions/{session_id}/calls/{}/output", encoded(&key.call_id));
    match &key.turn {
        Some(turn) => format!("{url}?turn={}", encoded(turn)),
        None => url,
    }
}

/// The file of a call's full output: named by a digest, since a call's id is an outside text.
pub(super) fn artifact_path(folder: &Path, key: &CallKey) -> PathBuf {
    folder.join("output").join(Digest::of(key.storage_key().as_bytes()).as_str())
}
