//! The confinement calls that have no safe wrapper: Landlock by descriptor, the seccomp filter, the clock.

#![expect(unsafe_code, reason = "raw system calls; each takes plain integers or a pointer to a local value")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// `LANDLOCK_CREATE_RULESET_VERSION`: asks for the ABI instead of making a ruleset.
const CREATE_RULESET_VERSION: libc::c_uint = 1;

/// The Landlock ABI of the running kernel, 0 where there is none.
pub(super) fn landlock_abi() -> u32 {
    // SAFETY: with a null attribute, size 0 and this flag the kernel reads no memory of ours.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<libc::c_void>(),
            0_usize,
            CREATE_RULESET_VERSION,
        )
    };
    u32::try_from(answer).unwrap_or(0)
}

/// Puts the calling process under `ruleset` for good. Needs no-new-privileges to be set.
pub(super) fn landlock_restrict_self(ruleset: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: a descriptor and a flag word; no memory is passed.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0_u32) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Seconds and nanoseconds of the clock that file times are taken from.
pub(super) fn file_clock() -> (i64, i64) {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid, writable timespec for the length of the call.
    unsafe { libc::clock_gettime(libc::CLOCK_REALTIME_COARSE, &raw mut now) };
    (now.tv_sec, now.tv_nsec)
}

const SYSTEM_CALL_NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;

#[cfg(target_arch = "x86_64")]
const NATIVE: (u32, u32) = (0xC000_003E, 302);
#[cfg(target_arch = "aarch64")]
const NATIVE: (u32, u32) = (0xC000_00B7, 261);
/// 32-bit programs on the same kernel: architecture and its number of `prlimit64`.
#[cfg(target_arch = "x86_64")]
const COMPAT: (u32, u32) = (0x4000_0003, 340);
#[cfg(target_arch = "aarch64")]
const COMPAT: (u32, u32) = (0x4000_0028, 369);
/// Marks a system call of the x32 ABI, which shares the architecture of x86_64.
const X32: u32 = 0x4000_0000;

const fn step(code: u32, k: u32, jt: u8, jf: u8) -> libc::sock_filter {
    #[expect(clippy::cast_possible_truncation, reason = "BPF opcodes are 16 bits wide")]
    let code = code as u16;
    libc::sock_filter { code, jt, jf, k }
}

/// Refuses `prlimit64` on any other process: a process of the same user could otherwise set the server's
/// limits (a CPU limit of a second kills it), which neither Landlock nor dropped capabilities prevent.
pub(super) fn refuse_foreign_limits() -> io::Result<()> {
    const LOAD: u32 = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    const EQUAL: u32 = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    const RETURN: u32 = libc::BPF_RET | libc::BPF_K;
    let refuse = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut program = [
        step(LOAD, ARCHITECTURE, 0, 0),
        step(EQUAL, NATIVE.0, 0, 3),
        step(LOAD, SYSTEM_CALL_NUMBER, 0, 0),
        step(EQUAL, NATIVE.1, 4, 0),
        step(EQUAL, NATIVE.1 | X32, 3, 5),
        step(EQUAL, COMPAT.0, 0, 4),
        step(LOAD, SYSTEM_CALL_NUMBER, 0, 0),
        step(EQUAL, COMPAT.1, 0, 2),
        step(LOAD, FIRST_ARGUMENT, 0, 0),
        step(EQUAL, 0, 0, 1),
        step(RETURN, libc::SECCOMP_RET_ALLOW, 0, 0),
        step(RETURN, refuse, 0, 0),
    ];
    let length = u16::try_from(program.len()).map_err(io::Error::other)?;
    let filter = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: `filter` points at `program`, both alive during the call; the kernel copies them.
    let answer = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
