//! A walk whose files are looked at by several threads, with results in the walk's order.
//!
//! One thread walks and cuts what it meets into batches; helpers take them, and the walker does too, once it is
//! far enough ahead. What was found is merged by the walker, batch after batch. So there is an order, and what
//! waits is bounded: at most [`AHEAD`] batches a thread, and in each what one batch may find.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use super::walk::{RUN_ENTRIES, Run, SearchError, Skipped, Walk};
use crate::tools::blocking::GivenUp;
use crate::workspace::Located;

/// How many helpers all searches of the server have together.
const HELPERS_MAX: usize = 7;
/// How many batches the walk may be ahead of the merging, for each thread.
const AHEAD: usize = 4;
/// A batch is full with so many runs, however short.
const BATCH_RUNS: usize = 16;

/// Helpers that work now, for whichever search.
static HELPING: AtomicUsize = AtomicUsize::new(0);

/// Neighbours in the order of the walk.
pub(in crate::tools) type Batch = Vec<Run>;

/// What one thread does with a batch.
pub(in crate::tools) type Looks<'a, P> = Box<dyn FnMut(&Batch, &mut Skipped) -> Result<P, SearchError> + 'a>;

/// Walks, has every batch looked at by a `looker`, of which each thread makes its own, and gives what that found
/// to `merge` in the order of the walk.
pub(in crate::tools) fn together<'a, P: Send>(
    walk: &Walk<'_>,
    top: &Located,
    looker: &(dyn Fn() -> Looks<'a, P> + Sync),
    merge: &mut dyn FnMut(&Batch, P, Skipped) -> Result<(), SearchError>,
) -> Result<Skipped, SearchError> {
    let desk = Desk::default();
    let mut skipped = Skipped::default();
    thread::scope(|scope| {
        let closing = Closing(&desk);
        let mut walker = Walker { desk: &desk, look: looker(), merge, numbered: 0, merged: 0, threads: 1 };
        let mut batch = Batch::new();
        let mut entries = 0;
        walk.runs(top, &mut skipped, &mut |run| {
            entries += run.len();
            batch.push(run);
            if entries < RUN_ENTRIES && batch.len() < BATCH_RUNS {
                return Ok(());
            }
            entries = 0;
            // A small tree is done before a thread has started.
            if walker.numbered == 1 {
                walker.threads += help(scope, &desk, looker);
            }
            walker.hand_in(std::mem::take(&mut batch))
        })?;
        walker.hand_in(batch)?;
        let done = walker.merge_until(0);
        drop(closing);
        done
    })?;
    Ok(skipped)
}

/// Starts as many helpers as there are cores left for, and says how many.
fn help<'scope, 'a: 'scope, P: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    desk: &'scope Desk<P>,
    looker: &'scope (dyn Fn() -> Looks<'a, P> + Sync),
) -> usize {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut started = 0;
    while started < (cores - 1).min(HELPERS_MAX) {
        let Some(place) = Place::take() else { break };
        let work = move || {
            let _place = place;
            desk.help(looker());
        };
        if thread::Builder::new().name("search".to_owned()).spawn_scoped(scope, work).is_err() {
            break;
        }
        started += 1;
    }
    started
}

/// One of the places for helpers, given back on drop.
struct Place;

impl Place {
    fn take() -> Option<Self> {
        let one_more = |helping| (helping < HELPERS_MAX).then_some(helping + 1);
        HELPING.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more).ok().map(|_| Self)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        HELPING.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Where batches are laid out and come back.
struct Desk<P> {
    state: Mutex<State<P>>,
    laid_out: Condvar,
    came_back: Condvar,
}

struct State<P> {
    todo: VecDeque<(usize, Batch)>,
    done: BTreeMap<usize, (Batch, P, Skipped)>,
    failed: Option<SearchError>,
    closed: bool,
}

impl<P> Default for Desk<P> {
    fn default() -> Self {
        let state = State { todo: VecDeque::new(), done: BTreeMap::new(), failed: None, closed: false };
        Self { state: Mutex::new(state), laid_out: Condvar::new(), came_back: Condvar::new() }
    }
}

impl<P> Desk<P> {
    fn state(&self) -> MutexGuard<'_, State<P>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at batches until there will be no more.
    fn help(&self, mut look: Looks<'_, P>) {
        // A helper that panics leaves a batch that nobody else will bring back: the walker is told.
        let alarm = Alarm(self);
        let mut state = self.state();
        while !state.closed {
            let Some((number, batch)) = state.todo.pop_front() else {
                state = self.laid_out.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(state);
            let mut skipped = Skipped::default();
            let found = look(&batch, &mut skipped);
            state = self.state();
            match found {
                Ok(found) => drop(state.done.insert(number, (batch, found, skipped))),
                Err(error) => state.failed = state.failed.take().or(Some(error)),
            }
            self.came_back.notify_one();
        }
        drop(state);
        drop(alarm);
    }
}

/// Ends the helpers, however the walk ended.
struct Closing<'a, P>(&'a Desk<P>);

impl<P> Drop for Closing<'_, P> {
    fn drop(&mut self) {
        self.0.state().closed = true;
        self.0.laid_out.notify_all();
    }
}

struct Alarm<'a, P>(&'a Desk<P>);

impl<P> Drop for Alarm<'_, P> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.state().failed.get_or_insert(SearchError::GivenUp(GivenUp::Cancelled));
            self.0.came_back.notify_one();
        }
    }
}

/// The thread that walks.
struct Walker<'a, 'b, P> {
    desk: &'a Desk<P>,
    look: Looks<'b, P>,
    merge: &'a mut dyn FnMut(&Batch, P, Skipped) -> Result<(), SearchError>,
    numbered: usize,
    merged: usize,
    threads: usize,
}

impl<P> Walker<'_, '_, P> {
    /// Lays a batch out, and works itself where it is too far ahead.
    fn hand_in(&mut self, batch: Batch) -> Result<(), SearchError> {
        self.desk.state().todo.push_back((self.numbered, batch));
        self.numbered += 1;
        self.desk.laid_out.notify_one();
        let ahead = if self.threads == 1 { 0 } else { self.threads * AHEAD };
        self.merge_until(ahead)
    }

    /// Merges what came back, and helps, until at most so many batches are out.
    fn merge_until(&mut self, ahead: usize) -> Result<(), SearchError> {
        loop {
            let mut state = self.desk.state();
            if let Some(error) = state.failed.take() {
                return Err(error);
            }
            if let Some((batch, found, skipped)) = state.done.remove(&self.merged) {
                drop(state);
                self.merged += 1;
                (self.merge)(&batch, found, skipped)?;
                continue;
            }
            if self.numbered - self.merged <= ahead {
                return Ok(());
            }
            if let Some((number, batch)) = state.todo.pop_front() {
                drop(state);
                let mut skipped = Skipped::default();
                let found = (self.look)(&batch, &mut skipped)?;
                self.desk.state().done.insert(number, (batch, found, skipped));
                continue;
            }
            drop(self.desk.came_back.wait(state).unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
#[path = "together_tests.rs"]
mod tests;
