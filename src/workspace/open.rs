//! Opening what was judged: by descriptor, without following a symlink, regular files only.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, mkdirat, openat, openat2};
use rustix::io::Errno;
use rustix::io::{ReadWriteFlags, preadv2};

use super::{FileKind, Located, Workspace, WorkspaceError};

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Neither waits for a FIFO's other end nor takes a terminal as ours.
pub(super) const READ: OFlags =
    OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

impl Workspace {
    /// Opens the judged file for reading. Anything but a regular file is refused before it is opened, so a
    /// device is not even touched; a path that leads elsewhere by now is [`WorkspaceError::Changed`].
    pub fn open_read(&self, located: &Located) -> Result<File, WorkspaceError> {
        let (base, beneath) = self.anchor(&located.real);
        let failed = |errno| WorkspaceError::from_errno(&located.real, errno);
        let probe = open_beneath(base, beneath, OFlags::PATH | OFlags::CLOEXEC).map_err(failed)?;
        require_file(&probe, &located.real)?;
        let fd = open_beneath(base, beneath, READ).map_err(failed)?;
        require_file(&fd, &located.real)?;
        Ok(File::from(fd))
    }

    /// Reads the judged file whole; one with more than `limit` bytes is [`WorkspaceError::TooLarge`].
    pub fn read_whole(&self, located: &Located, limit: u64) -> Result<Vec<u8>, WorkspaceError> {
        read_bounded(self.open_read(located)?, &located.real, limit)
    }

    /// The judged file's whole content where it has at most `limit` bytes and all of them are in the
    /// page cache: the read never waits for a disk (`RWF_NOWAIT`, preadv2(2)), so it may be made on an
    /// async thread. None where that cannot be had, for whatever reason.
    pub fn read_cached(&self, located: &Located, limit: usize) -> Option<Vec<u8>> {
        let file = self.open_read(located).ok()?;
        let size = usize::try_from(file.metadata().ok()?.len()).ok().filter(|size| *size <= limit)?;
        // One byte more than there should be: a full buffer is a file that grows meanwhile.
        let mut content = vec![0; size + 1];
        let mut filled = 0;
        while filled < content.len() {
            let offset = filled as u64;
            let rest = &mut [std::io::IoSliceMut::new(&mut content[filled..])];
            match preadv2(&file, rest, offset, ReadWriteFlags::NOWAIT) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(_) => return None,
            }
        }
        content.truncate(filled);
        (filled == size).then_some(content)
    }

    /// Opens the judged directory, to list it or to reach its entries.
    pub fn open_dir(&self, located: &Located) -> Result<OwnedFd, WorkspaceError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let (base, beneath) = self.anchor(&located.real);
        open_beneath(base, beneath, flags).map_err(|errno| match (errno, located.kind) {
            (Errno::NOTDIR, Some(kind)) if kind != FileKind::Directory => {
                WorkspaceError::NotADirectory { path: located.real.clone() }
            }
            (errno, _) => WorkspaceError::from_errno(&located.real, errno),
        })
    }

    /// Makes the directories of a real path that are missing, each beneath the descriptor of the one before,
    /// and gives the last. A symlink that turned up on the way is [`WorkspaceError::Changed`].
    pub fn create_dirs(&self, real: &Path) -> Result<OwnedFd, WorkspaceError> {
        self.create_dirs_noting(real, &mut Vec::new())
    }

    /// The same, adding the paths of those that were really made, outer ones first.
    pub(super) fn create_dirs_noting(
        &self,
        real: &Path,
        made: &mut Vec<PathBuf>,
    ) -> Result<OwnedFd, WorkspaceError> {
        let (base, beneath) = self.anchor(real);
        let mut here = open_beneath(base, Path::new("."), DIRECTORY)
            .map_err(|errno| WorkspaceError::from_errno(real, errno))?;
        let mut path = match beneath.components().count() {
            0 => real.to_path_buf(),
            depth => real.ancestors().nth(depth).unwrap_or(real).to_path_buf(),
        };
        for name in beneath.components().filter(|part| part.as_os_str() != ".") {
            path.push(name);
            let (entered, is_new) = enter_or_make(here.as_fd(), name.as_os_str(), &path)?;
            here = entered;
            if is_new {
                made.push(path.clone());
            }
        }
        Ok(here)
    }

    /// The directory that holds the judged file, and the file's name in it.
    pub(super) fn parent<'a>(
        &self,
        located: &'a Located,
        create: bool,
    ) -> Result<(OwnedFd, &'a OsStr), WorkspaceError> {
        self.parent_noting(located, create.then_some(&mut Vec::new()))
    }

    /// The same; with a list, directories that are missing are made and added to it.
    pub(super) fn parent_noting<'a>(
        &self,
        located: &'a Located,
        made: Option<&mut Vec<PathBuf>>,
    ) -> Result<(OwnedFd, &'a OsStr), WorkspaceError> {
        let not_a_file =
            || WorkspaceError::NotAFile { path: located.real.clone(), kind: FileKind::Directory };
        if located.directory_meant || located.real == self.root() {
            return Err(not_a_file());
        }
        let (Some(directory), Some(name)) = (located.real.parent(), located.real.file_name()) else {
            return Err(not_a_file());
        };
        let fd = match made {
            Some(made) => self.create_dirs_noting(directory, made)?,
            None => self.directory_fd(directory)?,
        };
        Ok((fd, name))
    }

    /// A descriptor of the directory at a real path, good for reaching its entries only.
    pub(super) fn directory_fd(&self, real: &Path) -> Result<OwnedFd, WorkspaceError> {
        let (base, beneath) = self.anchor(real);
        open_beneath(base, beneath, DIRECTORY).map_err(|errno| WorkspaceError::from_errno(real, errno))
    }
}

/// Opens a path that has no symlink and no `..` in it beneath a directory; a symlink on the way is an error.
pub(super) fn open_beneath(
    base: BorrowedFd<'_>,
    beneath: &Path,
    flags: OFlags,
) -> rustix::io::Result<OwnedFd> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    match openat2(base, beneath, flags, Mode::empty(), resolve) {
        // Absent from the kernel, or kept from us by a container's seccomp filter.
        Err(Errno::NOSYS | Errno::PERM) => step_beneath(base, beneath, flags),
        other => other,
    }
}

/// What [`open_beneath`] does, name by name, where the system call is not to be had.
fn step_beneath(base: BorrowedFd<'_>, beneath: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let names: Vec<&OsStr> = beneath.components().map(Component::as_os_str).collect();
    if names.iter().any(|name| *name == ".." || *name == "/") {
        return Err(Errno::XDEV);
    }
    let Some((last, directories)) = names.split_last() else {
        return openat(base, ".", flags, Mode::empty());
    };
    let mut held: Option<OwnedFd> = None;
    for name in directories {
        let here = held.as_ref().map_or(base, |fd| fd.as_fd());
        held = Some(openat(here, *name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?);
    }
    let here = held.as_ref().map_or(base, |fd| fd.as_fd());
    let fd = openat(here, *last, flags | OFlags::NOFOLLOW, Mode::empty())?;
    // With O_PATH, O_NOFOLLOW opens the link itself instead of failing.
    if FileKind::of(&fstat(&fd)?) == FileKind::Symlink { Err(Errno::LOOP) } else { Ok(fd) }
}

/// Refuses what is not a regular file; the descriptor says what it is, not the name.
pub(super) fn require_file(fd: &OwnedFd, path: &Path) -> Result<rustix::fs::Stat, WorkspaceError> {
    let stat = fstat(fd).map_err(|errno| WorkspaceError::from_errno(path, errno))?;
    match FileKind::of(&stat) {
        FileKind::File => Ok(stat),
        kind => Err(WorkspaceError::NotAFile { path: path.to_path_buf(), kind }),
    }
}

/// Reads a file to its end, but never more than one byte past `limit`.
pub(super) fn read_bounded(file: File, path: &Path, limit: u64) -> Result<Vec<u8>, WorkspaceError> {
    let size = file.metadata().map_err(|source| WorkspaceError::from_io(path, source))?.len();
    let too_large = |size| WorkspaceError::TooLarge { path: path.to_path_buf(), size, limit };
    if size > limit {
        return Err(too_large(size));
    }
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|source| WorkspaceError::from_io(path, source))?;
    // It grew while it was read, or is one of those files that do not tell their size.
    if bytes.len() as u64 > limit { Err(too_large(bytes.len() as u64)) } else { Ok(bytes) }
}

/// The directory of this name, and whether it was made here.
fn enter_or_make(here: BorrowedFd<'_>, name: &OsStr, path: &Path) -> Result<(OwnedFd, bool), WorkspaceError> {
    let failed = |errno| match errno {
        Errno::EXIST => WorkspaceError::Changed { path: PathBuf::from(path) },
        other => WorkspaceError::from_errno(path, other),
    };
    let flags = DIRECTORY | OFlags::NOFOLLOW;
    match openat(here, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        other => return other.map(|fd| (fd, false)).map_err(failed),
    }
    let made = match mkdirat(here, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => true,
        // Someone else made it: what it is shows when it is opened.
        Err(Errno::EXIST) => false,
        Err(errno) => return Err(failed(errno)),
    };
    openat(here, name, flags, Mode::empty()).map(|fd| (fd, made)).map_err(failed)
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
