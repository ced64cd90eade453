//! A launcher over the built binary, and commands run to their end.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use tokio::io::AsyncReadExt;
use toolgate::process::{CommandSpec, Ended, Launcher, LauncherOptions, Limits, RunningCommand};
use toolgate::sandbox::FloorChoice;

/// Only a failsafe: no test waits for it to pass.
pub(crate) const FAILSAFE: Duration = Duration::from_mins(1);

pub(crate) fn program() -> PathBuf {
    env!("CARGO_BIN_EXE_toolgate").into()
}

/// A data directory with a secret and a workspace beside it.
pub(crate) struct Place {
    pub(crate) root: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        std::fs::create_dir(root.path().join("data")).unwrap();
        std::fs::create_dir(root.path().join("work")).unwrap();
        std::fs::write(root.path().join("data/token"), "very-secret").unwrap();
        std::fs::write(root.path().join("config.json"), "{\"secret\": 1}").unwrap();
        // To follow it while siblings are listed would open the data directory.
        std::os::unix::fs::symlink("data", root.path().join("link")).unwrap();
        Self { root }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    pub(crate) async fn launcher(&self, floor: FloorChoice) -> Launcher {
        Launcher::start(LauncherOptions {
            program: program(),
            floor,
            hidden: vec![self.path("data"), self.path("config.json")],
            read_only: vec![program()],
            environment: environment(),
            ..LauncherOptions::default()
        })
        .await
        .unwrap()
    }

    pub(crate) fn command(&self, text: &str) -> CommandSpec {
        command(&self.path("work"), text)
    }
}

pub(crate) fn command(directory: &Path, text: &str) -> CommandSpec {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    CommandSpec {
        argv: ["/bin/bash", "--noprofile", "--norc", "-c", text].map(Into::into).to_vec(),
        direct: None,
        env: ["PATH", "HOME"]
            .iter()
            .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
            .collect(),
        directory: rustix::fs::open(directory, flags, Mode::empty()).unwrap(),
        input: None,
        extra: Vec::new(),
        limits: Limits::default(),
    }
}

/// Reads the output up to and including `text`.
pub(crate) async fn read_until(running: &mut RunningCommand, text: &str) -> String {
    let mut read = String::new();
    let mut byte = [0];
    while !read.ends_with(text) {
        let count = tokio::time::timeout(FAILSAFE, running.output.read(&mut byte)).await.unwrap().unwrap();
        assert_ne!(count, 0, "the output ended before {text:?}: {read}");
        read.push(char::from(byte[0]));
    }
    read
}

/// Runs to the end: output, how it ended.
pub(crate) async fn finish(mut running: RunningCommand) -> (String, Ended) {
    let mut output = Vec::new();
    let work = async {
        running.output.read_to_end(&mut output).await.unwrap();
        running.tree.wait().await.unwrap()
    };
    let ended = tokio::time::timeout(FAILSAFE, work).await.expect("ends in time");
    (String::from_utf8_lossy(&output).into_owned(), ended)
}

/// Whether the process is there and no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or("").trim_start().starts_with('Z'))
}

/// Waits for the end of a process by its descriptor, not by time.
pub(crate) async fn gone(pid: i32) {
    let Some(number) = rustix::process::Pid::from_raw(pid) else { return };
    let Ok(end) = rustix::process::pidfd_open(number, rustix::process::PidfdFlags::empty()) else { return };
    let wait = tokio::task::spawn_blocking(move || {
        let limit = rustix::event::Timespec { tv_sec: 60, tv_nsec: 0 };
        let mut watched = [rustix::event::PollFd::new(&end, rustix::event::PollFlags::IN)];
        rustix::event::poll(&mut watched, Some(&limit)).unwrap()
    });
    assert_eq!(wait.await.unwrap(), 1, "process {pid} does not end");
}

/// What a server would have read at its start.
#[expect(clippy::disallowed_methods, reason = "it stands for the server, which reads it once")]
fn environment() -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    std::env::vars_os().collect()
}
