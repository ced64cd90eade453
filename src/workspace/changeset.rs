//! Several files changed together: prepared first, then done by renames alone, and undone when one of them fails.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    Access, AtFlags, Mode, RenameFlags, Stat, accessat, fstat, fsync, renameat, renameat_with, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::replace::{Target, Temporary, copy_attributes};
use super::{ContentHash, Located, Workspace, WorkspaceError};

/// One change of a set.
#[derive(Debug, Clone, Copy)]
pub enum FileChange<'a> {
    /// A file is made where none is, its missing directories too.
    Create {
        /// Where.
        at: &'a Located,
        /// Its content.
        bytes: &'a [u8],
    },
    /// A file's content is replaced; mode, owner and access list stay.
    Replace {
        /// Where.
        at: &'a Located,
        /// The content that it has.
        old: &'a [u8],
        /// The content that it gets.
        new: &'a [u8],
    },
    /// A file is removed.
    Remove {
        /// Where.
        at: &'a Located,
        /// The content that it has.
        old: ContentHash,
    },
    /// A file gets another name on the same file system, where nothing is; it stays the same file.
    Move {
        /// Where it is.
        from: &'a Located,
        /// Where it goes.
        to: &'a Located,
        /// The content that it has by then: a change of it may come before in the set.
        content: ContentHash,
    },
}

/// A set was not done.
#[derive(Debug)]
pub struct ChangesetError {
    /// Which change failed, by its index.
    pub index: usize,
    /// Why.
    pub cause: WorkspaceError,
    /// What had been done and could not be undone, each with the reason; most often nothing.
    pub left_changed: Vec<(PathBuf, WorkspaceError)>,
}

impl std::fmt::Display for ChangesetError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut left = String::new();
        for (path, error) in &self.left_changed {
            let _ = write!(left, "\n{} could not be set back: {error}", path.display());
        }
        write!(f, "{}{left}", self.cause)
    }
}

impl std::error::Error for ChangesetError {}

impl Workspace {
    /// Does all of the changes or none.
    ///
    /// What takes space or can be refused is done beforehand, beside the files: the new contents are written and
    /// synced under temporary names. Then each change is one rename. When one fails, those before it are renamed
    /// back: the very same files lie there again, and directories made on the way are removed. Only a file with
    /// several hard links is written in place, and written back.
    ///
    /// Each file is whole at any moment, as it was or as it is to be; of the set, others may see some changes
    /// before the rest. A crash in between leaves it so, and files under names that begin with `.toolgate-`.
    ///
    /// Gives, for each change, whether its file was written in place.
    pub fn apply(&self, changes: &[FileChange<'_>]) -> Result<Vec<bool>, ChangesetError> {
        let mut made = Vec::new();
        let outcome = self.prepare(changes, &mut made).and_then(commit);
        if outcome.is_err() {
            for directory in made.iter().rev() {
                self.remove_empty(directory);
            }
        }
        outcome
    }

    fn prepare<'a>(
        &'a self,
        changes: &[FileChange<'a>],
        made: &mut Vec<PathBuf>,
    ) -> Result<Vec<Prepared<'a>>, ChangesetError> {
        let mut prepared = Vec::with_capacity(changes.len());
        for (index, change) in changes.iter().enumerate() {
            let one = self.prepare_one(change, &changes[..index], made);
            prepared.push(one.map_err(|cause| ChangesetError { index, cause, left_changed: Vec::new() })?);
        }
        Ok(prepared)
    }

    fn prepare_one<'a>(
        &'a self,
        change: &FileChange<'a>,
        earlier: &[FileChange<'a>],
        made: &mut Vec<PathBuf>,
    ) -> Result<Prepared<'a>, WorkspaceError> {
        match *change {
            FileChange::Create { at, bytes } => {
                let target = self.free_target(at, made)?;
                let (temporary, file) = Temporary::make(&target, Mode::from_raw_mode(0o666))?;
                target.fill(&file, bytes)?;
                Ok(Prepared::Create { target, temporary, file })
            }
            FileChange::Replace { at, old, new } => {
                let target = self.target(at)?;
                let hash = ContentHash::of(old);
                let (_, stat) = target.unchanged(&hash)?;
                accessat(&target.directory, target.name, Access::WRITE_OK, AtFlags::EACCESS)
                    .map_err(|errno| target.failed(errno))?;
                if stat.st_nlink > 1 {
                    return Ok(Prepared::InPlace { target, old, new });
                }
                let (temporary, file) = Temporary::make(&target, Mode::from_raw_mode(0o600))?;
                target.fill(&file, new)?;
                Ok(Prepared::Swap { target, temporary, file, old: hash })
            }
            FileChange::Remove { at, old } => {
                let target = self.target(at)?;
                target.unchanged(&old)?;
                Ok(Prepared::Remove { target, old })
            }
            FileChange::Move { from, to, content } => {
                let source = self.target(from)?;
                let is_it = |other: &FileChange<'_>| matches!(other, FileChange::Replace { at, .. } if at.real == from.real);
                if !earlier.iter().any(is_it) {
                    source.unchanged(&content)?;
                }
                Ok(Prepared::Move { from: source, to: self.free_target(to, made)?, content })
            }
        }
    }

    fn target<'a>(&'a self, at: &'a Located) -> Result<Target<'a>, WorkspaceError> {
        let (directory, name) = self.parent(at, false)?;
        Ok(Target { workspace: self, directory, name, path: &at.real })
    }

    /// A target where nothing lies, with the directories that it takes.
    fn free_target<'a>(
        &'a self,
        at: &'a Located,
        made: &mut Vec<PathBuf>,
    ) -> Result<Target<'a>, WorkspaceError> {
        let (directory, name) = self.parent_noting(at, Some(made))?;
        let target = Target { workspace: self, directory, name, path: &at.real };
        if target.existing()?.is_some() {
            return Err(WorkspaceError::AlreadyExists { path: at.real.clone() });
        }
        Ok(target)
    }

    /// Removes a directory that was made for nothing. One that somebody put something into stays.
    fn remove_empty(&self, directory: &Path) {
        let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else { return };
        let removed = self.directory_fd(parent).map(|fd| unlinkat(&fd, name, AtFlags::REMOVEDIR));
        if let Ok(Err(errno)) = removed {
            tracing::debug!(%errno, "a directory made for a change that failed was not removed");
        }
    }
}

/// A change of which only the last step is left. Dropped, it leaves nothing behind.
enum Prepared<'a> {
    Create { target: Target<'a>, temporary: Temporary, file: File },
    Swap { target: Target<'a>, temporary: Temporary, file: File, old: ContentHash },
    InPlace { target: Target<'a>, old: &'a [u8], new: &'a [u8] },
    Remove { target: Target<'a>, old: ContentHash },
    Move { from: Target<'a>, to: Target<'a>, content: ContentHash },
}

/// A change that was done and can be undone. Dropped, it can no more: the old file is removed. Our own file is
/// held open, so that no other can get its inode.
enum Done<'a> {
    Created { target: Target<'a>, ours: File },
    Swapped { target: Target<'a>, old: Temporary, ours: File },
    WrittenInPlace { target: Target<'a>, old: &'a [u8], new: &'a [u8] },
    Removed { target: Target<'a>, old: Temporary },
    Moved { from: Target<'a>, to: Target<'a> },
}

/// Device and inode.
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev, stat.st_ino)
}

fn commit(prepared: Vec<Prepared<'_>>) -> Result<Vec<bool>, ChangesetError> {
    let mut done = Vec::with_capacity(prepared.len());
    for (index, change) in prepared.into_iter().enumerate() {
        match change.commit() {
            Ok(one) => done.push(one),
            Err(cause) => {
                let undone = done.into_iter().rev().filter_map(|one: Done<'_>| {
                    let path = one.target().path.to_path_buf();
                    one.undo().err().map(|error| (path, error))
                });
                return Err(ChangesetError { index, cause, left_changed: undone.collect() });
            }
        }
    }
    Ok(done.into_iter().map(Done::keep).collect())
}

impl<'a> Prepared<'a> {
    fn commit(self) -> Result<Done<'a>, WorkspaceError> {
        match self {
            Self::Create { target, temporary, file } => create(target, temporary, file),
            Self::Swap { target, temporary, file, old } => swap(target, temporary, file, &old),
            Self::InPlace { target, old, new } => {
                target.write_in_place(&ContentHash::of(old), new)?;
                Ok(Done::WrittenInPlace { target, old, new })
            }
            Self::Remove { target, old } => {
                target.unchanged(&old)?;
                target.still_there()?;
                let old = set_aside(&target)?;
                Ok(Done::Removed { target, old })
            }
            Self::Move { from, to, content } => {
                from.unchanged(&content)?;
                from.still_there()?;
                to.still_there()?;
                rename_free(&from, &to)?;
                Ok(Done::Moved { from, to })
            }
        }
    }
}

impl<'a> Done<'a> {
    /// Where the change shows.
    fn target(&self) -> &Target<'a> {
        match self {
            Self::Created { target, .. }
            | Self::Swapped { target, .. }
            | Self::WrittenInPlace { target, .. }
            | Self::Removed { target, .. }
            | Self::Moved { to: target, .. } => target,
        }
    }

    fn undo(self) -> Result<(), WorkspaceError> {
        match self {
            Self::Created { target, ours } => {
                still_ours(&target, &ours)?;
                unlinkat(&target.directory, target.name, AtFlags::empty())
                    .map_err(|errno| target.failed(errno))
            }
            Self::Swapped { target, old, ours } => put_back(&target, old, Some(&ours)),
            Self::WrittenInPlace { target, old, new } => target.write_in_place(&ContentHash::of(new), old),
            Self::Removed { target, old } => put_back(&target, old, None),
            Self::Moved { from, to } => rename_free(&to, &from),
        }
    }

    /// Makes it durable and lets the old file go; says whether it was written in place.
    fn keep(self) -> bool {
        let in_place = matches!(self, Self::WrittenInPlace { .. });
        if let Self::Moved { from, .. } = &self {
            from.sync_directory();
        }
        if !in_place {
            self.target().sync_directory();
        }
        in_place
    }
}

fn create(target: Target<'_>, temporary: Temporary, ours: File) -> Result<Done<'_>, WorkspaceError> {
    target.still_there()?;
    let here = &target.directory;
    rename_without_replacing(here, &temporary.name, here, target.name).map_err(|e| taken(&target, e))?;
    temporary.done();
    Ok(Done::Created { target, ours })
}

/// Puts the new file in the old one's place; the old one keeps a temporary name until all is done.
fn swap<'a>(
    target: Target<'a>,
    temporary: Temporary,
    file: File,
    old: &ContentHash,
) -> Result<Done<'a>, WorkspaceError> {
    let (before, stat) = target.unchanged(old)?;
    if stat.st_nlink > 1 {
        return Err(WorkspaceError::Changed { path: target.path.to_path_buf() });
    }
    copy_attributes(&before, &stat, &file)
        .and_then(|()| fsync(&file))
        .map_err(|errno| target.failed(errno))?;
    target.still_there()?;
    let here = &target.directory;
    let old = match renameat_with(here, &temporary.name, here, target.name, RenameFlags::EXCHANGE) {
        Ok(()) => temporary,
        // Not every file system can exchange two names: then nothing is there for a moment.
        Err(Errno::INVAL | Errno::NOSYS) => {
            let aside = set_aside(&target)?;
            if let Err(errno) = rename_without_replacing(here, &temporary.name, here, target.name) {
                put_back(&target, aside, None)?;
                return Err(taken(&target, errno));
            }
            temporary.done();
            aside
        }
        Err(errno) => return Err(target.failed(errno)),
    };
    let displaced =
        statat(here, &old.name, AtFlags::SYMLINK_NOFOLLOW).map_err(|errno| target.failed(errno))?;
    let facts = |stat: &Stat| (identity(stat), stat.st_size, stat.st_mtime, stat.st_mtime_nsec);
    if facts(&displaced) != facts(&stat) {
        // Someone changed it after the check: theirs is put back.
        put_back(&target, old, Some(&file))?;
        return Err(target.stale());
    }
    Ok(Done::Swapped { target, old, ours: file })
}

/// Renames a file to a temporary name beside it.
fn set_aside(target: &Target<'_>) -> Result<Temporary, WorkspaceError> {
    let aside = Temporary::reserve(target)?;
    match rename_without_replacing(&target.directory, target.name, &aside.directory, &aside.name) {
        Ok(()) => Ok(aside),
        Err(errno) => {
            aside.done();
            Err(target.failed(errno))
        }
    }
}

/// Renames the old file back, over ours or to where nothing is. If that fails it keeps its temporary name.
fn put_back(target: &Target<'_>, old: Temporary, ours: Option<&File>) -> Result<(), WorkspaceError> {
    let here = &target.directory;
    let renamed = match ours {
        Some(ours) => still_ours(target, ours).and_then(|()| {
            renameat(here, &old.name, here, target.name).map_err(|errno| target.failed(errno))
        }),
        None => {
            rename_without_replacing(here, &old.name, here, target.name).map_err(|errno| taken(target, errno))
        }
    };
    old.done();
    renamed
}

/// What lies there must be what we put there.
fn still_ours(target: &Target<'_>, ours: &File) -> Result<(), WorkspaceError> {
    let there = statat(&target.directory, target.name, AtFlags::SYMLINK_NOFOLLOW);
    match (there, fstat(ours)) {
        (Ok(there), Ok(ours)) if identity(&there) == identity(&ours) => Ok(()),
        _ => Err(WorkspaceError::Changed { path: target.path.to_path_buf() }),
    }
}

fn rename_free(from: &Target<'_>, to: &Target<'_>) -> Result<(), WorkspaceError> {
    rename_without_replacing(&from.directory, from.name, &to.directory, to.name)
        .map_err(|errno| taken(to, errno))
}

/// Where the file system cannot rename without replacing, it is looked just before whether something is there.
fn rename_without_replacing(
    from: &OwnedFd,
    old: &OsStr,
    to: &OwnedFd,
    new: &OsStr,
) -> rustix::io::Result<()> {
    match renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => match statat(to, new, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => renameat(from, old, to, new),
            Ok(_) => Err(Errno::EXIST),
            Err(errno) => Err(errno),
        },
        other => other,
    }
}

fn taken(target: &Target<'_>, errno: Errno) -> WorkspaceError {
    let path = target.path.to_path_buf();
    match errno {
        Errno::EXIST => WorkspaceError::AlreadyExists { path },
        Errno::XDEV => WorkspaceError::OtherFileSystem { path },
        other => target.failed(other),
    }
}

#[cfg(test)]
#[path = "changeset_tests.rs"]
mod tests;
