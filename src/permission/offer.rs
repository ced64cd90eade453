//! What a person may grant beyond one call: only what can be said in a rule, and no more than was seen.

use std::borrow::Cow;

use super::commands::carriers;
use super::commands::kind::{self, ProgramKind};
use super::host::{Host, HostPattern};
use super::path_pattern;
use super::rule::{Rule, Spec, ToolPattern};
use super::shell::{CommandAnalysis, Leaf};
use super::subject::{Access, Class, PathOf, Subject, SubjectPath};
use super::verdict::{By, Decision, Verdict};
use crate::domain::approval::{Offer, Scope};
use crate::domain::visible;
use crate::workspace::FileKind;

/// Tools that change the file that they name, and nothing else.
const FILE_EDITORS: [&str; 4] = ["Edit", "Write", "ApplyPatch", "NotebookEdit"];

/// What may be granted for a call that is asked about. `confined`: every program runs within the floor or a
/// sandbox. Empty for a call that is not asked about.
pub fn offers_for(subject: &Subject<'_>, verdict: &Verdict, confined: bool) -> Vec<Offer> {
    let Decision::Ask { forced } = verdict.decision else { return Vec::new() };
    let mut offers = vec![Offer { scope: Scope::Once, pattern: None }];
    // A rule that asks comes before grants: one would change nothing.
    if forced || verdict.reason.by == By::Rule {
        return offers;
    }
    for pattern in patterns(subject, confined) {
        for scope in [Scope::Session, Scope::Always] {
            offers.push(Offer { scope, pattern: Some(pattern.clone()) });
        }
    }
    offers
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

fn patterns(subject: &Subject<'_>, confined: bool) -> Vec<String> {
    match subject.class {
        Class::Foreign => vec![subject.tool.to_owned()],
        Class::Network => match subject.hosts.as_slice() {
            [Host::Name(name)] if subject.paths.is_empty() => {
                vec![format!("{}(domain:{name})", subject.tool)]
            }
            _ => Vec::new(),
        },
        Class::Run if subject.tool == "Bash" => {
            subject.command.as_ref().and_then(|c| command(c, subject, confined)).into_iter().collect()
        }
        Class::ReadInside | Class::EditInside | Class::Outside if subject.command.is_none() => {
            match subject.paths.as_slice() {
                [only] if shows_it_all(subject.tool, only) => file(only, subject).into_iter().collect(),
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
    .into_iter()
    .filter(|pattern| {
        // What a person cannot see as it is cannot be granted.
        visible::one_line(pattern) == *pattern
            && Rule::parse(pattern).is_ok_and(|rule| rule.as_str() == pattern)
    })
    .collect()
}

/// The rule for the one command of a text that is not harmless as it is, when there is just one.
fn command(analysis: &CommandAnalysis, subject: &Subject<'_>, confined: bool) -> Option<String> {
    let leaves = analysis.understood()?.leaves();
    let harmless = |number: usize, leaf: &Leaf| {
        leaf.known().is_some()
            && subject.paths.iter().filter(|path| path.of == PathOf::Leaf(number)).all(is_read_inside)
    };
    let mut open = leaves.iter().enumerate().filter(|(at, leaf)| !leaf.carried && !harmless(*at, leaf));
    let (only, None) = (open.next(), open.next()) else { return None };
    let redirected = subject.paths.iter().any(|p| p.of == PathOf::Redirection && !is_read_inside(p));
    match only {
        Some((_, leaf)) if !redirected && !leaf.is_fed() => bash(leaf.inner(), confined),
        None if leaves.len() == 1 && !redirected && !leaves[0].is_fed() => bash(&leaves[0].words, confined),
        _ => None,
    }
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
    let quoted = words.iter().map(|word| quoted(word)).collect::<Option<Vec<_>>>()?;
    (offerable && alone).then(|| format!("Bash({})", quoted.join(" ")))
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

fn file(path: &SubjectPath, subject: &Subject<'_>) -> Option<String> {
    let [requested, real] = path.spellings(&subject.place);
    if requested != real {
        return None;
    }
    let tool = match path.access {
        Access::Read => "Read",
        Access::Edit => "Edit",
    };
    let text = match real.strip_prefix(&subject.place.workspace) {
        Ok(inner) if !inner.as_os_str().is_empty() => format!("./{}", path_pattern::escape(inner.to_str()?)),
        _ => path_pattern::escape(real.to_str()?),
    };
    (text != "/").then(|| format!("{tool}({text})"))
}

#[cfg(test)]
mod tests;
