//! Learns where a shell ended, so that `cd` carries over to the next command.
//!
//! bash reads the file that `BASH_ENV` names before it reads the command, which itself stays one untouched
//! argument of `-c`: quoting, `$0`, line numbers and syntax errors are as if nothing else were there. That file,
//! in memory, sets a trap on the shell's exit which writes the directory to a descriptor. So `exit`, `set -e`,
//! an error or SIGTERM are no matter. Where the command replaces the shell (`exec`) or sets its own exit trap,
//! nothing is reported and the working directory stays. What is reported is only ever a wish: it is resolved
//! and must lie inside the workspace.
//!
//! A text that cannot change the directory gets none of this: its shell need not come back from its last command, and
//! becomes that program instead.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{MemfdFlags, OFlags};
use rustix::pipe::{PipeFlags, pipe_with};

use crate::permission::WorkingDirectory;
use crate::workspace::{FileKind, Workspace};

pub(super) const PROLOGUE_VARIABLE: &str = "BASH_ENV";
const PROLOGUE_NUMBER: RawFd = 198;
const REPORT_NUMBER: RawFd = 199;
/// Tracing is switched off first: a command's `set -x` must not show what it did not write.
const PROLOGUE: &str = "unset BASH_ENV\n\
    exec 198<&-\n\
    trap '{ set +x; } 2>/dev/null; builtin pwd -P 2>/dev/null >&199 || builtin :' EXIT\n";
const PROLOGUE_PATH: &str = "/dev/fd/198";
/// Longer than any path that the system takes.
const MAX_REPORT_BYTES: u64 = 8 * 1024;

/// A command's variable for one that is reported; it gets no other of this name.
pub(super) fn prologue() -> (OsString, OsString) {
    (PROLOGUE_VARIABLE.into(), PROLOGUE_PATH.into())
}

/// Where a command's directory is reported, if it is.
#[derive(Debug, Default)]
pub(super) struct Carry {
    report: Option<OwnedFd>,
}

/// What became of the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Carried {
    /// Where the session's next command begins.
    pub(super) directory: PathBuf,
    /// Where the command ended, if that is outside of the workspace and so was not taken over.
    pub(super) refused: Option<PathBuf>,
}

impl Carry {
    /// One that is reported, with the descriptors that the command needs for it.
    pub(super) fn reported() -> io::Result<(Self, Vec<(RawFd, OwnedFd)>)> {
        let mut prologue = File::from(rustix::fs::memfd_create("prologue", MemfdFlags::CLOEXEC)?);
        prologue.write_all(PROLOGUE.as_bytes())?;
        let (report, reporter) = pipe_with(PipeFlags::CLOEXEC)?;
        // A command that outlived its shell must not be waited for here.
        rustix::fs::fcntl_setfl(&report, OFlags::NONBLOCK)?;
        Ok((
            Self { report: Some(report) },
            vec![(PROLOGUE_NUMBER, prologue.into()), (REPORT_NUMBER, reporter)],
        ))
    }

    /// Takes over the directory that was reported, if it is one inside the workspace and not the one that the
    /// command began in.
    pub(super) async fn apply(
        self,
        workspace: &Arc<Workspace>,
        start: &Path,
        working_directory: &WorkingDirectory,
    ) -> Carried {
        let ended_in = self.read();
        let unchanged = |refused| Carried { directory: working_directory.current(), refused };
        let Some(ended_in) = ended_in.filter(|directory| directory != start) else { return unchanged(None) };
        let asked = ended_in.clone();
        let workspace = Arc::clone(workspace);
        let located = tokio::task::spawn_blocking(move || workspace.locate(Path::new("/"), &asked)).await;
        match located {
            Ok(Ok(located)) if located.inside && located.kind == Some(FileKind::Directory) => {
                working_directory.set(located.real.clone());
                Carried { directory: located.real, refused: None }
            }
            _ => unchanged(Some(ended_in)),
        }
    }

    fn read(self) -> Option<PathBuf> {
        let mut bytes = Vec::new();
        // At the end of the pipe, or where nothing more is there now.
        let _ = File::from(self.report?).take(MAX_REPORT_BYTES).read_to_end(&mut bytes);
        let path = Path::new(OsStr::from_bytes(bytes.strip_suffix(b"\n")?)).to_path_buf();
        path.is_absolute().then_some(path)
    }
}
