//! Statements that do not take longer the more was written before them.

use std::ops::{Deref, DerefMut};

use rusqlite::{CachedStatement, Connection, Statement, StatementStatus};

/// Most steps of SQLite's machine that one statement may take, however long the log is: some ten thousand rows.
/// One that looks through a table as it grows would slow down all calls by and by.
const STEPS_MAX: i32 = 250_000;

/// A cached statement that is held to [`STEPS_MAX`] where assertions are on: in every test, and for real in those
/// with a long log.
pub(super) struct Bounded<'a>(CachedStatement<'a>);

pub(super) trait PrepareBounded {
    /// Like [`Connection::prepare_cached`], for all statements but those of the schema.
    fn prepare_bounded(&self, sql: &'static str) -> rusqlite::Result<Bounded<'_>>;
}

impl PrepareBounded for Connection {
    fn prepare_bounded(&self, sql: &'static str) -> rusqlite::Result<Bounded<'_>> {
        self.prepare_cached(sql).map(Bounded)
    }
}

impl<'a> Deref for Bounded<'a> {
    type Target = Statement<'a>;

    fn deref(&self) -> &Statement<'a> {
        &self.0
    }
}

impl<'a> DerefMut for Bounded<'a> {
    fn deref_mut(&mut self) -> &mut Statement<'a> {
        &mut self.0
    }
}

impl Drop for Bounded<'_> {
    fn drop(&mut self) {
        if cfg!(debug_assertions) && !std::thread::panicking() {
            let steps = self.0.reset_status(StatementStatus::VmStep);
            debug_assert!(steps <= STEPS_MAX, "{steps} steps: {}", self.0.expanded_sql().unwrap_or_default());
        }
    }
}
