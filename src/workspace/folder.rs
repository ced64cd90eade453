//! An opened directory: its entries are reached by name from its descriptor, so a search of many files does not
//! walk the whole path for each.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags, openat, statat};

use super::list::FileFacts;
use super::open::{READ, require_file};
use super::{Located, Workspace, WorkspaceError};

/// A directory held open, good for reaching its entries only.
#[derive(Debug)]
pub struct OpenFolder {
    fd: OwnedFd,
    real: PathBuf,
}

impl Workspace {
    /// Opens the judged directory, reached as every judged path is: no symlink is followed on the way.
    pub fn open_folder(&self, located: &Located) -> Result<OpenFolder, WorkspaceError> {
        let fd = self.directory_fd(&located.real)?;
        Ok(OpenFolder { fd, real: located.real.clone() })
    }
}

impl OpenFolder {
    /// Opens an entry that a listing named as a regular file. A symlink that took its place is not followed, and
    /// whatever else did is refused; a FIFO is not waited for.
    pub fn open_read(&self, name: &OsStr) -> Result<File, WorkspaceError> {
        let path = || self.real.join(name);
        self.require_entry(name)?;
        let fd = openat(&self.fd, name, READ | OFlags::NOFOLLOW, Mode::empty())
            .map_err(|errno| WorkspaceError::from_errno(&path(), errno))?;
        require_file(&fd, &self.real)?;
        Ok(File::from(fd))
    }

    /// What the system knows of an entry, without opening it or following a link.
    pub fn facts(&self, name: &OsStr) -> Result<FileFacts, WorkspaceError> {
        self.require_entry(name)?;
        let stat = statat(self.fd.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|errno| WorkspaceError::from_errno(&self.real.join(name), errno))?;
        Ok(FileFacts::of(&stat))
    }

    /// A name is one step down, never a way: what is none would lead elsewhere.
    fn require_entry(&self, name: &OsStr) -> Result<(), WorkspaceError> {
        let bytes = name.as_bytes();
        if bytes.is_empty() || bytes == b"." || bytes == b".." || bytes.contains(&b'/') {
            return Err(WorkspaceError::Changed { path: self.real.join(name) });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn an_entry_is_one_step_down_and_a_regular_file() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap().join("work");
        fs::create_dir_all(root.join("d/sub")).unwrap();
        fs::write(root.join("d/f"), "four").unwrap();
        fs::write(root.join("outside"), "no").unwrap();
        std::os::unix::fs::symlink("f", root.join("d/link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("d/pipe"), Mode::from_raw_mode(0o600)).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let folder = workspace.open_folder(&workspace.resolve(&root, "d").unwrap()).unwrap();
        assert_eq!(std::io::read_to_string(folder.open_read(OsStr::new("f")).unwrap()).unwrap(), "four");
        assert_eq!(folder.facts(OsStr::new("f")).unwrap().size, 4);
        assert_eq!(folder.facts(OsStr::new("link")).unwrap().kind, super::super::FileKind::Symlink);
        for name in ["link", "pipe", "sub", "gone", "..", ".", "", "../outside", "sub/../f", "/etc/passwd"] {
            assert!(folder.open_read(OsStr::new(name)).is_err(), "{name}");
        }
        for name in ["..", "../outside", "/etc/passwd"] {
            assert!(folder.facts(OsStr::new(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn a_folder_that_became_a_symlink_is_not_entered() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("d")).unwrap();
        fs::create_dir(root.join("other")).unwrap();
        let workspace = Workspace::open(&root).unwrap();
        let place = workspace.resolve(&root, "d").unwrap();
        fs::remove_dir(root.join("d")).unwrap();
        std::os::unix::fs::symlink("other", root.join("d")).unwrap();
        assert!(workspace.open_folder(&place).is_err());
    }
}
