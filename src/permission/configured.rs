//! The checker over configured rules and stored grants: makes the policy's subject of a call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;

use super::binding;
use super::call::{ResolvedCall, Touch};
use super::checker::{Confirmation, Hidden, PermissionChecker, PermissionError, PermissionRequest};
use super::edits::{self, Edits};
use super::example::{self, ExampleError, Expected, RuleTest, TestFailure};
use super::explain::{self, Paper, PaperCall};
use super::grant::Grant;
use super::host::Host;
use super::located;
use super::path_pattern;
use super::petition::Petition;
use super::policy::{self, Circumstances, Policy, PolicyError, RuleSet, SourcedRule};
use super::revision::InForce;
use super::rule::Rule;
use super::scope::Scope;
use super::shell;
use super::subject::{Access, Class, OnDisk, PathOf, Place, Subject, SubjectPath};
use super::verdict::{By, Decision, Reason, Verdict};
use crate::config::{self, PermissionsConfig};
use crate::domain::approval::{AskReason, Offer};
use crate::domain::explanation::Explanation;
use crate::domain::result::DeniedBy;
use crate::store::Store;
use crate::telemetry::Metrics;

/// What is wrong with a rule of the config: its key, such as `permissions.deny[2]`, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    /// The key.
    pub key: String,
    /// Why.
    pub message: String,
}

/// Where the server keeps its own things and where workspaces lie, absolute and resolved.
#[derive(Debug, Clone, Default)]
pub struct OwnPlaces {
    /// Data directory and config: out of reach for every call.
    pub own_paths: Vec<PathBuf>,
    /// Roots of workspaces: not removed unasked.
    pub roots: Vec<PathBuf>,
}

/// Compiles configured rules and holds them against their own examples. All problems are told, not
/// only the first.
pub fn compile(
    permissions: &PermissionsConfig,
    places: &OwnPlaces,
    known_tools: &[&str],
) -> Result<Policy, Vec<RuleProblem>> {
    let mut problems = Vec::new();
    let mut list = |name: &str, texts: &[String]| -> Vec<SourcedRule> {
        let mut rules = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            let key = format!("permissions.{name}[{index}]");
            match Rule::parse(text) {
                Ok(rule) => {
                    // What narrows holds for what the path leads to as well; calls are judged by resolved paths.
                    let led = (name != "allow").then(|| through_links(text)).flatten();
                    rules.extend(led.map(|rule| SourcedRule { rule, source: key.clone() }));
                    rules.push(SourcedRule { rule, source: key });
                }
                Err(error) => problems.push(RuleProblem { key, message: error.to_string() }),
            }
        }
        rules
    };
    let rules = RuleSet {
        deny: list("deny", &permissions.deny),
        ask: list("ask", &permissions.ask),
        allow: list("allow", &permissions.allow),
        always_ask: list("always_ask", &permissions.always_ask),
        own_paths: places.own_paths.clone(),
        roots: places.roots.clone(),
    };
    if !problems.is_empty() {
        return Err(problems);
    }
    let policy = Policy::compile(rules, known_tools).map_err(|error| vec![uncompiled(error)])?;
    let tests: Vec<RuleTest> = permissions.tests.iter().map(example).collect();
    match policy.check_tests(&tests, permissions.mode) {
        Ok(()) => Ok(policy),
        Err(failures) => Err(failures.iter().map(broken_example).collect()),
    }
}

/// The rule once more with the path that its own leads to, where it is absolute and leads through a symlink up to its
/// first pattern of names. Looks at the disk.
fn through_links(text: &str) -> Option<Rule> {
    let (tool, pattern) = text.strip_suffix(')')?.split_once('(')?;
    let parts: Vec<&str> = pattern.strip_prefix('/')?.split('/').filter(|part| !part.is_empty()).collect();
    let spelt =
        parts.iter().take_while(|part| !part.contains(['*', '?', '[', ']', '{', '}', '!', '\\'])).count();
    // As far as it is there.
    let (length, real) = (1..=spelt).rev().find_map(|length| {
        let path: PathBuf = std::iter::once("/").chain(parts[..length].iter().copied()).collect();
        Some((length, path.canonicalize().ok()?))
    })?;
    let rest = ["", &parts[length..].join("/")].join(if length < parts.len() { "/" } else { "" });
    let end = if pattern.ends_with('/') { "/" } else { "" };
    let led = format!("{tool}({}{rest}{end})", path_pattern::escape(real.to_str()?));
    let plain = format!("{tool}(/{}{end})", parts.join("/"));
    Rule::parse(&led).ok().filter(|_| led != plain)
}

/// At the rule where it is one rule's fault.
fn uncompiled(error: PolicyError) -> RuleProblem {
    match error {
        PolicyError::TooWide { source_text: key, rule } => {
            RuleProblem { key, message: format!("`{rule}` can stand only in deny, ask and always_ask") }
        }
        PolicyError::Paths(error) => {
            RuleProblem { key: "permissions".to_owned(), message: error.to_string() }
        }
    }
}

fn example(test: &config::RuleTest) -> RuleTest {
    let is = match test.is {
        config::Verdict::Allow => Expected::Allow,
        config::Verdict::Ask => Expected::Ask,
        config::Verdict::Deny => Expected::Deny,
    };
    RuleTest { call: test.call.clone(), is }
}

fn broken_example(failure: &TestFailure) -> RuleProblem {
    let index = match failure {
        TestFailure::Unreadable { index, .. } | TestFailure::Differs { index, .. } => *index,
    };
    RuleProblem { key: format!("permissions.tests[{index}]"), message: failure.to_string() }
}

/// Judges by the rules in force and by what people granted.
pub struct PolicyChecker {
    in_force: Arc<InForce>,
    grants: Option<Arc<dyn Store>>,
    home: Option<PathBuf>,
    confined: bool,
    metrics: Metrics,
}

impl PolicyChecker {
    /// Over what is in force; grants come from the store, where there is one. `confined` says that
    /// programs run on a floor or in a sandbox.
    pub fn new(
        in_force: Arc<InForce>,
        grants: Option<Arc<dyn Store>>,
        home: Option<PathBuf>,
        confined: bool,
    ) -> Self {
        Self { in_force, grants, home, confined, metrics: Metrics::default() }
    }

    /// Counting its verdicts there.
    #[must_use]
    pub fn counting(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }

    /// The policy of the revision that the call goes by; the one in force now for a call without.
    fn policy(&self, request: &PermissionRequest<'_>) -> Arc<Policy> {
        match request.scope.and_then(|scope| scope.revision.as_ref()) {
            Some(revision) => Arc::clone(&revision.policy),
            None => Arc::clone(&self.in_force.now().policy),
        }
    }

    fn place(&self, request: &PermissionRequest<'_>) -> Place {
        let workspace = request.scope.map(|scope| scope.workspace.root().to_path_buf()).unwrap_or_default();
        let cwd = request.directory.map_or_else(|| workspace.clone(), Path::to_path_buf);
        Place { workspace, home: self.home.clone(), cwd }
    }

    /// The call as the policy sees it, by the policy that it goes by: looked for once for each request.
    fn looked<'a>(
        &self,
        request: &PermissionRequest<'a>,
    ) -> Result<(Arc<Policy>, Arc<Subject<'a>>), PermissionError> {
        if let Some(looked) = request.looked.0.get() {
            return Ok(looked.clone());
        }
        let policy = self.policy(request);
        let subject = Arc::new(self.subject(request, &policy)?);
        Ok(request.looked.0.get_or_init(|| (policy, subject)).clone())
    }

    fn subject<'a>(
        &self,
        request: &PermissionRequest<'a>,
        policy: &Policy,
    ) -> Result<Subject<'a>, PermissionError> {
        let call: &'a ResolvedCall = request.call;
        let mut paths: Vec<SubjectPath> = request.paths.iter().map(subject_path).collect();
        let mut command = None;
        let mut hosts = Vec::new();
        let place = self.place(request);
        let mut on_disk = OnDisk::default();
        for touch in &call.touches {
            match touch {
                Touch::Run { command: text, .. } => {
                    let analysis = shell::analyse(text);
                    let (operands, found) = located::of_command(&analysis, request, &place, policy);
                    paths.extend(operands);
                    on_disk = found;
                    command = Some(analysis);
                }
                Touch::Network(url) => hosts.push(Host::of_url(url).map_err(|error| {
                    PermissionError::Denied { by: DeniedBy::Rule, message: error.to_string() }
                })?),
                _ => {}
            }
        }
        Ok(Subject {
            tool: &call.tool_name,
            other_names: &call.other_names,
            class: class(call),
            paths,
            command,
            hosts,
            place,
            on_disk,
        })
    }

    /// Judges; grants are read only where they could matter.
    async fn judged<'r>(&self, request: &PermissionRequest<'r>) -> Result<Judged<'r>, PermissionError> {
        let (policy, subject) = self.looked(request)?;
        let verdict = policy.judge(&subject, &self.circumstances(request, &[]));
        if let Some(petition) = request.call.petition() {
            let around = self.circumstances(request, &[]);
            let verdict = petitioned(petition, &policy, &subject.place, &around, verdict)?;
            return Ok(Judged { policy, subject, grants: Vec::new(), verdict });
        }
        let allowed = verdict.decision == Decision::Allow;
        let forced = matches!(verdict.decision, Decision::Ask { forced: true });
        let final_denial =
            verdict.decision == Decision::Deny && !matches!(verdict.reason.by, By::Mode | By::NoHuman);
        let grants = match (&self.grants, request.scope) {
            (Some(store), Some(scope)) if !allowed && !forced && !final_denial => granted(store, scope).await,
            _ => Vec::new(),
        };
        let verdict = if grants.is_empty() {
            verdict
        } else {
            policy.judge(&subject, &self.circumstances(request, &grants))
        };
        Ok(Judged { policy, subject, grants, verdict })
    }

    async fn judge(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        let judged = self.judged(request).await?;
        self.answer(request, judged)
    }

    fn circumstances<'a>(&self, request: &PermissionRequest<'_>, grants: &'a [Grant]) -> Circumstances<'a> {
        Circumstances {
            mode: request.flags.mode,
            bypass: request.flags.bypass,
            someone_there: request.flags.someone_there,
            confined: self.confined,
            grants,
        }
    }

    fn answer(
        &self,
        request: &PermissionRequest<'_>,
        Judged { policy, subject, grants, verdict }: Judged<'_>,
    ) -> Result<(), PermissionError> {
        request.told.verdict(&verdict);
        self.metrics.calls().judged(verdict.decision.as_str(), verdict.reason.by.as_str());
        match verdict.decision {
            Decision::Allow => Ok(()),
            Decision::Deny => Err(PermissionError::Denied {
                by: match verdict.reason.by {
                    By::Mode => DeniedBy::Mode,
                    By::NoHuman => DeniedBy::NoHuman,
                    _ => DeniedBy::Rule,
                },
                message: format!("{} was not run: {}.", subject.tool, verdict.reason.text),
            }),
            Decision::Ask { forced } => Err(PermissionError::ConfirmationRequired(Box::new(Confirmation {
                forced,
                bound: binding::leads(&subject),
                offers: policy.offers(&subject, &self.circumstances(request, &grants), &verdict),
                leaves: subject.command.as_ref().map(shell::CommandAnalysis::leaves),
                reason: AskReason { text: verdict.reason.text, rule: verdict.reason.rule },
            }))),
        }
    }
}

/// A call, the rules that it was held against, and what came of that.
struct Judged<'r> {
    policy: Arc<Policy>,
    subject: Arc<Subject<'r>>,
    grants: Vec<Grant>,
    verdict: Verdict,
}

/// What is asked of people is put to them whatever would allow it; where nothing is asked for any more, since
/// the session runs everything that is not held back, it just passes.
fn petitioned(
    petition: &Petition,
    policy: &Policy,
    place: &Place,
    circumstances: &Circumstances<'_>,
    verdict: Verdict,
) -> Result<Verdict, PermissionError> {
    let verdict = match verdict.decision {
        Decision::Allow if circumstances.bypass && petition.is_pointless_under_bypass() => {
            return Ok(verdict);
        }
        Decision::Allow => {
            let reason = Reason::new(By::Class, petition.reason(place));
            policy::asks(false, reason, circumstances)
        }
        Decision::Ask { .. } => {
            let text = format!("{}; {}", petition.reason(place), verdict.reason.text);
            Verdict { reason: Reason { text, ..verdict.reason }, ..verdict }
        }
        Decision::Deny => verdict,
    };
    if verdict.decision != Decision::Deny {
        let refusal = petition.refusal(policy, place, circumstances.confined);
        refusal.map_or(Ok(()), |refusal| Err(PermissionError::Unfit(refusal)))?;
    }
    Ok(verdict)
}

#[async_trait]
impl PermissionChecker for PolicyChecker {
    fn requires_forced_confirmation(&self, request: &PermissionRequest<'_>) -> bool {
        // What has no subject is refused by the check that comes next.
        self.looked(request)
            .is_ok_and(|(policy, subject)| policy.requires_forced_confirmation(&subject).is_some())
    }

    async fn check_or_request(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        self.judge(request).await
    }

    async fn check_or_request_forced(&self, request: &PermissionRequest<'_>) -> Result<(), PermissionError> {
        match self.judge(request).await {
            // The rules changed between the two questions: then it is asked once more than needed.
            Ok(()) => Err(PermissionError::ConfirmationRequired(Box::new(Confirmation {
                reason: AskReason { text: "it has to be confirmed in every session".to_owned(), rule: None },
                offers: vec![Offer::once()],
                leaves: None,
                forced: true,
                bound: None,
            }))),
            refused => refused,
        }
    }

    async fn explain(&self, request: &PermissionRequest<'_>) -> Result<Explanation, PermissionError> {
        let Judged { policy, subject, grants, verdict } = match self.judged(request).await {
            Ok(judged) => judged,
            Err(refused) => return explain::of_check(request, Err(refused)),
        };
        Ok(policy.told(&subject, &self.circumstances(request, &grants), verdict))
    }

    async fn explain_on_paper(&self, paper: &Paper<'_>) -> Result<Explanation, PermissionError> {
        let place = paper.place(self.home.as_deref());
        let unfit = |error: ExampleError| PermissionError::Unfit(error.to_string());
        let subject = match paper.call {
            PaperCall::Resolved(call) => {
                explain::on_paper(call, &place).map_err(|error| PermissionError::Unfit(error.to_string()))?
            }
            PaperCall::Written(text) => example::subject(text, &place).map_err(unfit)?,
        };
        let policy = &paper.revision.policy;
        let around = Circumstances {
            mode: paper.flags.mode,
            bypass: paper.flags.bypass,
            someone_there: paper.flags.someone_there,
            confined: self.confined,
            grants: &[],
        };
        let petition = match paper.call {
            PaperCall::Resolved(call) => call.petition(),
            PaperCall::Written(_) => None,
        };
        let verdict = policy.judge(&subject, &around);
        let verdict = match petition {
            Some(petition) => petitioned(petition, policy, &subject.place, &around, verdict)?,
            None => verdict,
        };
        Ok(policy.told(&subject, &around, verdict))
    }

    fn edits(&self, request: &PermissionRequest<'_>) -> Edits {
        let Ok((_, subject)) = self.looked(request) else { return Edits::default() };
        Edits::of(&subject, request.scope.map(|scope| scope.workspace.as_ref()))
    }

    fn led_through(&self, request: &PermissionRequest<'_>) -> Vec<PathBuf> {
        self.looked(request).map_or_else(|_| Vec::new(), |(_, subject)| edits::led_through(&subject))
    }

    fn hidden(&self, request: &PermissionRequest<'_>) -> Hidden {
        let (policy, place) = (self.policy(request), self.place(request));
        let bypass = request.flags.bypass;
        let hidden = {
            let (policy, place) = (Arc::clone(&policy), place.clone());
            Hidden::by(move |path| policy.hides(path, &place))
        };
        if !policy.may_ask_about_reading(bypass) {
            return hidden;
        }
        // The verdict spoke of the paths that the call names: what a rule covers of them was confirmed as a whole.
        let named: Vec<PathBuf> = request
            .paths
            .iter()
            .flat_map(|path| [&path.located.requested, &path.located.real])
            .map(|path| place.resolve(path))
            .collect();
        let confirmed: Vec<PathBuf> =
            named.iter().filter(|path| policy.asks_about_reading(path, &place, bypass)).cloned().collect();
        hidden.or_unasked(move |path| {
            policy.asks_about_reading(path, &place, bypass)
                && !named.iter().any(|named| named == path)
                && !confirmed.iter().any(|confirmed| path.starts_with(confirmed))
        })
    }
}

fn subject_path(judged: &super::checker::JudgedPath) -> SubjectPath {
    SubjectPath {
        requested: judged.located.requested.clone(),
        real: judged.located.real.clone(),
        access: if judged.edits { Access::Edit } else { Access::Read },
        inside: judged.located.inside,
        of: PathOf::Call,
        kind: judged.located.kind,
    }
}

/// The kind of effect; of several the one that needs most.
pub(super) fn class(call: &ResolvedCall) -> Class {
    let of_touch = |touch: &Touch| match touch {
        Touch::SessionOnly | Touch::Petition(_) => (0, Class::SessionOnly),
        Touch::Read(_) => (1, Class::ReadInside),
        Touch::Edit(_) => (2, Class::EditInside),
        Touch::Network(_) => (3, Class::Network),
        Touch::Run { .. } => (4, Class::Run),
        Touch::Foreign => (5, Class::Foreign),
    };
    let worst = call.touches.iter().map(of_touch).max_by_key(|(rank, _)| *rank);
    worst.map_or(Class::Foreign, |(_, class)| class)
}

/// Rules that people granted this session, or its agent under this root.
async fn granted(store: &Arc<dyn Store>, scope: &Scope) -> Vec<Grant> {
    let Some(session_id) = &scope.session_id else { return Vec::new() };
    let root = scope.workspace_root.display().to_string();
    match store.grants_for(session_id, &scope.agent, &root).await {
        Ok(grants) => {
            let workspace = scope.workspace.root();
            grants.iter().filter_map(|grant| Grant::stored(grant, workspace)).collect()
        }
        Err(error) => {
            // Without its grants the call asks.
            tracing::error!(%error, "grants could not be read");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests;
