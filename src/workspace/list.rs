//! What lies in a directory, and what is known of a file without opening it: by descriptor, no link followed.

use std::ffi::{OsStr, OsString};
use std::os::fd::AsFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, fstat, readlinkat, statat};

use super::open::open_beneath;
use super::{FileKind, Located, Workspace, WorkspaceError};

/// The entries of one directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    /// Sorted by name, without `.` and `..`.
    pub entries: Vec<ListEntry>,
    /// There are more than were asked for: these are some of them.
    pub cut: bool,
}

/// One name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListEntry {
    /// The name.
    pub name: OsString,
    /// What it names; a symlink is not followed.
    pub kind: FileKind,
}

/// What the system knows of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileFacts {
    /// What it is; a symlink is not followed.
    pub kind: FileKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed: seconds and nanoseconds since the Unix epoch.
    pub modified: (i64, u32),
    /// Permission bits, with set-id and sticky bits.
    pub mode: u32,
    /// How many names it has.
    pub links: u64,
}

impl Workspace {
    /// The names in the judged directory, at most `limit` of them.
    pub fn list(&self, directory: &Located, limit: usize) -> Result<Listing, WorkspaceError> {
        let failed = |errno| WorkspaceError::from_errno(&directory.real, errno);
        let fd = self.open_dir(directory)?;
        let mut entries = Vec::new();
        for entry in Dir::read_from(&fd).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            if entries.len() >= limit {
                entries.sort();
                return Ok(Listing { entries, cut: true });
            }
            let kind = match entry.file_type() {
                // Some file systems tell a name's kind only when it is asked for.
                FileType::Unknown => match statat(&fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileKind::of(&stat),
                    Err(_) => FileKind::Unknown,
                },
                known => FileKind::from(known),
            };
            entries.push(ListEntry { name: name.to_os_string(), kind });
        }
        entries.sort();
        Ok(Listing { entries, cut: false })
    }

    /// What the symlink at a place says, as it is written there; not followed.
    pub fn link_target(&self, link: &Located) -> Result<OsString, WorkspaceError> {
        let failed = |errno| WorkspaceError::from_errno(&link.real, errno);
        let (directory, name) = self.parent(link, false)?;
        let target = readlinkat(&directory, name, Vec::new()).map_err(failed)?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// The place of the symlink that `requested` ends in, where it ends in one: a [`Located`] is what it leads to.
    pub fn link_at_end(&self, cwd: &Path, requested: &str) -> Option<Located> {
        let path = Path::new(requested);
        let name = path.file_name().filter(|_| !requested.ends_with('/'))?;
        let parent = path.parent().unwrap_or(Path::new(""));
        let folder = self.locate(cwd, parent).ok()?;
        let link = folder.entry(name, FileKind::Symlink);
        self.link_target(&link).is_ok().then_some(link)
    }

    /// What the system knows of the place, without opening it or following a link at its end.
    pub fn facts(&self, located: &Located) -> Result<FileFacts, WorkspaceError> {
        let failed = |errno| WorkspaceError::from_errno(&located.real, errno);
        let (base, beneath) = self.anchor(&located.real);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = open_beneath(base, beneath, flags).map_err(failed)?;
        let stat = fstat(fd.as_fd()).map_err(failed)?;
        Ok(FileFacts::of(&stat))
    }
}

impl FileFacts {
    pub(super) fn of(stat: &rustix::fs::Stat) -> Self {
        Self {
            kind: FileKind::of(stat),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime, u32::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            mode: stat.st_mode & 0o7777,
            links: stat.st_nlink,
        }
    }
}

impl Located {
    /// The place of an entry of this directory, as [`Workspace::list`] gave it. A symlink's place is the link.
    #[must_use]
    pub fn entry(&self, name: &OsStr, kind: FileKind) -> Self {
        Self {
            requested: self.requested.join(name),
            real: self.real.join(name),
            inside: self.inside,
            kind: Some(kind),
            directory_meant: false,
            through_process: self.through_process,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_kinds_and_facts_without_following_links() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("d")).unwrap();
        fs::write(root.join("f"), "four").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.join("l")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let top = workspace.resolve(&root, ".").unwrap();
        let listing = workspace.list(&top, 10).unwrap();
        let found: Vec<_> = listing.entries.iter().map(|e| (e.name.to_str().unwrap(), e.kind)).collect();
        let expected = [("d", FileKind::Directory), ("f", FileKind::File), ("l", FileKind::Symlink)];
        assert_eq!((found, listing.cut), (expected.to_vec(), false));
        assert!(workspace.list(&top, 2).unwrap().cut);
        let facts = |name: &str, kind| workspace.facts(&top.entry(OsStr::new(name), kind)).unwrap();
        assert_eq!((facts("f", FileKind::File).size, facts("f", FileKind::File).links), (4, 1));
        assert_eq!(facts("l", FileKind::Symlink).kind, FileKind::Symlink);
        let link = workspace.link_at_end(&root, "./l").unwrap();
        assert_eq!(
            (workspace.link_target(&link).unwrap(), link.real),
            ("/etc/passwd".into(), root.join("l"))
        );
        assert_eq!(
            ["f", "d", "d/", "l/", "gone", ".."].map(|path| workspace.link_at_end(&root, path)),
            [const { None }; 6]
        );
        let file = workspace.resolve(&root, "f").unwrap();
        assert!(matches!(workspace.list(&file, 2), Err(WorkspaceError::NotADirectory { .. })));
        assert_eq!(top.entry(OsStr::new("f"), FileKind::File).real, root.join(Path::new("f")));
    }
}
