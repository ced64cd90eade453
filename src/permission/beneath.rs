//! What lies beneath directories: whether a rule hides any of it, whether there are symlinks.

use std::collections::HashSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::commands::read_only::Targets;
use super::policy::Policy;
use super::shell::WordPath;
use super::subject::Place;
use crate::workspace::Workspace;

/// Most names that are looked at for one command; beyond that it is not known what is there.
const MAX_NAMES: usize = 20_000;
/// Directories deeper than this are not looked into.
const MAX_DEPTH: usize = 64;

/// Whether nothing at or beneath these real paths is hidden, as far as can be seen now: every name was looked at.
/// Symlinks count by their names, since what descends here does not follow them.
pub(super) fn is_clear<'p>(
    paths: impl IntoIterator<Item = &'p Path>,
    policy: &Policy,
    place: &Place,
) -> bool {
    let mut pending: Vec<(PathBuf, usize)> = paths.into_iter().map(|path| (path.to_path_buf(), 0)).collect();
    let mut left = MAX_NAMES;
    while let Some((path, depth)) = pending.pop() {
        if policy.hides(&path, place) {
            return false;
        }
        if !policy.may_hide_beneath(&path, place) {
            continue;
        }
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => continue,
            Err(_) => return false,
        };
        for entry in entries {
            let Some(fewer) = left.checked_sub(1) else { return false };
            left = fewer;
            let Ok(entry) = entry else { return false };
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => pending.push((path, depth + 1)),
                Ok(kind) if !kind.is_dir() && !policy.hides(&path, place) => {}
                _ => return false,
            }
        }
    }
    true
}

/// Whether no path at or beneath the directories that the words mean is one that a rule denies, as far as can be seen now:
/// every name was looked at, and no symlink leads to what was not.
pub(super) fn holds_nothing_denied<'w>(
    words: impl IntoIterator<Item = &'w WordPath>,
    policy: &Policy,
    place: &Place,
) -> bool {
    let starts: HashSet<(&Path, bool)> =
        words.into_iter().map(|word| (word.path.as_path(), word.may_edit)).collect();
    let mut left = MAX_NAMES;
    for (start, may_edit) in starts {
        let denied = |path: &Path| policy.denies_word(path, may_edit, place);
        // What a word means by its own is held against the rules as it is.
        let mut pending = vec![start.to_path_buf()];
        while let Some(directory) = pending.pop() {
            let entries = match std::fs::read_dir(&directory) {
                Ok(entries) => entries,
                Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => {
                    continue;
                }
                Err(_) => return false,
            };
            for entry in entries {
                let Some(fewer) = left.checked_sub(1) else { return false };
                left = fewer;
                let Ok(entry) = entry else { return false };
                let path = entry.path();
                let Ok(kind) = entry.file_type() else { return false };
                if denied(&path) || kind.is_symlink() && !leads_to_nothing_else(&path, start, &denied) {
                    return false;
                }
                if kind.is_dir() {
                    pending.push(path);
                }
            }
        }
    }
    true
}

/// Whether a symlink leads to what is looked at anyway, beneath `start`, or to a file that no rule speaks of.
fn leads_to_nothing_else(link: &Path, start: &Path, denied: &dyn Fn(&Path) -> bool) -> bool {
    link.canonicalize().is_ok_and(|real| real.starts_with(start) || real.is_file() && !denied(&real))
}

/// Whether there is no symlink beneath these real paths, as far as can be seen now: every name was looked at.
pub(super) fn has_no_links<'p>(paths: impl IntoIterator<Item = &'p Path>) -> bool {
    let mut pending: Vec<PathBuf> = paths.into_iter().map(Path::to_path_buf).collect();
    let mut left = MAX_NAMES;
    while let Some(path) = pending.pop() {
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => continue,
            Err(_) => return false,
        };
        for entry in entries {
            let Some(fewer) = left.checked_sub(1) else { return false };
            left = fewer;
            let Ok(entry) = entry else { return false };
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => return false,
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
    true
}

/// Whether no symlink leads out of the workspace, as far as can be seen now, so many levels beneath these real paths: every
/// name was looked at.
pub(super) fn no_link_leads_out<'p>(
    paths: impl IntoIterator<Item = (&'p Path, &'p Targets)>,
    workspace: &Workspace,
) -> bool {
    let mut pending: Vec<(PathBuf, usize, &[String])> = paths
        .into_iter()
        .map(|(path, targets)| (path.to_path_buf(), targets.levels, targets.passed_over.as_slice()))
        .collect();
    let mut left = MAX_NAMES;
    while let Some((directory, levels, passed_over)) = pending.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => continue,
            Err(_) => return false,
        };
        for entry in entries {
            let Some(fewer) = left.checked_sub(1) else { return false };
            left = fewer;
            let Ok(entry) = entry else { return false };
            let path = entry.path();
            if passed_over.iter().any(|name| entry.file_name() == name.as_str()) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_symlink() => {
                    let found = workspace.locate(&directory, &path);
                    if !found.is_ok_and(|found| found.inside && !found.through_process) {
                        return false;
                    }
                }
                Ok(kind) if kind.is_dir() && levels > 1 => pending.push((path, levels - 1, passed_over)),
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
    true
}
