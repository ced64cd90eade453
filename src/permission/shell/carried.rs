//! What the commands of a text run in turn, and which of them change what the others mean.

use std::path::{Component, Path, PathBuf};

use super::super::commands::carriers;
use super::super::commands::kind::{self, ProgramKind};
use super::super::commands::read_only::known_use;
use super::super::lexical;
use super::read;
use super::script::{FileUse, Leaf, NotUnderstood, Script};

/// Deepest nesting of texts within texts (`sh -c 'sh -c …'`).
const MAX_TEXTS: usize = 4;
/// Most commands that the commands of a text run in turn.
const MAX_CARRIED: usize = 512;

/// Builtins that change what later words of the same shell mean, or what happens to its files (bash's manual,
/// "Shell Builtin Commands"). Alone in a text they change nothing that follows.
const CHANGERS: &[&str] = &[
    ".",
    "source",
    "eval",
    "exec",
    "alias",
    "unalias",
    "set",
    "shopt",
    "enable",
    "export",
    "declare",
    "typeset",
    "local",
    "readonly",
    "unset",
    "read",
    "mapfile",
    "readarray",
    "let",
    "getopts",
    "hash",
    "bind",
    "complete",
    "compgen",
    "compopt",
    "trap",
    "pushd",
    "popd",
    "dirs",
    "umask",
    "ulimit",
    "shift",
    "fc",
    "history",
    "wait",
    "suspend",
    "disown",
    "bg",
    "fg",
    "logout",
    "caller",
];

const SETS_UP_THE_SHELL: NotUnderstood =
    NotUnderstood("a builtin in it sets up the shell itself, or evaluates its words");

/// Programs that a person types commands into, by their bare names.
const CONSOLES: &[&str] = &[
    "ed",
    "ex",
    "vi",
    "vim",
    "vimdiff",
    "view",
    "nvim",
    "emacs",
    "emacsclient",
    "nano",
    "less",
    "more",
    "man",
    "info",
    "psql",
    "mysql",
    "mariadb",
    "sqlite",
    "gdb",
    "lldb",
    "tmux",
    "screen",
];

/// Whether a variable may stand in front of a command without changing what it runs.
pub(super) fn is_harmless_variable(name: &str, value: &str) -> bool {
    carriers::is_harmless_variable(name, value)
}

/// Refuses a text in which one command changes what another one means.
pub(super) fn check_meaning(script: &Script) -> Result<(), NotUnderstood> {
    if script.leaves.len() < 2 {
        return Ok(());
    }
    for leaf in &script.leaves {
        let Some(name) = leaf.words.first().map(String::as_str) else { continue };
        let mut words = leaf.words.iter().map(String::as_str);
        // `command cd x` and `builtin eval x` do it in the same shell too.
        let changes = match name {
            "command" | "builtin" => words.skip(1).any(|word| word == "cd" || CHANGERS.contains(&word)),
            "printf" => words.any(|word| word.starts_with("-v")),
            // `set -e` decides when the shell stops, and what it shows.
            "set" => known_use(&leaf.words).is_none(),
            name => CHANGERS.contains(&name),
        };
        if changes {
            return Err(NotUnderstood("one of its commands changes what others mean"));
        }
    }
    Ok(())
}

/// What a text is that the two parsers read otherwise, when it is one builtin that sets up the shell (`export A=1`).
pub(super) fn sets_up_the_shell(script: &Script) -> Option<NotUnderstood> {
    let name = script.leaves.first()?.words.first()?;
    CHANGERS.contains(&name.as_str()).then_some(SETS_UP_THE_SHELL)
}

/// Why it is not told what the command runs.
fn untold(leaf: &Leaf) -> NotUnderstood {
    let name = leaf.words.first().map_or("", String::as_str);
    if CHANGERS.contains(&name) {
        return SETS_UP_THE_SHELL;
    }
    NotUnderstood(if CONSOLES.contains(&kind::base_name(name)) {
        "an editor, pager or console in it takes commands while it runs"
    } else if kind::kind(name) == ProgramKind::Interpreter {
        "a shell or interpreter in it runs code from its words or its input"
    } else {
        "one of its commands runs what the text does not tell"
    })
}

/// Adds what the commands run in turn. `depth`: how many texts this one lies within.
pub(super) fn follow(script: &mut Script, depth: usize) -> Result<(), NotUnderstood> {
    let mut found = Found { written: script.leaves.len(), ..Found::default() };
    for (at, leaf) in script.leaves.iter_mut().enumerate() {
        let first = found.leaves.len();
        (leaf.at, leaf.place) = (at, at);
        leaf.told |= found.of(leaf, depth, 0)?;
        found.leaves[first..].iter_mut().for_each(|run| run.place = at);
    }
    script.leaves.append(&mut found.leaves);
    script.files.append(&mut found.files);
    script.redirections.append(&mut found.redirections);
    Ok(())
}

#[derive(Default)]
struct Found {
    /// How many commands are written: those that are run in turn follow them.
    written: usize,
    leaves: Vec<Leaf>,
    files: Vec<FileUse>,
    redirections: Vec<String>,
}

impl Found {
    /// Adds what the command runs; whether that is all that its arguments can run.
    fn of(&mut self, leaf: &Leaf, depth: usize, within: usize) -> Result<bool, NotUnderstood> {
        let carried = carriers::carried(&leaf.words);
        if carried.untold || (leaf.open && !carried.scripts.is_empty()) || runs_a_stream(leaf) {
            return Err(untold(leaf));
        }
        if within >= MAX_TEXTS * 4 {
            return Err(NotUnderstood("its commands run each other more than 16 deep"));
        }
        // What comes through the input is not told, if one of its words is a program that goes by that.
        if carried.guessed && leaf.fed && carriers::may_obey_input(&leaf.words[1..]) {
            return Err(untold(leaf));
        }
        if carried.guessed {
            // Any word of it may begin a command: that is how deny and ask look at such a command anyway. What a shell
            // among them would run has to be told all the same.
            let guesses = self.leaves.len();
            for text in carried.guessed_scripts {
                self.text(leaf, &text, &leaf.directories, depth)?;
            }
            self.leaves[guesses..].iter_mut().for_each(|leaf| leaf.guessed = true);
            return Ok(false);
        }
        let directories = match &carried.directory {
            Some(directory) => joined(&leaf.directories, &[directory.into()]),
            None => leaf.directories.clone(),
        };
        for command in carried.commands {
            let inner = Leaf {
                words: command.words,
                open: command.open || leaf.open,
                carried: true,
                fed: leaf.fed,
                at: self.next(),
                by: Some(leaf.at),
                guessed: leaf.guessed,
                directories: directories.clone(),
                ..Leaf::default()
            };
            let at = self.leaves.len();
            self.push(inner.clone())?;
            self.leaves[at].told = self.of(&inner, depth, within + 1)?;
        }
        for text in carried.scripts {
            self.text(leaf, &text, &directories, depth)?;
        }
        Ok(carried.exact)
    }

    /// A text that the command runs from one of the directories.
    fn text(&mut self, leaf: &Leaf, text: &str, from: &[PathBuf], depth: usize) -> Result<(), NotUnderstood> {
        if depth >= MAX_TEXTS {
            return Err(NotUnderstood("shell texts in it are nested more than 4 deep"));
        }
        if !reads_as_bash(&leaf.words, text) {
            return Err(NotUnderstood("a shell text in it is for a shell that reads it otherwise"));
        }
        let Script { leaves, files, redirections } = read::script(text, depth + 1, leaf.fed)?;
        let first = self.next();
        for inner in leaves {
            let directories = joined(from, &inner.directories);
            let (at, by) = (self.next(), inner.by.map_or(leaf.at, |by| first + by));
            self.push(Leaf { carried: true, directories, at, by: Some(by), ..inner })?;
        }
        let files = files.into_iter().map(|file| {
            let directories = joined(from, &file.directories);
            FileUse { directories, ..file }
        });
        self.files.extend(files);
        self.redirections.extend(redirections);
        Ok(())
    }

    /// Where the next one will stand among all commands.
    fn next(&self) -> usize {
        self.written + self.leaves.len()
    }

    fn push(&mut self, leaf: Leaf) -> Result<(), NotUnderstood> {
        if self.leaves.len() >= MAX_CARRIED {
            return Err(NotUnderstood("its commands run more than 512 others"));
        }
        self.leaves.push(leaf);
        Ok(())
    }
}

/// Whether the text means the same to what the words run it with. In `sh` an `&>` is an `&` and a `>`; other
/// shells have quotes and words of their own.
fn reads_as_bash(words: &[String], text: &str) -> bool {
    match words.first().map(|name| kind::base_name(name)) {
        Some("bash" | "rbash" | "eval" | "trap") => true,
        Some("zsh" | "fish" | "csh" | "tcsh") => false,
        _ => !text.contains("&>"),
    }
}

/// Whether a program that runs files is given one that is no file: what comes through it is not told
/// (`sh /dev/stdin`, `cd /dev && sh stdin`).
fn runs_a_stream(leaf: &Leaf) -> bool {
    const STREAMS: &[&str] = &["/dev/stdin", "/dev/fd", "/dev/tty", "/dev/pts", "/proc"];
    let runs_files = leaf.words.first().is_some_and(|name| {
        matches!(
            kind::kind(name),
            ProgramKind::Interpreter | ProgramKind::RunsWorkspace | ProgramKind::Carrier
        )
    });
    let leads_there = |path: &Path| {
        // A relative path stays in the workspace unless it climbs; how far, it does not tell.
        let climbs = path.is_absolute() || path.components().any(|part| part == Component::ParentDir);
        let spelt = lexical::normal(Path::new("/"), path);
        climbs && STREAMS.iter().any(|stream| spelt.starts_with(stream))
    };
    let is_stream = |word: &String| {
        STREAMS.iter().any(|name| word.contains(name))
            || leaf.directories.iter().any(|directory| leads_there(&directory.join(word)))
    };
    runs_files && leaf.words.iter().any(is_stream)
}

fn joined(outer: &[PathBuf], inner: &[PathBuf]) -> Vec<PathBuf> {
    let join = |outer: &PathBuf, inner: &PathBuf| {
        if inner.as_os_str().is_empty() { outer.clone() } else { outer.join(inner) }
    };
    outer.iter().flat_map(|outer| inner.iter().map(move |inner| join(outer, inner))).collect()
}
