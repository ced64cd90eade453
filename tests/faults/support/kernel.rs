//! Processes as the kernel shows them: found by name or mark, waited for by descriptor.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};

use super::{FAILSAFE, MARK};

/// A process that can be waited for, whatever becomes of its number.
pub(crate) struct Watched {
    pid: i32,
    descriptor: OwnedFd,
}

impl Watched {
    /// None where it is gone.
    pub(crate) fn open(pid: i32) -> Option<Self> {
        let descriptor = pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()?;
        Some(Self { pid, descriptor })
    }

    /// Waits for its end.
    pub(crate) async fn gone(self) {
        tokio::task::spawn_blocking(move || self.wait()).await.unwrap();
    }

    fn wait(&self) {
        let limit = Timespec { tv_sec: i64::try_from(FAILSAFE.as_secs()).unwrap(), tv_nsec: 0 };
        let mut watched = [PollFd::new(&self.descriptor, PollFlags::IN)];
        let ended = poll(&mut watched, Some(&limit)).unwrap();
        assert_eq!(ended, 1, "process {} does not end: {}", self.pid, command_line(self.pid));
    }
}

pub(crate) fn signal(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

fn numbers() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

fn command_line(pid: i32) -> String {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default().replace('\0', " ")
}

/// State and parent of a process.
fn stat(pid: i32) -> Option<(char, i32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit(')').next()?.split_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// Whether a process is there and no zombie.
pub(crate) fn is_alive(pid: i32) -> bool {
    stat(pid).is_some_and(|(state, _)| state != 'Z')
}

/// The live children of a process.
pub(crate) fn children(parent: i32) -> Vec<i32> {
    let child = |pid: &i32| stat(*pid).is_some_and(|(state, its)| its == parent && state != 'Z');
    numbers().into_iter().filter(child).collect()
}

/// Live processes that run a program beneath `root` or carry the mark in their environment.
pub(crate) fn processes_of(root: &Path, mark: &str) -> Vec<i32> {
    let variable = format!("{MARK}={mark}");
    let belongs = |pid: &i32| {
        let runs = std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.starts_with(root));
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        (runs || environment.split(|byte| *byte == 0).any(|entry| entry == variable.as_bytes()))
            && is_alive(*pid)
    };
    numbers().into_iter().filter(belongs).collect()
}

/// Waits for the end of all of them, and of what they start meanwhile.
pub(crate) async fn wait_until_none(root: &Path, mark: &str) {
    let began = Instant::now();
    loop {
        let left = processes_of(root, mark);
        if left.is_empty() {
            return;
        }
        let names: Vec<String> = left.iter().map(|pid| command_line(*pid)).collect();
        assert!(began.elapsed() < FAILSAFE, "they do not end: {names:?}");
        for watched in left.into_iter().filter_map(Watched::open) {
            watched.gone().await;
        }
    }
}

/// The most memory that a process has held, in KiB.
pub(crate) fn peak_memory_kib(pid: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}
