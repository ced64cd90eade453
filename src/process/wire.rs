//! What the server, the spawner and a keeper say to each other.
//!
//! Server to spawner: one packet a request, a kind byte, with descriptors. The command itself lies in a memory
//! file among them, so that its size does not meet the bound of a packet. Keeper to server: JSON lines on the
//! call's control socket. Server to keeper: single bytes on it.

use std::ffi::CString;
use std::io::{self, Read, Write};
use std::os::fd::RawFd;

use serde::{Deserialize, Serialize};

use super::command::{Exit, Left, Limit};

/// Packet kinds, server to spawner.
pub(super) const RUN: u8 = b'r';
pub(super) const STOP: u8 = b's';
/// Server to keeper: end the tree, gently first.
pub(super) const TERMINATE: u8 = b't';

/// Most descriptors in one packet: request, control, output, directory, ruleset, input and the extra ones.
pub(super) const MAX_DESCRIPTORS: usize = 12;
/// Bound of a request: 256 KiB of command text, environment and argument prefix fit well.
pub(super) const MAX_REQUEST_BYTES: usize = 2 * 1024 * 1024;
/// Bound of a line from a keeper.
pub(super) const MAX_REPORT_BYTES: usize = 64 * 1024;

/// One command, as the keeper gets it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) arguments: Vec<CString>,
    /// A program and its words, tried before `arguments`; may be empty.
    pub(super) direct: Vec<CString>,
    pub(super) environment: Vec<CString>,
    /// Whether this process must drop its rights itself (bubblewrap does it for its command).
    pub(super) confine: bool,
    pub(super) has_ruleset: bool,
    pub(super) has_input: bool,
    /// Numbers that the extra descriptors get in the command.
    pub(super) extra: Vec<RawFd>,
    /// 0: unbounded.
    pub(super) max_processes: u64,
    /// 0: unbounded.
    pub(super) max_memory_bytes: u64,
    /// 0: unbounded.
    pub(super) max_file_bytes: u64,
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn put_strings(out: &mut Vec<u8>, strings: &[CString]) {
    put_number(out, strings.len() as u64);
    for string in strings {
        put_number(out, string.as_bytes().len() as u64);
        out.extend_from_slice(string.as_bytes());
    }
}

fn get_number(from: &mut impl Read) -> io::Result<u64> {
    let mut bytes = [0; 8];
    from.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes))
}

fn get_length(from: &mut impl Read) -> io::Result<usize> {
    usize::try_from(get_number(from)?)
        .ok()
        .filter(|length| *length <= MAX_REQUEST_BYTES)
        .ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn get_strings(from: &mut impl Read) -> io::Result<Vec<CString>> {
    (0..get_length(from)?)
        .map(|_| {
            let mut bytes = vec![0; get_length(from)?];
            from.read_exact(&mut bytes)?;
            CString::new(bytes).map_err(|_| io::ErrorKind::InvalidData.into())
        })
        .collect()
}

impl Request {
    /// Writes the request. Refuses one past the bound.
    pub(super) fn write_to(&self, to: &mut impl Write) -> io::Result<()> {
        let mut out = Vec::new();
        put_strings(&mut out, &self.arguments);
        put_strings(&mut out, &self.direct);
        put_strings(&mut out, &self.environment);
        for flag in [self.confine, self.has_ruleset, self.has_input] {
            put_number(&mut out, u64::from(flag));
        }
        put_number(&mut out, self.extra.len() as u64);
        for number in &self.extra {
            put_number(&mut out, u64::try_from(*number).map_err(io::Error::other)?);
        }
        for number in [self.max_processes, self.max_memory_bytes, self.max_file_bytes] {
            put_number(&mut out, number);
        }
        if out.len() > MAX_REQUEST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        to.write_all(&out)
    }

    pub(super) fn read_from(from: &mut impl Read) -> io::Result<Self> {
        let arguments = get_strings(from)?;
        let direct = get_strings(from)?;
        let environment = get_strings(from)?;
        let confine = get_number(from)? != 0;
        let has_ruleset = get_number(from)? != 0;
        let has_input = get_number(from)? != 0;
        let extra = (0..get_length(from)?.min(MAX_DESCRIPTORS))
            .map(|_| get_number(from).and_then(|number| RawFd::try_from(number).map_err(io::Error::other)))
            .collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            arguments,
            direct,
            environment,
            confine,
            has_ruleset,
            has_input,
            extra,
            max_processes: get_number(from)?,
            max_memory_bytes: get_number(from)?,
            max_file_bytes: get_number(from)?,
        })
    }
}

/// Which step of starting a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartStep {
    /// Reading the request.
    Request,
    /// Making a process.
    Fork,
    /// Entering the directory.
    Directory,
    /// Setting limits and descriptors.
    Prepare,
    /// Dropping rights.
    Confine,
    /// Running the program: it is missing, is no program, or its arguments are too long.
    Execute,
}

/// A line from a keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "report", rename_all = "snake_case")]
pub(super) enum Report {
    /// The program runs.
    Started {
        /// Its process id.
        pid: i32,
    },
    /// It could not be started.
    Failed {
        /// Where.
        step: StartStep,
        /// The system's error number.
        errno: i32,
    },
    /// The tree is gone.
    Ended {
        /// How the main process ended.
        exit: Exit,
        /// The bound that ended it, if one did.
        limit: Option<Limit>,
        /// What it left running.
        left: Left,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_comes_back_as_it_was_sent() {
        let request = Request {
            arguments: vec![c"/bin/bash".into(), c"".into(), CString::new(vec![0xff; 300_000]).unwrap()],
            direct: vec![c"/bin/true".into(), c"true".into()],
            environment: vec![c"A=b c".into()],
            confine: true,
            has_ruleset: false,
            has_input: true,
            extra: vec![198, 199],
            max_processes: 5,
            max_memory_bytes: u64::MAX,
            max_file_bytes: 0,
        };
        let mut bytes = Vec::new();
        request.write_to(&mut bytes).unwrap();
        assert_eq!(Request::read_from(&mut bytes.as_slice()).unwrap(), request);
        for cut in [0, 7, 8, 100, bytes.len() - 1] {
            assert!(Request::read_from(&mut &bytes[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn a_request_past_the_bound_is_refused_on_both_sides() {
        let request = Request {
            arguments: vec![CString::new(vec![b'x'; MAX_REQUEST_BYTES]).unwrap()],
            ..Request::default()
        };
        assert!(request.write_to(&mut Vec::new()).is_err());
        let mut hostile = Vec::new();
        put_number(&mut hostile, 1);
        put_number(&mut hostile, u64::MAX);
        assert!(Request::read_from(&mut hostile.as_slice()).is_err());
    }
}
