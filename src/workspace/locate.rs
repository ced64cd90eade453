//! From a path's text to the place it really leads to, and whether that lies in the workspace.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, open, readlinkat, statat};
use rustix::io::Errno;

use super::WorkspaceError;
use super::open::open_beneath;

/// Longest path in bytes, without its closing NUL (`PATH_MAX`).
const MAX_PATH_BYTES: usize = 4095;
/// Longest name in bytes (`NAME_MAX`).
const MAX_NAME_BYTES: usize = 255;
/// How many symlinks one path may lead through, as in the kernel.
const MAX_LINKS: u32 = 40;

/// A directory that file operations are confined to, held open for as long as this lives.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    root_fd: OwnedFd,
    /// `/`, from where a judged path outside is reached.
    slash_fd: OwnedFd,
    identity: (u64, u64),
}

/// What a path is, once looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A named pipe.
    Fifo,
    /// A Unix socket.
    Socket,
    /// A device, such as `/dev/zero`.
    Device,
    /// A symlink. Never the kind of a [`Located`]: those are followed.
    Symlink,
    /// Something this system does not name.
    Unknown,
}

/// A path as it was asked for and as it really is. This is what permission is judged on, and what is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// Absolute, with `.` and `..` taken out by text alone.
    pub requested: PathBuf,
    /// Absolute, with every symlink followed as the kernel would. Where the path does not exist, the deepest
    /// ancestor that does is resolved, and the rest is names.
    pub real: PathBuf,
    /// Whether `real` is the workspace's root or lies beneath it, and the text turns back (`..`) nowhere outside of it:
    /// a way out and back tells what lies there.
    pub inside: bool,
    /// What lies at `real`; `None` when nothing does.
    pub kind: Option<FileKind>,
    /// The text ended in a slash: only a directory can be meant.
    pub directory_meant: bool,
    /// The way leads through a link of proc(5), which leads elsewhere for every process that follows it.
    pub through_process: bool,
}

/// The way of a path, as far as there is one.
#[derive(Debug)]
pub struct Way {
    /// Where it leads. Behind an obstacle `real` goes on by the text alone, as far as the first `..`, `kind` is
    /// `None`, and it is inside only if the obstacle is.
    pub located: Located,
    /// Why nothing can lie at its end: something on the way is not a directory, or is not to be entered.
    pub obstacle: Option<WorkspaceError>,
    /// It leads through no symlink and no `..`, so all of it lies where its text says.
    pub straight: bool,
}

impl Workspace {
    /// Opens the workspace at an absolute path that leads through no symlink.
    pub fn open(root: &Path) -> Result<Self, WorkspaceError> {
        let refuse = |reason| WorkspaceError::Root { path: root.to_path_buf(), reason };
        if !root.is_absolute() {
            return Err(refuse("it is not absolute"));
        }
        if lexical(root) != root || root.as_os_str().len() > MAX_PATH_BYTES {
            return Err(refuse("it is not a resolved path"));
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |errno| WorkspaceError::from_errno(root, errno);
        let slash_fd = open("/", flags, Mode::empty()).map_err(failed)?;
        let root_fd =
            open_beneath(slash_fd.as_fd(), beneath_slash(root), flags).map_err(|errno| match errno {
                Errno::LOOP | Errno::XDEV => refuse("it leads through a symbolic link"),
                Errno::NOTDIR => refuse("it is not a directory, or leads through a symbolic link"),
                Errno::NOENT => refuse("it does not exist"),
                other => failed(other),
            })?;
        let stat = fstat(&root_fd).map_err(failed)?;
        Ok(Self { root: root.to_path_buf(), root_fd, slash_fd, identity: (stat.st_dev, stat.st_ino) })
    }

    /// The absolute, resolved path of the root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Finds out where `requested` leads from the absolute directory `cwd`. Touches nothing but names; a tilde
    /// means nothing here. A path outside the workspace is no error: `inside` says so, permission judges it.
    pub fn resolve(&self, cwd: &Path, requested: &str) -> Result<Located, WorkspaceError> {
        self.way(cwd, requested).and_then(Way::unobstructed)
    }

    /// The same where an obstacle on the way is no error: what is in the way is not for everyone to know.
    pub fn way(&self, cwd: &Path, requested: &str) -> Result<Way, WorkspaceError> {
        if requested.is_empty() {
            return Err(WorkspaceError::EmptyPath);
        }
        if requested.contains('\0') {
            return Err(WorkspaceError::NulInPath);
        }
        self.way_of(cwd, Path::new(requested))
    }

    /// As [`Self::resolve`], for a path that the system gave (a directory entry), which need not be UTF-8.
    pub fn locate(&self, cwd: &Path, requested: &Path) -> Result<Located, WorkspaceError> {
        self.way_of(cwd, requested).and_then(Way::unobstructed)
    }

    fn way_of(&self, cwd: &Path, requested: &Path) -> Result<Way, WorkspaceError> {
        if !cwd.is_absolute() {
            return Err(WorkspaceError::RelativeDirectory { path: cwd.to_path_buf() });
        }
        let joined = cwd.join(requested);
        let bytes = joined.as_os_str().as_bytes();
        if bytes.contains(&0) {
            return Err(WorkspaceError::NulInPath);
        }
        if bytes.len() > MAX_PATH_BYTES || bytes.split(|b| *b == b'/').any(|name| name.len() > MAX_NAME_BYTES)
        {
            return Err(WorkspaceError::PathTooLong);
        }
        self.check_root()?;
        let mut walk = Walk::from_slash(joined.as_os_str(), &self.root);
        let mut obstacle = walk.run(&joined).err();
        let met_inside = walk.real.starts_with(&self.root);
        let directory_meant = bytes.ends_with(b"/") || bytes.ends_with(b"/.") || bytes.ends_with(b"/..");
        if obstacle.is_some() {
            walk.spell_out();
        } else if directory_meant && walk.kind.is_some_and(|kind| kind != FileKind::Directory) {
            obstacle = Some(WorkspaceError::NotADirectory { path: walk.real.clone() });
            walk.kind = None;
        }
        let requested = lexical(&joined);
        let climbs = joined.components().any(|component| component == Component::ParentDir);
        let located = Located {
            inside: met_inside && !walk.turned_outside && walk.real.starts_with(&self.root),
            real: walk.real,
            requested,
            kind: walk.kind,
            directory_meant,
            through_process: walk.through_process,
        };
        Ok(Way { located, obstacle, straight: walk.links == 0 && !climbs })
    }

    /// The descriptor to start from, and the path beneath it, for a real path.
    pub(super) fn anchor<'a>(&'a self, real: &'a Path) -> (BorrowedFd<'a>, &'a Path) {
        match real.strip_prefix(&self.root) {
            Ok(beneath) if beneath.as_os_str().is_empty() => (self.root_fd.as_fd(), Path::new(".")),
            Ok(beneath) => (self.root_fd.as_fd(), beneath),
            Err(_) => (self.slash_fd.as_fd(), beneath_slash(real)),
        }
    }

    /// The names judged are those seen at the root's path, so that must still be the directory held open.
    fn check_root(&self) -> Result<(), WorkspaceError> {
        match statat(CWD, &self.root, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) if (stat.st_dev, stat.st_ino) == self.identity => Ok(()),
            _ => Err(WorkspaceError::RootReplaced { path: self.root.clone() }),
        }
    }
}

impl Way {
    fn unobstructed(self) -> Result<Located, WorkspaceError> {
        self.obstacle.map_or(Ok(self.located), Err)
    }
}

impl FileKind {
    pub(super) fn of(stat: &rustix::fs::Stat) -> Self {
        Self::from(FileType::from_raw_mode(stat.st_mode))
    }
}

impl From<FileType> for FileKind {
    fn from(file_type: FileType) -> Self {
        match file_type {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Directory,
            FileType::Fifo => Self::Fifo,
            FileType::Socket => Self::Socket,
            FileType::CharacterDevice | FileType::BlockDevice => Self::Device,
            FileType::Symlink => Self::Symlink,
            FileType::Unknown => Self::Unknown,
        }
    }
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Directory => "a directory",
            Self::Fifo => "a named pipe (FIFO)",
            Self::Socket => "a socket",
            Self::Device => "a device",
            Self::Symlink => "a symbolic link",
            Self::Unknown => "something unknown",
        })
    }
}

/// A walk from `/` along names that are still to come, as the kernel resolves a path.
struct Walk<'a> {
    root: &'a Path,
    real: PathBuf,
    /// Names still to come, the next one last.
    pending: Vec<OsString>,
    /// How many names at the end of `real` do not exist.
    missing: usize,
    kind: Option<FileKind>,
    links: u32,
    through_process: bool,
    /// How many of `pending`, from its beginning, are of the text itself and not of a symlink.
    of_text: usize,
    turned_outside: bool,
}

impl<'a> Walk<'a> {
    fn from_slash(path: &OsStr, root: &'a Path) -> Self {
        let pending = names(path);
        Self {
            root,
            real: PathBuf::from("/"),
            of_text: pending.len(),
            turned_outside: false,
            pending,
            missing: 0,
            kind: Some(FileKind::Directory),
            links: 0,
            through_process: false,
        }
    }

    fn run(&mut self, asked: &Path) -> Result<(), WorkspaceError> {
        while let Some(name) = self.pending.pop() {
            let is_of_text = self.pending.len() < self.of_text;
            self.of_text = self.of_text.min(self.pending.len());
            if self.missing == 0 && self.kind != Some(FileKind::Directory) {
                self.pending.push(name);
                return Err(WorkspaceError::NotADirectory { path: self.real.clone() });
            }
            match name.as_bytes() {
                b"." => {}
                b".." => {
                    self.turned_outside |= is_of_text && self.is_aside();
                    self.missing = self.missing.saturating_sub(1);
                    self.real.pop();
                    self.kind = (self.missing == 0).then_some(FileKind::Directory);
                }
                _ if self.missing > 0 => {
                    self.real.push(name);
                    self.missing += 1;
                }
                _ => self.enter(&name, asked)?,
            }
        }
        Ok(())
    }

    /// Whether it has left the root and the way to it.
    fn is_aside(&self) -> bool {
        !self.real.starts_with(self.root) && !self.root.starts_with(&self.real)
    }

    /// Goes on by the names alone where there is no way. What `..` would be there nobody can say.
    fn spell_out(&mut self) {
        self.kind = None;
        while let Some(name) = self.pending.pop() {
            match name.as_bytes() {
                b"." => {}
                b".." => return,
                _ => self.real.push(name),
            }
        }
    }

    fn enter(&mut self, name: &OsStr, asked: &Path) -> Result<(), WorkspaceError> {
        self.real.push(name);
        let failed = |errno| WorkspaceError::from_errno(asked, errno);
        let stat = match statat(CWD, &self.real, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => {
                self.missing = 1;
                self.kind = None;
                return Ok(());
            }
            other => other.map_err(failed)?,
        };
        self.kind = Some(FileKind::of(&stat));
        if self.kind != Some(FileKind::Symlink) {
            return Ok(());
        }
        self.through_process |= self.real.starts_with("/proc");
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(WorkspaceError::SymlinkLoop { path: asked.to_path_buf() });
        }
        let target = readlinkat(CWD, &self.real, Vec::new()).map_err(failed)?;
        self.real.pop();
        if target.as_bytes().starts_with(b"/") {
            self.real = PathBuf::from("/");
        }
        self.kind = Some(FileKind::Directory);
        self.pending.extend(names(&OsString::from_vec(target.into_bytes())));
        Ok(())
    }
}

/// The names of a path, last one first, empty ones left out.
fn names(path: &OsStr) -> Vec<OsString> {
    let names = path.as_bytes().split(|byte| *byte == b'/').filter(|name| !name.is_empty());
    names.rev().map(|name| OsStr::from_bytes(name).to_os_string()).collect()
}

fn beneath_slash(path: &Path) -> &Path {
    match path.strip_prefix("/") {
        Ok(beneath) if !beneath.as_os_str().is_empty() => beneath,
        _ => Path::new("."),
    }
}

/// Takes `.` and `..` out of an absolute path by text alone.
fn lexical(path: &Path) -> PathBuf {
    let mut normal = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => normal.push(name),
            Component::ParentDir => {
                normal.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    normal
}

#[cfg(test)]
#[path = "locate_tests.rs"]
mod tests;
