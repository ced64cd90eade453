//! The gate: the only place that makes a [`PermittedCall`], and so the only way to a tool's code.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;

use super::audit::{self, Told};
use super::binding;
use super::call::{Preview, Previewer, ResolvedCall};
use super::checker::{
    Confirmation, Flags, Hidden, JudgedPath, Looked, PermissionChecker, PermissionError, PermissionRequest,
};
use super::desk::{ApprovalDesk, ApprovalProxy, Ask, ProxyDecision, Standing, Start};
use super::edits::Edits;
use super::explain::Paper;
use super::held::{Held, Hold, Needed};
use super::petition::Petition;
use super::places::Places;
use super::scope::{Admission, Scope};
use super::verdict::By;
use crate::domain::approval::{AskReason, Offer, exact};
use crate::domain::audit::{AuditDecision, AuditKind, AuditRecord};
use crate::domain::explanation::{Explanation, Verdict};
use crate::domain::outcome::{HumanRequest, ToolOutcome};
use crate::domain::result::{DeniedBy, ToolError};
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::workspace::{ContentHash, Located, Workspace};

/// Said of a command that names more files than are looked at.
const MORE_FILES: &str =
    "; it names more files than an approval is bound to: what is in the others may change before it runs";

/// A call that may run: exact name, effective arguments, working directory and workspace as they
/// were judged. A tool gets this and nothing else.
///
/// Only the gate makes one. A tool's code cannot be reached without it:
///
/// ```
/// use toolgate::permission::PermittedCall;
/// fn name(call: &PermittedCall) -> &str {
///     call.tool_name()
/// }
/// ```
///
/// and outside the gate there is no way to have one; the same with a literal does not compile:
///
/// ```compile_fail
/// use toolgate::permission::PermittedCall;
/// fn name(call: &PermittedCall) -> &str {
///     call.tool_name()
/// }
/// let forged = PermittedCall { ..unreachable!() };
/// ```
#[derive(Debug)]
pub struct PermittedCall {
    call: ResolvedCall,
    directory: Option<PathBuf>,
    workspace: Option<Arc<Workspace>>,
    paths: Vec<JudgedPath>,
    approved: Option<Vec<(PathBuf, Option<ContentHash>)>>,
    hidden: Hidden,
    usual: bool,
    /// What nobody else may edit, and what it edits itself, until it has ended.
    _hold: Option<Hold>,
}

impl PermittedCall {
    /// The exact name.
    pub fn tool_name(&self) -> &str {
        &self.call.tool_name
    }

    /// The effective arguments, a JSON object.
    pub fn arguments(&self) -> &Value {
        &self.call.arguments
    }

    /// The call as it was resolved.
    pub fn resolved(&self) -> &ResolvedCall {
        &self.call
    }

    /// The directory that was judged; none for a call without a session.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The workspace that was judged.
    pub fn workspace(&self) -> Option<&Arc<Workspace>> {
        self.workspace.as_ref()
    }

    /// The judged places, in the order of the tool's path touches.
    pub fn located(&self) -> impl Iterator<Item = &Located> {
        self.paths.iter().map(|path| &path.located)
    }

    /// The content that a person saw of this file when allowing the call: `None` when no person
    /// was asked or the file was not shown, `Some(None)` when it did not exist.
    pub fn approved_content(&self, real: &Path) -> Option<Option<ContentHash>> {
        let files = self.approved.as_ref()?;
        files.iter().find(|(path, _)| path == real).map(|(_, hash)| *hash)
    }

    /// Whether a deny rule hides the absolute path from this call.
    pub fn hides(&self, path: &Path) -> bool {
        self.hidden.hides(path)
    }

    /// Whether a person was asked and allowed it; `false` where nobody had to be.
    pub fn was_asked(&self) -> bool {
        self.approved.is_some()
    }

    /// Whether it runs because such calls run unasked, by no rule, grant, flag or person: then a command is
    /// harmless only in the environment that [`super::shell::CommandAnalysis::environment`] tells.
    pub fn is_usual(&self) -> bool {
        self.usual
    }

    /// What tells hidden paths, to be kept by a blocking walk.
    pub fn hidden(&self) -> Hidden {
        self.hidden.clone()
    }
}

/// What becomes of a call at the gate, when it is not refused.
#[derive(Debug)]
pub enum Clearance {
    /// It may run.
    Permitted(Box<PermittedCall>),
    /// Someone has to answer first; the outcome says who.
    Pause(Box<ToolOutcome>),
}

/// What the gate knows of a call before anyone is asked.
#[derive(Debug)]
pub struct Review {
    places: Places,
    hidden: Hidden,
    edits: Edits,
    /// Links that a command that is asked about leads through.
    led_through: Vec<PathBuf>,
    verdict: Reviewed,
}

/// A verdict that is no refusal.
#[derive(Debug, Clone, PartialEq)]
pub enum Reviewed {
    /// No one has to be asked.
    Allowed,
    /// A person has to confirm this.
    Ask(Box<Ask>),
}

impl Review {
    /// The verdict.
    pub fn verdict(&self) -> &Reviewed {
        &self.verdict
    }

    /// The same, for whoever needs no more of it.
    pub(crate) fn into_verdict(self) -> Reviewed {
        self.verdict
    }
}

/// Circumstances of one call: the session's flags and where it works.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// Where it works.
    pub scope: Option<&'a Arc<Scope>>,
    /// Skips what only asks.
    pub bypass: bool,
    /// The mode.
    pub mode: crate::domain::session::PermissionMode,
    /// Whether the session has people behind it.
    pub interactive: bool,
}

/// Judges calls, pauses them for people and lets them run.
#[derive(Clone)]
pub struct Gate {
    checker: Arc<dyn PermissionChecker>,
    proxy: Option<Arc<dyn ApprovalProxy>>,
    desk: Option<Arc<dyn ApprovalDesk>>,
    sandbox: Arc<str>,
    held: Arc<Held>,
}

impl Gate {
    /// A gate where nobody can answer: what would ask is refused.
    pub fn new(checker: Arc<dyn PermissionChecker>) -> Self {
        Self { checker, proxy: None, desk: None, sandbox: Arc::from("none"), held: Arc::default() }
    }

    /// With people who answer.
    #[must_use]
    pub fn with_desk(mut self, desk: Arc<dyn ApprovalDesk>) -> Self {
        self.desk = Some(desk);
        self
    }

    /// With a host that answers before the people here are asked.
    #[must_use]
    pub fn with_proxy(mut self, proxy: Arc<dyn ApprovalProxy>) -> Self {
        self.proxy = Some(proxy);
        self
    }

    /// With the name of the sandbox level that commands run under: an approval is bound to it.
    #[must_use]
    pub fn with_sandbox(mut self, level: &str) -> Self {
        self.sandbox = Arc::from(level);
        self
    }

    /// Judges a call without asking anyone or changing anything.
    pub async fn review(
        &self,
        call: &ResolvedCall,
        previewer: &dyn Previewer,
        circumstances: Circumstances<'_>,
    ) -> Result<Review, ToolError> {
        self.judge(call, previewer, circumstances, &Told::default()).await
    }

    /// The same for a person's decision on the call. A refusal by the rules comes with what the audit log is told.
    pub(crate) async fn review_decision(
        &self,
        call: &ResolvedCall,
        previewer: &dyn Previewer,
        circumstances: Circumstances<'_>,
    ) -> Result<Review, (ToolError, Option<AuditRecord>)> {
        let told = Told::default();
        let judged = self.judge(call, previewer, circumstances, &told).await;
        judged.map_err(|error| {
            let entry = audit::refused(call, circumstances, &told, &error);
            (error, entry)
        })
    }

    async fn judge(
        &self,
        call: &ResolvedCall,
        previewer: &dyn Previewer,
        circumstances: Circumstances<'_>,
        told: &Told,
    ) -> Result<Review, ToolError> {
        let scope = circumstances.scope.map(Arc::as_ref);
        let places = Places::of(call, scope)?;
        let request = self.request(call, &places, circumstances, told);
        let judged = if self.checker.requires_forced_confirmation(&request) {
            self.checker.check_or_request_forced(&request).await
        } else {
            self.checker.check_or_request(&request).await
        };
        let (hidden, edits) = (self.checker.hidden(&request), self.checker.edits(&request));
        let mut led_through = Vec::new();
        let verdict = match judged {
            Ok(()) => {
                places.clear()?;
                Reviewed::Allowed
            }
            Err(PermissionError::Denied { by, message }) => {
                return Err(ToolError::Denied { by, code: "denied", message });
            }
            Err(PermissionError::Unfit(message)) => return Err(ToolError::InvalidArguments(message)),
            Err(PermissionError::ConfirmationRequired(confirmation)) => {
                places.worth_asking()?;
                led_through = self.checker.led_through(&request);
                let preview = match scope {
                    Some(scope) => match previewer.preview(&call.arguments, scope).await {
                        // Why it cannot succeed would tell what is there, which is not the agent's to know before a
                        // person has allowed it.
                        Err(_) if places.lead_outside() => Preview::default(),
                        preview => preview?,
                    },
                    None => Preview::default(),
                };
                let mut ask = self.ask(call, &places, *confirmation, preview);
                ask.audit = Box::new(audit::asks(call, circumstances, told, &ask));
                ask.audit.edits = audit::edits(&places.paths);
                let from = scope.map(|scope| scope.directory.as_path());
                ask.asked_from = from.filter(|from| Some(*from) != places.directory.as_deref()).map(exact);
                ask.moot = call.petition().and_then(|petition| petition.moot(circumstances.mode));
                Reviewed::Ask(Box::new(ask))
            }
        };
        Ok(Review { places, hidden, edits, led_through, verdict })
    }

    /// Says what a review would come to, and why. Nothing of the call happens, and nobody is asked.
    pub async fn explain(
        &self,
        call: &ResolvedCall,
        circumstances: Circumstances<'_>,
    ) -> Result<Explanation, ToolError> {
        let scope = circumstances.scope.map(Arc::as_ref);
        let places = Places::of(call, scope)?;
        // What is only explained is not audited.
        let unheard = Told::default();
        let request = self.request(call, &places, circumstances, &unheard);
        let explanation = explained(self.checker.explain(&request).await)?;
        match explanation.decision {
            Verdict::Allow => places.clear()?,
            Verdict::Ask => places.worth_asking()?,
            Verdict::Deny => {}
        }
        match call.petition().and_then(|petition| petition.moot(circumstances.mode)) {
            Some(moot) if explanation.decision == Verdict::Ask => Err(ToolError::Execution(moot)),
            _ => Ok(explanation),
        }
    }

    /// The same for a call that no session makes.
    pub async fn explain_on_paper(&self, paper: &Paper<'_>) -> Result<Explanation, ToolError> {
        explained(self.checker.explain_on_paper(paper).await)
    }

    fn request<'a>(
        &self,
        call: &'a ResolvedCall,
        places: &'a Places,
        circumstances: Circumstances<'a>,
        told: &'a Told,
    ) -> PermissionRequest<'a> {
        let someone_there = self.proxy.is_some() || (self.desk.is_some() && circumstances.interactive);
        let flags = Flags { bypass: circumstances.bypass, mode: circumstances.mode, someone_there };
        PermissionRequest {
            call,
            paths: &places.paths,
            scope: circumstances.scope.map(Arc::as_ref),
            directory: places.directory.as_deref(),
            flags,
            told,
            looked: Looked::default(),
        }
    }

    /// Judges and, where a person has to confirm, pauses: `None` when the call may run. Repeatable.
    pub async fn check(
        &self,
        call: &ResolvedCall,
        previewer: &dyn Previewer,
        circumstances: Circumstances<'_>,
    ) -> Result<Option<ToolOutcome>, ToolError> {
        let review = self.review(call, previewer, circumstances).await?;
        match self.consult(call, &review, circumstances).await? {
            Consulted::Clear { .. } => Ok(None),
            Consulted::Pause(outcome) => Ok(Some(outcome)),
        }
    }

    /// Judges and, where nothing stands against it, marks the call as running and permits it.
    pub async fn permit(
        &self,
        call: ResolvedCall,
        previewer: &dyn Previewer,
        circumstances: Circumstances<'_>,
    ) -> Result<Clearance, ToolError> {
        let told = Told::default();
        let judged = self.cleared_and_held(&call, previewer, circumstances, &told).await;
        note_refusal(&judged, &call, circumstances, &told);
        let (review, consulted, hold) = judged?;
        let approval_id = match consulted {
            Consulted::Pause(outcome) => return Ok(Clearance::Pause(Box::new(outcome))),
            Consulted::Clear { approval_id } => approval_id,
        };
        if let Some(admission) = admission(circumstances) {
            let mut entry = match &review.verdict {
                Reviewed::Allowed => audit::allowed(&call, circumstances, &told),
                Reviewed::Ask(ask) => audit::confirmed(&ask.audit, approval_id.as_deref()),
            };
            entry.edits = audit::edits(&review.places.paths);
            admission.note(entry);
        }
        if let (Some(desk), Some(scope)) = (&self.desk, circumstances.scope)
            && scope.session_id.is_some()
        {
            let mutating = call.mutability == ToolMutability::Mutating;
            let petition = call.petition().is_some();
            let begun = desk.begin(scope, Start { approval_id, mutating, petition }).await;
            note_refusal(&begun, &call, circumstances, &told);
            begun?;
        }
        review.places.clear()?;
        let approved = match review.verdict {
            Reviewed::Allowed => None,
            Reviewed::Ask(ask) => Some(ask.preview.files),
        };
        let usual = approved.is_none() && told.by() == Some(By::Class);
        Ok(Clearance::Permitted(Box::new(PermittedCall {
            usual,
            call,
            directory: review.places.directory,
            workspace: circumstances.scope.map(|scope| Arc::clone(&scope.workspace)),
            paths: review.places.paths,
            approved,
            hidden: review.hidden,
            _hold: hold,
        })))
    }

    /// What was approved is looked at once more when nobody can edit it any longer: until then it may have been changed.
    async fn cleared_and_held(
        &self,
        call: &ResolvedCall,
        previewer: &dyn Previewer,
        circumstances: Circumstances<'_>,
        told: &Told,
    ) -> Result<(Review, Consulted, Option<Hold>), ToolError> {
        let (mut review, mut consulted) = self.cleared(call, previewer, circumstances, told).await?;
        let edits = std::mem::take(&mut review.edits);
        let hold = match (&review.verdict, &consulted) {
            (_, Consulted::Pause(_)) => None,
            (Reviewed::Ask(ask), Consulted::Clear { approval_id: Some(_) }) => {
                let needed = Needed::of(ask, &review.led_through).await;
                let cancel = circumstances.scope.map(|scope| scope.cancel.clone()).unwrap_or_default();
                let (hold, waited) = self.held.approved(needed, edits, &cancel).await?;
                // By now other rules may hold, and another mode.
                if let Some(scope) = circumstances.scope.filter(|scope| waited && scope.admission.is_some()) {
                    scope.waited.store(true, Ordering::Relaxed);
                    return Err(ToolError::Execution("it had to wait for others; call again".to_owned()));
                }
                if let Some(hold) = &hold {
                    (review, consulted) = self.cleared(call, previewer, circumstances, told).await?;
                    if let Reviewed::Ask(ask) = &review.verdict {
                        hold.must_cover(&Needed::of(ask, &review.led_through).await)?;
                    }
                }
                hold
            }
            (_, Consulted::Clear { .. }) => self.held.edited(edits)?,
        };
        Ok((review, consulted, hold))
    }

    async fn cleared(
        &self,
        call: &ResolvedCall,
        previewer: &dyn Previewer,
        circumstances: Circumstances<'_>,
        told: &Told,
    ) -> Result<(Review, Consulted), ToolError> {
        let review = self.judge(call, previewer, circumstances, told).await?;
        let consulted = self.consult(call, &review, circumstances).await?;
        Ok((review, consulted))
    }

    /// Asks in the order proxy, people, and without either: refused.
    async fn consult(
        &self,
        call: &ResolvedCall,
        review: &Review,
        circumstances: Circumstances<'_>,
    ) -> Result<Consulted, ToolError> {
        let Reviewed::Ask(ask) = &review.verdict else {
            return Ok(Consulted::Clear { approval_id: None });
        };
        let Some(scope) = circumstances.scope else {
            return Err(nobody_there(ask));
        };
        if let (Some(proxy), None) = (&self.proxy, call.petition()) {
            return match proxy.request(ask, scope).await {
                Ok(ProxyDecision::Allow { .. }) => Ok(Consulted::Clear { approval_id: None }),
                Ok(ProxyDecision::Deny { message, .. }) => Err(ToolError::Denied {
                    by: DeniedBy::Reviewer,
                    code: "denied",
                    message: message.unwrap_or_else(|| "The reviewer denied this call.".to_owned()),
                }),
                Err(error) => Err(ToolError::Denied {
                    by: DeniedBy::NoHuman,
                    code: "denied",
                    message: error.to_string(),
                }),
            };
        }
        let (Some(desk), true, true) = (&self.desk, circumstances.interactive, scope.session_id.is_some())
        else {
            return Err(nobody_there(ask));
        };
        match desk.consult(scope, ask).await? {
            Standing::Allowed { approval_id } => Ok(Consulted::Clear { approval_id: Some(approval_id) }),
            Standing::Waiting(approval) => {
                Ok(Consulted::Pause(ToolOutcome::NeedsHuman(HumanRequest::Approval(approval))))
            }
            Standing::Denied { by, message } => Err(ToolError::Denied { by, code: "denied", message }),
        }
    }

    fn ask(&self, call: &ResolvedCall, places: &Places, confirmation: Confirmation, preview: Preview) -> Ask {
        let directory = places.directory.as_deref().unwrap_or(Path::new(""));
        let bound = (confirmation.forced, confirmation.bound.as_ref());
        let more = if preview.more { MORE_FILES } else { "" };
        let reason = AskReason {
            text: visible::again(&format!("{}{more}", confirmation.reason.text)),
            rule: confirmation.reason.rule.as_deref().map(visible::one_line),
        };
        let shown = visible::one_line(&directory.to_string_lossy());
        let offers: Vec<Offer> = confirmation.offers.into_iter().filter(is_plain).collect();
        Ask {
            grants: offers.iter().any(|offer| offer.pattern.is_some())
                || matches!(call.petition(), Some(Petition::Rules { .. })),
            offers,
            digest: binding::digest(call, &places.paths, &preview, directory, &self.sandbox, bound),
            tool_name: call.tool_name.clone(),
            arguments: (*call.arguments).clone(),
            reason,
            leaves: confirmation
                .leaves
                .map(|leaves| leaves.iter().map(|leaf| visible::again(leaf)).collect()),
            display: super::display::display(call),
            preview: Preview { diff: preview.diff.as_deref().map(visible::diff), ..preview },
            exact_directory: (directory.to_str() != Some(shown.as_str())).then(|| exact(directory)),
            directory: shown,
            asked_from: None,
            sandbox: self.sandbox.to_string(),
            moot: None,
            audit: Box::new(AuditRecord::new(AuditKind::Verdict, AuditDecision::Ask, "")),
            petition: call.petition().is_some(),
            opened: None,
        }
    }
}

fn explained(told: Result<Explanation, PermissionError>) -> Result<Explanation, ToolError> {
    told.map_err(|error| match error {
        PermissionError::Unfit(message) => ToolError::InvalidArguments(message),
        PermissionError::Denied { by, message } => ToolError::Denied { by, code: "denied", message },
        // An explanation that asks is none that failed.
        PermissionError::ConfirmationRequired(confirmation) => ToolError::Internal(confirmation.reason.text),
    })
}

/// The record that takes what the audit log is told of the call.
fn admission(circumstances: Circumstances<'_>) -> Option<&dyn Admission> {
    circumstances.scope?.admission.as_deref()
}

fn note_refusal<T>(
    judged: &Result<T, ToolError>,
    call: &ResolvedCall,
    circumstances: Circumstances<'_>,
    told: &Told,
) {
    if let (Err(error), Some(admission)) = (judged, admission(circumstances))
        && let Some(entry) = audit::refused(call, circumstances, told, error)
    {
        admission.note(entry);
    }
}

/// Whether what would be granted looks like what it is: a rule is stored as it is written, so one that
/// would have to be shown in another way is not offered.
fn is_plain(offer: &Offer) -> bool {
    offer.pattern.as_ref().is_none_or(|pattern| visible::one_line(pattern) == *pattern)
}

enum Consulted {
    Clear { approval_id: Option<String> },
    Pause(ToolOutcome),
}

fn nobody_there(ask: &Ask) -> ToolError {
    ToolError::Denied {
        by: DeniedBy::NoHuman,
        code: "denied",
        message: format!(
            "{} needs a person's approval and nobody can be asked: {}",
            ask.tool_name, ask.reason.text
        ),
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
