//! A walk over the files beneath a judged folder: in order, by descriptor, following no symlink, hiding what a
//! deny rule hides, and counting what it skips.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::path::Path;

use super::counted;
use super::ignored::{IGNORE_FILE, IgnoreRules};
use crate::permission::Hidden;
use crate::tools::blocking::{GivenUp, Patience};
use crate::workspace::{FileKind, ListEntry, Located, Workspace, WorkspaceError};

/// The deepest folder that is entered, counted from where the walk begins.
const DEPTH_MAX: usize = 128;
/// The most entries of one folder.
const FOLDER_ENTRIES_MAX: usize = 100_000;

/// Why a search gave no answer.
#[derive(Debug, thiserror::Error)]
pub(in crate::tools) enum SearchError {
    /// Cancelled, or out of time.
    #[error(transparent)]
    GivenUp(#[from] GivenUp),
    /// The folder to begin with cannot be listed.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
}

/// What a search left out, each kind counted. What a deny rule hides is not counted: it is as if not there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::tools) struct Skipped {
    /// Files and folders that a `.gitignore` names.
    pub(in crate::tools) ignored: u64,
    /// Symlinks that were not followed.
    pub(in crate::tools) links: u64,
    /// Pipes, sockets, devices.
    pub(in crate::tools) special: u64,
    /// Files and folders that could not be read.
    pub(in crate::tools) unreadable: u64,
    /// Folders too deep to be entered.
    pub(in crate::tools) too_deep: u64,
    /// Folders with more entries than are looked at.
    pub(in crate::tools) too_full: u64,
    /// Binary files.
    pub(in crate::tools) binary: u64,
    /// Files that were searched in part only, with the first reason.
    pub(in crate::tools) partly: u64,
    /// Why the first of `partly` was.
    pub(in crate::tools) partly_reason: Option<String>,
}

impl Skipped {
    /// A notice for the model; empty when nothing was skipped.
    pub(in crate::tools) fn notice(&self) -> String {
        let kinds = [
            (self.ignored, "ignored by .gitignore (include_ignored shows them)"),
            (self.binary, "binary"),
            (self.links, "symbolic links, not followed"),
            (self.special, "no regular files"),
            (self.unreadable, "not readable"),
            (self.too_deep, "folders too deep"),
            (self.too_full, "folders with too many entries, seen in part"),
        ];
        let parts: Vec<String> = kinds
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect();
        let mut text = String::new();
        if !parts.is_empty() {
            let _ = write!(text, "\n[Skipped: {}.]", parts.join("; "));
        }
        if self.partly > 0 {
            let reason = self.partly_reason.as_deref().unwrap_or_default();
            let _ = write!(text, "\n[Searched only in part: {}; {reason}]", counted(self.partly, "file"));
        }
        text
    }
}

/// How to walk.
pub(in crate::tools) struct Walk<'a> {
    /// The workspace that the folder was judged in.
    pub(in crate::tools) workspace: &'a Workspace,
    /// What must not be seen.
    pub(in crate::tools) hidden: &'a Hidden,
    /// How long.
    pub(in crate::tools) patience: &'a Patience,
    /// Goes into what `.gitignore` names, and into `.git`.
    pub(in crate::tools) include_ignored: bool,
}

struct Folder {
    place: Located,
    entries: VecDeque<ListEntry>,
    rules: IgnoreRules,
}

impl Walk<'_> {
    /// Calls `visit` for each regular file and each symlink beneath `top`, in order of name.
    pub(in crate::tools) fn files(
        &self,
        top: &Located,
        skipped: &mut Skipped,
        visit: &mut dyn FnMut(&Located, &mut Skipped) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        let above = if self.include_ignored {
            IgnoreRules::default()
        } else {
            IgnoreRules::down_to(self.workspace, top)
        };
        let mut open = vec![self.folder(top.clone(), above, skipped)?];
        loop {
            self.patience.check()?;
            let depth = open.len();
            let Some(folder) = open.last_mut() else { return Ok(()) };
            let Some(entry) = folder.entries.pop_front() else {
                open.pop();
                continue;
            };
            let place = folder.place.entry(&entry.name, entry.kind);
            let is_folder = entry.kind == FileKind::Directory;
            if self.is_hidden(&place) || (is_folder && entry.name == ".git" && !self.include_ignored) {
                continue;
            }
            if folder.rules.ignores(&place.real, is_folder) {
                skipped.ignored += 1;
                continue;
            }
            match entry.kind {
                FileKind::File | FileKind::Symlink => visit(&place, skipped)?,
                FileKind::Directory if depth >= DEPTH_MAX => skipped.too_deep += 1,
                FileKind::Directory => {
                    let rules = folder.rules.clone();
                    match self.folder(place, rules, skipped) {
                        Ok(folder) => open.push(folder),
                        Err(_) => skipped.unreadable += 1,
                    }
                }
                _ => skipped.special += 1,
            }
        }
    }

    /// Whether a deny rule covers the place as named, as it really lies, or, for a symlink, where it leads.
    pub(in crate::tools) fn is_hidden(&self, place: &Located) -> bool {
        if self.hidden.hides(&place.requested) || self.hidden.hides(&place.real) {
            return true;
        }
        place.kind == Some(FileKind::Symlink) && self.leads_to_hidden(place)
    }

    /// Where a symlink leads, followed to its end, or as far as its text alone says.
    fn leads_to_hidden(&self, link: &Located) -> bool {
        let (Some(folder), Ok(text)) = (link.real.parent(), self.workspace.link_target(link)) else {
            return false;
        };
        let at = |path: &Path| self.workspace.locate(folder, path).ok();
        let places = [at(&link.real), at(Path::new(&text))];
        places.iter().flatten().any(|to| self.hidden.hides(&to.requested) || self.hidden.hides(&to.real))
            || self.hidden.hides(&folder.join(&text))
    }

    fn folder(
        &self,
        place: Located,
        above: IgnoreRules,
        skipped: &mut Skipped,
    ) -> Result<Folder, WorkspaceError> {
        let listing = self.workspace.list(&place, FOLDER_ENTRIES_MAX)?;
        if listing.cut {
            skipped.too_full += 1;
        }
        let has_rules = listing.entries.iter().any(|entry| entry.name == IGNORE_FILE);
        let rules =
            if has_rules && !self.include_ignored { above.with(self.workspace, &place) } else { above };
        Ok(Folder { place, entries: listing.entries.into(), rules })
    }
}
