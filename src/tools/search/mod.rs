//! Looking through many files: the walk that Glob and Grep share, what it skips, and how paths are shown.

mod ignored;
mod lines;
mod matches;
mod walk;

use std::path::Path;

use crate::domain::visible;

pub(super) use matches::{FileSearch, Found, Mode, Pattern};
pub(super) use walk::{SearchError, Skipped, Walk};

/// A number with its noun: `1 file`, `2 files`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A path as a model can use it again: relative to the working directory when it lies beneath, else absolute.
pub(super) fn shown_path(path: &Path, directory: &Path) -> String {
    let path = match path.strip_prefix(directory) {
        Ok(beneath) if !beneath.as_os_str().is_empty() => beneath,
        _ => path,
    };
    visible::one_line(&path.to_string_lossy())
}
