//! The paths that words may mean, for all that is known of the programs that get them.

use std::path::{Path, PathBuf};

use foldhash::HashSet;

use super::super::commands::git::pathspec::Untold;
use super::super::commands::named_within::Made;
use super::super::commands::names::value_starts;
use super::super::commands::{descent, kind, untold_places};
use super::super::lexical;
use super::super::subject::Place;
use super::WordPath;
use super::scan::{Role, Segment};

/// Paths that are counted from every directory that a command may be in; further ones only from the first.
const MAX_FOLLOWED: usize = 2048;

/// Collects the paths that words may mean, each once.
pub(super) struct Words<'p> {
    place: &'p Place,
    /// The directories that words were counted from.
    directories: Vec<PathBuf>,
    /// By the number of the directory.
    seen: HashSet<(String, bool, bool, usize)>,
    out: Vec<WordPath>,
    /// What is taken without a name, each once.
    swept: HashSet<(PathBuf, PathBuf, bool)>,
    /// What the words hold.
    made: Made,
    unfollowed: bool,
}

/// What words may mean.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) paths: Vec<WordPath>,
    /// The words hold more names than were looked at.
    pub(super) cut: bool,
    /// Some of them were not counted from every directory that a command may be in.
    pub(super) unfollowed: bool,
}

impl<'p> Words<'p> {
    pub(super) fn new(place: &'p Place) -> Self {
        Self {
            place,
            directories: Vec::new(),
            seen: HashSet::default(),
            out: Vec::new(),
            swept: HashSet::default(),
            made: Made::default(),
            unfollowed: false,
        }
    }

    pub(super) fn found(self) -> Found {
        Found { paths: self.out, cut: self.made.is_cut(), unfollowed: self.unfollowed }
    }

    /// The words of these segments, which start in one of `places`.
    pub(super) fn of_all(&mut self, segments: &[Segment], reads: bool, stays: bool, places: &[Place]) {
        for segment in segments.iter().filter(|segment| !segment.repeats()) {
            self.of(segment, reads, stays, places);
        }
    }

    /// The words of a segment, which start in one of `places`. `reads`: its command only reads; `stays`: it goes into no
    /// directory.
    pub(super) fn of(&mut self, segment: &Segment, reads: bool, stays: bool, places: &[Place]) {
        let (skip, may_edit) = match segment.role() {
            Role::Runs => (1, !reads && !kind::only_reads(segment.words())),
            Role::Source => (0, false),
            Role::Target => (0, true),
        };
        let descends = !stays && segment.role() == Role::Runs && !descent::stays(segment);
        // A first word with a dot in it may be a file that a scan has torn off the code around it: `open(".env")`.
        let words = segment.words().enumerate().filter(|(at, w)| *at >= skip || w.contains(['/', '.']));
        let subcommand = if skip == 1 { subcommand(segment) } else { 0 };
        let words = words.map(|(at, word)| (word, at == 0 || at > subcommand));
        let made = if skip == 1 { self.made.names(segment) } else { Vec::new() };
        let further = segment.spaced().chain(made.iter().map(String::as_str));
        let words = words.chain(further.map(|word| (word, true)));
        let numbers: Vec<usize> = places.iter().map(|here| self.number(&here.cwd)).collect();
        let parts =
            words.flat_map(|(word, given)| path_parts(word).map(move |part| (part, descends && given)));
        for (part, descends) in parts {
            let followed = if self.out.len() < MAX_FOLLOWED { places.len() } else { 1 };
            self.unfollowed |= followed < places.len();
            for (here, number) in places.iter().zip(&numbers).take(followed) {
                if !self.seen.insert((part.to_owned(), may_edit, descends, *number)) {
                    continue;
                }
                let written = here.word_target(part);
                let path = here.resolve(&written);
                let directory = lexical::within(&self.place.workspace, &path).is_some();
                self.out.push(WordPath { path, written, may_edit, descends, directory, sweeps: false });
                if part.starts_with(['/', '~']) {
                    break;
                }
            }
        }
        if descends {
            self.swept(&untold_places::of(segment), may_edit, places);
        }
    }

    /// Where the command takes what it is not told by name.
    fn swept(&mut self, untold: &[Untold], may_edit: bool, places: &[Place]) {
        for here in places {
            for untold in untold {
                let written = match untold {
                    Untold::Beneath(directory) => here.word_target(directory),
                    Untold::Tree if here.cwd.starts_with(&here.workspace) => here.workspace.clone(),
                    Untold::Tree => here.cwd.clone(),
                };
                let path = here.resolve(&written);
                if self.swept.insert((path.clone(), written.clone(), may_edit)) {
                    let (descends, directory, sweeps) = (true, false, true);
                    self.out.push(WordPath { path, written, may_edit, descends, directory, sweeps });
                }
            }
        }
    }

    fn number(&mut self, directory: &Path) -> usize {
        let known = self.directories.iter().position(|known| known == directory);
        known.unwrap_or_else(|| {
            self.directories.push(directory.to_owned());
            self.directories.len() - 1
        })
    }
}

/// How many words behind the program are its subcommand, or the name of what that runs, and no directory to go into,
/// whatever lies there (`cargo test`, `npm run build`).
fn subcommand(segment: &Segment) -> usize {
    const NPM: [&str; 3] = ["npm", "pnpm", "yarn"];
    let mut words = segment.words();
    let program = words.next().unwrap_or_default();
    if !NPM.contains(&program) && !matches!(program, "cargo" | "go" | "git") {
        return 0;
    }
    let is_name = |word: &&str| {
        !word.starts_with('-') && word.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
    };
    match (words.next().filter(is_name), words.next().filter(is_name)) {
        (Some("run" | "run-script"), Some(_)) if NPM.contains(&program) => 2,
        (first, _) => usize::from(first.is_some()),
    }
}

/// The parts of a word that may be a path: itself, `--file=path`, `from:to`, `src=a,dst=b`, `@path`, `-fpath`,
/// `-nfpath`, `name=@path;type=text`, `{path}`, `path#label`, `fileb://path`.
fn path_parts(word: &str) -> impl Iterator<Item = &str> {
    // To many programs `-` is a file like any other.
    let whole = (!word.starts_with('-') || word == "-").then_some(word);
    // A word without a mark is one piece: most are.
    let has_more = whole.is_none() || word.contains(MARKS);
    let more = has_more.then(|| parts_within(word).filter(move |piece| Some(*piece) != whole));
    whole.into_iter().chain(more.into_iter().flatten()).filter(|part| !part.is_empty())
}

/// What parts a word into pieces.
const MARKS: [char; 9] = [':', '=', ',', '@', '<', ';', '{', '}', '#'];

/// The same of a word with options or marks in it.
fn parts_within(word: &str) -> impl Iterator<Item = &str> {
    let cluster = word.strip_prefix('-').filter(|w| !w.starts_with('-')).unwrap_or_default();
    let behind_letters = value_starts(word).filter_map(|at| word.get(at..));
    let attached = cluster.get(1..);
    let behind = |mark: char| word.split_once(mark).map(|(_, rest)| rest);
    // aws counts what stands there from where it starts.
    let local =
        word.split_once("://").filter(|(before, _)| before.ends_with("file") || before.ends_with("fileb"));
    let attached_to = attached.and_then(|word| word.strip_prefix('@'));
    [attached_to, behind('='), behind(':'), word.strip_prefix('@'), local.map(|(_, rest)| rest)]
        .into_iter()
        .flatten()
        .chain(behind_letters)
        .chain(word.split(MARKS))
}
