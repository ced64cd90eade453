//! "Did you mean" for a file that is not there.

use std::path::Path;

use crate::domain::result::ToolError;
use crate::domain::visible;
use crate::permission::Hidden;
use crate::workspace::{FileKind, Located, Workspace};

/// How many names of the folder are compared.
const NAMES_MAX: usize = 2_000;
/// How many are suggested.
const SUGGESTIONS_MAX: usize = 3;
/// From 0 (nothing alike) to 1 (equal).
const ALIKE: f32 = 0.6;

/// The error for a missing file. Names are suggested only from inside the workspace, and none that is hidden.
pub(super) fn missing_file(
    workspace: &Workspace,
    located: &Located,
    hidden: &Hidden,
    shown: &str,
) -> ToolError {
    let mut text = format!("{shown} does not exist.");
    if located.inside && !hidden.hides(&located.requested) && !hidden.hides(&located.real) {
        text.push_str(&advice(workspace, located, hidden));
    }
    ToolError::Execution(text)
}

fn advice(workspace: &Workspace, located: &Located, hidden: &Hidden) -> String {
    let root = workspace.root();
    let Some(folder) = located.real.ancestors().skip(1).find(|path| path.is_dir() && path.starts_with(root))
    else {
        return String::new();
    };
    let Ok(place) = workspace.locate(root, folder) else { return String::new() };
    let Ok(listing) = workspace.list(&place, NAMES_MAX) else { return String::new() };
    let Ok(rest) = located.real.strip_prefix(folder) else { return String::new() };
    let Some(wanted) = rest.components().next().and_then(|part| part.as_os_str().to_str()) else {
        return String::new();
    };
    let folder_is_meant = rest.components().nth(1).is_some();
    let names: Vec<&str> = listing
        .entries
        .iter()
        .filter(|entry| !folder_is_meant || entry.kind == FileKind::Directory)
        .filter(|entry| {
            let path = place.real.join(&entry.name);
            let target = workspace.locate(root, &path).map(|target| target.real);
            !hidden.hides(&path) && target.is_ok_and(|target| !hidden.hides(&target))
        })
        .filter_map(|entry| entry.name.to_str())
        .collect();
    let mut alike = similar::get_close_matches(wanted, &names, SUGGESTIONS_MAX, ALIKE);
    let same_letters = |name: &&&str| {
        let stem = |name: &str| Path::new(name).file_stem().map(std::ffi::OsStr::to_ascii_lowercase);
        stem(name) == stem(wanted) && !alike.contains(*name)
    };
    let more: Vec<&str> = names.iter().filter(same_letters).copied().collect();
    alike.extend(more);
    alike.truncate(SUGGESTIONS_MAX);
    let suggestions: Vec<String> =
        alike.iter().map(|name| visible::one_line(&folder.join(name).to_string_lossy())).collect();
    let folder_said = if folder_is_meant {
        format!(" Its folder does not exist either; {} does.", visible::one_line(&folder.to_string_lossy()))
    } else {
        String::new()
    };
    match suggestions.as_slice() {
        [] => folder_said,
        some => format!("{folder_said} Did you mean {}?", some.join(" or ")),
    }
}
