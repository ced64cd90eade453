//! Between clone and exec: what turns a child that borrows the keeper's memory into the command.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::process::{Resource, Rlimit, Signal, setrlimit};

use super::kernel;
use super::wire::{Request, StartStep};
use crate::sandbox;

/// Raised for commands, so that the kernel under memory pressure picks one of them before the server.
const OUT_OF_MEMORY_SCORE: &str = "600";

/// Processes and threads of the same user that may run beside a command's.
const PROCESSES_BESIDE: u64 = 4096;

/// The descriptors that came with a request.
#[derive(Debug)]
pub(super) struct Descriptors {
    pub(super) output: OwnedFd,
    pub(super) directory: OwnedFd,
    pub(super) ruleset: Option<OwnedFd>,
    pub(super) input: Option<OwnedFd>,
    pub(super) extra: Vec<OwnedFd>,
}

/// Becomes the command; what comes back is the step that failed.
pub(super) fn become_command(request: &Request, descriptors: &Descriptors) -> (StartStep, io::Error) {
    if let Err(error) = rustix::process::fchdir(&descriptors.directory) {
        return (StartStep::Directory, error.into());
    }
    if let Err(error) = prepare(request, descriptors) {
        return (StartStep::Prepare, error);
    }
    if request.confine
        && let Err(error) = sandbox::confine_self(descriptors.ruleset.as_ref().map(AsFd::as_fd))
    {
        return (StartStep::Confine, error);
    }
    if let [program, words @ ..] = request.direct.as_slice() {
        // Where this cannot be executed, the shell says why.
        let _ = kernel::exec(program, words, &request.environment);
    }
    let error = match request.arguments.first() {
        Some(program) => kernel::exec(program, &request.arguments, &request.environment),
        None => io::ErrorKind::InvalidInput.into(),
    };
    (StartStep::Execute, error)
}

fn prepare(request: &Request, descriptors: &Descriptors) -> io::Result<()> {
    rustix::process::setsid()?;
    // The second line: should the keeper be killed, the main process goes with it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    // Not fatal: a container may forbid it.
    let _ = fs::write("/proc/self/oom_score_adj", OUT_OF_MEMORY_SCORE);
    limit(Resource::Core, 0)?;
    if request.max_file_bytes > 0 {
        limit(Resource::Fsize, request.max_file_bytes)?;
    }
    if request.max_processes > 0 {
        // Counts all processes of the user (of root none), so it cannot be the bound itself: it is the wall
        // behind it, which keeps a fork bomb from taking every process number.
        limit(Resource::Nproc, request.max_processes.saturating_add(PROCESSES_BESIDE))?;
    }
    if request.max_memory_bytes > 0 {
        limit(Resource::Data, request.max_memory_bytes)?;
    }
    kernel::close_all_on_exec()?;
    if let Some(input) = &descriptors.input {
        kernel::place(input.as_fd(), 0)?;
    }
    kernel::place(descriptors.output.as_fd(), 1)?;
    kernel::place(descriptors.output.as_fd(), 2)?;
    for (number, descriptor) in request.extra.iter().zip(&descriptors.extra) {
        kernel::place(descriptor.as_fd(), *number)?;
    }
    kernel::block_signals(&[]);
    Ok(())
}

/// Lowers a limit; one that is lower already stays.
fn limit(resource: Resource, bound: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let bound = now.maximum.map_or(bound, |maximum| maximum.min(bound));
    setrlimit(resource, Rlimit { current: Some(bound), maximum: Some(bound) }).map_err(Into::into)
}
