//! What a shell command really runs: the one place that the policy asks about a command's text.

use std::collections::HashSet;
use std::path::PathBuf;

use super::commands::read_only::{self as known, KnownUse, Operand};
use super::commands::{descent, kind as command};
use super::scan::{self, Role, Segment};
use super::subject::Place;
use super::{breaker, literal};
use crate::domain::visible;

/// Words that are counted from every directory that a command goes to; further ones only from the first.
const MAX_FOLLOWED: usize = 4096;

/// What is known about the text of a command.
#[derive(Debug, Clone)]
pub struct CommandAnalysis {
    text: String,
    understood: Option<SimpleCommand>,
    segments: Vec<Segment>,
}

/// A command that is understood to its last word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand {
    /// The words that the program gets, its name first.
    pub words: Vec<String>,
    /// What the table of known commands says, when every word of it is in there.
    pub known: Option<KnownUse>,
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
}

/// Reads the text of a command. Total for any text, in linear time.
pub fn analyse(text: &str) -> CommandAnalysis {
    let understood =
        literal::simple_command(text).map(|words| SimpleCommand { known: known::known_use(&words), words });
    let mut segments = scan::scan(text);
    if let Some(simple) = &understood {
        let inert = simple.known.is_some() || command::is_inert(&simple.words);
        let exact = Segment::runs(&simple.words, !inert);
        if inert {
            segments = vec![exact];
        } else {
            segments.push(exact);
        }
    }
    CommandAnalysis { text: text.to_owned(), understood, segments }
}

/// Reads what is typed into a running program: it is scanned for commands, but never understood.
pub fn analyse_input(text: &str) -> CommandAnalysis {
    CommandAnalysis { text: text.to_owned(), understood: None, segments: scan::scan(text) }
}

impl CommandAnalysis {
    /// The text that was read.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The command, when it is understood.
    pub fn understood(&self) -> Option<&SimpleCommand> {
        self.understood.as_ref()
    }

    /// Path operands that the gate has to resolve and judge as paths.
    pub fn operands(&self) -> &[Operand] {
        self.understood.as_ref().and_then(|s| s.known.as_ref()).map_or(&[], |k| &k.operands)
    }

    /// The commands in the text as it is most likely meant, for the reviewer, with what hides escaped; no verdict
    /// rests on them.
    pub fn leaves(&self) -> Vec<String> {
        scan::leaves(&self.text).iter().map(|leaf| visible::one_line(leaf)).collect()
    }

    /// Everything that might be run or redirected, for deny and ask.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Whether the files that it names may be run by it, for all that is known: they are no mere data
    /// to programs that only read, write or move them.
    pub fn may_run_files(&self) -> bool {
        !self.segments.iter().all(Segment::is_inert)
    }

    /// Whether it reads what lies beneath a directory, for all that its words say.
    pub(crate) fn descends(&self) -> bool {
        match self.understood.as_ref().and_then(|s| s.known.as_ref()) {
            Some(known) => known.recursive,
            None => self.segments.iter().any(descent::descends),
        }
    }

    /// Whether bash itself would open a connection (`/dev/tcp/…`, `/dev/udp/…`).
    pub fn uses_network(&self) -> bool {
        self.segments.iter().any(|s| s.text().contains("/dev/tcp/") || s.text().contains("/dev/udp/"))
    }

    /// Every path that a word of the text may mean, counted from where it starts and from where a `cd` leads.
    pub(crate) fn word_paths(&self, place: &Place) -> Vec<WordPath> {
        let known = self.understood.as_ref().is_some_and(|s| s.known.is_some());
        let elsewhere: Vec<Place> = match &self.understood {
            Some(_) => Vec::new(),
            None => breaker::directories(&self.segments, place)
                .into_iter()
                .skip(1)
                .map(|cwd| Place { cwd, ..place.clone() })
                .collect(),
        };
        let mut seen = HashSet::new();
        let mut out = Vec::new();
        for segment in &self.segments {
            let (skip, may_edit) = match segment.role() {
                Role::Runs => (1, !known && !command::only_reads(segment.words())),
                Role::Source => (0, false),
                Role::Target => (0, true),
            };
            let descends = !known && segment.role() == Role::Runs && !descent::stays(segment);
            let words = segment.words().enumerate().filter(|(at, w)| *at >= skip || w.contains('/'));
            let words = words.map(|(_, word)| word).chain(segment.spaced());
            for part in words.flat_map(path_parts) {
                if !seen.insert((part, may_edit, descends)) {
                    continue;
                }
                let elsewhere = if out.len() < MAX_FOLLOWED { elsewhere.as_slice() } else { &[] };
                for here in std::iter::once(place).chain(elsewhere) {
                    let written = here.word_target(part);
                    let path = here.resolve(&written);
                    let directory = place.workspace.starts_with(&path);
                    out.push(WordPath { path, written, may_edit, descends, directory });
                    if part.starts_with(['/', '~']) {
                        break;
                    }
                }
            }
        }
        out
    }
}

/// The parts of a word that may be a path: itself, `--file=path`, `from:to`, `src=a,dst=b`, `@path`, `-fpath`.
fn path_parts(word: &str) -> impl Iterator<Item = &str> {
    let whole = (!word.starts_with('-')).then_some(word);
    let attached = word.strip_prefix('-').filter(|w| !w.starts_with('-')).and_then(|w| w.get(1..));
    let behind = |mark: char| word.split_once(mark).map(|(_, rest)| rest);
    let pieces = word.split([':', '=', ',']);
    [whole, attached, behind('='), behind(':'), word.strip_prefix('@')]
        .into_iter()
        .flatten()
        .chain(pieces)
        .filter(|part| !part.is_empty() && *part != "-")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn understanding_and_scanning_are_apart() {
        let simple = analyse("cat a b");
        assert_eq!(simple.understood().unwrap().words, ["cat", "a", "b"]);
        assert_eq!(simple.operands().len(), 2);
        let compound = analyse("cat a && rm b");
        assert!(compound.understood().is_none());
        assert!(compound.operands().is_empty());
        assert_eq!(compound.leaves(), ["cat a", "rm b"]);
        assert!(compound.segments().iter().any(|s| s.text() == "rm b"));
        assert!(analyse_input("ls\n").understood().is_none());
    }

    #[test]
    fn connections_of_bash_itself_are_seen() {
        assert!(analyse("exec 3<>/dev/tcp/1.2.3.4/80").uses_network());
        assert!(analyse("cat </dev/'tcp'/x/80").uses_network());
        assert!(!analyse("cat /dev/null").uses_network());
    }

    #[test]
    fn words_give_the_paths_they_may_mean() {
        let place = Place { workspace: "/ws".into(), home: Some("/home/u".into()), cwd: "/ws/sub".into() };
        let paths = |command: &str| -> Vec<(String, bool)> {
            let found = analyse(command).word_paths(&place);
            found.into_iter().map(|w| (w.path.display().to_string(), w.may_edit)).collect()
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
