//! A walk over the files beneath a judged folder: in order, by descriptor, following no symlink, hiding what rules
//! hide, and counting what it skips.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use super::counted;
use super::ignored::{IGNORE_FILE, IgnoreRules};
use crate::permission::{Hidden, Veil};
use crate::tools::blocking::{GivenUp, Patience};
use crate::workspace::{FileKind, ListEntry, Located, OpenFolder, Workspace, WorkspaceError};

/// The deepest folder that is entered, counted from where the walk begins.
const DEPTH_MAX: usize = 128;
/// The most entries of one folder.
const FOLDER_ENTRIES_MAX: usize = 100_000;

/// What is said of what a rule asks about.
pub(in crate::tools) const UNASKED: &str = "that a rule asks about (a call that names them asks)";

/// The most entries that are handed on at once.
pub(super) const RUN_ENTRIES: usize = 64;

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
    /// Files and folders that a rule asks about, and nobody was asked.
    pub(in crate::tools) unasked: u64,
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
    /// Adds what a later part of the same search left out.
    pub(in crate::tools) fn add(&mut self, later: Self) {
        self.unasked += later.unasked;
        self.ignored += later.ignored;
        self.links += later.links;
        self.special += later.special;
        self.unreadable += later.unreadable;
        self.too_deep += later.too_deep;
        self.too_full += later.too_full;
        self.binary += later.binary;
        self.partly += later.partly;
        self.partly_reason = self.partly_reason.take().or(later.partly_reason);
    }

    /// A notice for the model; empty when nothing was skipped.
    pub(in crate::tools) fn notice(&self) -> String {
        let kinds = [
            (self.unasked, UNASKED),
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

/// A folder that was listed, with the ignore rules in force in it.
struct Listed {
    place: Located,
    rules: IgnoreRules,
}

/// Neighbours in one folder, in order of name, folders not among them.
pub(in crate::tools) struct Run {
    folder: Arc<Listed>,
    entries: Vec<ListEntry>,
}

/// A regular file or a symlink that may be shown.
pub(in crate::tools) struct Seen<'a> {
    /// Where it lies.
    pub(in crate::tools) place: Located,
    /// Its name in `folder`.
    pub(in crate::tools) name: &'a OsStr,
    /// What it lies in, held open.
    pub(in crate::tools) folder: &'a OpenFolder,
}

struct Folder {
    listed: Arc<Listed>,
    entries: VecDeque<ListEntry>,
}

impl Run {
    /// How many entries it has: at least one.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

impl Walk<'_> {
    /// Calls `hand_on` with all that lies beneath `top` and is no folder, in order of name. What it is handed has
    /// not been looked at: that is [`Self::sift`]'s part, which may be done elsewhere and later.
    pub(in crate::tools) fn runs(
        &self,
        top: &Located,
        skipped: &mut Skipped,
        hand_on: &mut dyn FnMut(Run) -> Result<(), SearchError>,
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
            let ends = |entry: &ListEntry| entry.kind == FileKind::Directory;
            let length = folder.entries.iter().take(RUN_ENTRIES).position(ends);
            let length = length.unwrap_or(folder.entries.len().min(RUN_ENTRIES));
            if length > 0 {
                let entries = folder.entries.drain(..length).collect();
                hand_on(Run { folder: Arc::clone(&folder.listed), entries })?;
                continue;
            }
            let Some(entry) = folder.entries.pop_front() else {
                open.pop();
                continue;
            };
            let place = folder.listed.place.entry(&entry.name, entry.kind);
            if let Some(veil) = self.veil(&place) {
                skipped.unasked += u64::from(veil == Veil::Unasked);
                continue;
            }
            if entry.name == ".git" && !self.include_ignored {
                continue;
            }
            if folder.listed.rules.ignores(&place.real, true) {
                skipped.ignored += 1;
            } else if depth >= DEPTH_MAX {
                skipped.too_deep += 1;
            } else {
                let rules = folder.listed.rules.clone();
                match self.folder(place, rules, skipped) {
                    Ok(folder) => open.push(folder),
                    Err(_) => skipped.unreadable += 1,
                }
            }
        }
    }

    /// Calls `visit` for each regular file and each symlink of a run that is neither hidden nor ignored.
    pub(in crate::tools) fn sift(
        &self,
        run: &Run,
        skipped: &mut Skipped,
        visit: &mut dyn FnMut(&Seen<'_>, &mut Skipped) -> Result<(), SearchError>,
    ) -> Result<(), SearchError> {
        self.patience.check()?;
        let Listed { place, rules } = &*run.folder;
        let folder = self.workspace.open_folder(place);
        for entry in &run.entries {
            let place = place.entry(&entry.name, entry.kind);
            if let Some(veil) = self.veil(&place) {
                skipped.unasked += u64::from(veil == Veil::Unasked);
                continue;
            }
            if rules.ignores(&place.real, false) {
                skipped.ignored += 1;
                continue;
            }
            match (entry.kind, &folder) {
                (FileKind::File | FileKind::Symlink, Ok(folder)) => {
                    visit(&Seen { place, name: &entry.name, folder }, skipped)?;
                }
                (FileKind::File | FileKind::Symlink, Err(_)) => skipped.unreadable += 1,
                _ => skipped.special += 1,
            }
        }
        Ok(())
    }

    /// Whether a rule hides the place as named, as it really lies, or, for a symlink, where it leads.
    pub(in crate::tools) fn veil(&self, place: &Located) -> Option<Veil> {
        let mut veils = [Veil::Denied, Veil::Unasked].into_iter();
        veils.find(|veil| self.hidden.may_hide_as(*veil) && self.is_hidden(place, *veil))
    }

    fn is_hidden(&self, place: &Located, veil: Veil) -> bool {
        let hides = |path: &Path| self.hidden.hides_as(veil, path);
        let named_otherwise = place.requested != place.real;
        if hides(&place.real) || (named_otherwise && hides(&place.requested)) {
            return true;
        }
        place.kind == Some(FileKind::Symlink) && self.leads_to_hidden(place, &hides)
    }

    /// Where a symlink leads, followed to its end, or as far as its text alone says.
    fn leads_to_hidden(&self, link: &Located, hides: &dyn Fn(&Path) -> bool) -> bool {
        let (Some(folder), Ok(text)) = (link.real.parent(), self.workspace.link_target(link)) else {
            return false;
        };
        let at = |path: &Path| self.workspace.locate(folder, path).ok();
        let places = [at(&link.real), at(Path::new(&text))];
        places.iter().flatten().any(|to| hides(&to.requested) || hides(&to.real))
            || hides(&folder.join(&text))
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
        Ok(Folder { listed: Arc::new(Listed { place, rules }), entries: listing.entries.into() })
    }
}
