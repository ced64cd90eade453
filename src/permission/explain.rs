//! Tells how a call is judged: the verdict of the policy itself, and every rule that speaks of the call.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Map, Value};

use super::call::{ResolvedCall, Touch};
use super::checker::{Flags, PermissionError, PermissionRequest};
use super::example::{self, ExampleError, SESSION_TOOLS};
use super::grant::{self, Grant};
use super::host::{Host, HostError};
use super::lexical;
use super::offer;
use super::path_pattern::Reach;
use super::policy::{Circumstances, Policy, SourcedRule, class_of, word_paths};
use super::revision::Revision;
use super::rule::{Rule, Spec};
use super::rule_list::RuleList;
use super::shell::{self, CommandAnalysis, Leaf, WordPath};
use super::subject::{Access, Class, OnDisk, Place, Subject};
use super::verdict::{By, Decision, Reason, Verdict};
use crate::domain::approval::{AskReason, Scope};
use crate::domain::explanation::{
    CallClass, DecidedBy, Explanation, MatchedRule, RuleListName, Verdict as Outcome, VerdictReason,
};
use crate::domain::result::DeniedBy;
use crate::domain::schema::ToolMutability;
use crate::domain::session::PermissionMode;

/// The most rules of one list that are named.
const MATCHED_MAX: usize = 100;
/// So many lists of one or more rules are held against a call.
const LOOKS_MAX: usize = 400;
/// The most commands of one shell text that rules are held against one by one.
const LEAVES_MAX: usize = 64;

/// The most words of a command, over all of a list's rules, that are looked at to name each rule that matches. Where
/// there are more, the one that the list decides by stands for all.
const WORDS_MAX: usize = 500_000;

/// A call that no session makes: judged by its text, as if no symlink existed and nothing were granted.
#[derive(Debug)]
pub struct Paper<'a> {
    /// The call.
    pub call: PaperCall<'a>,
    /// The workspace that it would be made in; absolute, and none that has to exist.
    pub workspace: &'a Path,
    /// The directory that it would start in, from the workspace; the workspace where there is none.
    pub cwd: Option<&'a Path>,
    /// The session's flags.
    pub flags: Flags,
    /// The rules.
    pub revision: &'a Revision,
}

/// How a call on paper is said.
#[derive(Debug, Clone, Copy)]
pub enum PaperCall<'a> {
    /// With a tool's name and arguments.
    Resolved(&'a ResolvedCall),
    /// As the tests of a config say it: `Bash(git status)`.
    Written(&'a str),
}

impl Paper<'_> {
    /// Where the call would run. A workspace of nobody has a home beside it, as in the tests of a config.
    pub(super) fn place(&self, home: Option<&Path>) -> Place {
        let workspace = lexical::normal(Path::new("/"), self.workspace);
        let cwd = self.cwd.map_or_else(|| workspace.clone(), |cwd| lexical::normal(&workspace, cwd));
        Place {
            home: Some(home.map_or_else(|| PathBuf::from("/home/user"), Path::to_path_buf)),
            workspace,
            cwd,
        }
    }
}

/// A call as a whole, or a part of it that a rule may speak of.
struct Part<'s> {
    subject: Subject<'s>,
    words: Vec<WordPath>,
    /// The command that the part is.
    leaf: Option<String>,
    /// Whether the whole gives it something to read.
    fed: bool,
}

impl Policy {
    /// Judges the call and tells how.
    pub fn explain(&self, subject: &Subject<'_>, circumstances: &Circumstances<'_>) -> Explanation {
        let verdict = self.judge(subject, circumstances);
        self.told(subject, circumstances, verdict)
    }

    /// Tells of a verdict that this policy came to.
    pub(super) fn told(
        &self,
        subject: &Subject<'_>,
        circumstances: &Circumstances<'_>,
        verdict: Verdict,
    ) -> Explanation {
        Explanation {
            decision: verdict.decision.into(),
            forced: verdict.decision == Decision::Ask { forced: true },
            matched: self.matched(subject, circumstances),
            would_allow: self.would_allow(subject, circumstances, &verdict),
            reason: verdict.reason.into(),
            tool_name: subject.tool.to_owned(),
            class: class_of(subject).into(),
            leaves: subject.command.as_ref().map(CommandAnalysis::leaves),
            mode: circumstances.mode,
            bypass: circumstances.bypass,
            workspace: subject.place.workspace.display().to_string(),
            cwd: subject.place.cwd.display().to_string(),
        }
    }

    /// Every rule that speaks of the call or of a part of it, list by list.
    fn matched(&self, subject: &Subject<'_>, circumstances: &Circumstances<'_>) -> Vec<MatchedRule> {
        let parts = parts(subject);
        let mut found = Vec::new();
        for (list, name) in [
            (&self.deny, RuleListName::Deny),
            (&self.always_ask, RuleListName::AlwaysAsk),
            (&self.ask, RuleListName::Ask),
        ] {
            let words: usize = parts.iter().map(|part| part.words.len() + 1).sum();
            if words.saturating_mul(list.rules().len()) > WORDS_MAX {
                found.extend(parts.iter().find_map(|part| {
                    let SourcedRule { rule, source } = decides(list, name, part)?;
                    Some(named(name, rule, Some(source), part))
                }));
                continue;
            }
            // Most lists say nothing of a call: only then is each rule held against it alone.
            if parts.iter().any(|part| holds_back(list, name, part)) {
                found.extend(each_alone(list, Reach::Wide, name, &parts, |alone, part| {
                    holds_back(alone, name, part)
                }));
            }
        }
        found.extend(self.matched_allow(&parts, circumstances));
        found
    }

    /// The rules and grants each of which alone would allow the call or a part of it.
    fn matched_allow(&self, parts: &[Part<'_>], circumstances: &Circumstances<'_>) -> Vec<MatchedRule> {
        let ungranted = Circumstances { grants: &[], ..*circumstances };
        let whole = |policy: &Self, around: &Circumstances<'_>| {
            parts.iter().any(|part| policy.allowed(&part.subject, around).is_some())
        };
        let mut found = Vec::new();
        // With the list of one rule in the place of the whole one; what is denied stays, since it bounds what an
        // allow rule reaches.
        let mut probe = self.clone();
        if whole(self, &ungranted) {
            let allows = |alone: &RuleList, part: &Part<'_>| {
                probe.allow = alone.clone();
                probe.allowed(&part.subject, &ungranted).is_some()
            };
            found = each_alone(&self.allow, Reach::Plain, RuleListName::Allow, parts, allows);
        }
        let Ok(nothing) = RuleList::compile(Vec::new(), Reach::Plain) else { return found };
        probe.allow = nothing;
        for grant in circumstances.grants.iter().take(MATCHED_MAX) {
            let granted = Circumstances { grants: std::slice::from_ref(grant), ..*circumstances };
            let part =
                parts.iter().find(|part| !part.fed && probe.allowed(&part.subject, &granted).is_some());
            found.extend(part.map(|part| named(RuleListName::Grant, grant.rule(), None, part)));
        }
        found
    }

    /// The rules that a person would be offered, where they would let the call run.
    fn would_allow(
        &self,
        subject: &Subject<'_>,
        circumstances: &Circumstances<'_>,
        verdict: &Verdict,
    ) -> Vec<String> {
        if verdict.decision == Decision::Allow {
            return Vec::new();
        }
        let mode = match circumstances.mode {
            PermissionMode::DontAsk => PermissionMode::Default,
            other => other,
        };
        let asked = Circumstances { mode, someone_there: true, ..*circumstances };
        let asked = self.judge(subject, &asked);
        let around = Circumstances { mode, someone_there: true, ..*circumstances };
        let offers = self.offers(subject, &around, &asked);
        let grants: Vec<Grant> = circumstances
            .grants
            .iter()
            .cloned()
            .chain(offers.iter().filter_map(|offer| offer::granted(offer, &subject.place)))
            .collect();
        let granted = Circumstances { grants: &grants, ..*circumstances };
        if self.judge(subject, &granted).decision != Decision::Allow {
            return Vec::new();
        }
        let mut patterns: Vec<String> = offers
            .into_iter()
            .filter(|offer| offer.scope == Scope::Session)
            .filter_map(|o| o.pattern)
            .collect();
        patterns.dedup();
        patterns
    }
}

/// The parts of a call that `matches` says a rule matches, for each rule as if it were the only one of its list.
///
/// What a list of several does not match, none of them does: halves are looked at until one rule is left, so that a list of
/// thousands costs little more than the rules that are found.
fn each_alone(
    list: &RuleList,
    reach: Reach,
    name: RuleListName,
    parts: &[Part<'_>],
    mut matches: impl FnMut(&RuleList, &Part<'_>) -> bool,
) -> Vec<MatchedRule> {
    let mut found = Vec::new();
    let mut pending = vec![list.rules()];
    let mut looks = LOOKS_MAX;
    while let Some(rules) = pending.pop() {
        if found.len() == MATCHED_MAX || looks == 0 {
            break;
        }
        looks -= 1;
        // They compiled together with the others.
        let Ok(some) = RuleList::compile(rules.to_vec(), reach) else { continue };
        let Some(whole) = parts.iter().find(|part| matches(&some, part)) else { continue };
        let [SourcedRule { rule, source }] = rules else {
            let (first, second) = rules.split_at(rules.len() / 2);
            pending.extend([second, first]);
            continue;
        };
        // The command that it is about is worth more than that it is about the whole.
        let leaf = match rule.spec {
            Spec::Absent => None,
            _ => parts.iter().find(|part| part.leaf.is_some() && matches(&some, part)),
        };
        found.push(named(name, rule, Some(source), leaf.unwrap_or(whole)));
    }
    found
}

fn named(list: RuleListName, rule: &Rule, source: Option<&String>, part: &Part<'_>) -> MatchedRule {
    MatchedRule { list, rule: rule.to_string(), source: source.cloned(), leaf: part.leaf.clone() }
}

/// Whether a list of rules that deny or ask speaks of the part, as [`Policy::judge`] asks it.
fn holds_back(list: &RuleList, name: RuleListName, part: &Part<'_>) -> bool {
    let subject = &part.subject;
    let own = subject.class == Class::SessionOnly || name == RuleListName::Ask;
    decides(list, name, part).is_some()
        || (!own && list.any_word(&subject.place, &subject.on_disk.may_lead).is_some())
}

/// The rule that a list decides by, where it speaks of the part as it is written.
fn decides<'l>(list: &'l RuleList, name: RuleListName, part: &Part<'_>) -> Option<&'l SourcedRule> {
    if part.subject.class == Class::SessionOnly && name != RuleListName::Deny {
        return list.named(&part.subject);
    }
    list.matches_any(&part.subject, &part.words, name == RuleListName::Deny)
}

/// The call as a whole, then each command of a shell text, or each path where there are several.
fn parts<'s>(subject: &Subject<'s>) -> Vec<Part<'s>> {
    let leaves = subject.command.as_ref().map(CommandAnalysis::leaves).unwrap_or_default();
    let whole_is_a_leaf = leaves.len() == 1;
    let mut parts = vec![Part {
        words: word_paths(subject).into_owned(),
        subject: subject.clone(),
        leaf: whole_is_a_leaf.then(|| leaves.first().cloned()).flatten(),
        fed: false,
    }];
    if !whole_is_a_leaf && subject.tool == "Bash" {
        let read = subject.command.as_ref().and_then(CommandAnalysis::understood);
        parts.extend(leaves.into_iter().enumerate().take(LEAVES_MAX).map(|(number, leaf)| {
            let read = read.and_then(|script| script.leaves().get(number));
            let command = shell::analyse(&leaf);
            let mut place = subject.place.clone();
            place.cwd = read.and_then(|read| grant::starts_in(read, subject)).unwrap_or(place.cwd);
            let (paths, on_disk) = example::paths_of(&command, &place);
            let subject = Subject { paths, on_disk, command: Some(command), place, ..subject.clone() };
            let fed = read.is_some_and(Leaf::is_fed);
            Part { words: word_paths(&subject).into_owned(), subject, leaf: Some(leaf), fed }
        }));
    }
    if subject.command.is_none() && subject.paths.len() > 1 {
        parts.extend(subject.paths.iter().take(LEAVES_MAX).map(|path| Part {
            subject: Subject { paths: vec![path.clone()], ..subject.clone() },
            words: Vec::new(),
            leaf: None,
            fed: false,
        }));
    }
    parts
}

/// What a checker without rules says.
pub(super) fn of_check(
    request: &PermissionRequest<'_>,
    judged: Result<(), PermissionError>,
) -> Result<Explanation, PermissionError> {
    let (decision, forced, text, by, rule) = match judged {
        Ok(()) => {
            let text = "nothing holds it back".to_owned();
            let by = if request.flags.bypass { DecidedBy::Bypass } else { DecidedBy::Class };
            (Outcome::Allow, false, text, by, None)
        }
        Err(PermissionError::ConfirmationRequired(confirmation)) => {
            let AskReason { text, rule } = confirmation.reason;
            let forced = confirmation.offers.iter().all(|offer| offer.pattern.is_none());
            (Outcome::Ask, forced, text, DecidedBy::Protection, rule)
        }
        Err(PermissionError::Denied { by, message }) => {
            let by = match by {
                DeniedBy::Mode => DecidedBy::Mode,
                DeniedBy::NoHuman => DecidedBy::NoHuman,
                _ => DecidedBy::Protection,
            };
            (Outcome::Deny, false, message, by, None)
        }
        Err(unfit @ PermissionError::Unfit(_)) => return Err(unfit),
    };
    let shown = |path: &Path| path.display().to_string();
    Ok(Explanation {
        decision,
        forced,
        reason: VerdictReason { text, by, rule, source: None },
        tool_name: request.call.tool_name.clone(),
        class: super::configured::class(request.call).into(),
        leaves: None,
        matched: Vec::new(),
        would_allow: Vec::new(),
        mode: request.flags.mode,
        bypass: request.flags.bypass,
        workspace: request.scope.map(|scope| shown(scope.workspace.root())).unwrap_or_default(),
        cwd: request.directory.map(shown).unwrap_or_default(),
    })
}

/// A call that was resolved, judged on paper: as if no symlink existed.
pub(super) fn on_paper<'c>(call: &'c ResolvedCall, place: &Place) -> Result<Subject<'c>, HostError> {
    let mut subject = Subject {
        tool: &call.tool_name,
        other_names: &call.other_names,
        class: super::configured::class(call),
        paths: Vec::new(),
        command: None,
        hosts: Vec::new(),
        place: place.clone(),
        on_disk: OnDisk::on_paper(),
    };
    for touch in &call.touches {
        match touch {
            Touch::Read(path) => subject.paths.push(example::path(path, Access::Read, place)),
            Touch::Edit(path) => subject.paths.push(example::path(path, Access::Edit, place)),
            Touch::Run { command, directory } => {
                if let Some(directory) = directory {
                    let directory = example::path(directory, Access::Read, place);
                    subject.place.cwd.clone_from(&directory.real);
                    subject.paths.push(directory);
                }
                let command = shell::analyse(command);
                let (paths, on_disk) = example::paths_of(&command, &subject.place);
                subject.paths.extend(paths);
                subject.on_disk = on_disk;
                subject.command = Some(command);
            }
            Touch::Network(url) => subject.hosts.push(Host::of_url(url)?),
            Touch::SessionOnly | Touch::Petition(_) | Touch::Foreign => {}
        }
    }
    Ok(subject)
}

/// The call that `text` describes (`Bash(git status)`), for the gate to locate and judge. It has no arguments and
/// never runs.
pub fn written(text: &str) -> Result<ResolvedCall, ExampleError> {
    let (tool, inner) = example::parts(text)?;
    let needs = |what| inner.ok_or_else(|| ExampleError::Missing(tool.to_owned(), what));
    let touch = match tool {
        "Bash" => Touch::Run { command: needs("a command")?.to_owned(), directory: None },
        "BashInput" | "Terminal" | "KillShell" => {
            return Err(ExampleError::OnPaperOnly("it goes to a program that runs already"));
        }
        "WebFetch" | "http_request" => {
            let url = needs("a URL")?;
            Touch::Network(
                url.strip_prefix("domain:").map_or(url.to_owned(), |host| format!("https://{host}/")),
            )
        }
        "Read" | "Grep" | "Glob" | "ListDir" | "FileInfo" => Touch::Read(as_it_is(inner.unwrap_or("."))?),
        "Edit" | "Write" | "ApplyPatch" | "NotebookEdit" => Touch::Edit(as_it_is(needs("a path")?)?),
        _ if SESSION_TOOLS.contains(&tool) => Touch::SessionOnly,
        _ => Touch::Foreign,
    };
    Ok(ResolvedCall {
        tool_call_id: String::new(),
        tool_name: tool.to_owned(),
        other_names: Vec::new(),
        arguments: Arc::new(Value::Object(Map::new())),
        mutability: ToolMutability::Mutating,
        concurrency_safe: false,
        touches: vec![touch],
        repair: None,
    })
}

/// A path that means the same to a rule and to a tool: tools take `~` for a name.
fn as_it_is(path: &str) -> Result<String, ExampleError> {
    if path.starts_with(['~', '$']) {
        return Err(ExampleError::OnPaperOnly("tools do not expand `~` and `$HOME`; write the whole path"));
    }
    Ok(path.to_owned())
}

impl From<Decision> for Outcome {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Ask { .. } => Self::Ask,
            Decision::Deny => Self::Deny,
        }
    }
}

impl From<Reason> for VerdictReason {
    fn from(Reason { text, rule, source, by }: Reason) -> Self {
        Self { text, by: by.into(), rule, source }
    }
}

impl From<By> for DecidedBy {
    fn from(by: By) -> Self {
        match by {
            By::Rule => Self::Rule,
            By::Grant => Self::Grant,
            By::Mode => Self::Mode,
            By::Bypass => Self::Bypass,
            By::Protection => Self::Protection,
            By::Class => Self::Class,
            By::NotUnderstood => Self::NotUnderstood,
            By::NoHuman => Self::NoHuman,
        }
    }
}

impl From<Class> for CallClass {
    fn from(class: Class) -> Self {
        match class {
            Class::ReadInside => Self::Read,
            Class::EditInside => Self::Edit,
            Class::Outside => Self::Outside,
            Class::Run => Self::Run,
            Class::Network => Self::Network,
            Class::SessionOnly => Self::Session,
            Class::Foreign => Self::Foreign,
        }
    }
}

#[cfg(test)]
mod tests;
