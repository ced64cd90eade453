//! What the policy judges: one call, as plain data that the gate found out.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::host::Host;
use super::shell::scan::Segment;
use super::shell::{CommandAnalysis, WordPath};
use crate::workspace::FileKind;

/// One call as the policy sees it. The gate fills it; nothing here is read from the world again.
#[derive(Debug, Clone)]
pub struct Subject<'a> {
    /// The exact name of the tool that will run.
    pub tool: &'a str,
    /// Other names of the same tool (the original `mcp__server__name` of a renamed MCP tool).
    pub other_names: &'a [String],
    /// What kind of effect the call has.
    pub class: Class,
    /// Every path that the call reads or writes, the operands of an understood command included.
    pub paths: Vec<SubjectPath>,
    /// The command, for tools that run or type one.
    pub command: Option<CommandAnalysis>,
    /// Every host that the call will connect to as written.
    pub hosts: Vec<Host>,
    /// Where the call runs.
    pub place: Place,
    /// Where the command's paths lead.
    pub on_disk: OnDisk,
}

/// What the gate found out about the paths of a command. By default nothing: then no rule covers the command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OnDisk {
    /// Every path operand of a known command is among the subject's paths.
    pub operands_located: bool,
    /// Every repository that git would find lies in the workspace, and its settings are plain.
    pub plain_repositories: bool,
    /// No file chooses what a program stands for whose version is asked for.
    pub no_toolchain_chosen: bool,
    /// Known commands, by their numbers, of which a file of the workspace may choose what they do.
    pub chosen: HashSet<usize>,
    /// What a path of the command means stays as it is while the command runs.
    pub paths_stay: bool,
    /// No directory that the command goes to is another one than it is spelt.
    pub enters_plainly: bool,
    /// It is known where every word leads that may be a path.
    pub words_located: bool,
    /// Where the command descends, no name is one that a rule hides.
    pub nothing_hidden: KnownFor,
    /// Beneath the directories that words name lies nothing that a rule speaks of, and nothing else in the text changes that.
    pub nothing_denied: KnownFor,
    /// Where words lead that name a directory, or something else than their spelling says.
    pub(crate) leads: Vec<WordPath>,
    /// Commands whose program is a link, under the names of what it leads to.
    pub(crate) linked: Vec<Segment>,
    /// What of it may run what it is given: a program that leads to another one, or one too many to look up.
    pub(crate) hidden_carrier: Option<String>,
    /// What copies make or change in directories, as spelt and as where it leads.
    pub(crate) copied: Vec<WordPath>,
    /// A copy brings more than was looked at.
    pub(crate) copies_untold: bool,
    /// Where words lead when the shell takes them for patterns of names, and what copies of trees bring.
    pub(crate) may_lead: Vec<WordPath>,
}

/// The sessions that a rule which narrows holds in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hold {
    /// Every session.
    Always,
    /// Those that do not run everything that is not held back.
    UnlessBypass,
}

/// The rules that something was found out for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KnownFor {
    always: bool,
    unless_bypass: bool,
}

impl KnownFor {
    /// It is so for rules that hold in these sessions.
    pub(super) fn note(&mut self, hold: Hold) {
        match hold {
            Hold::Always => self.always = true,
            Hold::UnlessBypass => self.unless_bypass = true,
        }
    }

    /// Whether it is so for rules that hold in these sessions.
    pub(super) fn is_known(self, hold: Hold) -> bool {
        match hold {
            Hold::Always => self.always,
            Hold::UnlessBypass => self.unless_bypass,
        }
    }
}

impl OnDisk {
    /// For a command on paper, as if no symlink existed.
    pub fn on_paper() -> Self {
        Self {
            operands_located: true,
            paths_stay: true,
            enters_plainly: true,
            words_located: true,
            ..Self::default()
        }
    }
}

/// Where a call runs. All paths are absolute and resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The root of the session's workspace.
    pub workspace: PathBuf,
    /// What `~` means.
    pub home: Option<PathBuf>,
    /// The directory in which the call starts.
    pub cwd: PathBuf,
}

/// One path of a call, as it was asked for and as it resolves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubjectPath {
    /// The path that the arguments name (relative ones count from the working directory).
    pub requested: PathBuf,
    /// Where it leads once symlinks are followed: absolute.
    pub real: PathBuf,
    /// What is done with it.
    pub access: Access,
    /// Whether `real` lies in the workspace.
    pub inside: bool,
    /// What of the call names it.
    pub of: PathOf,
    /// What is there; none where nothing is.
    pub kind: Option<FileKind>,
}

/// What of a call names a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PathOf {
    /// The call itself.
    #[default]
    Call,
    /// The command of this number in a shell text that is understood.
    Leaf(usize),
    /// A redirection in a shell text that is understood.
    Redirection,
}

/// What a call does with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Content, names or metadata are read.
    Read,
    /// It is made, changed, moved or removed.
    Edit,
}

/// The kind of effect that a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// Reads in the workspace.
    ReadInside,
    /// Changes in the workspace.
    EditInside,
    /// Reads or changes a path outside of the workspace.
    Outside,
    /// Runs a program, or types into one.
    Run,
    /// Connects to another host, whatever the method.
    Network,
    /// Touches the session's own state only.
    SessionOnly,
    /// An MCP tool or a tool of the session's client.
    Foreign,
}

impl Class {
    /// The class in words, for verdicts.
    pub fn describe(self) -> &'static str {
        match self {
            Self::ReadInside => "reads in the workspace",
            Self::EditInside => "edits in the workspace",
            Self::Outside => "paths outside of the workspace",
            Self::Run => "running a program",
            Self::Network => "network access",
            Self::SessionOnly => "session state",
            Self::Foreign => "tools of other servers and clients",
        }
    }
}

impl SubjectPath {
    /// Both spellings of the path that rules are held against: as requested and as resolved.
    pub(crate) fn spellings(&self, place: &Place) -> [PathBuf; 2] {
        [place.resolve(&self.requested), place.resolve(&self.real)]
    }
}

impl Place {
    /// `path` as an absolute path without dots, counted from the working directory.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        super::lexical::normal(&self.cwd, path)
    }

    /// The path that a word of a shell command most likely means: `~`, `$HOME` and `$PWD` are expanded.
    pub(crate) fn resolve_word(&self, word: &str) -> PathBuf {
        self.resolve(&self.word_target(word))
    }

    /// The same with its dots left in, since they count from where symlinks lead.
    pub(crate) fn word_target(&self, word: &str) -> PathBuf {
        if !word.starts_with(['~', '$']) {
            return self.cwd.join(word);
        }
        let home = self.home.as_deref();
        for (prefix, base) in [
            ("~", home),
            ("${HOME}", home),
            ("$HOME", home),
            ("${PWD}", Some(self.cwd.as_path())),
            ("$PWD", Some(self.cwd.as_path())),
        ] {
            if let (Some(rest), Some(base)) = (word.strip_prefix(prefix), base)
                && (rest.is_empty() || rest.starts_with('/'))
            {
                return base.join(rest.trim_start_matches('/'));
            }
        }
        self.cwd.join(word)
    }
}
