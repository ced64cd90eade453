//! What stands within the sandbox: starts one bash after another, each in a fresh directory, and ends what it left.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process, kill_process_group, pidfd_open, setrlimit,
};

/// The variable that names the file of programs.
pub(crate) const PROGRAMS: &str = "SHELL_PROGRAMS";

/// Opened (in vain) with a program's number behind it before that program starts, and with `PAUSE` once all that
/// it started has ended.
pub(crate) const MARK: &str = "/mark/";
pub(crate) const PAUSE: &str = "pause";

/// Where every program starts.
pub(crate) const WORKSPACE: &str = "/ws";

/// The home of every program.
pub(crate) const HOME: &str = "/home/user";

/// How long one program may run, and how long what it left behind it.
const LIMIT: Duration = Duration::from_millis(600);
const GRACE: Duration = Duration::from_millis(100);
const SLICE: Duration = Duration::from_millis(10);

/// Processes that one program may start: more than any of them needs. (The kernel's own limit does not count for
/// root.)
const MOST_PROCESSES: u32 = 300;

/// The environment that programs get.
pub(crate) const ENVIRONMENT: &[(&str, &str)] =
    &[("PATH", "/usr/bin:/bin"), ("HOME", HOME), ("LANG", "C.UTF-8")];

/// No test by itself: the sandbox starts it, by the name of this function.
#[test]
fn inside() {
    let Some(list) = std::env::var_os(PROGRAMS) else { return };
    // `play` would end whatever else runs outside.
    assert_eq!(
        std::fs::read_to_string("/proc/1/comm").unwrap(),
        "bwrap\n",
        "only within a sandbox of its own"
    );
    let programs: Vec<String> = serde_json::from_slice(&std::fs::read(list).unwrap()).unwrap();
    limit(Resource::Fsize, 1 << 20);
    limit(Resource::As, 4 << 30);
    limit(Resource::Core, 0);
    let mut numbers = Numbers(File::open("/proc/loadavg").unwrap());
    for (number, program) in programs.iter().enumerate() {
        clear();
        mark(&number.to_string());
        play(program, &mut numbers);
        mark(PAUSE);
    }
}

fn limit(resource: Resource, to: u64) {
    setrlimit(resource, Rlimit { current: Some(to), maximum: Some(to) }).ok();
}

fn mark(what: &str) {
    assert!(File::open(format!("{MARK}{what}")).is_err());
}

/// A directory with names in it that globs turn into programs and options.
fn clear() {
    for place in [WORKSPACE, HOME, "/tmp"] {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir_all(&path).ok();
            } else {
                std::fs::remove_file(&path).ok();
            }
        }
    }
    let workspace = Path::new(WORKSPACE);
    for (name, text) in
        [("a", ""), ("a b", ""), ("in", "a\nb\n"), ("-rf", ""), ("rm", ""), ("p1", ""), ("x=1", "")]
    {
        std::fs::write(workspace.join(name), text).unwrap();
    }
    std::fs::create_dir(workspace.join("sub")).unwrap();
    for name in ["p1", "ls"] {
        symlink("/real/true", workspace.join("sub").join(name)).unwrap();
    }
}

/// Starts the program and ends what it started, once it has ended by itself or has had its time.
#[expect(clippy::disallowed_methods, reason = "what is tested is what bash itself starts")]
fn play(program: &str, numbers: &mut Numbers) {
    let before = numbers.last();
    let mut bash = Command::new("/bin/bash");
    bash.args(["--noprofile", "--norc", "-c", program]);
    bash.env_clear().envs(ENVIRONMENT.iter().copied()).current_dir(WORKSPACE).process_group(0);
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // A text with a NUL in it cannot be started at all.
    let Ok(mut child) = bash.spawn() else { return };
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw).unwrap();
    let mut multiplies = || numbers.last() > before + MOST_PROCESSES;
    let deadline = Instant::now() + LIMIT;
    while !ends_within(group, SLICE) && Instant::now() < deadline && !multiplies() {}
    // What it left running gets a moment to start what it has to.
    let deadline = Instant::now() + GRACE;
    while Instant::now() < deadline
        && !multiplies()
        && let Some(pid) = others().first()
    {
        ends_within(*pid, SLICE);
    }
    // Most are in the group, and go at once: what forks without end cannot outrun that.
    kill_process_group(group, Signal::KILL).ok();
    child.wait().unwrap();
    loop {
        let left = others();
        let Some(first) = left.first() else { return };
        for pid in &left {
            kill_process(*pid, Signal::KILL).ok();
        }
        ends_within(*first, GRACE);
    }
}

/// Whether the process has ended, or does so soon. None of the calls here is one that `strace` stops at.
fn ends_within(pid: Pid, limit: Duration) -> bool {
    let Ok(end) = pidfd_open(pid, PidfdFlags::empty()) else { return true };
    let limit = Timespec { tv_sec: 0, tv_nsec: limit.subsec_nanos().into() };
    poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&limit)).is_ok_and(|ready| ready > 0)
}

/// Every process of the sandbox that runs, but its first, `strace` and this one.
fn others() -> Vec<Pid> {
    let own = rustix::process::getpid();
    let tracer = rustix::process::getppid();
    let entries = std::fs::read_dir("/proc").unwrap();
    let numbers = entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok());
    numbers
        .filter_map(Pid::from_raw)
        .filter(|pid| {
            !pid.is_init() && *pid != own && Some(*pid) != tracer && !ends_within(*pid, Duration::ZERO)
        })
        .collect()
}

/// The numbers that the kernel gives to new processes of the sandbox.
struct Numbers(File);

impl Numbers {
    /// The one given last: the last word of the file.
    fn last(&mut self) -> u32 {
        let mut text = String::new();
        self.0.rewind().unwrap();
        self.0.read_to_string(&mut text).unwrap();
        text.split_whitespace().next_back().and_then(|number| number.parse().ok()).unwrap()
    }
}
