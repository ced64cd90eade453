//! The process above one command: adopts its orphans, ends its tree, reports.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Seek};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::SendFlags;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::child::{Descriptors, become_command};
use super::command::{Exit, Left, Limit};
use super::kernel;
use super::tree::{self, Process};
use super::wire::{Report, Request, StartStep, TERMINATE};

/// From SIGTERM to SIGKILL where the server asked for the end.
const TERMINATE_GRACE: Duration = Duration::from_secs(2);
/// The same for what a command left running: its call waits for this.
const LEFTOVER_GRACE: Duration = Duration::from_millis(150);
/// When SIGKILL has not ended a process for this long it is stuck in the kernel, and the call answers.
const KILL_PATIENCE: Duration = Duration::from_secs(10);
/// Between two rounds of SIGKILL.
const KILL_ROUND: Duration = Duration::from_millis(10);
/// How long a keeper whose tree is gone waits for the server to have taken note.
const LINGER: Duration = Duration::from_millis(500);
/// When the bounds are first looked at (short commands never pay for it), and then how often.
const FIRST_LOOK: Duration = Duration::from_millis(100);
const NEXT_LOOK: Duration = Duration::from_millis(250);
/// And at the soonest, where orphans end.
const ORPHAN_LOOK: Duration = Duration::from_millis(20);
/// Most command lines in a report.
const MAX_NAMES: usize = 8;
/// Scans in one round that look for processes born during the last scan.
const MAX_SCANS: usize = 64;

/// The code of a keeper that leaves nothing behind; with any other the spawner looks for orphans.
pub(super) const CLEAN: i32 = 0;
const UNCLEAN: i32 = 1;
/// The code of a child that became no command; nobody looks at it.
const NO_COMMAND: i32 = 127;

/// Runs one command to its end, in a process of its own. `descriptors` in the order of the packet.
pub(super) fn run(descriptors: Vec<OwnedFd>) -> ! {
    let mut descriptors = descriptors.into_iter();
    let (Some(request), Some(control)) = (descriptors.next(), descriptors.next()) else {
        kernel::leave(UNCLEAN)
    };
    let code = match start(request, descriptors) {
        Ok(mut keeper) => {
            send(&control, &Report::Started { pid: keeper.main.as_raw_pid() });
            let code = keeper.keep(&control);
            if code == CLEAN {
                keeper.linger(&control);
            }
            code
        }
        Err((step, error)) => {
            send(&control, &failed(step, &error));
            CLEAN
        }
    };
    kernel::leave(code)
}

pub(super) fn failed(step: StartStep, error: &io::Error) -> Report {
    Report::Failed { step, errno: error.raw_os_error().unwrap_or(libc::EINVAL) }
}

/// Writes one line. A server that is gone shows as end of file where the keeper listens.
pub(super) fn send(control: &OwnedFd, report: &Report) {
    let Ok(mut line) = serde_json::to_vec(report) else { return };
    line.push(b'\n');
    let mut rest = line.as_slice();
    while !rest.is_empty() {
        match rustix::net::send(control, rest, SendFlags::NOSIGNAL) {
            Ok(sent) => rest = rest.get(sent..).unwrap_or_default(),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

type StartFailure = (StartStep, io::Error);

fn start(request: OwnedFd, given: std::vec::IntoIter<OwnedFd>) -> Result<Keeper, StartFailure> {
    let at = |step: StartStep| move |error: io::Error| (step, error);
    let (request, descriptors) = read_request(request, given).map_err(at(StartStep::Request))?;
    let prepared = (|| {
        rustix::process::setsid()?;
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        kernel::block_signals(&[libc::SIGCHLD, libc::SIGTERM]);
        kernel::signal_descriptor(&[libc::SIGCHLD, libc::SIGTERM])
    })();
    let signals = prepared.map_err(at(StartStep::Prepare))?;
    let mut failure = None;
    let child = || {
        failure = Some(become_command(&request, &descriptors));
        NO_COMMAND
    };
    let main = kernel::borrow_memory_for(child).map_err(at(StartStep::Fork))?;
    drop(descriptors);
    if let Some(failure) = failure {
        return Err(failure);
    }
    // Only now, so that the command has nothing of it.
    kernel::run_before_others();
    Ok(Keeper::new(&request, signals, main))
}

fn read_request(
    request: OwnedFd,
    mut given: std::vec::IntoIter<OwnedFd>,
) -> io::Result<(Request, Descriptors)> {
    let mut file = File::from(request);
    file.rewind()?;
    let request = Request::read_from(&mut io::BufReader::new(file))?;
    let mut next = || given.next().ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof));
    let output = next()?;
    let directory = next()?;
    let ruleset = request.has_ruleset.then(&mut next).transpose()?;
    let input = request.has_input.then(&mut next).transpose()?;
    let extra = request.extra.iter().map(|_| next()).collect::<io::Result<_>>()?;
    Ok((request, Descriptors { output, directory, ruleset, input, extra }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Running,
    /// SIGTERM was sent; SIGKILL follows at this time.
    Asked(Instant),
    /// SIGKILL in rounds since this time.
    Forced(Instant),
}

struct Keeper {
    me: Pid,
    main: Pid,
    signals: OwnedFd,
    stage: Stage,
    exit: Option<Exit>,
    limit: Option<Limit>,
    left: Left,
    /// Whether the main process is bubblewrap.
    wrapped: bool,
    max_processes: u64,
    max_memory_bytes: u64,
    next_look: Option<Instant>,
    last_look: Instant,
}

impl Keeper {
    fn new(request: &Request, signals: OwnedFd, main: Pid) -> Self {
        let bounded = request.max_processes > 0 || request.max_memory_bytes > 0;
        Self {
            me: rustix::process::getpid(),
            main,
            signals,
            stage: Stage::Running,
            exit: None,
            limit: None,
            left: Left::default(),
            wrapped: !request.confine,
            max_processes: request.max_processes,
            max_memory_bytes: request.max_memory_bytes,
            next_look: bounded.then(|| Instant::now() + FIRST_LOOK),
            last_look: Instant::now(),
        }
    }

    fn keep(&mut self, control: &OwnedFd) -> i32 {
        let mut server_there = true;
        loop {
            if self.reap() {
                return self.report(control, CLEAN);
            }
            if self.exit.is_some() && self.stage == Stage::Running {
                self.ask(LEFTOVER_GRACE);
            }
            self.wait_for_event(control, server_there);
            if server_there {
                server_there = self.listen(control);
            }
            while let Some(signal) = kernel::next_signal(&self.signals) {
                match signal {
                    libc::SIGTERM => self.ask(TERMINATE_GRACE),
                    // Only orphans and the main process end here: many of them are a sign of a fork bomb.
                    _ => self.next_look = self.next_look.map(|time| time.min(self.last_look + ORPHAN_LOOK)),
                }
            }
            self.look();
            match self.stage {
                Stage::Asked(until) if Instant::now() >= until => self.force(),
                Stage::Forced(since) if since.elapsed() > KILL_PATIENCE => {
                    self.left.survivors = tree::descendants(self.me).len() as u64;
                    return self.report(control, UNCLEAN);
                }
                Stage::Forced(_) => self.kill_round(),
                Stage::Running | Stage::Asked(_) => {}
            }
        }
    }

    /// Collects what has ended. True when there is no child left, so no tree.
    fn reap(&mut self) -> bool {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == self.main {
                        self.exit = Some(exit_of(status));
                    }
                }
                Ok(None) => return false,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
            }
        }
    }

    fn wait_for_event(&self, control: &OwnedFd, server_there: bool) {
        let until = match self.stage {
            Stage::Running => self.next_look,
            Stage::Asked(until) => Some(until),
            Stage::Forced(_) => Some(Instant::now() + KILL_ROUND),
        };
        let timeout = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: i64::from(left.subsec_nanos()),
            }
        });
        let signals = PollFd::new(&self.signals, PollFlags::IN);
        let control = PollFd::new(control, PollFlags::IN);
        let mut both = [signals, control];
        let watched = if server_there { &mut both[..] } else { &mut both[..1] };
        let _ = poll(watched, timeout.as_ref());
    }

    /// Takes what the server said. False when it is gone: then the tree goes at once.
    fn listen(&mut self, control: &OwnedFd) -> bool {
        let mut bytes = [0; 64];
        match rustix::net::recv(control.as_fd(), &mut bytes, rustix::net::RecvFlags::DONTWAIT) {
            Ok((0, _)) => {
                self.force();
                false
            }
            Ok((length, _)) => {
                if bytes.iter().take(length).any(|byte| *byte == TERMINATE) {
                    self.ask(TERMINATE_GRACE);
                }
                true
            }
            Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => true,
            Err(_) => {
                self.force();
                false
            }
        }
    }

    /// Looks at the bounds when it is time to.
    fn look(&mut self) {
        let now = Instant::now();
        if self.stage != Stage::Running || self.next_look.is_none_or(|time| now < time) {
            return;
        }
        self.next_look = Some(now + NEXT_LOOK);
        self.last_look = now;
        let processes = tree::descendants_at_a_glance(self.me);
        if self.max_processes > 0 && processes.len() as u64 > self.max_processes {
            self.limit = Some(Limit::Processes);
        } else if self.max_memory_bytes > 0 && tree::resident_bytes(&processes) > self.max_memory_bytes {
            self.limit = Some(Limit::Memory);
        } else {
            return;
        }
        self.force();
    }

    /// SIGTERM to the whole tree, once; SIGKILL follows after `grace`.
    fn ask(&mut self, grace: Duration) {
        if self.stage != Stage::Running {
            return;
        }
        let processes = tree::descendants(self.me);
        if self.exit.is_some() {
            let left: Vec<_> = processes.iter().filter(|process| !self.is_wrapper(process)).collect();
            self.left.count = left.len() as u64;
            self.left.names = left.iter().take(MAX_NAMES).map(|process| tree::name(process.pid)).collect();
        }
        tree::signal_all(&processes, Signal::TERM);
        // A stopped process acts on SIGTERM only when it goes on.
        tree::signal_all(&processes, Signal::CONT);
        self.stage = Stage::Asked(Instant::now() + grace);
    }

    /// Bubblewrap's own first process, which comes here when its parent, the main process, has ended. It is on
    /// its way out, and nothing that the command left.
    fn is_wrapper(&self, process: &Process) -> bool {
        self.wrapped && process.parent == self.me && tree::short_name(process.pid) == "bwrap"
    }

    fn force(&mut self) {
        if !matches!(self.stage, Stage::Forced(_)) {
            self.stage = Stage::Forced(Instant::now());
            self.kill_round();
        }
    }

    /// Stops everything first, so that nothing is born while the rest is killed; then kills it.
    fn kill_round(&mut self) {
        if self.exit.is_none() {
            // Before the first scan: the main process is not reaped, so the number is its group's for sure.
            let _ = rustix::process::kill_process_group(self.main, Signal::STOP);
        }
        let mut stopped = HashSet::new();
        for _ in 0..MAX_SCANS {
            let fresh: Vec<Process> =
                tree::descendants(self.me).into_iter().filter(|process| !stopped.contains(process)).collect();
            if fresh.is_empty() {
                break;
            }
            tree::signal_groups(&fresh, Signal::STOP);
            tree::signal_all(&fresh, Signal::STOP);
            stopped.extend(fresh);
        }
        let stopped: Vec<Process> = stopped.into_iter().collect();
        tree::signal_groups(&stopped, Signal::KILL);
        tree::signal_all(&stopped, Signal::KILL);
    }

    /// Waits, when the end was told, until the server has taken note, so that the taking down of this process does not
    /// keep the server from a processor just when it goes on with the call.
    fn linger(&self, control: &OwnedFd) {
        kernel::run_among_others();
        let until = Instant::now() + LINGER;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let patience = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
            let mut watched =
                [PollFd::new(&self.signals, PollFlags::IN), PollFd::new(control, PollFlags::IN)];
            let _ = poll(&mut watched, Some(&patience));
            let mut bytes = [0; 64];
            let said = rustix::net::recv(control.as_fd(), &mut bytes, rustix::net::RecvFlags::DONTWAIT);
            let waiting =
                matches!(said, Ok((1.., _)) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR));
            let mut signals = std::iter::from_fn(|| kernel::next_signal(&self.signals));
            if !waiting || left.is_zero() || signals.any(|signal| signal == libc::SIGTERM) {
                return;
            }
        }
    }

    fn report(&mut self, control: &OwnedFd, code: i32) -> i32 {
        let report = Report::Ended {
            exit: self.exit.unwrap_or(Exit::Signal(libc::SIGKILL)),
            limit: self.limit,
            left: std::mem::take(&mut self.left),
        };
        send(control, &report);
        code
    }
}

fn exit_of(status: WaitStatus) -> Exit {
    match (status.exit_status(), status.terminating_signal()) {
        (_, Some(signal)) => Exit::Signal(signal),
        (code, None) => Exit::Code(code.unwrap_or(-1)),
    }
}
