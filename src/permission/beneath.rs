//! What lies beneath directories: whether a rule hides any of it, whether there are symlinks.

use std::collections::HashSet;
use std::fs::FileType;
use std::io::ErrorKind;
use std::path::Path;

use super::commands::read_only::Targets;
use super::narrowing::Narrowing;
use super::shell::WordPath;
use super::subject::Place;
use crate::workspace::Workspace;

/// Most names that are looked at for one command; beyond that it is not known what is there.
const MAX_NAMES: usize = 20_000;
/// Directories deeper than this are not looked into.
const MAX_DEPTH: usize = 64;

/// What comes of a name that was met.
enum Next {
    /// It is nothing to the question, nor is what lies beneath it.
    Pass,
    /// If it is a directory, what lies beneath it counts.
    Enter,
    /// It answers the question.
    Stop,
}

/// Looks at the names beneath a path: `look` gets each with its kind, and how many directories lie between. Whether none
/// stopped it and every one was looked at, so many as are `left`.
fn nothing_stops(
    start: &Path,
    left: &mut usize,
    mut look: impl FnMut(&Path, FileType, usize) -> Next,
) -> bool {
    let mut pending = vec![(start.to_path_buf(), 0)];
    while let Some((directory, depth)) = pending.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if matches!(error.kind(), ErrorKind::NotADirectory | ErrorKind::NotFound) => continue,
            Err(_) => return false,
        };
        for entry in entries {
            let Some(fewer) = left.checked_sub(1) else { return false };
            *left = fewer;
            let Ok(entry) = entry else { return false };
            let Ok(kind) = entry.file_type() else { return false };
            let path = entry.path();
            match look(&path, kind, depth) {
                Next::Stop => return false,
                Next::Enter if kind.is_dir() => pending.push((path, depth + 1)),
                Next::Enter | Next::Pass => {}
            }
        }
    }
    true
}

/// Whether nothing at or beneath these real paths is hidden, as far as can be seen now: every name was looked at.
/// Symlinks count by their names, since what descends here does not follow them.
pub(super) fn is_clear<'p>(
    paths: impl IntoIterator<Item = &'p Path>,
    rules: Narrowing<'_>,
    place: &Place,
) -> bool {
    let mut left = MAX_NAMES;
    paths.into_iter().all(|start| {
        if rules.hides(start, place) {
            return false;
        }
        !rules.may_hide_beneath(start, place)
            || nothing_stops(start, &mut left, |path, kind, depth| {
                if rules.hides(path, place) || kind.is_dir() && depth >= MAX_DEPTH {
                    Next::Stop
                } else if rules.may_hide_beneath(path, place) {
                    Next::Enter
                } else {
                    Next::Pass
                }
            })
    })
}

/// Whether no path at or beneath the directories that the words mean is one that a rule speaks of, as far as can be seen now:
/// every name was looked at, and no symlink leads to what was not.
pub(super) fn holds_nothing_denied<'w>(
    words: impl IntoIterator<Item = &'w WordPath>,
    rules: Narrowing<'_>,
    place: &Place,
) -> bool {
    let starts: HashSet<(&Path, bool)> =
        words.into_iter().map(|word| (word.path.as_path(), word.may_edit)).collect();
    let mut left = MAX_NAMES;
    starts.into_iter().all(|(start, may_edit)| {
        // What a word means by its own is held against the rules as it is.
        let denied = |path: &Path| rules.speaks_of_word(path, may_edit, place);
        nothing_stops(start, &mut left, |path, kind, _| {
            if denied(path) || kind.is_symlink() && !leads_to_nothing_else(path, start, &denied) {
                Next::Stop
            } else {
                Next::Enter
            }
        })
    })
}

/// Whether a symlink leads to what is looked at anyway, beneath `start`, or to a file that no rule speaks of.
fn leads_to_nothing_else(link: &Path, start: &Path, denied: &dyn Fn(&Path) -> bool) -> bool {
    link.canonicalize().is_ok_and(|real| real.starts_with(start) || real.is_file() && !denied(&real))
}

/// Whether there is no symlink beneath these real paths, as far as can be seen now: every name was looked at.
pub(super) fn has_no_links<'p>(paths: impl IntoIterator<Item = &'p Path>) -> bool {
    let mut left = MAX_NAMES;
    let look = |_: &Path, kind: FileType, _| if kind.is_symlink() { Next::Stop } else { Next::Enter };
    paths.into_iter().all(|start| nothing_stops(start, &mut left, look))
}

/// Whether no symlink leads out of the workspace, as far as can be seen now, so many levels beneath these real paths: every
/// name was looked at.
pub(super) fn no_link_leads_out<'p>(
    paths: impl IntoIterator<Item = (&'p Path, &'p Targets)>,
    workspace: &Workspace,
) -> bool {
    let mut left = MAX_NAMES;
    let stays = |link: &Path| {
        let found = workspace.locate(workspace.root(), link);
        found.is_ok_and(|found| found.inside && !found.through_process)
    };
    paths.into_iter().all(|(start, targets)| {
        let passed_over =
            |path: &Path| targets.passed_over.iter().any(|name| path.file_name() == Some(name.as_ref()));
        nothing_stops(start, &mut left, |path, kind, depth| {
            if passed_over(path) {
                Next::Pass
            } else if kind.is_symlink() && !stays(path) {
                Next::Stop
            } else if depth + 1 < targets.levels {
                Next::Enter
            } else {
                Next::Pass
            }
        })
    })
}
