//! The verdict over a call: rules in, call in, verdict out. No clock, no file, no network.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::breaker;
use super::commands::git;
use super::commands::read_only::KnownUse;
use super::grant::Grant;
use super::path_pattern::{PathPatternError, Reach};
use super::protected;
use super::rule_list::RuleList;
pub use super::rule_list::SourcedRule;
use super::shell::scan::Segment;
use super::shell::{CommandAnalysis, Leaf, WordPath};
use super::subject::{Access, Class, OnDisk, PathOf, Place, Subject, SubjectPath};
use super::verdict::{By, Decision, Reason, Verdict};
use crate::domain::session::PermissionMode;
use crate::domain::visible;

/// Everything that a policy is made of.
#[derive(Debug, Clone, Default)]
pub struct RuleSet {
    /// Calls that never run.
    pub deny: Vec<SourcedRule>,
    /// Calls that are asked about, but for sessions in bypass.
    pub ask: Vec<SourcedRule>,
    /// Calls that run.
    pub allow: Vec<SourcedRule>,
    /// Calls that are asked about in every session.
    pub always_ask: Vec<SourcedRule>,
    /// Toolgate's own data and config, absolute and resolved: nothing gets at them.
    pub own_paths: Vec<PathBuf>,
    /// Directories that `rm -r` may not remove unasked, beside the workspace, the home and the root.
    pub roots: Vec<PathBuf>,
}

/// Why rules do not make a policy.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// `*` or `mcp__*` where it would widen.
    #[error("{source_text}: `{rule}` can stand only in deny, ask and always_ask")]
    TooWide {
        /// Where the rule stands.
        source_text: String,
        /// The rule.
        rule: String,
    },
    /// The patterns do not compile together.
    #[error(transparent)]
    Paths(#[from] PathPatternError),
}

/// A rule that is valid, but most likely not what was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleWarning {
    /// Where the rule stands.
    pub source: String,
    /// The rule.
    pub rule: String,
    /// What is odd about it.
    pub text: String,
}

/// What the world around a call says.
#[derive(Debug, Clone, Copy)]
pub struct Circumstances<'a> {
    /// The session's mode.
    pub mode: PermissionMode,
    /// The session runs everything that is not held back.
    pub bypass: bool,
    /// Someone can answer.
    pub someone_there: bool,
    /// Every program runs within the floor or a sandbox.
    pub confined: bool,
    /// Rules that people granted and that hold for this call's session.
    pub grants: &'a [Grant],
}

/// Compiled rules.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(super) deny: RuleList,
    pub(super) ask: RuleList,
    pub(super) allow: RuleList,
    pub(super) always_ask: RuleList,
    own_paths: Vec<PathBuf>,
    roots: Vec<PathBuf>,
    warnings: Vec<RuleWarning>,
    /// Deny or always_ask speak of what a command may do: one that is not understood might be meant.
    guards_commands: bool,
}

impl Policy {
    /// Compiles rules; `known_tools` are the names that no warning is due for.
    pub fn compile(rules: RuleSet, known_tools: &[&str]) -> Result<Self, PolicyError> {
        if let Some(wide) = rules.allow.iter().find(|r| r.rule.only_narrows()) {
            return Err(PolicyError::TooWide {
                source_text: wide.source.clone(),
                rule: wide.rule.to_string(),
            });
        }
        let mut warnings = Vec::new();
        for (list, is_allow) in
            [(&rules.deny, false), (&rules.ask, false), (&rules.allow, true), (&rules.always_ask, false)]
        {
            warnings.extend(list.iter().filter_map(|r| {
                let text = r.rule.doubts(known_tools, is_allow)?;
                Some(RuleWarning { source: r.source.clone(), rule: r.rule.to_string(), text })
            }));
        }
        let deny = RuleList::compile(rules.deny, Reach::Wide)?;
        let always_ask = RuleList::compile(rules.always_ask, Reach::Wide)?;
        Ok(Self {
            guards_commands: deny.guards_commands() || always_ask.guards_commands(),
            deny,
            always_ask,
            ask: RuleList::compile(rules.ask, Reach::Wide)?,
            allow: RuleList::compile(rules.allow, Reach::Plain)?,
            own_paths: rules.own_paths,
            roots: rules.roots,
            warnings,
        })
    }

    /// Rules that are valid, but most likely not what was meant.
    pub fn warnings(&self) -> &[RuleWarning] {
        &self.warnings
    }

    /// Judges one call. Deny, plan, always_ask, bypass, ask, allow and grants, then what is usual for the class:
    /// the first of them that speaks decides, and a question that nobody can answer is a denial.
    pub fn judge(&self, subject: &Subject<'_>, circumstances: &Circumstances<'_>) -> Verdict {
        let words = word_paths(subject);
        if let Some(reason) = self.denied(subject, &words) {
            return Verdict { decision: Decision::Deny, reason };
        }
        if circumstances.mode == PermissionMode::Plan && !fits_plan(subject) {
            let text =
                format!("the session only plans: {} is not part of that", class_of(subject).describe());
            return Verdict { decision: Decision::Deny, reason: Reason::new(By::Mode, text) };
        }
        if let Some(reason) = self.forced(subject, &words) {
            return asks(true, reason, circumstances);
        }
        if circumstances.bypass {
            let reason = Reason::new(By::Bypass, "the session runs everything that is not held back");
            return Verdict { decision: Decision::Allow, reason };
        }
        let asked = if subject.class == Class::SessionOnly {
            self.ask.named(subject)
        } else {
            self.ask.matches_any(subject, &words, false)
        };
        if let Some(rule) = asked {
            return asks(false, by_rule("asked about by", rule), circumstances);
        }
        if let Some(reason) = self.unless_bypass().might_reach(subject, &words) {
            return asks(false, reason, circumstances);
        }
        if let Some(reason) = self.allowed(subject, circumstances) {
            return Verdict { decision: Decision::Allow, reason };
        }
        let usual = described(subject);
        if self.is_usual(subject, circumstances.mode) {
            let reason = Reason::new(By::Class, format!("{usual}: runs without asking"));
            return Verdict { decision: Decision::Allow, reason };
        }
        let not_understood = subject.command.as_ref().and_then(CommandAnalysis::not_understood);
        let reason = match not_understood {
            Some(why) => Reason::new(By::NotUnderstood, format!("the command is not understood: {}", why.0)),
            None => Reason::new(By::Class, format!("{usual}: asks unless a rule allows it")),
        };
        asks(false, reason, circumstances)
    }

    /// Why the call has to be confirmed in every session, under bypass too; `None` when it has not.
    pub fn requires_forced_confirmation(&self, subject: &Subject<'_>) -> Option<Reason> {
        self.forced(subject, &word_paths(subject))
    }

    /// Whether listings and searches must not show `path` (absolute, resolved): a deny rule for reading covers
    /// it or a directory above it, or it is Toolgate's own.
    pub fn hides(&self, path: &Path, place: &Place) -> bool {
        let path = place.resolve(path);
        protected::is_own(&path, &self.own_paths) || self.deny.read_guard(&path, place).is_some()
    }

    /// Toolgate's own data and config.
    pub(super) fn own_paths(&self) -> &[PathBuf] {
        &self.own_paths
    }

    /// Whether what a rule hides may lie where the command descends.
    fn hides_beneath(&self, subject: &Subject<'_>) -> bool {
        self.narrowing(false).any(|rules| rules.hides_beneath(subject))
    }

    fn denied(&self, subject: &Subject<'_>, words: &[WordPath]) -> Option<Reason> {
        let own = |path: &Path| protected::is_own(path, &self.own_paths);
        let touches_own = subject.paths.iter().any(|p| p.spellings(&subject.place).iter().any(|s| own(s)))
            || words.iter().any(|w| own(&w.path));
        if touches_own {
            return Some(Reason::new(By::Protection, "Toolgate's own data and config are out of reach"));
        }
        self.deny.matches(subject, words, true).map(|rule| by_rule("denied by", rule))
    }

    /// Everything that asks in every session.
    fn forced(&self, subject: &Subject<'_>, words: &[WordPath]) -> Option<Reason> {
        if subject.class == Class::SessionOnly {
            return self.always_ask.named(subject).map(|rule| by_rule("always asked about by", rule));
        }
        if let Some(rule) = self.always_ask.matches_any(subject, words, false) {
            return Some(by_rule("always asked about by", rule));
        }
        if let Some((rule, program)) = self.deny.guessed(subject) {
            let what = format!("it may run `{} …`, which is denied by", visible::one_line(program));
            return Some(by_rule(&what, rule));
        }
        if let Some(name) = changes_protected(subject, words) {
            let text = format!("it may change {name}, which other programs obey");
            return Some(Reason::new(By::Protection, text));
        }
        if subject.on_disk.copies_untold {
            let text = "it copies more files than are looked at, and protected ones may be among them";
            return Some(Reason::new(By::Protection, text));
        }
        let command = subject.command.as_ref()?;
        if let Some(target) =
            breaker::removed(command.segments(), &subject.place, &self.roots, &subject.on_disk)
        {
            return Some(Reason::new(
                By::Protection,
                format!("it would remove {target} with all that is in it"),
            ));
        }
        if sets_up_repository(command) {
            let text = "it may make a repository or change its settings, which git and other programs obey"
                .to_owned();
            return Some(Reason::new(By::Protection, text));
        }
        if command.has_unfollowed_words(&subject.place) {
            let text =
                "it goes to several directories and names more paths than are looked for in each of them";
            return Some(Reason::new(By::NotUnderstood, text));
        }
        let spoken_of = |name: &str| self.deny.speaks_of(name) || self.always_ask.speaks_of(name);
        if let Some(program) = command.programs_with_more_words().find(|name| spoken_of(name)) {
            let text = format!("{program} gets words that are not told, and a rule speaks of it");
            return Some(Reason::new(By::NotUnderstood, text));
        }
        if let Some(reason) = self.in_every_session().might_reach(subject, words) {
            return Some(reason);
        }
        let typed_freely = subject.tool == "BashInput" && self.allow.outright(subject).is_some();
        if let Some(leads) = subject.on_disk.hidden_carrier.as_ref().filter(|_| self.guards_commands) {
            let text = format!(
                "{}, and rules that hold in every session might speak of that",
                visible::one_line(leads)
            );
            return Some(Reason::new(By::NotUnderstood, text));
        }
        if self.guards_commands && command.understood().is_none() && !typed_freely {
            let why = command.not_understood().map_or("", |why| why.0);
            let text = format!(
                "the command is not understood ({why}), and rules that hold in every session might speak of it"
            );
            return Some(Reason::new(By::NotUnderstood, text));
        }
        None
    }

    /// Whether a rule or grant may speak for a command where it starts: in the workspace, or in a directory that
    /// a rule lets be changed.
    fn may_start_there(&self, subject: &Subject<'_>) -> bool {
        let place = &subject.place;
        place.cwd.starts_with(&place.workspace)
            || subject.paths.iter().filter(|path| path.real == place.cwd).any(|path| {
                let changed = SubjectPath { access: Access::Edit, ..path.clone() };
                self.allow.allows_path("Edit", &changed, place).is_some()
            })
    }

    pub(super) fn allowed(&self, subject: &Subject<'_>, circumstances: &Circumstances<'_>) -> Option<Reason> {
        if subject.command.is_some() && !subject.on_disk.operands_located {
            return None;
        }
        if let Some(rule) = self.allow.outright(subject) {
            return Some(by_rule("allowed by", rule));
        }
        if subject.command.is_some() && !self.may_start_there(subject) {
            return None;
        }
        let rule = match &subject.command {
            Some(command) if subject.tool == "Bash" => {
                if let Some(reason) = self.allows_script(command, subject, circumstances) {
                    return Some(reason);
                }
                self.allow.allows_text(command, circumstances.confined)
            }
            Some(_) => None,
            None if subject.paths.is_empty() => self.allow.allows_hosts(subject),
            None => self.allows_paths(subject, circumstances.mode),
        };
        if let Some(rule) = rule {
            return Some(by_rule("allowed by", rule));
        }
        circumstances.grants.iter().find(|grant| grant.covers(subject)).map(by_grant)
    }

    /// Each command of a text is covered by a rule or a grant, or harmless as it is, and each redirection is one
    /// that may be made. The first rule or grant that was needed; none where nothing but harmless commands is in
    /// it, which is for the mode to say.
    fn allows_script(
        &self,
        command: &CommandAnalysis,
        subject: &Subject<'_>,
        circumstances: &Circumstances<'_>,
    ) -> Option<Reason> {
        let (confined, hides) = (circumstances.confined, self.hides_beneath(subject));
        let mut found = None;
        for (number, leaf) in command.understood()?.leaves().iter().enumerate().filter(|(_, l)| !l.carried) {
            let reason = if let Some(rule) = self.allow.allows_leaf(leaf, subject, confined, hides) {
                by_rule("allowed by", rule)
            } else if let Some(grant) =
                circumstances.grants.iter().find(|grant| grant.covers_leaf(leaf, subject, confined, hides))
            {
                by_grant(grant)
            } else if self.is_harmless(leaf.known(), number, subject, circumstances.mode) {
                continue;
            } else {
                return None;
            };
            found.get_or_insert(reason);
        }
        for path in subject.paths.iter().filter(|path| path.of == PathOf::Redirection) {
            if !subject.on_disk.paths_stay {
                return None;
            }
            let tool = if path.access == Access::Edit { "Edit" } else { "Read" };
            match self.allow.allows_path(tool, path, &subject.place) {
                Some(rule) => {
                    found.get_or_insert_with(|| by_rule("allowed by", rule));
                }
                None if is_usual_path(path, circumstances.mode) => {}
                None => return None,
            }
        }
        found
    }

    /// Each path is covered by a rule or usual, and at least one by a rule.
    fn allows_paths(&self, subject: &Subject<'_>, mode: PermissionMode) -> Option<&SourcedRule> {
        if !subject.hosts.is_empty() {
            return None;
        }
        let mut found = None;
        for path in &subject.paths {
            match self.allow.allows_path(subject.tool, path, &subject.place) {
                Some(rule) => found = Some(rule),
                None if is_usual_path(path, mode) => {}
                None => return None,
            }
        }
        found
    }

    /// Whether the mode lets calls of this kind run when no rule speaks of them.
    fn is_usual(&self, subject: &Subject<'_>, mode: PermissionMode) -> bool {
        match class_of(subject) {
            Class::SessionOnly | Class::ReadInside => true,
            Class::EditInside => !subject.paths.is_empty() && mode == PermissionMode::AcceptEdits,
            Class::Run => subject.tool == "Bash" && self.is_harmless_script(subject, mode),
            Class::Outside | Class::Network | Class::Foreign => false,
        }
    }

    /// Known commands alone, whose paths the gate resolved into the workspace.
    fn is_harmless_script(&self, subject: &Subject<'_>, mode: PermissionMode) -> bool {
        let script = subject.command.as_ref().and_then(CommandAnalysis::understood);
        script.is_some_and(|script| {
            let mut leaves = script.leaves().iter().enumerate().filter(|(_, leaf)| !leaf.carried);
            // Git is harmless in the environment that a text gets which runs only because all of it is known.
            let git = |leaf: &'_ Leaf| leaf.git().cloned().filter(|_| subject.on_disk.plain_repositories);
            leaves.all(|(number, leaf)| {
                let known = leaf.known().cloned().or_else(|| git(leaf));
                self.is_harmless(known.as_ref(), number, subject, mode)
            }) && subject.on_disk.operands_located
                && (subject.on_disk.paths_stay || subject.paths.is_empty())
                && subject.paths.iter().all(|path| is_usual_path(path, mode))
        })
    }

    /// A known command that changes nothing but what the mode lets be changed, in the workspace.
    fn is_harmless(
        &self,
        known: Option<&KnownUse>,
        number: usize,
        subject: &Subject<'_>,
        mode: PermissionMode,
    ) -> bool {
        let command = subject.command.as_ref();
        let leaf =
            command.and_then(CommandAnalysis::understood).and_then(|script| script.leaves().get(number));
        // Where a `cd` leads nothing that runs after it can change.
        let stays = subject.on_disk.paths_stay
            || subject.on_disk.enters_plainly
                && command
                    .zip(leaf)
                    .is_some_and(|(command, leaf)| leaf.moves() && command.paths_stay_until(leaf));
        known.is_some_and(|known| {
            let mut paths = subject.paths.iter().filter(|path| path.of == PathOf::Leaf(number));
            subject.on_disk.operands_located
                && !subject.on_disk.chosen.contains(&number)
                && (known.proxy.is_none() || subject.on_disk.no_toolchain_chosen)
                && paths.all(|path| stays && is_usual_path(path, mode))
                && !(known.recursive && self.hides_beneath(subject))
        })
    }
}

/// The class, made worse by what the paths and the command say.
pub(super) fn class_of(subject: &Subject<'_>) -> Class {
    match subject.class {
        Class::ReadInside | Class::EditInside if subject.paths.iter().any(|p| !p.inside) => Class::Outside,
        Class::ReadInside if subject.paths.iter().any(|p| p.access == Access::Edit) => Class::EditInside,
        Class::Run if subject.command.as_ref().is_some_and(CommandAnalysis::uses_network) => Class::Network,
        class => class,
    }
}

/// What kind of call it is, with the hosts as they will be connected to: a URL can show them otherwise.
fn described(subject: &Subject<'_>) -> String {
    let class = class_of(subject);
    let hosts: Vec<String> = subject.hosts.iter().map(ToString::to_string).collect();
    if class == Class::Network && !hosts.is_empty() {
        return format!("{} to {}", class.describe(), hosts.join(", "));
    }
    class.describe().to_owned()
}

fn fits_plan(subject: &Subject<'_>) -> bool {
    matches!(class_of(subject), Class::SessionOnly | Class::ReadInside)
}

fn is_usual_path(path: &SubjectPath, mode: PermissionMode) -> bool {
    path.inside && (path.access == Access::Read || mode == PermissionMode::AcceptEdits)
}

pub(super) fn word_paths<'s>(subject: &'s Subject<'_>) -> Cow<'s, [WordPath]> {
    let command = subject.command.as_ref();
    command.map_or(Cow::default(), |command| words_of(command, &subject.place, &subject.on_disk))
}

/// The paths that the words of a command may mean, and what was found behind those on the disk.
pub(super) fn words_of<'c>(
    command: &'c CommandAnalysis,
    place: &Place,
    on_disk: &OnDisk,
) -> Cow<'c, [WordPath]> {
    let mut words = command.word_paths(place);
    let found = on_disk.leads.iter().chain(&on_disk.copied);
    if found.clone().next().is_some() {
        words.to_mut().extend(found.cloned());
    }
    words
}

fn changes_protected(subject: &Subject<'_>, words: &[WordPath]) -> Option<&'static str> {
    let place = &subject.place;
    let edited = subject.paths.iter().filter(|p| p.access == Access::Edit);
    edited.flat_map(|p| p.spellings(place)).find_map(|p| protected::protected_name(&p, place)).or_else(|| {
        words
            .iter()
            .chain(&subject.on_disk.may_lead)
            .filter(|w| w.may_edit)
            .find_map(|w| protected::protected_name(&w.path, place))
            .or_else(|| {
                let command = subject.command.as_ref()?;
                git::pathspec::protected_name(command.segments())
            })
    })
}

/// Whether a git in it may make a repository or change settings. The words of a command are all that it gets where the
/// text is understood and it is no guess within another one.
fn sets_up_repository(command: &CommandAnalysis) -> bool {
    let told = command.understood().is_some() && command.programs_with_more_words().next().is_none();
    let may = |segment: &Segment, at: usize| {
        // A program behind options begins at a place of its own.
        let text = segment.text().get(at..).filter(|text| !text.starts_with('-'));
        text.is_some_and(|text| git::sets_up(text, told && at == 0))
    };
    let mut segments = command.segments().iter().filter(|segment| !segment.repeats());
    segments.any(|segment| segment.starts().any(|at| may(segment, at)))
}

fn by_grant(grant: &Grant) -> Reason {
    let rule = grant.rule();
    Reason {
        text: format!("granted before: `{rule}`"),
        rule: Some(rule.to_string()),
        source: None,
        by: By::Grant,
    }
}

fn by_rule(what: &str, rule: &SourcedRule) -> Reason {
    let text = format!("{what} `{}` ({})", rule.rule, rule.source);
    Reason { text, rule: Some(rule.rule.to_string()), source: Some(rule.source.clone()), by: By::Rule }
}

/// A question, or the denial that it becomes where nobody answers.
pub(super) fn asks(forced: bool, reason: Reason, circumstances: &Circumstances<'_>) -> Verdict {
    let by = if circumstances.mode == PermissionMode::DontAsk {
        By::Mode
    } else if circumstances.someone_there {
        return Verdict { decision: Decision::Ask { forced }, reason };
    } else {
        By::NoHuman
    };
    let why = if by == By::Mode { "the session does not ask" } else { "nobody is there to ask" };
    let reason = Reason { text: format!("{}; {why}", reason.text), by, ..reason };
    Verdict { decision: Decision::Deny, reason }
}

#[cfg(test)]
mod tests;
