//! Whether the repositories that git would find have only plain settings.

use std::io::Read as _;
use std::path::Path;

use super::commands::git;
use super::shell::CommandAnalysis;
use crate::workspace::{FileKind, Located, Workspace};

/// The longest settings that are looked at, in bytes.
const MAX_SETTINGS: u64 = 256 * 1024;
/// The longest index that is looked at, in bytes: some 300,000 files.
const MAX_INDEX: u64 = 32 * 1024 * 1024;

/// Whether each repository that a git of the text would find from where it may start is plain. `false` too where no
/// git is in it.
pub(super) fn all_plain(analysis: &CommandAnalysis, workspace: &Workspace, directory: &Path) -> bool {
    let mut any = false;
    for start in analysis.reads_by_git().flat_map(super::shell::Leaf::directories) {
        any = true;
        let found = workspace.locate(directory, &directory.join(start));
        if !found.is_ok_and(|start| start.inside && is_plain(workspace, &start.real).unwrap_or(false)) {
            return false;
        }
    }
    any
}

/// Whether the nearest `.git` from the directory upwards lies in the workspace, is a directory by itself, and has
/// only plain settings. `None`: something in it cannot be read.
fn is_plain(workspace: &Workspace, start: &Path) -> Option<bool> {
    for directory in start.ancestors().take_while(|above| above.starts_with(workspace.root())) {
        let found = entry(workspace, directory, ".git")?;
        match found.kind {
            None => continue,
            Some(FileKind::Directory) if found.real == directory.join(".git") => {}
            Some(_) => return Some(false),
        }
        let git = found.real;
        if entry(workspace, &git, "commondir")?.kind.is_some() {
            return Some(false);
        }
        let settings = String::from_utf8(read(workspace, &git, "config", MAX_SETTINGS)?).ok()?;
        let of_worktree = String::from_utf8(read(workspace, &git, "config.worktree", MAX_SETTINGS)?).ok()?;
        let index = read(workspace, &git, "index", MAX_INDEX)?;
        // The name of the other hash stands in the settings, in whatever spelling.
        let sha256 = settings.to_ascii_lowercase().contains("sha256");
        return Some(
            git::config_is_plain(&settings)
                && git::config_is_plain(&of_worktree)
                && (index.is_empty() || git::index_is_plain(&index, sha256)),
        );
    }
    // What git finds further up is none of the workspace's.
    Some(false)
}

fn entry(workspace: &Workspace, directory: &Path, name: &str) -> Option<Located> {
    workspace.locate(directory, &directory.join(name)).ok()
}

/// The content of a file in the repository, none where there is no such file. `None`: it is no regular file, a
/// symlink leads to it, or it is longer than `most`.
fn read(workspace: &Workspace, git: &Path, name: &str, most: u64) -> Option<Vec<u8>> {
    let found = entry(workspace, git, name)?;
    if found.kind.is_none() && found.real == git.join(name) {
        return Some(Vec::new());
    }
    if found.real != git.join(name) {
        return None;
    }
    let mut content = Vec::new();
    let read = workspace.open_read(&found).ok()?.take(most + 1).read_to_end(&mut content).ok()?;
    (u64::try_from(read).ok()? <= most).then_some(content)
}
