//! What has to be hidden so that a file stays hidden when it is replaced: its folder, where that is its own.
//!
//! A file of the server's (config, tokens) is replaced while commands run: an editor renames a new one over it,
//! Kubernetes swaps a link to a new folder. What a command may reach is fixed when it starts, and by then the new
//! file may lie there under another name. So the whole folder is hidden, unless commands need what else is in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::config::reach::{Hop, HopKind, way_to};

/// Folders that belong to the system as a whole, with all that is beneath.
const SYSTEM_TREES: [&str; 8] = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/sys", "/dev"];
/// Folders that many programs keep theirs in: what lies directly beneath is shared, too.
const SHARED_PARENTS: [&str; 2] = ["/var", "/home"];

/// Paths to hide for these files, absolute and without links: folders where they are the files' own, else the
/// files alone. `needed` are paths that commands need. Does a few look-ups for each file.
pub fn cover(files: &[PathBuf], needed: &[PathBuf]) -> Vec<PathBuf> {
    let mut hidden = Vec::new();
    for file in files {
        for hop in way_to(file) {
            hidden.extend(hide_at(&hop, file.file_name(), needed));
        }
    }
    outermost(hidden)
}

fn hide_at(hop: &Hop, name: Option<&OsStr>, needed: &[PathBuf]) -> Option<PathBuf> {
    let is_own = !is_shared(&hop.folder, needed);
    match &hop.kind {
        HopKind::Folder => None,
        // Where the link leads to a place beneath its own folder, so will the next one.
        HopKind::Link(target) => (is_own && stays_beneath(target)).then(|| hop.folder.clone()),
        HopKind::End => Some(if is_own { hop.folder.clone() } else { hop.path() }),
        HopKind::Missing if Some(hop.name.as_os_str()) == name && is_own => Some(hop.folder.clone()),
        HopKind::Missing => Some(hop.path()),
    }
}

fn stays_beneath(target: &Path) -> bool {
    target.is_relative() && !target.components().any(|part| part == std::path::Component::ParentDir)
}

/// Whether commands need what lies in a folder beside the file.
fn is_shared(folder: &Path, needed: &[PathBuf]) -> bool {
    let at_the_top = folder.parent().is_none_or(|parent| parent == Path::new("/"));
    let parent_is_shared =
        folder.parent().is_some_and(|parent| SHARED_PARENTS.iter().any(|shared| parent == Path::new(shared)));
    let of_system = SYSTEM_TREES.iter().any(|tree| folder.starts_with(tree));
    at_the_top || parent_is_shared || of_system || needed.iter().any(|path| path.starts_with(folder))
}

/// Without what lies beneath another one.
pub(super) fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::with_capacity(paths.len());
    for path in paths {
        // Sorted by parts, a path comes right after the one that it lies beneath, or after another such.
        if !kept.last().is_some_and(|outer| path.starts_with(outer)) {
            kept.push(path);
        }
    }
    kept
}

/// Whether an entry beside a hidden file looks like a copy that is about to take its place, or did before:
/// `config.json~`, `.config.json.swp`, `config.json.tmp`, `.#config.json`.
pub(super) fn is_draft_of(entry: &OsStr, hidden: &OsStr) -> bool {
    use std::os::unix::ffi::OsStrExt as _;
    let (entry, hidden) = (entry.as_bytes(), hidden.as_bytes());
    !hidden.is_empty() && entry.windows(hidden.len()).any(|part| part == hidden)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_of_its_own_is_hidden_whole_and_a_shared_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for made in ["etc/toolgate", "work", "mount/..v1", "releases/v1"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        for file in ["etc/toolgate/config.json", "config.json", "mount/..v1/token", "releases/v1/c.json"] {
            std::fs::write(root.join(file), "").unwrap();
        }
        symlink("..v1", root.join("mount/..data")).unwrap();
        symlink("..data/token", root.join("mount/token")).unwrap();
        symlink("releases/v1/c.json", root.join("current")).unwrap();
        let needed = [root.join("work")];
        for (file, hidden) in [
            ("etc/toolgate/config.json", "etc/toolgate"),
            ("etc/toolgate/not-there-yet", "etc/toolgate"),
            ("config.json", "config.json"),
            ("not-there-yet", "not-there-yet"),
            ("mount/token", "mount"),
            ("current", "releases/v1"),
            ("gone/config.json", "gone"),
        ] {
            assert_eq!(cover(&[root.join(file)], &needed), [root.join(hidden)], "{file}");
        }
    }

    #[test]
    fn folders_of_the_system_are_shared() {
        for (folder, shared) in [
            ("/", true),
            ("/etc", true),
            ("/etc/toolgate", false),
            ("/run/secrets", false),
            ("/usr/local/etc", true),
            ("/var/lib", true),
            ("/var/lib/toolgate", false),
            ("/home/ada", true),
            ("/home/ada/.config/toolgate", false),
            ("/srv/gate", true),
        ] {
            assert_eq!(is_shared(Path::new(folder), &["/srv/gate/work".into()]), shared, "{folder}");
        }
    }

    #[test]
    fn drafts_are_told_by_their_names() {
        for (name, is) in [
            ("config.json~", true),
            (".config.json.swp", true),
            (".#config.json", true),
            ("config.json.tmp.17.3", true),
            ("config", false),
            ("other.json", false),
        ] {
            assert_eq!(is_draft_of(name.as_ref(), "config.json".as_ref()), is, "{name}");
        }
    }

    #[test]
    fn what_lies_beneath_another_is_left_out() {
        let paths = ["/b/c", "/a-b", "/a/b/c", "/a", "/b/c/d/e", "/b/c-d"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(paths), ["/a", "/a-b", "/b/c", "/b/c-d"].map(PathBuf::from));
    }
}
