//! The server's side: starts the spawner, and again if it dies; hands commands to it.

use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::MemfdFlags;
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, sendmsg,
    socketpair,
};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::Interest;
use tokio::net::unix::pipe;
use tokio::net::{UnixDatagram, UnixStream};

use super::command::{CommandSpec, RunningCommand};
use super::wire::{MAX_DESCRIPTORS, RUN, Request, STOP, StartStep};
use super::{environment, spawner};
use crate::sandbox::{Confinement, Floor, FloorChoice, FloorError, FloorPaths, FloorStatus, Named};
use crate::telemetry::{Metrics, trace};

/// How long [`Launcher::stop`] waits for the trees: 2 seconds of grace, then SIGKILL and its effect.
const STOP_PATIENCE: Duration = Duration::from_secs(5);
/// Spawners tried for one command.
const ATTEMPTS: usize = 2;
/// Numbers that extra descriptors may have in a command: above what shells use themselves.
const EXTRA_NUMBERS: std::ops::RangeInclusive<i32> = 100..=250;
const MAX_EXTRA: usize = 4;
/// Where commands can put temporary files, the best first.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];

/// Why a command could not be started, or what became of it is not known.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The floor could not be laid.
    #[error(transparent)]
    Floor(#[from] FloorError),
    /// The spawner could not be started or reached.
    #[error("the process spawner is not available: {0}")]
    Spawner(io::Error),
    /// The command is not one that can be run: relative program, NUL in an argument, too long.
    #[error("the command cannot be run: {0}")]
    Command(&'static str),
    /// Pipes and memory for the command could not be had.
    #[error("no resources for another command: {0}")]
    Resources(io::Error),
    /// The command did not come to run.
    #[error("the command could not be started ({step:?}): {error}")]
    Start {
        /// At which step.
        step: StartStep,
        /// What the system said.
        error: io::Error,
    },
    /// The process that kept the command ended before it; its tree is being killed.
    #[error("the keeper of the command is gone, how the command ended is not known")]
    Lost,
    /// The launcher was stopped.
    #[error("the launcher is stopped")]
    Stopped,
}

/// How to start a launcher.
#[derive(Clone, Default)]
pub struct LauncherOptions {
    /// The toolgate binary, which is the spawner too. `/proc/self/exe` in the server itself.
    pub program: PathBuf,
    /// Which floor to lay.
    pub floor: FloorChoice,
    /// Paths that commands must not read, list or write: the data directory.
    pub hidden: Vec<PathBuf>,
    /// The same for files that are replaced while the server runs: config and tokens. Their folders are hidden
    /// whole, but for those that lie above something `needed`, or belong to the system.
    pub files: Vec<PathBuf>,
    /// Paths that commands need: workspace roots, the home directory. Temporary directories are always needed.
    pub needed: Vec<PathBuf>,
    /// Paths that commands may read and run, not change: the server's binary.
    pub read_only: Vec<PathBuf>,
    /// Directories that commands may use although they lie beneath a hidden path.
    pub allowed: Vec<PathBuf>,
    /// The server's own environment, of which commands get what [`super::environment::build`] lets through.
    pub environment: Vec<(OsString, OsString)>,
    /// Directories beneath which no program is looked for: the roots of workspaces.
    pub never_in_path: Vec<PathBuf>,
    /// Where commands are counted.
    pub metrics: Metrics,
}

/// Starts commands. Cheap to clone.
#[derive(Clone)]
pub struct Launcher {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Launcher {
    /// Without the environment, which carries secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Launcher").field("floor", self.floor()).finish_non_exhaustive()
    }
}

struct Inner {
    program: PathBuf,
    floor: Floor,
    environment: Vec<(OsString, OsString)>,
    spawner: Mutex<State>,
    metrics: Metrics,
}

#[derive(Debug)]
enum State {
    Up(Arc<Spawner>),
    Stopped,
}

#[derive(Debug)]
struct Spawner {
    /// A socket of packets, for which tokio has no type of its own.
    socket: UnixDatagram,
    child: Mutex<Child>,
}

impl Launcher {
    /// Lays the floor and starts the spawner. Must be called within a tokio runtime.
    pub async fn start(options: LauncherOptions) -> Result<Self, LaunchError> {
        let metrics = options.metrics.clone();
        let laid = tokio::task::spawn_blocking(move || {
            let mut needed = options.needed;
            needed.extend(TEMPORARY.map(PathBuf::from));
            needed.extend(options.read_only.iter().cloned());
            let named = Named {
                hidden: options.hidden,
                files: options.files,
                needed,
                read_only: options.read_only,
                allowed: options.allowed,
            };
            FloorPaths::resolve(&named)?;
            let floor = Floor::lay(options.floor, named);
            let environment = environment::with_safe_path(options.environment, &options.never_in_path);
            Ok::<_, FloorError>((options.program, floor, environment))
        });
        let (program, floor, environment) =
            laid.await.map_err(|error| LaunchError::Spawner(io::Error::other(error)))??;
        let first = Spawner::start(&program).map_err(LaunchError::Spawner)?;
        let spawner = Mutex::new(State::Up(Arc::new(first)));
        Ok(Self { inner: Arc::new(Inner { program, floor, environment, spawner, metrics }) })
    }

    /// The floor in force.
    pub fn floor(&self) -> &FloorStatus {
        self.inner.floor.status()
    }

    /// Hides these files of the server's from the next command on, in the place of those that were named
    /// before. Does a few look-ups on the disk.
    pub fn protect(&self, files: Vec<PathBuf>) -> Result<(), LaunchError> {
        Ok(self.inner.floor.protect(files)?)
    }

    /// The `PATH` of a command that is started now.
    pub fn search_path(&self) -> OsString {
        environment::search_path(&self.inner.environment).to_owned()
    }

    /// The environment of a command that is started now; `pass` are the names that the configuration passes on.
    pub fn environment(&self, pass: &[String]) -> Vec<(OsString, OsString)> {
        let server = self.inner.environment.iter().cloned();
        let mut environment = environment::build(server, pass, &self.temporary());
        trace::carry(&mut environment);
        environment
    }

    /// A data directory beneath the server's temporary directory makes that one read-only for commands: they
    /// get another.
    fn temporary(&self) -> PathBuf {
        let given =
            self.inner.environment.iter().find(|(name, _)| name == "TMPDIR").map(|(_, value)| value.into());
        let mut candidates = given.into_iter().chain(TEMPORARY.map(PathBuf::from));
        let usable = |path: &PathBuf| path.is_dir() && self.inner.floor.can_write_in(path);
        candidates.find(usable).unwrap_or_else(|| PathBuf::from("/tmp"))
    }

    /// Starts a command; answers when its program runs.
    pub async fn spawn(&self, command: CommandSpec) -> Result<RunningCommand, LaunchError> {
        let starting = self.inner.metrics.commands().starting();
        let packet = Packet::new(command, self.inner.floor.confinement()?)?;
        let mut last = io::Error::from(io::ErrorKind::NotConnected);
        for _ in 0..ATTEMPTS {
            let spawner = self.spawner()?;
            match spawner.send(RUN, &packet.descriptors()).await {
                Ok(()) => {
                    let (output, control) = packet.into_ends()?;
                    return RunningCommand::started(output, control, starting).await;
                }
                Err(error) => {
                    last = error;
                    self.replace(&spawner)?;
                }
            }
        }
        Err(LaunchError::Spawner(last))
    }

    /// Ends every tree (SIGTERM, SIGKILL after 2 seconds), then the spawner. Later commands are refused.
    pub async fn stop(&self) {
        let state = std::mem::replace(&mut *self.state(), State::Stopped);
        let State::Up(spawner) = state else { return };
        // A failure means that the spawner is gone already; its keepers go with their control sockets.
        if spawner.send(STOP, &[]).await.is_ok() {
            // It never sends: this ends when its trees are gone and it has left.
            let mut nothing = [0];
            let _ = tokio::time::timeout(STOP_PATIENCE, spawner.socket.recv(&mut nothing)).await;
        }
        spawner.reap();
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.inner.spawner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawner(&self) -> Result<Arc<Spawner>, LaunchError> {
        match &*self.state() {
            State::Up(spawner) => Ok(Arc::clone(spawner)),
            State::Stopped => Err(LaunchError::Stopped),
        }
    }

    /// Starts a new spawner in place of one that is gone, unless another command did so meanwhile.
    fn replace(&self, gone: &Arc<Spawner>) -> Result<(), LaunchError> {
        let mut state = self.state();
        match &*state {
            State::Up(now) if Arc::ptr_eq(now, gone) => {
                let fresh = Spawner::start(&self.inner.program).map_err(LaunchError::Spawner)?;
                *state = State::Up(Arc::new(fresh));
                gone.reap();
                Ok(())
            }
            State::Up(_) => Ok(()),
            State::Stopped => Err(LaunchError::Stopped),
        }
    }
}

impl Spawner {
    #[expect(clippy::disallowed_methods, reason = "this is the launcher: the one program it starts directly")]
    fn start(program: &Path) -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
        let child = std::process::Command::new(program)
            .arg(spawner::ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .spawn()?;
        let socket = std::os::unix::net::UnixDatagram::from(ours);
        Ok(Self { socket: UnixDatagram::from_std(socket)?, child: Mutex::new(child) })
    }

    async fn send(&self, kind: u8, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        let send = || {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            if !descriptors.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
                return Err(io::ErrorKind::InvalidInput.into());
            }
            let kind = [kind];
            sendmsg(&self.socket, &[IoSlice::new(&kind)], &mut ancillary, SendFlags::NOSIGNAL)?;
            Ok(())
        };
        self.socket.async_io(Interest::WRITABLE, send).await
    }

    /// Collects the process if it has ended.
    fn reap(&self) {
        let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
    }
}

/// One command, ready to send, and the server's ends of its pipe and control socket.
struct Packet {
    sent: Vec<OwnedFd>,
    ruleset: Option<Arc<OwnedFd>>,
    /// Where among `sent` the ruleset goes.
    ruleset_place: usize,
    output: OwnedFd,
    control: std::os::unix::net::UnixStream,
}

impl Packet {
    fn new(command: CommandSpec, confinement: Confinement) -> Result<Self, LaunchError> {
        let mut request = Request {
            confine: !matches!(confinement, Confinement::Bubblewrap(_)),
            has_ruleset: matches!(confinement, Confinement::Landlock(_)),
            has_input: command.input.is_some(),
            extra: command.extra.iter().map(|(number, _)| *number).collect(),
            max_processes: command.limits.processes.unwrap_or(0),
            max_memory_bytes: command.limits.memory_bytes.unwrap_or(0),
            max_file_bytes: command.limits.file_bytes.unwrap_or(0),
            ..Request::default()
        };
        if request.extra.len() > MAX_EXTRA || request.extra.iter().any(|n| !EXTRA_NUMBERS.contains(n)) {
            return Err(LaunchError::Command("an extra descriptor is out of range"));
        }
        if !command.argv.first().is_some_and(|program| Path::new(program).is_absolute()) {
            return Err(LaunchError::Command("the program is not an absolute path"));
        }
        let (prefix, ruleset) = match confinement {
            Confinement::Landlock(ruleset) => (Vec::new(), Some(ruleset)),
            Confinement::Bubblewrap(prefix) => (prefix, None),
            Confinement::Missing => (Vec::new(), None),
        };
        request.arguments =
            prefix.iter().chain(&command.argv).map(|word| c_string(word)).collect::<Result<_, _>>()?;
        if let (Some(direct), true) = (&command.direct, request.confine) {
            let words = std::iter::once(direct.program.as_os_str())
                .chain(direct.words.iter().map(OsString::as_os_str));
            request.direct = words.map(c_string).collect::<Result<_, _>>()?;
        }
        request.environment = command.env.iter().map(variable).collect::<Result<_, _>>()?;
        Self::with_pipes(&request, command, ruleset).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => LaunchError::Command("command and environment are too long"),
            _ => LaunchError::Resources(error),
        })
    }

    fn with_pipes(
        request: &Request,
        command: CommandSpec,
        ruleset: Option<Arc<OwnedFd>>,
    ) -> io::Result<Self> {
        let mut file = File::from(rustix::fs::memfd_create("command", MemfdFlags::CLOEXEC)?);
        request.write_to(&mut file)?;
        let (output, output_end) = pipe_with(PipeFlags::CLOEXEC)?;
        let (control, control_end) = std::os::unix::net::UnixStream::pair()?;
        control.set_nonblocking(true)?;
        let mut sent = vec![file.into(), control_end.into(), output_end, command.directory];
        let ruleset_place = sent.len();
        sent.extend(command.input);
        sent.extend(command.extra.into_iter().map(|(_, descriptor)| descriptor));
        Ok(Self { sent, ruleset, ruleset_place, output, control })
    }

    fn descriptors(&self) -> Vec<BorrowedFd<'_>> {
        let mut all: Vec<BorrowedFd<'_>> = self.sent.iter().map(AsFd::as_fd).collect();
        if let Some(ruleset) = &self.ruleset {
            all.insert(self.ruleset_place, ruleset.as_fd());
        }
        all
    }

    /// Gives up the copies that were sent: only the keeper and the command hold them from here on.
    fn into_ends(self) -> Result<(pipe::Receiver, UnixStream), LaunchError> {
        let ends = || Ok((pipe::Receiver::from_owned_fd(self.output)?, UnixStream::from_std(self.control)?));
        ends().map_err(LaunchError::Resources)
    }
}

fn c_string(word: &OsStr) -> Result<CString, LaunchError> {
    CString::new(word.as_bytes()).map_err(|_| LaunchError::Command("an argument has a NUL byte"))
}

fn variable((name, value): &(OsString, OsString)) -> Result<CString, LaunchError> {
    if name.is_empty() || name.as_bytes().contains(&b'=') {
        return Err(LaunchError::Command("a variable has no proper name"));
    }
    let mut text = name.as_bytes().to_vec();
    text.push(b'=');
    text.extend_from_slice(value.as_bytes());
    CString::new(text).map_err(|_| LaunchError::Command("a variable has a NUL byte"))
}
