//! What a shell command really runs: the one place that the policy asks about a command's text.
//!
//! `read` reads a text to its last word, with a real parser, and says no where it cannot; only what it reads can
//! be allowed. `scan` finds everything that might be run, in any text at all; deny and ask look at that
//! wherever the text is not understood.

mod bounds;
mod brush;
mod carried;
mod directories;
mod links;
mod opening;
mod passing;
mod plain;
mod read;
mod redirections;
pub(crate) mod scan;
mod script;
mod second;
mod segment;
pub(super) mod subcommand;
mod uses;
mod word;
mod word_paths;

use std::collections::HashSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub use brush::is_caught;
pub(in crate::permission) use links::leaves_tree;
pub use script::{FileUse, Leaf, NotUnderstood, Script};

use self::scan::{Begins, Role, Segment};
use self::word_paths::Found;
use super::breaker;
use super::commands::carriers::is_harmless_variable;
use super::commands::copies::{self, Copy};
use super::commands::kind::{self, ProgramKind};
use super::commands::open_ended::OpenEnded;
use super::commands::read_only::{KnownUse, Operand, Proxy, Targets, known_use};
use super::commands::{builtins, carriers, descent, git, named_elsewhere, named_within, operands};
use super::host::Host;
use super::lexical::between_blanks;
use super::repository;
use super::subject::{Access, PathOf, Place};
use crate::domain::visible;
use crate::workspace::Workspace;

/// What is known about the text of a command.
#[derive(Debug, Clone)]
pub struct CommandAnalysis {
    text: String,
    read: Result<Script, NotUnderstood>,
    segments: Vec<Segment>,
    /// Where among them those of each command end, of a text that is understood.
    ends: Vec<usize>,
    /// What its words may hold that programs run, for all that is known.
    guesses: Vec<Segment>,
    /// The paths that its words may mean, for the place that was asked about first.
    words: OnceLock<(Place, Found)>,
}

/// A path that the gate has to resolve and judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    /// Counted from where the text starts; dots are left in.
    pub path: PathBuf,
    /// What happens to it.
    pub access: Access,
    /// The shell goes there for what follows.
    pub(crate) enters: bool,
    /// What is done there is harmless for a file only, not for a directory.
    pub(crate) file_only: bool,
    /// What in the text names it.
    pub(crate) of: PathOf,
}

/// What bash itself would connect to (`/dev/tcp/HOST/PORT`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Peer<'t> {
    /// As it is written, as far as that is one word.
    pub(crate) written: &'t str,
    /// The host, where one can be read.
    pub(crate) host: Option<Host>,
    /// Whether that is all of it; otherwise it may be any.
    pub(crate) told: bool,
}

/// A path that some word of a command may mean.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct WordPath {
    /// Absolute, without dots: as spelt, or where that leads.
    pub(crate) path: PathBuf,
    /// Absolute, as spelt.
    pub(crate) written: PathBuf,
    /// The command may change it, for all that is known.
    pub(crate) may_edit: bool,
    /// The command may go into it, for all that is known.
    pub(crate) descends: bool,
    /// It is a directory for sure.
    pub(crate) directory: bool,
    /// The command takes what lies there without being told by name.
    pub(crate) sweeps: bool,
}

/// Whether bash takes the word, in front of a command, for one of its own: a builtin or a keyword.
pub fn is_own_word(word: &str) -> bool {
    builtins::does(word).is_some()
}

/// Reads the text of a command. Total for any text; the time is linear in its length, and bounded for what is
/// understood.
pub fn analyse(text: &str) -> CommandAnalysis {
    let read = read::script(text, 0, false).map(|mut script| {
        let known = |leaf: &mut Leaf| {
            leaf.inner = carriers::transparent(&leaf.words).map_or(0, |inner| leaf.words.len() - inner.len());
            leaf.known = match leaf.words.as_slice() {
                // Reading the text has made sure that this is all that it says.
                [name, .., target] if name == "cd" => Some(entered(target)),
                _ => known_use(leaf.inner()),
            };
            leaf.git = git::known(leaf.inner());
        };
        script.leaves.iter_mut().filter(|leaf| !leaf.carried && !leaf.open).for_each(known);
        script
    });
    let mut ends = Vec::new();
    let segments = match &read {
        Ok(script) => {
            let mut all = Vec::new();
            for leaf in &script.leaves {
                all.append(&mut scan::of_words(&leaf.words, begins(leaf)));
                all.extend(scan::with_assignments(&leaf.assigned, &leaf.words, begins(leaf)));
                ends.push(all.len());
            }
            all.extend(script.files.iter().map(FileUse::segment));
            all
        }
        Err(_) => scan::scan(text),
    };
    let is_unsure = |leaf: &&Leaf| matches!(begins(leaf), Begins::Guessed | Begins::AllGuessed);
    let leaves = read.iter().flat_map(|script| &script.leaves).filter(is_unsure);
    let guesses = leaves.filter_map(|leaf| scan::tails(leaf.words.get(1..)?)).collect();
    CommandAnalysis { text: text.to_owned(), read, segments, ends, guesses, words: OnceLock::new() }
}

fn entered(target: &str) -> KnownUse {
    let operands = vec![Operand { path: target.to_owned(), access: Access::Read }];
    KnownUse { operands, ..KnownUse::default() }
}

/// Reads what is typed into a running program: it is scanned for commands, but never understood.
pub fn analyse_input(text: &str) -> CommandAnalysis {
    let read = Err(NotUnderstood("what a running program makes of its input is not known"));
    let segments = scan::scan(text);
    CommandAnalysis {
        text: text.to_owned(),
        read,
        segments,
        ends: Vec::new(),
        guesses: Vec::new(),
        words: OnceLock::new(),
    }
}

/// The words of the one command that a text is, all of them literal and nothing else in it; none for any other text.
pub(crate) fn one_command(text: &str) -> Option<Vec<String>> {
    let script = read::script(text, 0, false).ok()?;
    script.only().filter(|leaf| leaf.assigned.is_empty() && !leaf.fed).map(|leaf| leaf.words.clone())
}

/// The same where it is not told what the command runs (`python3 -c …`).
pub(crate) fn one_literal(text: &str) -> Option<Vec<String>> {
    read::one_literal(text)
}

/// Where commands begin among the words of one that is understood.
fn begins(leaf: &Leaf) -> Begins {
    if leaf.guessed {
        Begins::AllGuessed
    } else if leaf.known.is_some() || kind::is_inert(&leaf.words) {
        Begins::Inert
    } else if operands::are_no_commands(&leaf.words) {
        Begins::First
    } else if leaf.told {
        Begins::Told
    } else {
        Begins::Guessed
    }
}

impl FileUse {
    fn segment(&self) -> Segment {
        let role = if self.access == Access::Read { Role::Source } else { Role::Target };
        Segment::file(&self.path, role)
    }
}

impl CommandAnalysis {
    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it runs, when it is understood to its last word.
    pub fn understood(&self) -> Option<&Script> {
        self.read.as_ref().ok()
    }

    /// Why it is not understood.
    pub fn not_understood(&self) -> Option<NotUnderstood> {
        self.read.as_ref().err().copied()
    }

    /// Whether what a path means stays the same while the text runs: nothing else in it can make a link or move
    /// one there.
    pub(crate) fn paths_stay(&self) -> bool {
        let Ok(script) = &self.read else { return false };
        let run = script.leaves.iter().filter(|leaf| leaf.carried && !leaf.guessed);
        // One command, by itself or run by another one.
        let alone = script.started().nth(1).is_none() && run.take(2).count() < 2;
        alone || script.leaves.iter().all(|leaf| links::makes_none(script, leaf))
    }

    /// The same until this command of the text starts: what comes after it counts only where it may run beside it.
    pub(crate) fn paths_stay_until(&self, leaf: &Leaf) -> bool {
        let Ok(script) = &self.read else { return false };
        // What runs the command stays out of its way, unless it makes links by itself.
        let stays = |other: &Leaf| {
            links::makes_none(script, other) || script.runs(other, leaf) && !links::makes_some(other)
        };
        let one_by_one = self.runs_one_by_one(leaf.moves())
            && !script.leaves.iter().any(|leaf| links::goes_on(script, leaf));
        // What a command runs in turn runs where that one stands; of those of one place none is known to be the first.
        let comes_before =
            |other: &Leaf| other.place < leaf.place || leaf.carried && other.place == leaf.place;
        let others = script.leaves.iter().filter(|other| !std::ptr::eq(*other, leaf));
        others
            .filter(|other| !one_by_one || comes_before(other))
            .all(|other| stays(other) || script.runs(leaf, other))
    }

    /// Whether a command of the text may open a path by its name after another one could have made a link there.
    pub(crate) fn may_follow_new_links(&self) -> bool {
        match &self.read {
            Ok(script) if script.leaves.iter().all(|leaf| links::makes_none(script, leaf)) => false,
            Ok(script) => {
                !script.files.is_empty() && !self.paths_stay()
                    || script.leaves.iter().any(|leaf| self.may_open_new_link(leaf))
            }
            Err(_) => links::may_lead_elsewhere(&self.segments),
        }
    }

    /// The same of one command.
    pub(crate) fn may_open_new_link(&self, leaf: &Leaf) -> bool {
        self.understood().is_none_or(|script| opening::opens_named(script, leaf))
            && !self.paths_stay_until(leaf)
    }

    /// Whether a command before it could make a link that one of its words means then, but for what runs the workspace's
    /// code: that could do more.
    pub(crate) fn may_be_given_new_link(&self, leaf: &Leaf) -> bool {
        let Some(script) = self.understood() else { return true };
        let makes = |other: &&Leaf| !std::ptr::eq(*other, leaf) && !links::makes_none(script, other);
        let runs_code = |other: &Leaf| {
            let program = other.inner().first().map_or("", String::as_str);
            // A git makes links by what it checks out, without running it.
            kind::base_name(program) != "git"
                && matches!(kind::kind(program), ProgramKind::RunsWorkspace | ProgramKind::Interpreter)
        };
        !self.paths_stay_until(leaf) && script.leaves.iter().filter(makes).any(|other| !runs_code(other))
    }

    /// What its commands copy or move, whether they get more words than are told, and where they may start.
    pub(in crate::permission) fn copies(&self, place: &Place) -> Vec<(Copy, bool, Vec<PathBuf>)> {
        let mut copies: Vec<(Copy, bool, Vec<PathBuf>)> = Vec::new();
        if let Ok(script) = &self.read {
            for leaf in script.leaves.iter().filter(|leaf| !leaf.guessed) {
                let starts = || leaf.directories.iter().map(|from| place.cwd.join(from)).collect();
                copies.extend(copies::of(&leaf.words).map(|copy| (copy, leaf.open, starts())));
            }
            return copies;
        }
        let starts = breaker::directories(&self.segments, place);
        for segment in self.segments.iter().filter(|segment| segment.role() == Role::Runs) {
            if copies.len() > copies::MAX {
                break;
            }
            if !links::command(segment).next().is_some_and(copies::copies) {
                continue;
            }
            let words: Vec<String> = links::command(segment).map(str::to_owned).collect();
            let Some(copy) = copies::of(&words) else { continue };
            if !copies.iter().any(|(known, ..)| *known == copy) {
                copies.push((copy, false, starts.clone()));
            }
        }
        copies
    }

    /// Whether commands run in the order in which they are written, for all that the text's marks say. `moves`: a `cd`,
    /// for which a pipe is no matter: with one around it, it leads nowhere.
    fn runs_one_by_one(&self, moves: bool) -> bool {
        let mut text = self.text.clone();
        for joint in ["&&", "||", ">&1", ">&2", "&>"] {
            text = text.replace(joint, " ");
        }
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        let again = words.any(|word| matches!(word, "while" | "until" | "for" | "function"));
        !again && !text.contains(['&', '(', '{', '`']) && (moves || !text.contains('|'))
    }

    /// Whether nothing in it changes a file, for all that is known.
    pub(crate) fn changes_nothing(&self) -> bool {
        let Ok(script) = &self.read else { return false };
        self.runs_only_readers(true) && script.files.iter().all(|file| file.access == Access::Read)
    }

    /// Whether all that it runs only reads; what it redirects may change. `git`: forms of git that only read count.
    pub(crate) fn runs_only_readers(&self, git: bool) -> bool {
        let reads = |known: Option<&KnownUse>| known.is_some_and(KnownUse::only_reads);
        let reader = |leaf: &Leaf| reads(leaf.known.as_ref()) || git && leaf.git.is_some();
        self.read.as_ref().is_ok_and(|script| script.started().all(reader))
    }

    /// Whether one command of it at most may change files: then what that finds is what lies there when the text starts.
    /// `git`: forms of git that only read count.
    pub(crate) fn changes_by_one(&self, git: bool) -> bool {
        let Ok(script) = &self.read else { return false };
        let reads =
            |leaf: &&Leaf| leaf.known.as_ref().is_some_and(KnownUse::only_reads) || git && leaf.git.is_some();
        let mut changers = script.started().filter(|leaf| !reads(leaf));
        // Guesses count: a text behind an unknown program may be two commands.
        let mut run = script.leaves.iter().filter(|leaf| leaf.carried);
        let (changer, run, more) = (changers.next(), run.next(), run.next());
        let of_changer = |run| changer.is_some_and(|changer| script.runs(changer, run));
        changers.next().is_none() && more.is_none() && run.is_none_or(of_changer)
    }

    /// Where the text asks a program for its version that is often a proxy: each counts from where it starts.
    pub(crate) fn proxies_in(&self) -> impl Iterator<Item = (&PathBuf, Proxy)> {
        let proxy = |leaf: &'_ Leaf| leaf.known.as_ref().and_then(|known| known.proxy);
        let started = self.read.iter().flat_map(Script::started);
        started
            .filter_map(move |leaf| Some((leaf, proxy(leaf)?)))
            .flat_map(|(leaf, proxy)| leaf.directories.iter().map(move |directory| (directory, proxy)))
    }

    /// The commands in the text with what each reads and writes by redirections, for the reviewer, with what hides
    /// escaped: as they are understood, else as the text is most likely meant; then no verdict rests on them.
    pub fn leaves(&self) -> Vec<String> {
        match &self.read {
            Ok(script) => {
                let leaves = script.leaves.iter().map(Leaf::shown);
                let bare = script.redirections.iter().cloned();
                leaves.chain(bare).map(|leaf| visible::one_line(&leaf)).collect()
            }
            Err(_) => scan::leaves(&self.text).iter().map(|leaf| visible::one_line(leaf)).collect(),
        }
    }

    /// The commands of git that only read, which are harmless where their repositories are plain.
    pub(crate) fn reads_by_git(&self) -> impl Iterator<Item = &Leaf> {
        self.read.iter().flat_map(Script::started).filter(|leaf| leaf.git.is_some())
    }

    /// What a command has to get in its environment when it runs only because it is known: with it git obeys nothing
    /// but plain settings of its repository, which may be another user's. Touches the disk.
    pub fn environment(&self, workspace: &Workspace, directory: &Path) -> Vec<(OsString, OsString)> {
        if self.reads_by_git().next().is_none() {
            return Vec::new();
        }
        let trees = repository::working_trees(self, workspace, directory);
        let attributes = repository::attributes(workspace, &trees);
        git::safe_environment(&trees, attributes)
    }

    /// Whether an `rg` is in it that is known to read only, but for lines of ignore files that it cannot parse: those it
    /// prints, wherever a symlink leads that stands for such a file.
    pub fn searches_by_ripgrep(&self) -> bool {
        let searches =
            |leaf: &Leaf| leaf.known.is_some() && leaf.inner().first().is_some_and(|name| name == "rg");
        self.read.as_ref().is_ok_and(|script| script.leaves.iter().any(searches))
    }

    /// Whether the shell may end in another directory than it began in, for all that is known: no program can move it,
    /// only what it does by itself.
    pub fn may_move(&self) -> bool {
        let moves = |leaf: &Leaf| leaf.words.first().is_some_and(|name| builtins::may_move(name));
        self.read.as_ref().map_or(true, |script| script.started().any(moves))
    }

    /// Programs that are run with more words than the text tells (`xargs rm`).
    pub(crate) fn programs_with_more_words(&self) -> impl Iterator<Item = &str> {
        let leaves = self.read.iter().flat_map(|script| &script.leaves).filter(|leaf| leaf.open);
        leaves.filter_map(|leaf| leaf.words.first()).map(String::as_str)
    }

    /// Everything that might be run or redirected, for deny and ask.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Those of the command with this number, of a text that is understood.
    fn segments_of(&self, leaf: usize) -> &[Segment] {
        let from = leaf.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        self.ends.get(leaf).and_then(|end| self.segments.get(from..*end)).unwrap_or_default()
    }

    /// What its words may hold that programs run, for all that is known.
    pub(crate) fn guesses(&self) -> &[Segment] {
        &self.guesses
    }

    /// The words of its commands that may name a program by a path, with the words behind it, whether it is the program
    /// for sure, and where it may start.
    pub(crate) fn programs_by_path(&self) -> impl Iterator<Item = (&str, &[String], bool, &[PathBuf])> {
        let of_leaf = |leaf: &'_ Leaf| -> Vec<_> {
            let all = matches!(begins(leaf), Begins::Guessed | Begins::AllGuessed);
            let places = leaf.words.iter().enumerate().take(if all { usize::MAX } else { 1 });
            let by_path = places.filter(|(_, word)| word.contains('/'));
            by_path.map(|(at, _)| (at, at == 0 && !leaf.guessed)).collect()
        };
        self.read.iter().flat_map(|script| &script.leaves).flat_map(move |leaf| {
            of_leaf(leaf).into_iter().map(|(at, sure)| {
                (leaf.words[at].as_str(), &leaf.words[at + 1..], sure, leaf.directories.as_slice())
            })
        })
    }

    /// The words of its commands that may name a script: programs by a path and what stands behind interpreters, each by its
    /// place among the command's words, with whether that is what runs for sure, and where it may start.
    pub(crate) fn may_be_scripts(&self) -> impl Iterator<Item = (&[String], usize, bool, &[PathBuf])> {
        self.read.iter().flat_map(|script| &script.leaves).flat_map(|leaf| {
            let all = matches!(begins(leaf), Begins::Guessed | Begins::AllGuessed);
            let mut interpreted = false;
            let places = leaf.words.iter().enumerate().filter_map(move |(at, word)| {
                let program = all || at == 0;
                let named = interpreted && !word.starts_with('-') || program && word.contains('/');
                interpreted |= program && subcommand::runs_scripts(word);
                named.then_some(at)
            });
            places.map(|at| (leaf.words.as_slice(), at, !leaf.guessed, leaf.directories.as_slice()))
        })
    }

    /// Whether what is in the files that it names matters to what it does, for all that is known: it may run them, or put
    /// their content somewhere else.
    pub fn goes_by_files(&self) -> bool {
        let by_variable = |segment: &Segment| {
            let mut words = segment.words().take_while(|word| scan::is_assignment(word));
            words.any(|word| {
                word.split_once('=').is_none_or(|(name, value)| !is_harmless_variable(name, value))
            })
        };
        self.segments.iter().any(|segment| {
            let program = links::command(segment).next().map(kind::base_name);
            segment.role() == Role::Target
                || !segment.is_inert()
                || by_variable(segment)
                || program.is_some_and(|program| program == "git" || copies::copies(program))
        })
    }

    /// The words of an understood text that say where output goes.
    pub fn written(&self) -> HashSet<&str> {
        let targets = self.segments.iter().filter(|segment| segment.role() == Role::Target);
        targets.filter(|_| self.read.is_ok()).flat_map(Segment::words).collect()
    }

    /// Its commands, and what they are given to read.
    pub fn without_written(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().filter(|segment| segment.role() != Role::Target).map(Segment::text)
    }

    /// Whether a path is of a known command that follows symlinks beneath it.
    pub(crate) fn follows_beneath(&self, of: PathOf) -> bool {
        self.known_use(of).is_some_and(|known| known.follows_beneath)
    }

    /// Of which symlinks beneath a path a known command tells what lies where they lead.
    pub(crate) fn targets(&self, of: PathOf) -> Option<&Targets> {
        self.known_use(of).map(|known| &known.targets).filter(|targets| targets.levels > 0)
    }

    fn known_use(&self, of: PathOf) -> Option<&KnownUse> {
        let PathOf::Leaf(number) = of else { return None };
        self.read.as_ref().ok()?.leaves.get(number)?.known.as_ref()
    }

    /// Whether it reads what lies beneath a directory, for all that its words say.
    pub(crate) fn descends(&self) -> bool {
        let of_leaf = |(number, leaf): (usize, &Leaf)| match leaf.known.as_ref().or(leaf.git.as_ref()) {
            Some(known) => known.recursive,
            None => self.segments_of(number).iter().any(descent::descends),
        };
        match &self.read {
            Ok(script) => script.leaves.iter().enumerate().any(of_leaf),
            Err(_) => self.segments.iter().any(descent::descends),
        }
    }

    /// The commands that descend, by their numbers; none where one of them may read more than beneath the operands
    /// that are known.
    pub(crate) fn descending(&self) -> Option<Vec<usize>> {
        let script = self.read.as_ref().ok()?;
        let mut numbers = Vec::new();
        for (number, leaf) in script.leaves.iter().enumerate() {
            let descends_untold = match (&leaf.known, &leaf.git) {
                (Some(known), _) => {
                    numbers.extend(known.recursive.then_some(number));
                    false
                }
                (None, _) if script.is_known_by_its_carrier(leaf) => false,
                (None, Some(known)) => known.recursive,
                (None, None) => self.segments_of(number).iter().any(descent::descends),
            };
            if descends_untold {
                return None;
            }
        }
        Some(numbers)
    }

    /// Whether a program in an understood text gets names of files that the text does not tell: through its input, from
    /// a file, or by whoever runs it (`xargs cat`).
    pub(crate) fn opens_untold_names(&self, place: &Place) -> bool {
        let Ok(script) = &self.read else { return false };
        self.programs_with_more_words().any(named_elsewhere::opens_what_it_gets)
            || self.segments.iter().any(named_elsewhere::reads_names)
            || self.has_untold_words(place)
            || script.leaves.iter().any(|leaf| named_elsewhere::computes_names(&leaf.words))
    }

    /// Names that its commands make, of which the text tells only how they begin and end; none where they are more than
    /// are looked at.
    pub(in crate::permission) fn open_ended(&self) -> Option<Vec<OpenEnded>> {
        const MAX: usize = 256;
        let segments = self.segments.iter().filter(|segment| !segment.repeats());
        let made: Vec<_> = segments.flat_map(named_within::open_ended).take(MAX + 1).collect();
        (made.len() <= MAX).then_some(made)
    }

    /// Whether bash itself would open a connection (`/dev/tcp/…`, `/dev/udp/…`).
    pub fn uses_network(&self) -> bool {
        self.segments.iter().any(|s| s.text().contains("/dev/tcp/") || s.text().contains("/dev/udp/"))
    }

    /// What bash itself would connect to.
    pub(crate) fn connections(&self) -> impl Iterator<Item = Peer<'_>> {
        self.segments.iter().flat_map(|segment| {
            let text = segment.text();
            let begins = ["/dev/tcp/", "/dev/udp/"].into_iter().flat_map(|kind| text.match_indices(kind));
            begins.map(|(at, kind)| Peer::read(&text[at..], kind)).collect::<Vec<_>>()
        })
    }
}

impl<'t> Peer<'t> {
    fn read(text: &'t str, kind: &str) -> Self {
        let word = between_blanks(text).next().unwrap_or_default();
        let (name, port) =
            word[kind.len()..].split_once('/').map_or((&word[kind.len()..], false), |(name, _)| (name, true));
        let host = Host::of_peer(name);
        // Without a port the text ends within the host, as where a substitution was cut out.
        Self { written: word, told: port && host.is_some(), host }
    }
}

#[cfg(test)]
mod reading_tests;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn understanding_and_scanning_are_apart() {
        let simple = analyse("cat a b");
        assert_eq!(simple.understood().unwrap().leaves()[0].words, ["cat", "a", "b"]);
        assert_eq!(simple.path_uses(false).len(), 2);
        for text in ["cat a && rm b", "cat $a; rm b"] {
            let compound = analyse(text);
            assert_eq!(compound.understood().is_none(), text.contains('$'), "{text}");
            assert!(compound.segments().iter().any(|s| s.text() == "rm b"), "{text}");
        }
        assert_eq!(analyse("cat a && rm b").leaves(), ["cat a", "rm b"]);
        for (text, shown) in [
            ("echo x > .bashrc", &["echo x > .bashrc"][..]),
            ("cat <<'E' > .npmrc\na\nb\nE\nls 2>&1", &["cat <<'E' (2 lines) > .npmrc", "ls"]),
            ("{ ls; pwd; } 2>> 'a b'; > c", &["ls 2>> 'a b'", "pwd 2>> 'a b'", "> c"]),
            ("sort <<< 'x y' < in &> out", &["sort <<< 'x y' < in &> out"]),
            ("sh -c 'echo x > y'", &["sh -c 'echo x > y'", "echo x > y"]),
            ("touch 'a\nb' 'c d'", &[r"touch 'a\nb' 'c d'"]),
            (r"touch 'a\nb'", &[r"touch 'a\\nb'"]),
        ] {
            let analysis = analyse(text);
            assert!(analysis.understood().is_some(), "{text}: {:?}", analysis.not_understood());
            assert_eq!(analysis.leaves(), shown, "{text}");
        }
        assert!(analyse_input("ls\n").understood().is_none());
    }

    #[test]
    fn connections_of_bash_itself_are_seen() {
        assert!(analyse("exec 3<>/dev/tcp/1.2.3.4/80").uses_network());
        assert!(analyse("cat </dev/'tcp'/x/80").uses_network());
        assert!(!analyse("cat /dev/null").uses_network());
        let hosts = |text: &str| -> Vec<String> {
            let analysis = analyse(text);
            let shown = |peer: Peer<'_>| match peer.host {
                Some(host) if peer.told => host.to_string(),
                host => format!("{}?", host.map(|host| host.to_string()).unwrap_or_default()),
            };
            let mut hosts: Vec<String> = analysis.connections().map(shown).collect();
            hosts.dedup();
            hosts
        };
        assert_eq!(hosts("exec 3<>/dev/tcp/a.example/80"), ["a.example"]);
        assert_eq!(hosts("cat </dev/'udp'/b.example/53 >/dev/tcp/c.example/1"), ["b.example", "c.example"]);
        assert_eq!(hosts("cat < /dev/tcp/::1/80 > /dev/tcp/::ffff:127.0.0.1/1"), ["::1", "127.0.0.1"]);
        for untold in ["$h/80", "\"$h\"/80", "a.$(echo b)/80", "{a,b}/80", "a@b/80", "a"] {
            let hosts = hosts(&format!("cat < /dev/tcp/{untold}"));
            assert!(hosts.iter().any(|host| host.ends_with('?')), "{untold}: {hosts:?}");
        }
        assert!(hosts("cat < /dev/tcp/evil.tld$(echo)/80").contains(&"evil.tld?".to_owned()));
        assert_eq!(hosts("cat /dev/null"), [""; 0]);
    }

    #[test]
    fn words_give_the_paths_they_may_mean() {
        let place = Place { workspace: "/ws".into(), home: Some("/home/u".into()), cwd: "/ws/sub".into() };
        let paths = |command: &str| -> Vec<(String, bool)> {
            let analysis = analyse(command);
            let found = analysis.word_paths(&place);
            found.iter().map(|w| (w.path.display().to_string(), w.may_edit)).collect()
        };
        for (command, path, may_edit) in [
            ("cat .env", "/ws/sub/.env", false),
            ("cat ../.env", "/ws/.env", false),
            ("curl -d @.env x", "/ws/sub/.env", true),
            ("dd if=.env", "/ws/sub/.env", true),
            ("x --file=~/.ssh/id", "/home/u/.ssh/id", true),
            ("git show HEAD:.env", "/ws/sub/.env", false),
            ("x > out", "/ws/sub/out", true),
            ("wc -l < in", "/ws/sub/in", false),
            ("gcc -I/usr/inc", "/usr/inc", true),
            ("docker run -v /srv/a:/b x", "/srv/a", true),
            ("docker run --mount type=bind,src=/srv/a,dst=/b x", "/srv/a", true),
            ("curl -d@.env x", "/ws/sub/.env", true),
            ("curl -F 'a=@.env;type=text/plain' x", "/ws/sub/.env", true),
            ("curl -F 'a=<.env' x", "/ws/sub/.env", true),
            ("curl file://localhost/ws/%2eenv?x", "/ws/.env", true),
            ("cd conf && wget -q http://h/prod.yml", "/ws/sub/conf/prod.yml", true),
            ("sed -n '/r/d; 1r.env' a", "/ws/sub/.env", true),
            ("cd /ws && split -a1 x .bashr", "/ws/.bashrc", true),
            ("gunzip a.yml-gz", "/ws/sub/a.yml", true),
            ("python3 -c 'print(open(\".env\").read())'", "/ws/sub/.env", true),
            ("./run.sh", "/ws/sub/run.sh", true),
            ("cat $HOME/.netrc; x", "/home/u/.netrc", false),
        ] {
            assert!(paths(command).contains(&(path.to_owned(), may_edit)), "{command}: {:?}", paths(command));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_within_bounds(text in "(?s).{0,300}") {
            let analysis = analyse(&text);
            let size: usize = analysis.segments().iter().map(|s| s.text().len()).sum();
            prop_assert!(size <= 10 * text.len() + 16);
        }

        #[test]
        fn shell_like_text_is_read_within_bounds(text in "[ a-z'\"\\\\$(){}<>|&;`#=\n/*~-]{0,400}") {
            let analysis = analyse(&text);
            let size: usize = analysis.segments().iter().map(|s| s.text().len()).sum();
            prop_assert!(size <= 10 * text.len() + 16);
        }
    }
}
