//! What the writer remembers of sessions and open calls, so that a step needs no look-up.
//!
//! A command takes a session's head out, and puts it back when it is done: one that fails leaves
//! nothing wrong behind, the head is read from the database again.

use std::collections::HashMap;
use std::sync::Arc;

use super::audit::Keeper;
use crate::domain::call::Call;
use crate::domain::digest::Digest;

/// The most sessions remembered; beyond that all are forgotten and read again as needed.
const SESSIONS_MAX: usize = 4096;
/// The most bytes of remembered calls, as estimated; the same happens beyond it.
const BYTES_MAX: usize = 64 << 20;

/// All heads, and the end of the whole log.
#[derive(Debug)]
pub(super) struct Heads {
    sessions: HashMap<String, Head>,
    end: LogEnd,
    /// When the bounds of the audit log are held again.
    pub(super) audit: Keeper,
    bytes: usize,
}

/// Where the whole log stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LogEnd {
    /// The position of the latest event.
    pub(super) position: u64,
    /// From here on nothing was dropped.
    pub(super) complete_from: u64,
}

/// A session as the writer needs it.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) session_id: Arc<str>,
    pub(super) id: i64,
    pub(super) ended: bool,
    pub(super) last_seq: u64,
    pub(super) earliest: u64,
    /// The id that the session's next call gets.
    pub(super) next_call: i64,
    calls: HashMap<String, OpenCall>,
    bytes: usize,
}

/// A call that has not ended.
#[derive(Debug)]
pub(super) struct OpenCall {
    pub(super) id: i64,
    pub(super) fingerprint: Digest,
    pub(super) call: Arc<Call>,
    /// About the bytes that it takes.
    pub(super) weight: usize,
}

impl Heads {
    /// Nothing remembered yet, of a log that stands at `end`.
    pub(super) fn new(end: LogEnd, audit: Keeper) -> Self {
        Self { sessions: HashMap::new(), end, audit, bytes: 0 }
    }

    pub(super) fn end(&self) -> LogEnd {
        self.end
    }

    pub(super) fn set_end(&mut self, end: LogEnd) {
        self.end = end;
    }

    pub(super) fn take(&mut self, session_id: &str) -> Option<Head> {
        let head = self.sessions.remove(session_id)?;
        self.bytes -= head.bytes;
        Some(head)
    }

    pub(super) fn put_back(&mut self, head: Head) {
        if self.sessions.len() >= SESSIONS_MAX || self.bytes + head.bytes > BYTES_MAX {
            self.forget_all();
        }
        self.bytes += head.bytes;
        self.sessions.insert(head.session_id.as_ref().to_owned(), head);
    }

    /// After a lost transaction: nothing remembered can be trusted.
    pub(super) fn forget_all(&mut self) {
        self.sessions.clear();
        self.bytes = 0;
    }
}

impl Head {
    pub(super) fn new(session_id: &str, id: i64) -> Self {
        Self {
            session_id: session_id.into(),
            id,
            ended: false,
            last_seq: 0,
            earliest: 1,
            next_call: super::calls::first_call_id(id),
            calls: HashMap::new(),
            bytes: 0,
        }
    }

    pub(super) fn call(&self, key: &str) -> Option<&OpenCall> {
        self.calls.get(key)
    }

    pub(super) fn take_call(&mut self, key: &str) -> Option<OpenCall> {
        let call = self.calls.remove(key)?;
        self.bytes -= call.weight;
        Some(call)
    }

    pub(super) fn put_call(&mut self, key: String, call: OpenCall) {
        self.bytes += call.weight;
        if let Some(old) = self.calls.insert(key, call) {
            self.bytes -= old.weight;
        }
    }

    pub(super) fn forget_calls(&mut self) {
        self.calls.clear();
        self.bytes = 0;
    }
}
