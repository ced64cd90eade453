//! What a person may grant beyond one call: only what can be said in a rule, and no more than was seen.

use std::borrow::Cow;
use std::path::PathBuf;

use super::commands::carriers;
use super::commands::kind::{self, ProgramKind};
use super::commands::told_by_file;
use super::grant::{self, Grant};
use super::host::{Host, HostPattern};
use super::path_pattern;
use super::policy::{Circumstances, Policy};
use super::rule::{Rule, Spec, ToolPattern};
use super::shell::{CommandAnalysis, Leaf};
use super::subject::{Access, Class, PathOf, Place, Subject, SubjectPath};
use super::verdict::{By, Decision, Verdict};
use crate::domain::approval::{Offer, Scope};
use crate::domain::visible;
use crate::workspace::FileKind;

/// Tools that change the file that they name, and nothing else.
const FILE_EDITORS: [&str; 4] = ["Edit", "Write", "ApplyPatch", "NotebookEdit"];

impl Policy {
    /// What may be granted for a call that is asked about: what lets it run once it is granted. Empty for a call that
    /// is not asked about.
    pub fn offers(
        &self,
        subject: &Subject<'_>,
        circumstances: &Circumstances<'_>,
        verdict: &Verdict,
    ) -> Vec<Offer> {
        let Decision::Ask { forced } = verdict.decision else { return Vec::new() };
        let mut offers = vec![Offer::once()];
        // A rule that asks comes before grants: one would change nothing.
        if forced || verdict.reason.by == By::Rule {
            return offers;
        }
        for scope in [Scope::Session, Scope::Always] {
            let sayable = said(subject, scope, circumstances.confined);
            offers.extend(sayable.filter(|offer| self.is_enough(offer, subject, circumstances)));
        }
        offers
    }

    /// Whether the call runs once this is granted, too.
    fn is_enough(&self, offer: &Offer, subject: &Subject<'_>, circumstances: &Circumstances<'_>) -> bool {
        let mut grants = circumstances.grants.to_vec();
        grants.extend(granted(offer, &subject.place));
        self.allowed(subject, &Circumstances { grants: &grants, ..*circumstances }).is_some()
    }
}

/// The grant that the offer becomes.
pub(super) fn granted(offer: &Offer, place: &Place) -> Option<Grant> {
    let rule = Rule::parse(offer.pattern.as_deref()?).ok()?;
    Some(Grant::new(rule, offer.directory.as_deref(), &place.workspace))
}

/// Whether a rule that an agent asks for (`request_permissions`) is of a form that would be offered for some
/// call: one command, one file, one host, one tool of others.
pub fn may_be_granted(rule: &Rule, confined: bool) -> bool {
    match (&rule.tool, &rule.spec) {
        (ToolPattern::Exact(name), Spec::Absent) => name.starts_with("mcp__"),
        (_, Spec::Command(pattern)) if rule.is_for_bash() => {
            pattern.one_command().is_some_and(|words| bash(&words, confined).is_some())
        }
        (_, Spec::Path(pattern)) => {
            rule.guard().is_some() && pattern.is_literal() && !pattern.is_impossible()
        }
        (ToolPattern::Exact(_), Spec::Domain(pattern)) => matches!(pattern, HostPattern::Within(_)),
        _ => false,
    }
}

/// What is wrong with a rule that [`may_be_granted`] refuses, for the agent that asked for it.
pub(super) fn why_not_offered(rule: &Rule) -> &'static str {
    match (&rule.tool, &rule.spec) {
        (ToolPattern::Any, _) => "it names every tool",
        (ToolPattern::Beginning(..), _) => "it names more than one tool",
        (_, Spec::Absent) => "it names everything that the tool can do",
        (_, Spec::Unknown) => "it can never match: rules for this tool take nothing in parentheses",
        (_, Spec::Command(_)) if !rule.is_for_bash() => "input to what runs is allowed call by call",
        (_, Spec::Command(pattern)) if pattern.one_command().is_none() => "it names more than one command",
        (_, Spec::Command(_)) => {
            "what this command runs is decided by more than its words, so each call asks"
        }
        (_, Spec::Path(_)) if rule.guard().is_none() => "rules for files are written `Read(…)` or `Edit(…)`",
        (_, Spec::Path(pattern)) if pattern.is_impossible() => {
            "it can never match: paths have no `.` and `..`"
        }
        (_, Spec::Path(_)) => "it names more than one file (begin with `./` for the one in the workspace)",
        (_, Spec::Domain(HostPattern::Address(_))) => "it names an address, not a host by its name",
        (_, Spec::Domain(_)) => "it names more than one host",
    }
}

/// The rule that says what the call does, where one rule can and a person can see it as it is.
fn said(subject: &Subject<'_>, scope: Scope, confined: bool) -> Option<Offer> {
    let (pattern, directory) = match subject.class {
        Class::Foreign => (subject.tool.to_owned(), None),
        Class::Network => match subject.hosts.as_slice() {
            [Host::Name(name)] if subject.paths.is_empty() => {
                (format!("{}(domain:{name})", subject.tool), None)
            }
            _ => return None,
        },
        Class::Run if subject.tool == "Bash" => {
            let (pattern, directory) = command(subject.command.as_ref()?, subject, confined)?;
            (pattern, Some(grant::directory_name(&directory, &subject.place.workspace)?))
        }
        Class::ReadInside | Class::EditInside | Class::Outside if subject.command.is_none() => {
            match subject.paths.as_slice() {
                [only] if shows_it_all(subject.tool, only) => (file(only, subject, scope)?, None),
                _ => return None,
            }
        }
        _ => return None,
    };
    let plain = visible::one_line(&pattern) == pattern
        && Rule::parse(&pattern).is_ok_and(|rule| rule.as_str() == pattern);
    plain.then_some(Offer { scope, pattern: Some(pattern), directory })
}

/// The rule for the one command of a text that is not harmless as it is, when there is just one; and where that starts.
fn command(analysis: &CommandAnalysis, subject: &Subject<'_>, confined: bool) -> Option<(String, PathBuf)> {
    let leaves = analysis.understood()?.leaves();
    let harmless = |number: usize, leaf: &Leaf| {
        leaf.known().is_some()
            && subject.paths.iter().filter(|path| path.of == PathOf::Leaf(number)).all(is_read_inside)
    };
    let mut open = leaves.iter().enumerate().filter(|(at, leaf)| !leaf.carried && !harmless(*at, leaf));
    let (only, None) = (open.next(), open.next()) else { return None };
    let redirected = subject.paths.iter().any(|p| p.of == PathOf::Redirection && !is_read_inside(p));
    let (leaf, words) = match only {
        Some((_, leaf)) => (leaf, leaf.inner()),
        None if leaves.len() == 1 => (&leaves[0], leaves[0].words.as_slice()),
        None => return None,
    };
    if redirected || leaf.is_fed() {
        return None;
    }
    Some((bash(words, confined)?, grant::starts_in(leaf, subject)?))
}

fn is_read_inside(path: &SubjectPath) -> bool {
    path.inside && path.access == Access::Read
}

/// What a call of the tool shows of the file that it names: all of it, or what it writes there. A listing, a search and
/// what is told of a file say less than a rule for that file would let be done.
fn shows_it_all(tool: &str, path: &SubjectPath) -> bool {
    match path.access {
        Access::Read => tool == "Read" && path.kind == Some(FileKind::File),
        Access::Edit => FILE_EDITORS.contains(&tool) && matches!(path.kind, None | Some(FileKind::File)),
    }
}

/// The rule for this very command, when one can be offered.
fn bash(words: &[String], confined: bool) -> Option<String> {
    let program = words.first()?;
    let offerable = match kind::kind(program) {
        ProgramKind::Carrier | ProgramKind::Interpreter => false,
        ProgramKind::RunsWorkspace => confined && !program.contains('/'),
        ProgramKind::Listed => true,
        // It may run the workspace's code for all that is known.
        ProgramKind::Other => (confined && !program.contains('/')) || kind::is_inert(words),
    };
    // What it runs in turn (`find -exec`) would be granted with it.
    let carried = carriers::carried(words);
    let alone = carried.guessed || (carried.commands.is_empty() && carried.scripts.is_empty());
    // Another file would be granted with it than the one that was seen.
    let told = !told_by_file::is_told_by_file(words);
    let quoted = words.iter().map(|word| quoted(word)).collect::<Option<Vec<_>>>()?;
    (offerable && alone && told).then(|| format!("Bash({})", quoted.join(" ")))
}

/// A word as a pattern spells it for itself alone; none for what a pattern cannot say.
fn quoted(word: &str) -> Option<Cow<'_, str>> {
    let plain = |c: char| {
        c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':' | '=' | '@' | '%' | '+' | ',')
    };
    if !word.is_empty() && word.chars().all(plain) {
        return Some(Cow::Borrowed(word));
    }
    let sayable = !word.contains(|c: char| matches!(c, '\'' | '*' | '\\') || c.is_control());
    sayable.then(|| Cow::Owned(format!("'{word}'")))
}

/// The rule for the file. What holds in other workspaces too names it by its whole path.
fn file(path: &SubjectPath, subject: &Subject<'_>, scope: Scope) -> Option<String> {
    let [requested, real] = path.spellings(&subject.place);
    if requested != real {
        return None;
    }
    let tool = match path.access {
        Access::Read => "Read",
        Access::Edit => "Edit",
    };
    let text = match real.strip_prefix(&subject.place.workspace) {
        Ok(inner) if scope == Scope::Session && !inner.as_os_str().is_empty() => {
            format!("./{}", path_pattern::escape(inner.to_str()?))
        }
        _ => path_pattern::escape(real.to_str()?),
    };
    (text != "/").then(|| format!("{tool}({text})"))
}

#[cfg(test)]
mod tests;
