//! The workspace's files that a command names and may run or pass on: an approval is bound to what is in them.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use globset::{GlobBuilder, GlobMatcher};

use super::command_words::{UNTOLD, Words, is_called};
use super::implied_files;
use crate::domain::result::ToolError;
use crate::permission::{Preview, Scope, shell};
use crate::tools::blocking::{self, GivenUp, Patience, failure, given_up};
use crate::workspace::{ContentHash, FileKind, HashingReader, Workspace};

/// An approval is bound to so many files.
const FILES_MAX: usize = 1024;
/// So many of the directories that it names are looked into.
const DIRECTORIES_MAX: usize = 16;
/// So many names are held against its patterns.
const NAMES_MAX: usize = 20_000;
/// So many ends of its paths are looked at.
const ENDS_MAX: usize = 1024;
/// So many bytes of a file are hashed, and of all together; what is longer counts by its place, size and time of
/// change.
const HASHED_BYTES_MAX: u64 = 16 * 1024 * 1024;
const ALL_BYTES_MAX: u64 = 128 * 1024 * 1024;
/// How long all of that may take.
const TIME_MAX: Duration = Duration::from_secs(10);

/// The files that the command names, with their content now. Every word counts, whatever it is to
/// its program, from the directory that it begins in and from each that it names: a file too many
/// costs a second question, one too few runs what nobody saw.
pub(super) async fn preview(
    command: &str,
    workdir: Option<&str>,
    scope: &Scope,
) -> Result<Preview, ToolError> {
    let analysis = shell::analyse(command);
    if !analysis.goes_by_files() {
        return Ok(Preview::default());
    }
    let mut words = Words::of(command);
    // What a log holds that a command adds to may change while it waits.
    let written = analysis.written();
    if !written.is_empty() {
        let others: Vec<&str> = analysis.without_written().collect();
        let others: HashSet<String> = Words::of(&others.join("\n")).all.into_iter().collect();
        words.all.retain(|word| !written.contains(word.as_str()) || others.contains(word));
    }
    for file in implied_files::of(&words.all) {
        words.add(file);
    }
    let workspace = Arc::clone(&scope.workspace);
    let start = match workdir {
        None => scope.directory.clone(),
        Some(workdir) => workspace.resolve(&scope.directory, workdir).map_err(|error| failure(&error))?.real,
    };
    let command = command.to_owned();
    blocking::run(&scope.cancel, TIME_MAX, move |patience| {
        let runs_git = |word: &String| implied_files::RUN_GIT.iter().any(|program| is_called(word, program));
        let git = words.all.iter().any(runs_git);
        let (more, deep) = (words.more || words.renames, goes_deep(&command));
        let mut named = Named { git, deep, more, ..Named::new(&workspace, patience) };
        named.walk(start, &words).map_err(|why| given_up(why, "Name fewer files in one command."))?;
        let files = named.files.into_iter().map(|(path, hash)| (path, Some(hash))).collect();
        Ok(Preview { diff: None, files, more: named.more })
    })
    .await
}

/// Collects the files that words name.
struct Named<'a> {
    workspace: &'a Workspace,
    patience: &'a Patience,
    files: BTreeMap<PathBuf, ContentHash>,
    directories: Vec<PathBuf>,
    /// A word names the directory that the command starts in.
    names_start: bool,
    /// Git is among the programs, or one that runs it.
    git: bool,
    /// `**` stands for directories however deep.
    deep: bool,
    /// Not all of it was looked at.
    more: bool,
    names: usize,
    bytes: u64,
}

impl<'a> Named<'a> {
    fn new(workspace: &'a Workspace, patience: &'a Patience) -> Self {
        let (names, bytes) = (NAMES_MAX, ALL_BYTES_MAX);
        Self {
            workspace,
            patience,
            files: BTreeMap::new(),
            directories: Vec::new(),
            names_start: false,
            git: false,
            deep: false,
            more: false,
            names,
            bytes,
        }
    }

    /// Each word counts from where the command starts, and from each directory that a word names.
    fn walk(&mut self, start: PathBuf, words: &Words) -> Result<(), GivenUp> {
        self.directories.push(start);
        // What the shell puts in front of a word may be where the workspace lies.
        let untold = |word: &String| word.contains(UNTOLD) || word.starts_with('~');
        if words.all.iter().any(untold) && self.directories[0] != self.workspace.root() {
            self.directories.push(self.workspace.root().to_path_buf());
        }
        let mut next = 0;
        let mut unmet: HashSet<&str> = words.all.iter().map(String::as_str).collect();
        self.named_from(&mut next, words, &mut unmet)?;
        let ends = self.moved(words, &unmet);
        let mut at = 0;
        while let Some(directory) = self.directories.get(at).cloned() {
            // What the command moves from where it starts, it names, or has it listed.
            let unnamed = at == 0 && !self.names_start;
            at += 1;
            let counts = |end: &&&str| !unnamed || end.contains('/') || words.moves && !is_pattern(end);
            for end in ends.iter().filter(counts) {
                self.word(&directory, end)?;
            }
            self.named_from(&mut next, words, &mut unmet)?;
        }
        Ok(())
    }

    /// Every word, from each directory from this one on.
    fn named_from(
        &mut self,
        next: &mut usize,
        words: &Words,
        unmet: &mut HashSet<&str>,
    ) -> Result<(), GivenUp> {
        while let Some(directory) = self.directories.get(*next).cloned() {
            *next += 1;
            for word in &words.all {
                if self.word(&directory, word)? {
                    unmet.remove(word.as_str());
                }
            }
            if self.git {
                self.repository(&directory)?;
            }
        }
        Ok(())
    }

    /// What is left of paths whose beginning the command itself may make, by moving, copying or linking a directory that
    /// it names: there the rest counts from that directory (`cp -r d e; sh e/s.sh`). So it may be where the command has a
    /// program for that, and where nothing is `unmet` so far.
    fn moved<'w>(&mut self, words: &'w Words, unmet: &HashSet<&str>) -> Vec<&'w str> {
        let moved = words.all.iter().filter(|word| words.moves || unmet.contains(word.as_str()));
        let mut seen = HashSet::new();
        let mut ends = moved.flat_map(|word| ends(word)).filter(|end| seen.insert(*end));
        let counted = ends.by_ref().take(ENDS_MAX).collect();
        self.more |= ends.next().is_some();
        counted
    }

    /// Whether it names something.
    fn word(&mut self, directory: &Path, word: &str) -> Result<bool, GivenUp> {
        self.patience.check()?;
        if !is_pattern(word) {
            return Ok(self.one(directory, word));
        }
        let mut met = false;
        for path in self.matching(directory, word)? {
            met |= self.one(directory, &path);
        }
        Ok(met)
    }

    /// What git goes by in the directory: the repository that it finds from there upwards; and since a word may name a
    /// repository (`--git-dir`) or where hooks lie (`core.hooksPath`), what of that is there.
    fn repository(&mut self, directory: &Path) -> Result<(), GivenUp> {
        for hook in implied_files::HOOKS {
            self.one(directory, hook);
        }
        if directory.join("HEAD").symlink_metadata().is_ok() {
            self.git_directory(directory, None)?;
        }
        let root = self.workspace.root();
        let above = directory.ancestors().take_while(|above| above.starts_with(root));
        let Some(tree) = above.into_iter().find(|above| above.join(".git").symlink_metadata().is_ok()) else {
            return Ok(());
        };
        // Paths in settings that words give (`-c core.hooksPath=x`) count from there.
        self.one(tree, ".");
        for file in implied_files::OF_TREE {
            self.word(tree, file)?;
        }
        // Of a linked working tree, or a submodule, it is a file that says where.
        let git = match self.text(tree, ".git") {
            Some(text) => text.trim_end().strip_prefix("gitdir:").map(|path| path.trim_start().to_owned()),
            None => Some(".git".to_owned()),
        };
        if let Some(git) = git.and_then(|git| self.directory(tree, &git)) {
            self.git_directory(&git, Some(tree))?;
        }
        Ok(())
    }

    /// The settings and hooks in a directory of git's own, and in the one that it shares with other working trees.
    fn git_directory(&mut self, git: &Path, tree: Option<&Path>) -> Result<(), GivenUp> {
        let common = self.text(git, "commondir").and_then(|path| self.directory(git, path.trim_end()));
        let places: Vec<PathBuf> = std::iter::once(git.to_path_buf()).chain(common).collect();
        let mut hooks = Vec::new();
        for place in &places {
            for file in implied_files::OF_GIT {
                self.word(place, file)?;
            }
            for settings in ["config", "config.worktree"] {
                hooks
                    .extend(self.text(place, settings).iter().flat_map(|text| implied_files::hooks_of(text)));
            }
        }
        // They count from the working tree's top, and that of a repository which a word names is where git begins.
        let tops: Vec<PathBuf> = match tree {
            Some(tree) => vec![tree.to_path_buf()],
            None => self.directories.iter().cloned().chain([git.to_path_buf()]).collect(),
        };
        for top in &tops {
            for path in &hooks {
                if let Some(found) = self.directory(top, path) {
                    self.word(&found, "*")?;
                }
            }
        }
        Ok(())
    }

    /// A directory of the workspace.
    fn directory(&self, from: &Path, path: &str) -> Option<PathBuf> {
        let located = self.workspace.resolve(from, path).ok()?;
        (located.inside && located.kind == Some(FileKind::Directory)).then_some(located.real)
    }

    /// What a file of the workspace says.
    fn text(&self, from: &Path, path: &str) -> Option<String> {
        let located = self.workspace.resolve(from, path).ok()?;
        if !located.inside || located.kind != Some(FileKind::File) {
            return None;
        }
        implied_files::text_of(self.workspace.open_read(&located).ok()?)
    }

    /// Whether something lies there.
    fn one(&mut self, directory: &Path, word: &str) -> bool {
        let Ok(located) = self.workspace.resolve(directory, word) else { return false };
        match located.kind {
            // Git runs none of the examples that it puts beside hooks.
            Some(FileKind::File) if is_example(&located.real) => {}
            Some(FileKind::File) if located.inside && !self.files.contains_key(&located.real) => {
                if self.files.len() >= FILES_MAX {
                    self.more = true;
                    return true;
                }
                // A file that cannot be read now is bound by its being there.
                let hash = self.workspace.open_read(&located).ok().and_then(|file| self.content(file).ok());
                self.files.insert(located.real, hash.unwrap_or_else(|| ContentHash::of(b"unreadable")));
            }
            // Of files outside none counts, but a way back in may begin there (`cd .. && sh ws/s.sh`).
            Some(FileKind::Directory) => {
                self.names_start |= self.directories.first() == Some(&located.real);
                if !self.directories.contains(&located.real) {
                    if self.directories.len() < DIRECTORIES_MAX {
                        self.directories.push(located.real);
                    } else {
                        self.more = true;
                    }
                }
            }
            _ => {}
        }
        located.kind.is_some()
    }

    fn content(&mut self, file: File) -> io::Result<ContentHash> {
        let meta = file.metadata()?;
        let hash =
            if meta.len() <= self.bytes { HashingReader::new(file).finish(HASHED_BYTES_MAX)? } else { None };
        self.bytes = self.bytes.saturating_sub(meta.len().min(HASHED_BYTES_MAX));
        Ok(hash.unwrap_or_else(|| {
            let stamp = (meta.ino(), meta.size(), meta.ctime(), meta.ctime_nsec());
            ContentHash::of(format!("{stamp:?}").as_bytes())
        }))
    }

    /// The paths with all directories beneath them.
    fn beneath(&mut self, directory: &Path, paths: &mut Vec<String>) -> Result<(), GivenUp> {
        let mut next = 0;
        while let Some(path) = paths.get(next).cloned() {
            next += 1;
            let Ok(entries) = std::fs::read_dir(directory.join(&path)) else { continue };
            for entry in entries.flatten() {
                self.patience.check()?;
                let Some(left) = self.names.checked_sub(1) else {
                    self.more = true;
                    return Ok(());
                };
                self.names = left;
                let name = entry.file_name();
                if let (true, Some(name)) = (entry.file_type().is_ok_and(|kind| kind.is_dir()), name.to_str())
                {
                    paths.push(joined(&path, name));
                }
            }
        }
        Ok(())
    }

    /// The paths that a pattern of names stands for, counted from the directory.
    fn matching(&mut self, directory: &Path, pattern: &str) -> Result<Vec<String>, GivenUp> {
        let mut paths = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            if part == "**" && self.deep {
                self.beneath(directory, &mut paths)?;
                continue;
            }
            let matcher = Some(part).filter(|part| is_pattern(part)).and_then(matcher);
            let Some(matcher) = matcher else {
                for path in &mut paths {
                    *path = joined(path, part);
                }
                continue;
            };
            let dotted = part.starts_with(['.', UNTOLD]);
            let mut found = Vec::new();
            for path in &paths {
                let Ok(entries) = std::fs::read_dir(directory.join(path)) else { continue };
                for entry in entries.flatten() {
                    self.patience.check()?;
                    let Some(left) = self.names.checked_sub(1) else {
                        self.more = true;
                        return Ok(Vec::new());
                    };
                    self.names = left;
                    let name = entry.file_name();
                    let shown = !name.as_encoded_bytes().starts_with(b".") || dotted;
                    if let (true, Some(name)) = (shown && matcher.is_match(&name), name.to_str()) {
                        found.push(joined(path, name));
                    }
                }
            }
            found.sort_unstable();
            paths = found;
        }
        Ok(paths)
    }
}

/// Shells in which `**` stands for directories however deep: bash with an option of that name, and others.
fn goes_deep(command: &str) -> bool {
    ["globstar", "zsh", "fish"].iter().any(|word| command.contains(word))
}

fn joined(path: &str, part: &str) -> String {
    if path.is_empty() || path.ends_with('/') { format!("{path}{part}") } else { format!("{path}/{part}") }
}

/// The path without its first name, its first two and so on.
fn ends(path: &str) -> impl Iterator<Item = &str> {
    let behind = path.match_indices('/').map(|(slash, _)| path[slash + 1..].trim_start_matches('/'));
    behind.filter(|end| !matches!(*end, "" | "." | ".."))
}

fn is_example(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "sample")
        && path.parent().is_some_and(|hooks| hooks.ends_with("hooks"))
}

fn is_pattern(word: &str) -> bool {
    word.contains(['*', '?', '[', UNTOLD])
}

/// The shell's pattern in whatever case, since `nocaseglob` may be set; none for an unfinished bracket, which it takes as
/// it is.
fn matcher(part: &str) -> Option<GlobMatcher> {
    let text = part.replace(UNTOLD, "*").replace(['{', '}'], "?");
    GlobBuilder::new(&text).case_insensitive(true).build().ok().map(|glob| glob.compile_matcher())
}
