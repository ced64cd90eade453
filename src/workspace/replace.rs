//! Writing a file whole or not at all, with mode, owner, links and a check that it is still the file that was read.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid, XattrFlags, accessat, fchmod, fchown,
    fgetxattr, flistxattr, fsetxattr, fstat, fsync, ftruncate, linkat, openat, renameat, renameat_with,
    unlinkat,
};
use rustix::io::Errno;

use super::open::require_file;
use super::{ContentHash, Located, Workspace, WorkspaceError};

/// Bound, in bytes, on extended attributes that move along with a file.
const MAX_XATTR_BYTES: usize = 64 * 1024;

/// What must lie at a path for a write to go ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Nothing: the file is to be made, its missing directories too.
    Absent,
    /// A file with this content.
    Content(ContentHash),
}

/// What a write did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteReport {
    /// The file did not exist before.
    pub created: bool,
    /// The file has other names: it was written in place, so that all of them see the new content.
    pub hard_linked: bool,
    /// The hash of what lies there now.
    pub hash: ContentHash,
}

impl Workspace {
    /// Gives the judged file this content: a temporary file in its directory is written, synced and renamed over
    /// it, or the file keeps its old content. Mode, owner (as far as we may) and access list stay. A symlink
    /// that was asked for stays: `located.real` is written. A file with several hard links is written in place.
    ///
    /// The content is compared with `expected` right before the rename; anything else is
    /// [`WorkspaceError::Stale`] or [`WorkspaceError::AlreadyExists`], and nothing is written. Two writers within
    /// this process are kept apart by [`super::FileLocks`].
    pub fn replace(
        &self,
        located: &Located,
        expected: Expected,
        bytes: &[u8],
    ) -> Result<WriteReport, WorkspaceError> {
        let path = located.real.as_path();
        let (directory, name) = self.parent(located, expected == Expected::Absent)?;
        let target = Target { workspace: self, directory, name, path };
        let hash = ContentHash::of(bytes);
        match expected {
            Expected::Absent => {
                if target.existing()?.is_some() {
                    return Err(WorkspaceError::AlreadyExists { path: path.to_path_buf() });
                }
                target.create(bytes)?;
                Ok(WriteReport { created: true, hard_linked: false, hash })
            }
            Expected::Content(old) => {
                let (_, stat) = target.unchanged(&old)?;
                accessat(&target.directory, name, Access::WRITE_OK, AtFlags::EACCESS)
                    .map_err(|errno| target.failed(errno))?;
                let hard_linked = stat.st_nlink > 1;
                if hard_linked {
                    target.write_in_place(&old, bytes)?;
                } else {
                    target.exchange(&old, bytes)?;
                }
                Ok(WriteReport { created: false, hard_linked, hash })
            }
        }
    }
}

/// A name in an open directory.
pub(super) struct Target<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) directory: OwnedFd,
    pub(super) name: &'a OsStr,
    pub(super) path: &'a Path,
}

impl Target<'_> {
    pub(super) fn failed(&self, errno: Errno) -> WorkspaceError {
        WorkspaceError::from_errno(self.path, errno)
    }

    pub(super) fn stale(&self) -> WorkspaceError {
        WorkspaceError::Stale { path: self.path.to_path_buf() }
    }

    /// What lies at the name now; only a regular file may.
    pub(super) fn existing(&self) -> Result<Option<Stat>, WorkspaceError> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&self.directory, self.name, flags, Mode::empty()) {
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.failed(errno)),
            Ok(fd) => match require_file(&fd, self.path) {
                // The judged path had no symlink in it.
                Err(WorkspaceError::NotAFile { kind: super::FileKind::Symlink, path }) => {
                    Err(WorkspaceError::Changed { path })
                }
                other => other.map(Some),
            },
        }
    }

    /// The file with its description, when its content still has this hash.
    pub(super) fn unchanged(&self, old: &ContentHash) -> Result<(File, Stat), WorkspaceError> {
        if self.existing()?.is_none() {
            return Err(self.stale());
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd =
            openat(&self.directory, self.name, flags, Mode::empty()).map_err(|errno| self.failed(errno))?;
        let stat = require_file(&fd, self.path)?;
        let file = File::from(fd);
        let hash =
            ContentHash::of_reader(&file).map_err(|source| WorkspaceError::from_io(self.path, source))?;
        if hash == *old { Ok((file, stat)) } else { Err(self.stale()) }
    }

    fn create(&self, bytes: &[u8]) -> Result<(), WorkspaceError> {
        // 0666 less the umask: what any program that makes a file here would get.
        let (temporary, file) = Temporary::make(self, Mode::from_raw_mode(0o666))?;
        self.fill(&file, bytes)?;
        self.still_there()?;
        let taken = |errno| match errno {
            Errno::EXIST => WorkspaceError::AlreadyExists { path: self.path.to_path_buf() },
            other => self.failed(other),
        };
        let here = &self.directory;
        match renameat_with(here, &temporary.name, here, self.name, RenameFlags::NOREPLACE) {
            // Not every file system can rename without replacing; a hard link never replaces.
            Err(Errno::INVAL | Errno::NOSYS) => {
                linkat(here, &temporary.name, here, self.name, AtFlags::empty()).map_err(taken)?;
            }
            other => {
                other.map_err(taken)?;
                temporary.done();
            }
        }
        self.sync_directory();
        Ok(())
    }

    fn exchange(&self, old: &ContentHash, bytes: &[u8]) -> Result<(), WorkspaceError> {
        let (temporary, file) = Temporary::make(self, Mode::from_raw_mode(0o600))?;
        self.fill(&file, bytes)?;
        // Here, after the slow part: nobody's later change is overwritten.
        let (before, stat) = self.unchanged(old)?;
        if stat.st_nlink > 1 {
            return Err(WorkspaceError::Changed { path: self.path.to_path_buf() });
        }
        copy_attributes(&before, &stat, &file).map_err(|errno| self.failed(errno))?;
        fsync(&file).map_err(|errno| self.failed(errno))?;
        self.still_there()?;
        renameat(&self.directory, &temporary.name, &self.directory, self.name)
            .map_err(|errno| self.failed(errno))?;
        temporary.done();
        self.sync_directory();
        Ok(())
    }

    /// Writes into the file itself. Where that fails on the way, its old content is written back.
    pub(super) fn write_in_place(&self, old: &ContentHash, bytes: &[u8]) -> Result<(), WorkspaceError> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let fd =
            openat(&self.directory, self.name, flags, Mode::empty()).map_err(|errno| self.failed(errno))?;
        let opened = require_file(&fd, self.path)?;
        let (mut readable, checked) = self.unchanged(old)?;
        if (opened.st_dev, opened.st_ino) != (checked.st_dev, checked.st_ino) {
            return Err(WorkspaceError::Changed { path: self.path.to_path_buf() });
        }
        let mut before = Vec::new();
        readable
            .rewind()
            .and_then(|()| readable.read_to_end(&mut before))
            .map_err(|source| WorkspaceError::from_io(self.path, source))?;
        if ContentHash::of(&before) != *old {
            return Err(self.stale());
        }
        self.still_there()?;
        let mut file = File::from(fd);
        let written = self.overwrite(&mut file, bytes);
        if written.is_err()
            && let Err(error) = self.overwrite(&mut file, &before)
        {
            tracing::error!(%error, "a file that was written in part could not be set back");
        }
        written
    }

    fn overwrite(&self, file: &mut File, bytes: &[u8]) -> Result<(), WorkspaceError> {
        file.rewind().map_err(|source| WorkspaceError::from_io(self.path, source))?;
        self.fill(file, bytes)?;
        ftruncate(&*file, bytes.len() as u64).and_then(|()| fsync(&*file)).map_err(|errno| self.failed(errno))
    }

    pub(super) fn fill(&self, mut file: &File, bytes: &[u8]) -> Result<(), WorkspaceError> {
        file.write_all(bytes).map_err(|source| WorkspaceError::from_io(self.path, source))?;
        fsync(file).map_err(|errno| self.failed(errno))
    }

    /// The directory written to must still lie where it was judged to lie.
    pub(super) fn still_there(&self) -> Result<(), WorkspaceError> {
        let changed = || WorkspaceError::Changed { path: self.path.to_path_buf() };
        let directory = self.path.parent().ok_or_else(changed)?;
        let now = self.workspace.directory_fd(directory).map_err(|_| changed())?;
        let identity = |fd: &OwnedFd| fstat(fd).map(|stat| (stat.st_dev, stat.st_ino));
        match (identity(&now), identity(&self.directory)) {
            (Ok(now), Ok(then)) if now == then => Ok(()),
            _ => Err(changed()),
        }
    }

    /// Makes the rename itself durable. A directory we may write but not read cannot be synced: its content
    /// follows with the file system's own commit.
    pub(super) fn sync_directory(&self) {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        if let Ok(fd) = openat(&self.directory, ".", flags, Mode::empty())
            && let Err(errno) = fsync(&fd)
        {
            tracing::debug!(%errno, "a directory could not be synced after a rename");
        }
    }
}

/// A file under a name nobody else has, removed again unless it was renamed.
pub(super) struct Temporary {
    pub(super) directory: OwnedFd,
    pub(super) name: OsString,
    keep: bool,
}

impl Temporary {
    pub(super) fn make(target: &Target<'_>, mode: Mode) -> Result<(Self, File), WorkspaceError> {
        let temporary = Self::reserve(target)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(&temporary.directory, &temporary.name, flags, mode) {
            Ok(fd) => Ok((temporary, File::from(fd))),
            Err(errno) => {
                temporary.done();
                Err(target.failed(errno))
            }
        }
    }

    /// A name that nobody has, in the target's directory, for a file that is renamed to it.
    pub(super) fn reserve(target: &Target<'_>) -> Result<Self, WorkspaceError> {
        let failed = |error| WorkspaceError::from_io(target.path, error);
        let token = getrandom::u64().map_err(|error| failed(std::io::Error::other(error)))?;
        let name = OsString::from(format!(".toolgate-{token:016x}.tmp"));
        let directory = target.directory.try_clone().map_err(failed)?;
        Ok(Self { directory, name, keep: false })
    }

    /// The name is gone, or no longer ours to remove.
    pub(super) fn done(mut self) {
        self.keep = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.keep
            && let Err(errno) = unlinkat(self.directory.as_fd(), &self.name, AtFlags::empty())
        {
            tracing::warn!(%errno, "a temporary file could not be removed");
        }
    }
}

/// Owner, mode and access list of the old file for the new one. Where the owner cannot be kept, the new file is
/// ours, and then neither set-user-id nor set-group-id may carry over.
pub(super) fn copy_attributes(old: &File, stat: &Stat, new: &File) -> rustix::io::Result<()> {
    let fresh = fstat(new)?;
    let mut mode = stat.st_mode & 0o7777;
    if (fresh.st_uid, fresh.st_gid) != (stat.st_uid, stat.st_gid) {
        let (owner, group) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
        if fchown(new, Some(owner), Some(group)).is_err() {
            mode &= 0o1777;
            if fchown(new, None, Some(group)).is_err() {
                // The old group's rights must not go to another group.
                mode &= 0o1707;
            }
        }
    }
    copy_xattrs(old, new);
    fchmod(new, Mode::from_raw_mode(mode))
}

/// The user's own attributes and the access list; others (capabilities, labels) the kernel sets itself.
fn copy_xattrs(old: &File, new: &File) {
    let mut list = vec![0_u8; MAX_XATTR_BYTES];
    let Ok(length) = flistxattr(old, list.as_mut_slice()) else { return };
    let mut value = vec![0_u8; MAX_XATTR_BYTES];
    for name in list[..length].split(|byte| *byte == 0) {
        if !(name.starts_with(b"user.") || name == b"system.posix_acl_access") {
            continue;
        }
        if let Ok(length) = fgetxattr(old, name, value.as_mut_slice())
            && let Err(errno) = fsetxattr(new, name, &value[..length], XattrFlags::empty())
        {
            tracing::debug!(%errno, "an extended attribute could not be kept");
        }
    }
}

#[cfg(test)]
#[path = "replace_tests.rs"]
mod tests;
