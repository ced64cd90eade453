//! A shell text that is understood: every command in it, word by word.

use std::path::{Path, PathBuf};

use super::super::commands::read_only::KnownUse;
use super::super::subject::Access;

/// Why a text is not understood: the rest of a sentence that begins with "the command is not understood: ".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUnderstood(pub &'static str);

/// Everything that a text runs, in the order in which it is written.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Script {
    pub(super) leaves: Vec<Leaf>,
    pub(super) files: Vec<FileUse>,
    /// Redirections of no command (`> file`), as a person reads them.
    pub(super) redirections: Vec<String>,
}

/// One command that runs when the text does.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Leaf {
    /// The words that the program gets, its name first.
    pub words: Vec<String>,
    /// More words may follow that the text does not tell (`xargs rm`).
    pub open: bool,
    /// Another command of the text runs this one (`timeout 5 ls`, `sh -c ls`), which the shell does not start by
    /// itself.
    pub carried: bool,
    /// Where it stands among the script's commands.
    pub(super) at: usize,
    /// Where the one stands that runs it.
    pub(super) by: Option<usize>,
    /// Where the written one stands that it is, or that it runs for in the end.
    pub(super) place: usize,
    /// It is only guessed at: words of a program that is not known would run it.
    pub(super) guessed: bool,
    /// All that its arguments run is told by other commands of the script.
    pub(super) told: bool,
    /// The assignments in front of it, all of them harmless.
    pub(super) assigned: Vec<String>,
    /// Whether the text gives it something to read: through a pipe, from a file, from a here-document.
    pub(super) fed: bool,
    /// Where it may start: each counts from where the text starts.
    pub(in crate::permission) directories: Vec<PathBuf>,
    /// What the table of known commands says, when every word of it is in there.
    pub(super) known: Option<KnownUse>,
    /// The same for git, which counts in a repository whose settings are plain.
    pub(super) git: Option<KnownUse>,
    /// Where `words` begin to be the command that counts for allow: behind `timeout 5` and the like.
    pub(super) inner: usize,
    /// Its redirections as a person reads them.
    pub(super) redirections: Vec<String>,
}

/// A file that the shell itself opens for a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileUse {
    /// As it is written, without its quotes.
    pub path: String,
    /// What happens to it.
    pub access: Access,
    /// From where it counts.
    pub(super) directories: Vec<PathBuf>,
}

impl Script {
    /// The commands, in the order in which they are written; one that another one runs comes after that.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// The files that are opened for redirections.
    pub fn files(&self) -> &[FileUse] {
        &self.files
    }

    /// The only command, when there is one that the shell starts, and no redirection.
    pub fn only(&self) -> Option<&Leaf> {
        let mut started = self.started();
        started.next().filter(|_| started.next().is_none() && self.files.is_empty())
    }

    /// Whether `other` is run by the command, or by one that it runs.
    pub(crate) fn runs(&self, leaf: &Leaf, other: &Leaf) -> bool {
        // Each stands behind the one that runs it.
        let by = |at: &usize| self.leaves.get(*at).and_then(|leaf| leaf.by).filter(|by| by < at);
        std::iter::successors(other.by, by).any(|at| at == leaf.at)
    }

    /// Whether the command is one that is only timed or bounded, and its carrier is known to read alone by what it says.
    pub(super) fn is_known_by_its_carrier(&self, leaf: &Leaf) -> bool {
        let reads = |other: &Leaf| other.known.as_ref().is_some_and(KnownUse::only_reads);
        let carries = |other: &Leaf| reads(other) && other.inner > 0 && other.inner() == leaf.words;
        leaf.carried && self.leaves.iter().any(carries)
    }

    /// The commands that the shell itself starts: what they run in turn is theirs.
    pub(crate) fn started(&self) -> impl Iterator<Item = &Leaf> {
        self.leaves.iter().filter(|leaf| !leaf.carried)
    }
}

impl Leaf {
    /// What the table of known commands says, when every word of it is in there.
    pub(crate) fn known(&self) -> Option<&KnownUse> {
        self.known.as_ref()
    }

    /// The same for a form of git that only reads, which counts where the repository's settings are plain.
    pub(crate) fn git(&self) -> Option<&KnownUse> {
        self.git.as_ref()
    }

    /// Where git looks for its repository: each counts from where the text starts.
    pub(crate) fn git_directories(&self) -> Vec<PathBuf> {
        let within = self
            .git
            .iter()
            .flat_map(|known| self.directories.iter().map(|directory| directory.join(&known.within)));
        within.collect()
    }

    /// Whether the text gives it something to read, so that its words do not say all that it goes by.
    pub(crate) fn is_fed(&self) -> bool {
        self.fed
    }

    /// The one directory that it starts in, counted from where the text starts; none where it may be several.
    pub(crate) fn directory(&self) -> Option<&Path> {
        match self.directories.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// The words that count for allow: of what `timeout 5` and the like look through to.
    pub(crate) fn inner(&self) -> &[String] {
        self.words.get(self.inner..).unwrap_or_default()
    }

    /// The variables that are set in front of it, all of them harmless.
    pub(crate) fn assigned(&self) -> &[String] {
        &self.assigned
    }

    /// As a shell would take it, for people to read.
    pub(super) fn shown(&self) -> String {
        let mut text = self.words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ");
        if self.open {
            text.push_str(" …");
        }
        for redirection in &self.redirections {
            text.push(' ');
            text.push_str(redirection);
        }
        text
    }

    /// Whether it goes to another directory for what follows.
    pub(crate) fn moves(&self) -> bool {
        self.words.first().is_some_and(|name| name == "cd")
    }
}

/// A word as a shell would take it for just that.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
