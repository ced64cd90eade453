//! What a command that copies or moves puts into directories: paths that its words do not spell.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::commands::copies::{Copy, MAX};
use super::lexical;
use super::located;
use super::narrowing::Narrowing;
use super::protected;
use super::shell::{CommandAnalysis, WordPath};
use super::subject::{OnDisk, Place};
use crate::workspace::{FileKind, Located, Workspace};

/// Most names that are looked at for one text, and most paths that are told.
const MAX_NAMES: usize = 20_000;
const MAX_FOUND: usize = 1024;
/// Most words for what is copied that are looked at, of all commands of a text.
const MAX_SOURCES: usize = 1024;
/// Directories deeper than this are not looked into.
const MAX_DEPTH: usize = 64;

/// Finds out which paths the copies of a text make or change.
pub(super) fn locate(
    analysis: &CommandAnalysis,
    workspace: &Workspace,
    place: &Place,
    rules: &[Narrowing<'_>],
    on_disk: &mut OnDisk,
) {
    let copies = analysis.copies(place);
    if copies.is_empty() {
        return;
    }
    let mut copying = Copying {
        workspace,
        place,
        rules,
        names: MAX_NAMES,
        sources: MAX_SOURCES,
        untold: copies.len() > MAX,
        lost: false,
        found: HashSet::new(),
        on_disk,
    };
    for (copy, open, starts) in copies.iter().take(MAX) {
        for start in starts {
            copying.copy(copy, *open, &Place { cwd: start.clone(), ..place.clone() });
        }
    }
    let (untold, lost) = (copying.untold, copying.lost);
    on_disk.copies_untold |= untold;
    on_disk.words_located &= !lost;
}

struct Copying<'a> {
    workspace: &'a Workspace,
    place: &'a Place,
    rules: &'a [Narrowing<'a>],
    /// So many names may still be looked at.
    names: usize,
    /// So many words for what is copied may still be looked at.
    sources: usize,
    /// Not all was looked at.
    untold: bool,
    /// It is not known where a path leads.
    lost: bool,
    found: HashSet<(PathBuf, PathBuf)>,
    on_disk: &'a mut OnDisk,
}

/// A directory on the way down, and what its names become.
struct Level {
    from: PathBuf,
    /// As it is spelt.
    to: PathBuf,
    /// Where that leads, if it is there.
    real: Option<PathBuf>,
    depth: usize,
}

impl Copying<'_> {
    fn copy(&mut self, copy: &Copy, open: bool, here: &Place) {
        let target = here.word_target(&copy.target);
        let Some(there) = self.located(&target) else { return };
        let is_directory = there.kind == Some(FileKind::Directory);
        let into = !copy.onto && (copy.into || is_directory);
        if open && into {
            self.links_in(&target, &there.real);
        }
        let mut seen = HashSet::new();
        for source in copy.sources.iter().filter(|source| seen.insert(*source)) {
            let Some(left) = self.sources.checked_sub(1) else {
                self.untold = true;
                return;
            };
            self.sources = left;
            let name = lexical::file_name(source.trim_end_matches('/'));
            if is_untold(source) {
                if into {
                    self.links_in(&target, &there.real);
                }
                // What a pattern of names stands for lies in the directory before it.
                let parent = source.strip_suffix(name).filter(|parent| !is_untold(parent));
                if let Some(parent) = parent.filter(|_| copy.recursive) {
                    self.tree(&here.word_target(parent), target.clone(), copy, Some(name));
                }
                continue;
            }
            let merges = matches!(name, "" | "." | "..") || copy.slash_merges && source.ends_with('/');
            let mut to = target.clone();
            if into && copy.parents {
                to.extend(source.split('/').filter(|part| !matches!(*part, "" | "." | "..")));
            } else if into && !merges {
                to.push(name);
            }
            if to != target {
                self.put(&to);
            }
            if copy.recursive {
                self.tree(&here.word_target(source), to, copy, None);
            }
        }
    }

    /// A path that is made or changed, as spelt and as where it leads.
    fn put(&mut self, written: &Path) {
        let Some(located) = self.located(written) else { return };
        self.tell(written, self.place.resolve(written), true);
        self.tell(written, located.real, true);
    }

    /// `named`: the words name it, and it is not only found by looking beneath what they name.
    fn tell(&mut self, written: &Path, path: PathBuf, named: bool) {
        let written = written.to_path_buf();
        if self.found.len() >= MAX_FOUND {
            self.untold = true;
        } else if self.found.insert((written.clone(), path.clone())) {
            let word =
                WordPath { path, written, may_edit: true, descends: false, directory: false, sweeps: false };
            if named { self.on_disk.copied.push(word) } else { self.on_disk.may_lead.push(word) }
        }
    }

    /// Whichever links lie in a directory: one of them may be what a name that is not told leads through.
    fn links_in(&mut self, written: &Path, directory: &Path) {
        let Ok(entries) = std::fs::read_dir(directory) else { return };
        for entry in entries {
            let Some(entry) = self.next(entry) else { return };
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                let written = written.join(entry.file_name());
                let Some(located) = self.located(&written) else { continue };
                if self.on_disk.may_lead.len() >= MAX_FOUND {
                    self.untold = true;
                    return;
                }
                let path = located.real;
                let word = WordPath {
                    path,
                    written,
                    may_edit: true,
                    descends: false,
                    directory: false,
                    sweeps: false,
                };
                self.on_disk.may_lead.push(word);
            }
        }
    }

    /// All that lies beneath a source, by the names that it gets. A tree that is copied whole to where nothing is yet
    /// brings no file under the eyes of what obeys it that was not there before, unless it comes from outside.
    /// `pattern`: of the names in the directory itself those count that it may stand for.
    fn tree(&mut self, from: &Path, to: PathBuf, copy: &Copy, pattern: Option<&str>) {
        let (Some(source), Some(target)) = (self.located(from), self.located(&to)) else { return };
        if source.kind != Some(FileKind::Directory) {
            return;
        }
        let inside = |located: &Located| located.real.starts_with(&self.place.workspace);
        let obeyed = target.kind.is_some() || inside(&target) && !inside(&source);
        if !obeyed && !self.rules.iter().any(|rules| rules.guards_paths()) {
            return;
        }
        let real = (target.kind == Some(FileKind::Directory)).then_some(target.real);
        let mut pending = vec![Level { from: source.real, to, real, depth: 0 }];
        while let Some(level) = pending.pop() {
            let Ok(entries) = std::fs::read_dir(&level.from) else {
                self.untold = true;
                continue;
            };
            for entry in entries {
                let Some(entry) = self.next(entry) else { return };
                let name = entry.file_name();
                let meant = level.depth > 0 || pattern.is_none_or(|pattern| may_stand_for(pattern, &name));
                if !meant || copy.excluded.iter().any(|out| OsStr::new(out.trim_matches('/')) == name) {
                    continue;
                }
                let Some(real) = self.entry(&level, &name, obeyed) else { continue };
                let path = entry.path();
                let kind = entry.file_type();
                let is_directory = kind.as_ref().is_ok_and(std::fs::FileType::is_dir)
                    || copy.follows
                        && kind.is_ok_and(|kind| kind.is_symlink())
                        && self.located(&path).is_some_and(|found| found.kind == Some(FileKind::Directory));
                if is_directory && level.depth >= MAX_DEPTH {
                    self.untold = true;
                } else if is_directory {
                    let (to, depth) = (level.to.join(&name), level.depth + 1);
                    pending.push(Level { from: path, to, real, depth });
                }
            }
        }
    }

    /// Tells what a name of a tree becomes, where that is protected, spoken of by a rule, or led elsewhere by a link.
    /// What that is the real directory of, if it is there; none where nothing beneath it matters any more.
    #[expect(clippy::option_option, reason = "what is not there yet has names beneath it, too")]
    fn entry(&mut self, level: &Level, name: &OsStr, obeyed: bool) -> Option<Option<PathBuf>> {
        let written = level.to.join(name);
        let spelt = self.place.resolve(&written);
        let mut real = level.real.as_ref().map(|real| real.join(name));
        if let Some(path) = &real {
            match std::fs::symlink_metadata(path) {
                Ok(found) if found.is_symlink() => {
                    let located = self.located(path)?;
                    self.tell(&written, located.real.clone(), false);
                    real = (located.kind == Some(FileKind::Directory)).then_some(located.real);
                }
                Ok(found) if found.is_dir() => {}
                _ => real = None,
            }
        }
        let through = level.real.as_ref().map(|real| real.join(name)).filter(|path| *path != spelt);
        for path in std::iter::once(spelt).chain(through) {
            if obeyed && protected::protected_name(&path, self.place).is_some() {
                self.tell(&written, path, false);
                return None;
            }
            if self.rules.iter().any(|rules| rules.guards(&path, self.place)) {
                self.tell(&written, path, false);
            }
        }
        Some(real)
    }

    fn next(&mut self, entry: std::io::Result<std::fs::DirEntry>) -> Option<std::fs::DirEntry> {
        let (Some(left), Ok(entry)) = (self.names.checked_sub(1), entry) else {
            self.untold = true;
            return None;
        };
        self.names = left;
        Some(entry)
    }

    fn located(&mut self, path: &Path) -> Option<Located> {
        let found = located::find(self.workspace, &self.place.cwd, path);
        self.lost |= found.is_err();
        found.ok().flatten()
    }
}

const UNTOLD: [char; 6] = ['*', '?', '[', '{', '$', '`'];

/// Whether the shell, or another program, puts the name there.
fn is_untold(word: &str) -> bool {
    word.contains(UNTOLD)
}

/// Whether a pattern of names may stand for a name, by how it begins.
fn may_stand_for(pattern: &str, name: &OsStr) -> bool {
    let beginning = pattern.split(UNTOLD).next().unwrap_or_default();
    let name = name.as_encoded_bytes();
    let hides = name.starts_with(b".") && pattern.starts_with(['*', '?', '[']);
    name.starts_with(beginning.as_bytes()) && !hides
}
