//! A command to run, one that runs, and how it ended.

use std::ffi::OsString;
use std::os::fd::{OwnedFd, RawFd};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt;
use tokio::net::UnixStream;
use tokio::net::unix::pipe;

use super::LaunchError;
use super::wire::{MAX_REPORT_BYTES, Report, TERMINATE};
use crate::telemetry::metrics::{CommandMeter, Starting};

/// A command to run.
#[derive(Debug)]
pub struct CommandSpec {
    /// Program and arguments. The program is an absolute path: `PATH` is not searched.
    pub argv: Vec<OsString>,
    /// What a shell in `argv` would only become itself: tried first, and where it cannot be executed, `argv` is. (Not
    /// behind bubblewrap, which starts `argv` by itself.)
    pub direct: Option<Direct>,
    /// The whole environment.
    pub env: Vec<(OsString, OsString)>,
    /// The working directory, opened: the directory that was judged is the one that is used.
    pub directory: OwnedFd,
    /// Standard input; `None` is at end of file.
    pub input: Option<OwnedFd>,
    /// Further descriptors and the numbers that they get in the command, 100 to 250, at most 4.
    pub extra: Vec<(RawFd, OwnedFd)>,
    /// Bounds of its tree.
    pub limits: Limits,
}

/// A program that is tried before [`CommandSpec::argv`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Direct {
    /// The file; a relative path counts from the command's directory.
    pub program: PathBuf,
    /// Its words, the name that it is called by first.
    pub words: Vec<OsString>,
}

/// Bounds of a command's tree; `None` is unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// Most processes at a time. Looked at several times a second, so a burst may pass it for a moment.
    pub processes: Option<u64>,
    /// Most memory of its own that the tree holds, in bytes; no single process can map more.
    pub memory_bytes: Option<u64>,
    /// Longest file that a process can write, in bytes.
    pub file_bytes: Option<u64>,
}

/// A bound that ended a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// [`Limits::processes`].
    Processes,
    /// [`Limits::memory_bytes`].
    Memory,
}

/// How a main process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal. (Behind bubblewrap: `Code(128 + signal)`.)
    Signal(i32),
}

/// What still ran when the main process had ended, and was ended then.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Left {
    /// How many processes.
    pub count: u64,
    /// The command lines of the first few, bounded, without control characters.
    pub names: Vec<String>,
    /// How many could not be ended (stuck in the kernel); they get a further SIGKILL until they go.
    pub survivors: u64,
}

/// How a command ended. Its tree is gone (but for [`Left::survivors`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// The main process's end.
    pub exit: Exit,
    /// The bound that ended it, if one did.
    pub limit: Option<Limit>,
    /// What it had left running.
    pub left: Left,
}

/// A command that runs. Dropping it ends its tree at once.
#[derive(Debug)]
pub struct RunningCommand {
    /// Standard output and error, one pipe, so in the order of writing.
    ///
    /// Ends when the tree is gone, unless the command handed its output to a process outside: once
    /// [`Tree::wait`] has answered, take what is there, by reading the descriptor itself, and do not wait for more.
    pub output: pipe::Receiver,
    /// Its process tree.
    pub tree: Tree,
    /// Counts its output; it is told to be alive for as long as this is.
    pub meter: CommandMeter,
}

/// The process tree of a command that runs. Dropping it ends the tree at once.
#[derive(Debug)]
pub struct Tree {
    control: UnixStream,
    buffer: Vec<u8>,
    pid: i32,
    ended: Option<Ended>,
}

impl RunningCommand {
    /// Waits until the keeper says that the program runs.
    pub(super) async fn started(
        output: pipe::Receiver,
        control: UnixStream,
        starting: Starting<'_>,
    ) -> Result<Self, LaunchError> {
        let mut tree = Tree { control, buffer: Vec::new(), pid: 0, ended: None };
        match tree.next_report().await? {
            Report::Started { pid } => {
                tree.pid = pid;
                Ok(Self { output, tree, meter: starting.started() })
            }
            Report::Failed { step, errno } => {
                Err(LaunchError::Start { step, error: std::io::Error::from_raw_os_error(errno) })
            }
            Report::Ended { .. } => Err(LaunchError::Lost),
        }
    }
}

impl Tree {
    /// Process id of the main process.
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Waits until the main process has ended and its tree is gone. May be dropped and called again.
    pub async fn wait(&mut self) -> Result<Ended, LaunchError> {
        if let Some(ended) = &self.ended {
            return Ok(ended.clone());
        }
        match self.next_report().await? {
            Report::Ended { exit, limit, left } => {
                let ended = Ended { exit, limit, left };
                self.ended = Some(ended.clone());
                Ok(ended)
            }
            Report::Started { .. } | Report::Failed { .. } => Err(LaunchError::Lost),
        }
    }

    /// Asks for the end of the tree: SIGTERM, and SIGKILL after 2 seconds. [`Tree::wait`] answers
    /// when it is gone.
    pub fn terminate(&self) {
        // It fails only where the keeper is gone already, which `wait` reports.
        let _ = self.control.try_write(&[TERMINATE]);
    }

    async fn next_report(&mut self) -> Result<Report, LaunchError> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return serde_json::from_slice(&line).map_err(|_| LaunchError::Lost);
            }
            if self.buffer.len() > MAX_REPORT_BYTES {
                return Err(LaunchError::Lost);
            }
            match self.control.read_buf(&mut self.buffer).await {
                Ok(0) | Err(_) => return Err(LaunchError::Lost),
                Ok(_) => {}
            }
        }
    }
}
