//! What the gate asks of a policy, and the policies that need no rules.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;

use super::audit::Told;
use super::call::{ResolvedCall, Touch};
use super::edits::Edits;
use super::explain::{self, Paper};
use super::policy::Policy;
use super::scope::Scope;
use super::subject::Subject;
use crate::domain::approval::{AskReason, Offer};
use crate::domain::digest::Digest;
use crate::domain::explanation::Explanation;
use crate::domain::result::DeniedBy;
use crate::domain::schema::ToolMutability;
use crate::domain::session::PermissionMode;
use crate::workspace::Located;

/// Judges calls. Implementations answer from what they are given and what is configured; they
/// neither ask anyone nor change anything, so that judging can be repeated.
#[async_trait]
pub trait PermissionChecker: Send + Sync {
    /// Whether an always-ask rule or a built-in protection covers the call: it has to be asked in
    /// every mode, under bypass too.
    fn requires_forced_confirmation(&self, request: &PermissionRequest<'_>) -> bool;

    /// Permits, refuses, or says that a person has to confirm. Deny rules hold whatever the mode.
    async fn check_or_request(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError>;

    /// The same for a call that has to be confirmed: nothing but a refusal comes before asking.
    async fn check_or_request_forced(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError>;

    /// What would come of the call, and why: the same verdict, told and not counted.
    async fn explain(&self, request: &PermissionRequest<'_>) -> Result<Explanation, PermissionError> {
        let judged = if self.requires_forced_confirmation(request) {
            self.check_or_request_forced(request).await
        } else {
            self.check_or_request(request).await
        };
        explain::of_check(request, judged)
    }

    /// The same for a call that no session makes, by its text alone: only rules can say that.
    async fn explain_on_paper(&self, _: &Paper<'_>) -> Result<Explanation, PermissionError> {
        Err(PermissionError::Unfit("there are no rules here that could judge a call on paper".to_owned()))
    }

    /// Which paths a permitted call must not even see, by the same rules that it was judged by.
    fn hidden(&self, request: &PermissionRequest<'_>) -> Hidden;

    /// What a permitted call is known to change; more may be changed by what it runs.
    fn edits(&self, request: &PermissionRequest<'_>) -> Edits {
        let edited = request.paths.iter().filter(|path| path.edits);
        Edits::of_files(edited.map(|path| path.located.real.clone()))
    }

    /// The links that a call that runs a command leads through.
    fn led_through(&self, _: &PermissionRequest<'_>) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// A call with everything that judges it.
#[derive(Debug)]
pub struct PermissionRequest<'a> {
    /// The call.
    pub call: &'a ResolvedCall,
    /// Its paths, as requested and as they really lead, in the order of its touches.
    pub paths: &'a [JudgedPath],
    /// Where it works; none for a call without a session.
    pub scope: Option<&'a Scope>,
    /// The directory that it would run in.
    pub directory: Option<&'a Path>,
    /// The session's flags.
    pub flags: Flags,
    /// Takes why it was judged so.
    pub told: &'a Told,
    /// What the checker has found out about the call, which it is asked about more than once.
    pub looked: Looked<'a>,
}

/// What a checker keeps of a call from one question to the next.
#[derive(Debug, Default)]
pub struct Looked<'a>(pub(super) OnceLock<(Arc<Policy>, Arc<Subject<'a>>)>);

/// The session's flags as far as they judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags {
    /// Skips what only asks.
    pub bypass: bool,
    /// The mode.
    pub mode: PermissionMode,
    /// Whether anyone can answer.
    pub someone_there: bool,
}

/// A path of a call and what the call would do with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedPath {
    /// Where it leads.
    pub located: Located,
    /// Whether it would be changed.
    pub edits: bool,
}

/// Why a call may not just run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PermissionError {
    /// It may not run.
    #[error("{message}")]
    Denied {
        /// A rule, the mode, or nobody there.
        by: DeniedBy,
        /// For the model.
        message: String,
    },
    /// A person has to confirm it.
    #[error("{}", .0.reason.text)]
    ConfirmationRequired(Box<Confirmation>),
    /// It asks for what nobody may be asked for; the text says how to ask.
    #[error("{0}")]
    Unfit(String),
}

/// What a person is asked, before anything is known of who would answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Confirmation {
    /// Why.
    pub reason: AskReason,
    /// What may be granted beyond this once.
    pub offers: Vec<Offer>,
    /// The commands that a shell text would run, as far as it was understood.
    pub leaves: Option<Vec<String>>,
    /// It has to be confirmed in every session.
    pub forced: bool,
    /// What an allow is bound to beside the call itself and its paths: of a command, where its own paths lead.
    pub bound: Option<Digest>,
}

type HidesPath = dyn Fn(&Path) -> bool + Send + Sync;

/// Why a path does not show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Veil {
    /// As if it were not there: a rule denies that it is read.
    Denied,
    /// Nobody was asked about reading it.
    Unasked,
}

/// Tells which paths are hidden.
#[derive(Clone, Default)]
pub struct Hidden {
    denied: Option<Arc<HidesPath>>,
    unasked: Option<Arc<HidesPath>>,
}

impl Hidden {
    /// By a predicate over absolute paths.
    pub fn by(predicate: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self { denied: Some(Arc::new(predicate)), unasked: None }
    }

    /// And by one for what would have to be asked about.
    #[must_use]
    pub fn or_unasked(self, predicate: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Self {
        Self { unasked: Some(Arc::new(predicate)), ..self }
    }

    /// Whether the path must not be seen.
    pub fn hides(&self, path: &Path) -> bool {
        self.hides_as(Veil::Denied, path) || self.hides_as(Veil::Unasked, path)
    }

    /// Whether it must not be seen for this reason.
    pub fn hides_as(&self, veil: Veil, path: &Path) -> bool {
        let predicate = match veil {
            Veil::Denied => &self.denied,
            Veil::Unasked => &self.unasked,
        };
        predicate.as_ref().is_some_and(|predicate| predicate(path))
    }

    /// Whether anything may be hidden for this reason.
    pub fn may_hide_as(&self, veil: Veil) -> bool {
        match veil {
            Veil::Denied => self.denied.is_some(),
            Veil::Unasked => self.unasked.is_some(),
        }
    }
}

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.denied.is_some() || self.unasked.is_some() {
            "Hidden(by rules)"
        } else {
            "Hidden(nothing)"
        })
    }
}

/// Permits everything: for owners who say so by naming this type, and for tests.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

#[async_trait]
impl PermissionChecker for AllowAll {
    fn requires_forced_confirmation(&self, _: &PermissionRequest<'_>) -> bool {
        false
    }

    async fn check_or_request(&self, _: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        Ok(())
    }

    async fn check_or_request_forced(&self, _: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        Ok(())
    }

    fn hidden(&self, _: &PermissionRequest<'_>) -> Hidden {
        Hidden::default()
    }
}

/// What an executor without a checker gets: reading inside the workspace, and nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOnlyInside;

impl ReadOnlyInside {
    fn permits(request: &PermissionRequest<'_>) -> bool {
        let harmless = |touch: &Touch| matches!(touch, Touch::Read(_) | Touch::SessionOnly);
        request.call.mutability == ToolMutability::ReadOnly
            && !request.call.touches.is_empty()
            && request.call.touches.iter().all(harmless)
            && request.paths.iter().all(|path| path.located.inside && !path.edits)
    }
}

#[async_trait]
impl PermissionChecker for ReadOnlyInside {
    fn requires_forced_confirmation(&self, _: &PermissionRequest<'_>) -> bool {
        false
    }

    async fn check_or_request(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        if Self::permits(request) {
            return Ok(());
        }
        Err(PermissionError::Denied {
            by: DeniedBy::NoHuman,
            message: format!(
                "{} is not permitted: this executor has no permission checker, so it only reads inside the workspace",
                request.call.tool_name
            ),
        })
    }

    async fn check_or_request_forced(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        self.check_or_request(request).await
    }

    fn hidden(&self, _: &PermissionRequest<'_>) -> Hidden {
        Hidden::default()
    }
}
