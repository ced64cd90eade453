//! The process calls that have no safe wrapper: fork, exec, descriptors 0 to 2, signal masks, signalfd.

#![expect(
    unsafe_code,
    reason = "raw system calls; the spawner and keepers that use them are single-threaded"
)]

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use rustix::process::Pid;

/// Which side of a fork this is.
pub(super) enum Forked {
    Child,
    Parent(Pid),
}

/// Forks. Only for single-threaded processes: the child may then do all that the parent could.
pub(super) fn fork() -> io::Result<Forked> {
    // SAFETY: the callers are the spawner and the keepers, which never start a thread, so no lock can be held
    // by a thread that the child lacks.
    let answer = unsafe { libc::fork() };
    match answer {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Forked::Child),
        pid => Pid::from_raw(pid).map(Forked::Parent).ok_or_else(|| io::Error::other("fork gave no process")),
    }
}

/// Bytes of stack for a child that borrows this process's memory; a page below them cannot be touched.
const BORROWED_STACK: usize = 256 * 1024;

/// Starts a process that borrows this one's memory until it runs a program or leaves, and waits for that, as
/// vfork(2) does: nothing is copied, which is most of what a fork costs. Descriptors, directory, limits, signal mask
/// and rights of the child are its own. What `child` writes to what it captured is seen here.
///
/// Only for single-threaded processes. What `child` returns is its exit code.
pub(super) fn borrow_memory_for(mut child: impl FnMut() -> libc::c_int) -> io::Result<Pid> {
    extern "C" fn enter<C: FnMut() -> libc::c_int>(child: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is that of `child` below, whose frame waits until this process is done with it.
        let child = unsafe { &mut *child.cast::<C>() };
        child()
    }
    fn run<C: FnMut() -> libc::c_int>(child: &mut C, stack: &Stack) -> libc::c_int {
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        // SAFETY: the stack is the child's alone, aligned to a page, and outlives it, as `child` does, since this
        // process waits (CLONE_VFORK). Nothing else runs in this memory meanwhile: both are single-threaded, and the
        // child has no signal handler.
        unsafe { libc::clone(enter::<C>, stack.top(), flags, std::ptr::from_mut(child).cast()) }
    }
    let stack = Stack::new()?;
    match run(&mut child, &stack) {
        -1 => Err(io::Error::last_os_error()),
        pid => Pid::from_raw(pid).ok_or_else(|| io::Error::other("clone gave no process")),
    }
}

/// Memory for the stack of a borrowing child.
struct Stack(*mut libc::c_void);

impl Stack {
    fn new() -> io::Result<Self> {
        let (all, guard) = (Self::bytes(), rustix::param::page_size());
        let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: new memory at an address that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), all, rights, flags | libc::MAP_STACK, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let stack = Self(start);
        // SAFETY: the first page of the memory above.
        match unsafe { libc::mprotect(stack.0, guard, libc::PROT_NONE) } {
            0 => Ok(stack),
            _ => Err(io::Error::last_os_error()),
        }
    }

    fn bytes() -> usize {
        BORROWED_STACK + rustix::param::page_size()
    }

    /// Where it begins: stacks grow downwards.
    fn top(&self) -> *mut libc::c_void {
        self.0.wrapping_byte_add(Self::bytes())
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the memory that `new` made, which nobody uses any more.
        unsafe { libc::munmap(self.0, Self::bytes()) };
    }
}

/// Replaces the program of this process; returns only the error.
pub(super) fn exec(program: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (argv, envp) = (pointers(arguments), pointers(environment));
    // SAFETY: both arrays end in a null pointer and, like the strings they point at, outlive the call.
    unsafe { libc::execve(program.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
    io::Error::last_os_error()
}

/// Makes `number` a copy of `descriptor` that stays open over exec.
pub(super) fn place(descriptor: BorrowedFd<'_>, number: RawFd) -> io::Result<()> {
    // SAFETY: the number is one that no `OwnedFd` of this process owns (0 to 2, or one checked to be free).
    let answer = unsafe { libc::dup2(descriptor.as_raw_fd(), number) };
    if answer == -1 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Takes ownership of descriptor 0, which the spawner is started with.
pub(super) fn take_first_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: called once, first thing in the spawner, for a descriptor that its parent gave to it.
    let given = unsafe { BorrowedFd::borrow_raw(0) };
    rustix::io::fcntl_dupfd_cloexec(given, 3).map_err(Into::into)
}

/// Marks every descriptor from 3 on to be closed by exec.
pub(super) fn close_all_on_exec() -> io::Result<()> {
    // SAFETY: integers only.
    let answer = unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if answer == 0 {
        return Ok(());
    }
    // Before Linux 5.11 there is no such flag: go through the list.
    for entry in std::fs::read_dir("/proc/self/fd")? {
        if let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok())
            && number > 2
        {
            // SAFETY: integers only; a descriptor that was closed meanwhile gives an error that does not matter.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
    Ok(())
}

/// Sets every signal back to its default action: what the server's parent ignored, a command must not.
pub(super) fn reset_signal_actions() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: the default action installs no handler; numbers that cannot be set give an error.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

fn signal_set(signals: &[libc::c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set before it is used.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in signals {
            libc::sigaddset(set.as_mut_ptr(), *signal);
        }
        set.assume_init()
    }
}

/// Lets exactly these signals wait, all others come through.
pub(super) fn block_signals(signals: &[libc::c_int]) {
    let set = signal_set(signals);
    // SAFETY: the set is valid and only read.
    unsafe { libc::sigprocmask(libc::SIG_SETMASK, &raw const set, std::ptr::null_mut()) };
}

/// A descriptor that is readable while one of the (blocked) signals waits.
pub(super) fn signal_descriptor(signals: &[libc::c_int]) -> io::Result<OwnedFd> {
    let set = signal_set(signals);
    // SAFETY: the set is valid and only read; the descriptor is new and owned by nobody else.
    unsafe {
        let number = libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if number == -1 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(number)) }
    }
}

/// Takes one waiting signal from a signal descriptor.
pub(super) fn next_signal(descriptor: &OwnedFd) -> Option<i32> {
    let mut info = [0_u8; size_of::<libc::signalfd_siginfo>()];
    let length = rustix::io::read(descriptor, &mut info).ok()?;
    // The number is the first field, 32 bits wide.
    let number = info.get(..length)?.first_chunk::<4>()?;
    i32::try_from(u32::from_ne_bytes(*number)).ok()
}

/// Lets this process run before any ordinary one, where it may: a keeper must get its turn to end a tree that
/// keeps every processor busy.
pub(super) fn run_before_others() {
    // SAFETY: all zero is a valid `sched_param` on every libc, which may have more fields than the priority.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = 1;
    // SAFETY: the parameters are valid and only read. A refusal (no privilege) changes nothing.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, &raw const parameters) };
}

/// Lets this process run among the others again.
pub(super) fn run_among_others() {
    // SAFETY: all zero is a valid `sched_param`, and what the ordinary policy takes.
    let parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    // SAFETY: the parameters are valid and only read. A refusal changes nothing.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_OTHER, &raw const parameters) };
}

/// Ends this process without running anything of the parent's.
pub(super) fn leave(code: i32) -> ! {
    // SAFETY: takes an integer and does not return.
    unsafe { libc::_exit(code) }
}
