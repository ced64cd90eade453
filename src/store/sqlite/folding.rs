//! Identical asks: named with each that waits, and folded into the first one where a list wants that.

use std::collections::HashMap;

use rusqlite::Connection;

use super::approvals::{Found, WAITING_OF_SESSION, found};
use super::bounded::PrepareBounded as _;
use crate::domain::approval::Approval;

/// What waits in the sessions that a page shows: at most so many as may wait in each.
pub(super) struct Folding<'a> {
    db: &'a Connection,
    sessions: HashMap<i64, Vec<Approval>>,
}

impl<'a> Folding<'a> {
    pub(super) fn new(db: &'a Connection) -> Self {
        Self { db, sessions: HashMap::new() }
    }

    /// Names the others that ask the same; whether an earlier one stands for this one.
    pub(super) fn name(&mut self, session: i64, approval: &mut Approval) -> rusqlite::Result<bool> {
        let waiting = self.waiting(session)?;
        let Some(own) = waiting.iter().position(|other| other.approval_id == approval.approval_id) else {
            // It was decided in this moment.
            return Ok(false);
        };
        let same = |(_, other): &(usize, &Approval)| other.asks_the_same(approval);
        let others: Vec<(usize, &Approval)> =
            waiting.iter().enumerate().filter(|(index, _)| *index != own).filter(same).collect();
        let earlier = others.iter().any(|(index, _)| *index < own);
        let others: Vec<String> = others.into_iter().map(|(_, other)| other.approval_id.clone()).collect();
        approval.identical = others;
        Ok(earlier)
    }

    fn waiting(&mut self, session: i64) -> rusqlite::Result<&[Approval]> {
        if !self.sessions.contains_key(&session) {
            let mut statement = self.db.prepare_bounded(WAITING_OF_SESSION)?;
            let rows = statement.query_map([session], found)?;
            let waiting =
                rows.map(|row| row.map(|Found { approval, .. }| approval)).collect::<Result<_, _>>()?;
            self.sessions.insert(session, waiting);
        }
        Ok(self.sessions.get(&session).map_or(&[], Vec::as_slice))
    }
}
