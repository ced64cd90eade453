//! Rules compiled for matching: widely for deny and ask, narrowly for allow.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use foldhash::HashMap;

use super::command_pattern::{CommandPattern, CommandSet, Coverage};
use super::commands::open_ended::OpenEnded;
use super::commands::{kind, leading_out, read_only};
use super::grant;
use super::host::HostPattern;
use super::path_pattern::{PathPattern, PathPatternError, PathSet, Reach};
use super::rule::{Guard, Rule, Spec, ToolPattern};
use super::shell::scan::Sight;
use super::shell::{self, CommandAnalysis, Leaf, WordPath};
use super::subject::{Access, Place, Subject, SubjectPath};

/// A rule and where it stands.
#[derive(Debug, Clone)]
pub struct SourcedRule {
    /// The rule.
    pub rule: Rule,
    /// Where it stands, for people (`config.json:12, permissions.deny[0]`).
    pub source: String,
}

/// The rules of one list, indexed by what they speak of.
#[derive(Debug, Clone)]
pub(crate) struct RuleList {
    rules: Vec<SourcedRule>,
    /// Rules without parentheses, by tool.
    outright: HashMap<String, usize>,
    /// Rules for every tool whose name begins so.
    beginnings: Vec<usize>,
    reads: PathSet,
    edits: PathSet,
    by_tool: HashMap<String, PathSet>,
    commands: HashMap<String, CommandSet>,
    /// Rules for Bash with a pattern, by the first word of it.
    by_program: HashMap<String, Vec<usize>>,
    any_program: Vec<usize>,
    domains: Vec<usize>,
}

/// What paths a rule is asked for.
struct Guards {
    reads: bool,
    edits: bool,
}

impl RuleList {
    /// Compiles the rules of one list.
    pub(crate) fn compile(rules: Vec<SourcedRule>, reach: Reach) -> Result<Self, PathPatternError> {
        let numbered = || rules.iter().enumerate().map(|(number, r)| (number, &r.rule));
        let guarded = |guard: Guard| {
            numbered().filter_map(move |(number, rule)| match (&rule.spec, rule.guard()) {
                (Spec::Path(path), Some(g)) if g == guard => Some((number, path)),
                _ => None,
            })
        };
        let (reads, edits) =
            (PathSet::compile(guarded(Guard::Read), reach)?, PathSet::compile(guarded(Guard::Edit), reach)?);
        let mut outright = HashMap::default();
        let mut beginnings = Vec::new();
        let mut paths: HashMap<String, Vec<(usize, &PathPattern)>> = HashMap::default();
        let mut commands: HashMap<String, Vec<(usize, &CommandPattern)>> = HashMap::default();
        let mut by_program: HashMap<String, Vec<usize>> = HashMap::default();
        let (mut any_program, mut domains) = (Vec::new(), Vec::new());
        for (number, rule) in numbered() {
            let name = match &rule.tool {
                ToolPattern::Exact(name) => name.clone(),
                ToolPattern::Any | ToolPattern::Beginning(..) => {
                    if matches!(rule.spec, Spec::Absent) {
                        beginnings.push(number);
                    }
                    continue;
                }
            };
            match &rule.spec {
                Spec::Absent => {
                    outright.entry(name).or_insert(number);
                }
                Spec::Path(path) if rule.guard().is_none() => {
                    paths.entry(name).or_default().push((number, path));
                }
                Spec::Command(pattern) => {
                    if name == "Bash" {
                        let program = pattern.program_behind().map(str::to_owned);
                        program.map_or(&mut any_program, |p| by_program.entry(p).or_default()).push(number);
                    }
                    commands.entry(name).or_default().push((number, pattern));
                }
                Spec::Domain(_) => domains.push(number),
                Spec::Path(_) | Spec::Unknown => {}
            }
        }
        let by_tool = paths
            .into_iter()
            .map(|(tool, list)| Ok((tool, PathSet::compile(list.into_iter(), reach)?)))
            .collect::<Result<_, PathPatternError>>()?;
        let commands =
            commands.into_iter().map(|(tool, list)| (tool, CommandSet::compile(list.into_iter()))).collect();
        Ok(Self {
            rules,
            outright,
            beginnings,
            reads,
            edits,
            by_tool,
            commands,
            by_program,
            any_program,
            domains,
        })
    }

    /// The rules, in their order.
    pub(crate) fn rules(&self) -> &[SourcedRule] {
        &self.rules
    }

    fn rule(&self, number: usize) -> Option<&SourcedRule> {
        self.rules.get(number)
    }

    /// Whether any rule speaks of what a command may run or open.
    pub(crate) fn guards_commands(&self) -> bool {
        self.rules.iter().any(|r| r.rule.is_for_bash()) || self.guards_paths()
    }

    /// Whether a rule about Bash speaks of a program.
    pub(crate) fn speaks_of(&self, program: &str) -> bool {
        self.outright.contains_key("Bash")
            || self.commands.get("Bash").is_some_and(|set| set.speaks_of(program))
    }

    /// Whether any path pattern guards reading.
    pub(crate) fn guards_reads(&self) -> bool {
        !self.reads.is_empty() || self.outright.contains_key("Read")
    }

    /// Whether any path pattern guards reading or writing.
    pub(crate) fn guards_paths(&self) -> bool {
        self.guards_reads()
            || !self.edits.is_empty()
            || ["Edit", "Write"].iter().any(|t| self.outright.contains_key(*t))
    }

    /// Whether something that may not be read may lie beneath the directory (absolute, resolved).
    pub(crate) fn reads_beneath(&self, directory: &Path, place: &Place) -> bool {
        self.outright.contains_key("Read") || self.reads.may_match_beneath(directory, place, false)
    }

    /// Whether something that is guarded may lie beneath the directory that the word means.
    pub(crate) fn reaches_beneath(&self, word: &WordPath, place: &Place) -> bool {
        self.outright.contains_key("Read")
            || self.reads.may_match_beneath(&word.path, place, true)
            || (word.may_edit && self.edits.may_match_beneath(&word.path, place, false))
    }

    /// The same once it is known that no path lies there that [`Self::guards_word`]: what may be made there counts where a
    /// rule names the place.
    pub(crate) fn reaches_in_its_place(&self, word: &WordPath, place: &Place) -> bool {
        self.outright.contains_key("Read")
            || (word.may_edit && self.edits.may_match_in_its_place(&word.path, place))
    }

    /// Whether a path rule speaks of this path: of its being read, or changed.
    pub(crate) fn guards_word(&self, path: &Path, may_edit: bool, place: &Place) -> bool {
        let guards = Guards { reads: true, edits: may_edit };
        self.guarded(path, &guards, "", place).is_some()
    }

    /// Whether a path rule speaks of a name that one of these may be.
    pub(crate) fn may_name(&self, made: &[OpenEnded]) -> bool {
        let patterns = || self.rules.iter().filter(|r| r.rule.guard().is_some());
        let speaks = |made: &OpenEnded| {
            patterns().any(|r| match &r.rule.spec {
                Spec::Path(path) => made.may_match(path.last_part()),
                _ => false,
            })
        };
        made.iter().any(speaks)
    }

    /// The rule that guards reading `path` (absolute, without dots).
    pub(crate) fn read_guard(&self, path: &Path, place: &Place) -> Option<&SourcedRule> {
        self.reads
            .first_match(path, place)
            .or_else(|| self.outright.get("Read").copied())
            .and_then(|n| self.rule(n))
    }

    /// The rule that names the tool by its whole name, without parentheses.
    pub(crate) fn named(&self, subject: &Subject<'_>) -> Option<&SourcedRule> {
        names(subject).find_map(|name| self.outright.get(name)).and_then(|n| self.rule(*n))
    }

    /// The rule that covers the tool whatever it is called with.
    pub(crate) fn outright(&self, subject: &Subject<'_>) -> Option<&SourcedRule> {
        self.named(subject).or_else(|| {
            let covers = |number: &&usize| {
                self.rule(**number).is_some_and(|r| names(subject).any(|name| r.rule.tool.covers(name)))
            };
            self.beginnings.iter().find(covers).and_then(|n| self.rule(*n))
        })
    }

    /// Wide matching: the first rule found that matches any part of the call, or a command that it might run for all
    /// that is known. `reads_guard_edits`: a rule against reading holds against writing too.
    pub(crate) fn matches_any(
        &self,
        subject: &Subject<'_>,
        words: &[WordPath],
        reads_guard_edits: bool,
    ) -> Option<&SourcedRule> {
        self.matches(subject, words, reads_guard_edits)
            .or_else(|| self.guessed(subject).map(|(rule, _)| rule))
    }

    /// The rule that matches a command which the call might run, where that is a guess, and the command's program; or a
    /// host that it might connect to, and what is written in that place.
    pub(crate) fn guessed<'s>(&self, subject: &'s Subject<'_>) -> Option<(&SourcedRule, &'s str)> {
        let of_command = self.any_command(subject, Sight::Guessed);
        let (number, program) = of_command.or_else(|| self.guessed_host(subject))?;
        Some((self.rule(number)?, program))
    }

    /// The same for what the call does: guesses do not count.
    pub(crate) fn matches(
        &self,
        subject: &Subject<'_>,
        words: &[WordPath],
        reads_guard_edits: bool,
    ) -> Option<&SourcedRule> {
        if let Some(rule) = self.outright(subject) {
            return Some(rule);
        }
        let number = self
            .any_path(subject, reads_guard_edits)
            .or_else(|| self.any_word(&subject.place, words))
            .or_else(|| self.any_command(subject, Sight::Sure).map(|(number, _)| number))
            .or_else(|| self.any_host(subject))?;
        self.rule(number)
    }

    fn any_path(&self, subject: &Subject<'_>, reads_guard_edits: bool) -> Option<usize> {
        subject.paths.iter().find_map(|path| {
            let edits = path.access == Access::Edit;
            let guards = Guards { reads: !edits || reads_guard_edits, edits };
            let outright = |name: &str, on: bool| self.outright.get(name).copied().filter(|_| on);
            outright("Read", guards.reads)
                .or_else(|| outright("Edit", guards.edits))
                .or_else(|| outright("Write", guards.edits))
                .or_else(|| {
                    let spellings = path.spellings(&subject.place);
                    spellings.iter().find_map(|p| self.guarded(p, &guards, subject.tool, &subject.place))
                })
        })
    }

    fn guarded(&self, path: &Path, guards: &Guards, tool: &str, place: &Place) -> Option<usize> {
        let reads = guards.reads.then(|| self.reads.first_match(path, place)).flatten();
        let edits = || guards.edits.then(|| self.edits.first_match(path, place)).flatten();
        let own = || self.by_tool.get(tool).and_then(|set| set.first_match(path, place));
        reads.or_else(edits).or_else(own)
    }

    /// The number of a path rule that one of the words hits.
    pub(crate) fn any_word(&self, place: &Place, words: &[WordPath]) -> Option<usize> {
        if self.reads.is_empty() && self.edits.is_empty() {
            return None;
        }
        words.iter().find_map(|word| {
            let guards = Guards { reads: true, edits: word.may_edit };
            self.guarded(&word.path, &guards, "", place)
        })
    }

    fn any_command<'s>(&self, subject: &'s Subject<'_>, sight: Sight) -> Option<(usize, &'s str)> {
        let command = subject.command.as_ref()?;
        // Whatever runs or takes commands is held back as Bash itself would be.
        if let Some(number) = self.outright.get("Bash") {
            return Some((*number, "Bash"));
        }
        let others = (subject.tool != "Bash").then_some(subject.tool);
        let parts = || [command.segments(), &subject.on_disk.linked, command.guesses()].into_iter();
        std::iter::once("Bash")
            .chain(others)
            .filter_map(|name| self.commands.get(name))
            .find_map(|set| parts().find_map(|segments| set.first_match(segments, sight)))
    }

    /// A rule about a host holds for every tool that connects.
    fn any_host(&self, subject: &Subject<'_>) -> Option<usize> {
        if self.domains.is_empty() {
            return None;
        }
        let (mut hosts, mut untold) = (subject.hosts.clone(), false);
        for peer in subject.command.iter().flat_map(CommandAnalysis::connections) {
            untold |= !peer.told;
            hosts.extend(peer.host);
        }
        self.domains.iter().copied().find(|number| {
            self.rule(*number).is_some_and(|r| match &r.rule.spec {
                Spec::Domain(HostPattern::Any) if untold => true,
                Spec::Domain(pattern) => hosts.iter().any(|host| pattern.is_reached_by(host)),
                _ => false,
            })
        })
    }

    /// A connection to a host that is not told may be one to any that a rule names.
    fn guessed_host<'s>(&self, subject: &'s Subject<'_>) -> Option<(usize, &'s str)> {
        let first = *self.domains.first()?;
        let mut by_shell = subject.command.iter().flat_map(CommandAnalysis::connections);
        by_shell.find(|peer| !peer.told).map(|peer| (first, peer.written))
    }

    /// Narrow matching of a whole text: a rule spells it out.
    pub(crate) fn allows_text(&self, command: &CommandAnalysis, confined: bool) -> Option<&SourcedRule> {
        if command.understood().is_none() {
            return self.spells_out(command, confined);
        }
        let first = command.understood()?.started().next()?;
        self.for_program(first.words.first()?).find(|r| rule_allows_text(&r.rule, command, confined))
    }

    /// The rule that spells out one literal command of which it is not told what it runs (`python3 -c …`): whoever wrote
    /// the rule has read all of it.
    fn spells_out(&self, command: &CommandAnalysis, confined: bool) -> Option<&SourcedRule> {
        let spells = |r: &&SourcedRule| match &r.rule.spec {
            Spec::Command(pattern) => r.rule.is_for_bash() && pattern.is_text(command.text()),
            _ => false,
        };
        let found = self.rules.iter().find(spells)?;
        let words = shell::one_literal(command.text())?;
        let coverage = Coverage::whole(&words);
        (confined && kind::may_allow(&words, &coverage, confined)).then_some(found)
    }

    /// Narrow matching of one command of a text: a rule covers every word of it.
    pub(crate) fn allows_leaf(
        &self,
        leaf: &Leaf,
        subject: &Subject<'_>,
        confined: bool,
        hides: bool,
    ) -> Option<&SourcedRule> {
        let names = [leaf.words.first()?, leaf.inner().first()?];
        let distinct = if names[0] == names[1] { &names[..1] } else { &names[..] };
        let mut rules = distinct.iter().flat_map(|name| self.for_program(name));
        rules.find(|r| {
            rule_allows_leaf(&r.rule, leaf, subject, confined, hides) && stays_beneath(&r.rule, leaf, subject)
        })
    }

    /// Rules for Bash that may cover a command of this name.
    fn for_program(&self, name: &str) -> impl Iterator<Item = &SourcedRule> {
        let named = self.by_program.get(name).map_or(&[][..], Vec::as_slice);
        named.iter().chain(&self.any_program).filter_map(|number| self.rule(*number))
    }

    /// Narrow matching of a path: both spellings are covered.
    pub(crate) fn allows_path(&self, tool: &str, path: &SubjectPath, place: &Place) -> Option<&SourcedRule> {
        let guards = Guards { reads: path.access == Access::Read, edits: path.access == Access::Edit };
        let [requested, real] = path.spellings(place);
        self.guarded(&requested, &guards, tool, place)?;
        self.guarded(&real, &guards, tool, place).and_then(|n| self.rule(n))
    }

    /// Narrow matching of hosts: all of them are covered by rules for this very tool.
    pub(crate) fn allows_hosts(&self, subject: &Subject<'_>) -> Option<&SourcedRule> {
        let mut found = None;
        for host in &subject.hosts {
            let number = self.domains.iter().copied().find(|number| {
                self.rule(*number).is_some_and(|r| match &r.rule.spec {
                    Spec::Domain(pattern) => r.rule.tool.covers(subject.tool) && pattern.matches(host, false),
                    _ => false,
                })
            })?;
            found = self.rule(number);
        }
        found
    }
}

/// The exact name of the tool and, for MCP tools, the original ones.
pub(super) fn names<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = &'s str> {
    let others = subject.other_names.iter().map(String::as_str).filter(|name| name.starts_with("mcp__"));
    std::iter::once(subject.tool).chain(others)
}

fn rule_allows_text(rule: &Rule, command: &CommandAnalysis, confined: bool) -> bool {
    let (Spec::Command(pattern), Some(script)) = (&rule.spec, command.understood()) else { return false };
    pattern.is_text(command.text())
        && script.started().all(|leaf| {
            let coverage = Coverage::whole(&leaf.words);
            kind::may_allow(&leaf.words, &coverage, confined)
        })
}

/// Whether a rule covers the command, or the one that it only times or bounds.
pub(crate) fn rule_allows_leaf(
    rule: &Rule,
    leaf: &Leaf,
    subject: &Subject<'_>,
    confined: bool,
    hides: bool,
) -> bool {
    let Spec::Command(pattern) = &rule.spec else { return false };
    [leaf.words.as_slice(), leaf.inner()].into_iter().any(|words| {
        let Some(mut coverage) = pattern.allows(words, leaf.assigned()) else { return false };
        coverage.depth = depth(leaf, subject);
        // What descends would read what a rule hides: only the command that a rule names whole may.
        let descends = leaf.known().is_none_or(|known| known.recursive) && read_only::is_listed(&words[0]);
        kind::may_allow(words, &coverage, confined) && (coverage.exact || !hides || !descends)
    })
}

/// Whether the paths that a rule's stars stand for lie where they seem to: a link on the way may lead out of the workspace.
/// A program may be one of a system's by its own name (`.venv/bin/python`).
fn stays_beneath(rule: &Rule, leaf: &Leaf, subject: &Subject<'_>) -> bool {
    let Spec::Command(pattern) = &rule.spec else { return true };
    let programs = [leaf.words.first(), leaf.inner().first()];
    let in_path = pattern.has_star_in_path();
    let held = || kind::is_held(&leaf.words) || kind::is_held(leaf.inner());
    if !(in_path || pattern.has_star() && held()) {
        return true;
    }
    let place = &subject.place;
    let name = |path: &Path| path.file_name().and_then(OsStr::to_str).map(kind::base_name).map(str::to_owned);
    let is_program = |word: &WordPath| {
        let is_it = |program: &&String| word.written.ends_with(program.trim_start_matches("./"));
        programs.iter().flatten().any(is_it) && name(&word.written) == name(&word.path)
    };
    // What lies outside by its spelling is told by that.
    let seems_inside = |word: &WordPath| place.resolve(&word.written).starts_with(&place.workspace);
    let mut strays = grant::leading_out(subject).filter(|word| !is_program(word));
    // What a command before makes is new: of a path with a star nothing else is known then.
    let may_be_new = || subject.command.as_ref().is_some_and(|command| command.may_open_new_link(leaf));
    let given_new = || {
        subject.command.as_ref().is_some_and(|command| command.may_be_given_new_link(leaf))
            && leading_out::names_a_path(leaf.inner())
    };
    subject.on_disk.words_located
        && !(if in_path { may_be_new() } else { given_new() })
        && !strays.any(|word| in_path || seems_inside(word))
}

/// How many directories beneath the workspace the command starts at least.
fn depth(leaf: &Leaf, subject: &Subject<'_>) -> usize {
    let place = &subject.place;
    let beneath = |directory: &PathBuf| {
        let starts = place.resolve(directory);
        starts.strip_prefix(&place.workspace).map_or(0, |within| within.components().count())
    };
    let plain = subject.on_disk.enters_plainly;
    leaf.directories.iter().filter(|_| plain).map(beneath).min().unwrap_or_default()
}
