//! What a person granted: a rule, and where it holds.

use std::path::{Path, PathBuf};

use super::commands::told_by_file;
use super::lexical;
use super::rule::{Guard, Rule, Spec};
use super::rule_list::{names, rule_allows_leaf};
use super::shell::{Leaf, WordPath};
use super::subject::{Access, Subject, SubjectPath};
use crate::domain::grant::Grant as StoredGrant;
use crate::domain::visible;
use crate::workspace::FileKind;

/// A rule that a person granted, and where it holds. The same words do something else in another directory, so a
/// grant of a command is one for where it starts; all other rules say by themselves what they are about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    rule: Rule,
    /// Absolute and without dots; none where the rule is about no command.
    directory: Option<PathBuf>,
}

impl Grant {
    /// A rule that holds where `directory` says, which counts from the workspace.
    pub fn new(rule: Rule, directory: Option<&str>, workspace: &Path) -> Self {
        let directory = directory.map(|directory| lexical::normal(workspace, Path::new(directory)));
        Self { rule, directory }
    }

    /// What is stored, for a session in this workspace; none for what is no rule.
    pub(super) fn stored(grant: &StoredGrant, workspace: &Path) -> Option<Self> {
        let rule = Rule::parse(&grant.pattern).ok()?;
        Some(Self::new(rule, grant.directory.as_deref(), workspace))
    }

    /// The rule.
    pub fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Whether it covers one command of a text: only where that starts in the very directory, and with nothing to read,
    /// since what a command is given to read was never part of a grant, nor what a file tells it to write; nor where its words may mean other paths than they did.
    pub(crate) fn covers_leaf(
        &self,
        leaf: &Leaf,
        subject: &Subject<'_>,
        confined: bool,
        hides: bool,
    ) -> bool {
        let (Some(granted), Some(starts)) = (&self.directory, starts_in(leaf, subject)) else { return false };
        *granted == starts
            && self.rule.is_for_bash()
            && !self.rule.only_narrows()
            && !leaf.is_fed()
            && !told_by_file::is_told_by_file(leaf.inner())
            && leading_out(subject).next().is_none()
            && !subject.command.as_ref().is_some_and(|command| command.may_open_new_link(leaf))
            && rule_allows_leaf(&self.rule, leaf, subject, confined, hides)
    }

    /// Whether it covers the whole call: only the very thing that it names. Commands are covered one by one.
    pub(crate) fn covers(&self, subject: &Subject<'_>) -> bool {
        let rule = &self.rule;
        if rule.only_narrows() {
            return false;
        }
        match &rule.spec {
            Spec::Absent => names(subject).any(|name| rule.tool.covers(name)),
            Spec::Command(_) | Spec::Unknown => false,
            Spec::Path(pattern) => {
                let fits = |path: &SubjectPath| match rule.guard() {
                    Some(Guard::Read) => path.access == Access::Read,
                    Some(Guard::Edit) => path.access == Access::Edit,
                    None => rule.tool.covers(subject.tool),
                };
                // A directory in the place of a file has more beneath it than was seen.
                let is_file = |path: &SubjectPath| matches!(path.kind, None | Some(FileKind::File));
                let spelt = |path: &SubjectPath| {
                    let mut spellings = path.spellings(&subject.place).into_iter();
                    spellings.all(|spelling| pattern.matches_exactly(&spelling, &subject.place))
                };
                !subject.paths.is_empty()
                    && subject.command.is_none()
                    && subject.paths.iter().all(|path| is_file(path) && fits(path) && spelt(path))
            }
            Spec::Domain(pattern) => {
                rule.tool.covers(subject.tool)
                    && !subject.hosts.is_empty()
                    && subject.hosts.iter().all(|host| pattern.matches(host, true))
            }
        }
    }
}

/// The words of the call that mean a path outside of the workspace by a link: who granted it saw the name alone.
pub(super) fn leading_out<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = &'s WordPath> {
    let (place, on_disk) = (&subject.place, &subject.on_disk);
    let led = |word: &WordPath| word.path != place.resolve(&word.written);
    let words = on_disk.leads.iter().chain(&on_disk.copied).chain(&on_disk.may_lead);
    words.filter(move |word| led(word) && !word.path.starts_with(&place.workspace))
}

/// The one directory in which the command starts, where that is known.
pub(super) fn starts_in(leaf: &Leaf, subject: &Subject<'_>) -> Option<PathBuf> {
    let within = leaf.directory()?;
    // Beyond a `cd` it is known only where no link is on the way, and none could be put there before.
    let stays = || {
        subject.on_disk.enters_plainly
            && subject.command.as_ref().is_some_and(|command| command.paths_stay_until(leaf))
    };
    (within.as_os_str().is_empty() || stays()).then(|| subject.place.resolve(within))
}

/// How a directory is named for which a command is granted: counted from the workspace, `.` for that itself. None
/// for one that lies elsewhere, or that nobody could see as it is.
pub(super) fn directory_name(directory: &Path, workspace: &Path) -> Option<String> {
    let within = directory.strip_prefix(workspace).ok()?.to_str()?;
    let name = if within.is_empty() { "." } else { within };
    (visible::one_line(name) == name).then(|| name.to_owned())
}

/// The directory that a rule is granted for where it is asked for in `from`; none for what is about no command.
pub fn granted_in(pattern: &str, from: &Path, workspace: &Path) -> Option<String> {
    let rule = Rule::parse(pattern).ok().filter(Rule::is_command)?;
    directory_name(from, workspace).filter(|_| rule.is_for_bash())
}
