//! From a patch and the files it names to what has to be done: the same plan is shown, judged and carried out.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::patch::{Action, Hunk, Patch};
use super::place::place;
use crate::domain::result::ToolError;
use crate::permission::Hidden;
use crate::tools::blocking::failure;
use crate::tools::search::counted;
use crate::tools::suggest::missing_file;
use crate::tools::text::{EDITABLE_BYTES, diff_path, unified, unified_move};
use crate::workspace::{ContentHash, FileChange, Located, TextError, TextFile, Workspace};

/// The most bytes of all files of a patch together: they are loaded whole.
const TOTAL_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most bytes of all diffs together; what is beyond is named only.
const DIFF_BYTES_MAX: usize = 256 * 1024;

/// A path of the patch, where it leads.
pub(super) struct Place {
    /// The path for messages.
    pub(super) shown: String,
    pub(super) located: Located,
    /// The hash of what the session last saw there.
    pub(super) seen: Option<ContentHash>,
    /// The path itself is a symlink.
    pub(super) is_link: bool,
}

/// What is to be done.
#[derive(Default)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    /// Every file with the content that the plan was made for; none where there was no file.
    pub(super) files: Vec<(PathBuf, Option<ContentHash>)>,
    /// A unified diff of all files.
    pub(super) diff: String,
    /// A line on each file, for the model.
    pub(super) summary: Vec<String>,
}

/// One [`FileChange`], owned.
pub(super) enum Step {
    Create { at: Located, bytes: Vec<u8> },
    Replace { at: Located, old: Vec<u8>, new: Vec<u8> },
    Remove { at: Located, old: ContentHash },
    Move { from: Located, to: Located, content: ContentHash },
}

impl Step {
    pub(super) fn change(&self) -> FileChange<'_> {
        match self {
            Self::Create { at, bytes } => FileChange::Create { at, bytes },
            Self::Replace { at, old, new } => FileChange::Replace { at, old, new },
            Self::Remove { at, old } => FileChange::Remove { at, old: *old },
            Self::Move { from, to, content } => FileChange::Move { from, to, content: *content },
        }
    }

    /// The file with its content after the step; none when it is gone.
    pub(super) fn leaves(&self) -> Option<(&Located, ContentHash)> {
        match self {
            Self::Create { at, bytes } | Self::Replace { at, new: bytes, .. } => {
                Some((at, ContentHash::of(bytes)))
            }
            Self::Move { to, content, .. } => Some((to, *content)),
            Self::Remove { .. } => None,
        }
    }
}

/// A file as it is.
struct Content {
    bytes: Vec<u8>,
    hash: ContentHash,
    text: Result<TextFile, TextError>,
}

/// Makes plans for one workspace.
pub(super) struct Planner<'a> {
    pub(super) workspace: &'a Workspace,
    /// What must not be seen in suggestions.
    pub(super) hidden: &'a Hidden,
}

impl Planner<'_> {
    /// The plan of a patch whose paths lead to these places, in the order of [`Patch::paths`].
    pub(super) fn plan(&self, patch: &Patch, places: Vec<Place>) -> Result<Plan, ToolError> {
        let mut once = HashSet::new();
        if let Some(twice) = places.iter().find(|place| !once.insert(place.located.real.clone())) {
            return refuse(format!(
                "{} is named twice in the patch. Put all that becomes of a file into one section.",
                twice.shown
            ));
        }
        let (mut plan, mut total) = (Plan::default(), 0);
        let mut places = places.into_iter();
        let mut next =
            || places.next().ok_or_else(|| ToolError::Internal("a path has no judged place".to_owned()));
        for section in &patch.sections {
            let place = next()?;
            match &section.action {
                Action::Add(content) => self.add(&mut plan, place, content)?,
                Action::Delete(hunks) => {
                    let file = self.load(&place, &mut total)?;
                    self.delete(&mut plan, place, &file, hunks)?;
                }
                Action::Update { move_to, hunks } => {
                    let to = if move_to.is_some() { Some(next()?) } else { None };
                    let file = self.load(&place, &mut total)?;
                    self.update(&mut plan, place, file, to, hunks)?;
                }
            }
        }
        Ok(plan)
    }

    fn add(&self, plan: &mut Plan, place: Place, content: &str) -> Result<(), ToolError> {
        must_be_free(&place, "To change it, update it")?;
        plan.diff(&place.shown, || unified(&self.name(&place.located), None, Some(content)));
        plan.summary.push(format!("A {} ({})", place.shown, counted(content.lines().count() as u64, "line")));
        plan.files.push((place.located.real.clone(), None));
        plan.steps.push(Step::Create { at: place.located, bytes: content.as_bytes().to_vec() });
        Ok(())
    }

    fn delete(&self, plan: &mut Plan, place: Place, file: &Content, hunks: &[Hunk]) -> Result<(), ToolError> {
        must_not_be_link(&place)?;
        let changed = has_changed(&place, file)?;
        if hunks.is_empty() {
            must_be_unchanged(&place, changed)?;
        } else {
            let left = new_text(&place, file, hunks, changed)?.1;
            if !left.is_empty() {
                let lines = counted(left.lines().count() as u64, "line");
                return refuse(format!(
                    "{} is to be deleted, but its hunks leave {lines} in it.",
                    place.shown
                ));
            }
        }
        let name = self.name(&place.located);
        plan.diff(&place.shown, || match &file.text {
            Ok(text) => unified(&name, Some(&text.text), None),
            Err(_) => {
                format!("Binary files a/{} and /dev/null differ\n", crate::domain::visible::one_line(&name))
            }
        });
        plan.summary.push(format!("D {}", place.shown));
        plan.files.push((place.located.real.clone(), Some(file.hash)));
        plan.steps.push(Step::Remove { at: place.located, old: file.hash });
        Ok(())
    }

    fn update(
        &self,
        plan: &mut Plan,
        place: Place,
        file: Content,
        to: Option<Place>,
        hunks: &[Hunk],
    ) -> Result<(), ToolError> {
        let changed = has_changed(&place, &file)?;
        if let Some(to) = &to {
            must_not_be_link(&place)?;
            must_be_free(to, "Delete it first, or choose another name")?;
        }
        let new = if hunks.is_empty() {
            must_be_unchanged(&place, changed)?;
            None
        } else {
            let (form, new) = new_text(&place, &file, hunks, changed)?;
            if new == form.text && to.is_none() {
                return refuse(format!("The patch changes nothing in {}.", place.shown));
            }
            Some((form.encode(&new), new))
        };
        let since =
            if changed { "; it had changed since it was read, but each hunk had one place" } else { "" };
        let hunks_said = counted(hunks.len() as u64, "hunk");
        let old_text = file.text.as_ref().map_or("", |text| text.text.as_str());
        let new_text = new.as_ref().map_or(old_text, |(_, text)| text.as_str());
        let name = self.name(&place.located);
        plan.files.push((place.located.real.clone(), Some(file.hash)));
        match &to {
            None => {
                plan.diff(&place.shown, || unified(&name, Some(old_text), Some(new_text)));
                plan.summary.push(format!("M {} ({hunks_said}{since})", place.shown));
            }
            Some(to) => {
                let new_name = self.name(&to.located);
                plan.diff(&place.shown, || unified_move((&name, old_text), (&new_name, new_text)));
                plan.summary.push(format!("R {} -> {} ({hunks_said}{since})", place.shown, to.shown));
                plan.files.push((to.located.real.clone(), None));
            }
        }
        let mut content = file.hash;
        if let Some((bytes, _)) = new.filter(|(bytes, _)| *bytes != file.bytes) {
            content = ContentHash::of(&bytes);
            plan.steps.push(Step::Replace { at: place.located.clone(), old: file.bytes, new: bytes });
        }
        if let Some(to) = to {
            plan.steps.push(Step::Move { from: place.located, to: to.located, content });
        }
        Ok(())
    }

    fn load(&self, place: &Place, total: &mut u64) -> Result<Content, ToolError> {
        if place.located.kind.is_none() {
            return Err(missing_file(self.workspace, &place.located, self.hidden, &place.shown));
        }
        let bytes =
            self.workspace.read_whole(&place.located, EDITABLE_BYTES).map_err(|error| failure(&error))?;
        *total += bytes.len() as u64;
        if *total > TOTAL_BYTES_MAX {
            return refuse(format!(
                "The files of the patch have more than {} MiB together. Send it in parts.",
                TOTAL_BYTES_MAX / 1024 / 1024
            ));
        }
        Ok(Content { hash: ContentHash::of(&bytes), text: TextFile::decode(&bytes), bytes })
    }

    fn name(&self, located: &Located) -> String {
        diff_path(self.workspace, &located.real)
    }
}

impl Plan {
    fn diff(&mut self, shown: &str, of_file: impl FnOnce() -> String) {
        if self.diff.len() > DIFF_BYTES_MAX {
            let _ = writeln!(self.diff, "[the diff of {shown} is not shown]");
        } else {
            self.diff.push_str(&of_file());
        }
    }
}

fn refuse<T>(text: String) -> Result<T, ToolError> {
    Err(ToolError::Execution(text))
}

fn must_be_free(place: &Place, advice: &str) -> Result<(), ToolError> {
    match place.located.kind {
        None => Ok(()),
        Some(_) => refuse(format!("{} exists already. {advice}.", place.shown)),
    }
}

/// What a symlink leads to is changed through it, but not removed or moved: the link is what would be meant.
fn must_not_be_link(place: &Place) -> Result<(), ToolError> {
    if place.is_link {
        return refuse(format!(
            "{} is a symbolic link: patches delete and move only regular files. Use Bash (rm, mv).",
            place.shown
        ));
    }
    Ok(())
}

/// Whether the content is another one than the session saw; an error when it saw none.
fn has_changed(place: &Place, file: &Content) -> Result<bool, ToolError> {
    match place.seen {
        Some(seen) => Ok(seen != file.hash),
        None => refuse(format!(
            "{} has not been read in this session. Read it first, then patch it.",
            place.shown
        )),
    }
}

fn must_be_unchanged(place: &Place, changed: bool) -> Result<(), ToolError> {
    if changed {
        return refuse(format!("{} has changed since it was read. Read it again.", place.shown));
    }
    Ok(())
}

/// The file's form and its text with the hunks in it.
fn new_text<'a>(
    place_of: &Place,
    file: &'a Content,
    hunks: &[Hunk],
    changed: bool,
) -> Result<(&'a TextFile, String), ToolError> {
    let shown = &place_of.shown;
    let form = file.text.as_ref().map_err(|error| {
        let size = file.bytes.len();
        ToolError::Execution(format!("{shown} cannot be changed as text: {error} ({size} bytes)"))
    })?;
    let new = place(&form.text, hunks, changed)
        .map_err(|error| ToolError::Execution(format!("Nothing was applied: {shown}, {error}")))?;
    Ok((form, new))
}
