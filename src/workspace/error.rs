//! What can go wrong between a path's text and the bytes of a file.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use super::FileKind;

/// Why a workspace could not be opened, a path not be resolved, or a file not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkspaceError {
    /// The root is not an absolute, resolved path of a directory.
    #[error("{} cannot be a workspace root: {reason}", path.display())]
    Root {
        /// The root as given.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Another directory lies where the workspace was opened.
    #[error("the workspace directory {} was moved or replaced while in use", path.display())]
    RootReplaced {
        /// The root as it was opened.
        path: PathBuf,
    },
    /// The path is empty.
    #[error("the path is empty")]
    EmptyPath,
    /// The path holds a NUL byte.
    #[error("the path contains a NUL byte")]
    NulInPath,
    /// The path has more than 4,095 bytes, or a name in it more than 255.
    #[error("the path is too long: at most 4095 bytes in all and 255 bytes a name")]
    PathTooLong,
    /// A relative working directory was given: a caller's mistake.
    #[error("the working directory {} is not absolute", path.display())]
    RelativeDirectory {
        /// The working directory as given.
        path: PathBuf,
    },
    /// More than 40 symlinks were met on the way.
    #[error("too many symbolic links on the way to {}", path.display())]
    SymlinkLoop {
        /// The path as it was asked for.
        path: PathBuf,
    },
    /// Something on the way is not a directory.
    #[error("{} is not a directory", path.display())]
    NotADirectory {
        /// What is in the way.
        path: PathBuf,
    },
    /// Nothing is there.
    #[error("{} does not exist", path.display())]
    NotFound {
        /// What was looked for.
        path: PathBuf,
    },
    /// Something other than a regular file is there.
    #[error("{} is {kind}, not a regular file", path.display())]
    NotAFile {
        /// What was to be opened.
        path: PathBuf,
        /// What lies there.
        kind: FileKind,
    },
    /// The way to the file is not what it was when it was judged (a symlink appeared, a folder moved).
    #[error("the path {} changed since it was checked; nothing was done", path.display())]
    Changed {
        /// The path as it was judged.
        path: PathBuf,
    },
    /// The content is not what the change was made for; nothing was written.
    #[error("{} changed since it was read; nothing was written", path.display())]
    Stale {
        /// The file.
        path: PathBuf,
    },
    /// A new file was to be made where one lies by now; nothing was written.
    #[error("{} exists already; nothing was written", path.display())]
    AlreadyExists {
        /// The file.
        path: PathBuf,
    },
    /// A file was to be moved to another file system, which is not one step; nothing was moved.
    #[error("{} is on another file system than the file to be moved there; nothing was moved", path.display())]
    OtherFileSystem {
        /// Where it was to go.
        path: PathBuf,
    },
    /// The file is larger than what is loaded whole.
    #[error("{} has {size} bytes; at most {limit} bytes can be loaded whole", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size in bytes, or the bytes read when the bound was passed.
        size: u64,
        /// The bound in bytes.
        limit: u64,
    },
    /// The operating system refused.
    #[error("permission denied: {}", path.display())]
    PermissionDenied {
        /// What was to be reached.
        path: PathBuf,
    },
    /// Anything else that the operating system said.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was to be reached.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl WorkspaceError {
    /// The error for an `errno` met while walking to or opening `path`.
    pub(super) fn from_errno(path: &Path, errno: Errno) -> Self {
        let path = path.to_path_buf();
        match errno {
            Errno::NOENT => Self::NotFound { path },
            Errno::ACCESS | Errno::PERM | Errno::ROFS => Self::PermissionDenied { path },
            Errno::NAMETOOLONG => Self::PathTooLong,
            // With RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH: the judged path had none of these.
            Errno::LOOP | Errno::XDEV | Errno::NOTDIR | Errno::AGAIN => Self::Changed { path },
            // A socket, or a FIFO without its other end, opened as a file.
            Errno::NXIO => Self::NotAFile { path, kind: FileKind::Socket },
            other => Self::Io { path, source: other.into() },
        }
    }

    /// The error for a failed read or write on an open descriptor.
    pub(super) fn from_io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_path_buf(), source }
    }
}
