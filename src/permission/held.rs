//! What an approved call was shown with stays as it is until the call has ended, as far as calls of this server go: while a
//! script runs that a person has read, no other call may edit it, or put something else in its place, by a tool, a
//! redirection or a program that is known to change what it is given.
//!
//! What programs do to files by themselves is not seen here: that is the sandbox's affair.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

use super::desk::Ask;
use super::edits::{Edits, Inode};
use crate::domain::result::ToolError;
use crate::domain::visible;

/// How long an approved call waits for others that stand against it: as long as a command may run.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 600_000 });

/// Which files are run or edited now, by calls that have not ended: so many as run at once.
#[derive(Debug, Default)]
pub(super) struct Held {
    uses: Mutex<Uses>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Uses {
    last: u64,
    all: Vec<(u64, Arc<Use>)>,
}

/// What one call needs as it is, and what it changes.
#[derive(Debug, Default)]
struct Use {
    needed: Needed,
    edits: Edits,
}

/// What a call needs as it is: the files that a person was shown it with, under both of their names, and the links on the way.
#[derive(Debug, Default)]
pub(super) struct Needed {
    paths: Vec<PathBuf>,
    inodes: Vec<Inode>,
}

/// Files in use, until this is dropped.
#[derive(Debug)]
pub(super) struct Hold {
    held: Arc<Held>,
    number: u64,
    what: Arc<Use>,
}

impl Needed {
    /// By a call that is asked about, which leads through these links.
    pub(super) async fn of(ask: &Ask, led_through: &[PathBuf]) -> Self {
        let mut paths: Vec<PathBuf> = ask.preview.files.iter().map(|(path, _)| path.clone()).collect();
        if paths.is_empty() {
            return Self::default();
        }
        let links = led_through.to_vec();
        let look = move || {
            let real: Vec<PathBuf> = paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
            let inodes = real.iter().filter_map(|path| Inode::of_several_names(path)).collect();
            paths.extend(real.into_iter().chain(links));
            paths.sort_unstable();
            paths.dedup();
            Self { paths, inodes }
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// What of it is changed.
    fn changed_by(&self, edits: &Edits) -> Option<PathBuf> {
        let path = self.paths.iter().find(|path| edits.touch(path)).cloned();
        path.or_else(|| edits.touch_one_of(&self.inodes).then(|| self.paths.first().cloned()).flatten())
    }
}

impl Use {
    /// What one of the two changes that the other one needs.
    fn conflict(&self, other: &Self) -> Option<PathBuf> {
        self.needed.changed_by(&other.edits).or_else(|| other.needed.changed_by(&self.edits))
    }
}

impl Held {
    /// Lets an approved call run once no call that came before it changes what it needs, or needs what it changes. From now
    /// on no call that comes later does. None where there is nothing.
    pub(super) async fn approved(
        self: &Arc<Self>,
        needed: Needed,
        edits: Edits,
    ) -> Result<Option<Hold>, ToolError> {
        if needed.paths.is_empty() && edits.is_empty() {
            return Ok(None);
        }
        let hold = self.hold(Use { needed, edits });
        let stands = || self.before(hold.number).iter().find_map(|other| hold.what.conflict(other));
        let free = async {
            loop {
                let freed = self.freed.notified();
                tokio::pin!(freed);
                freed.as_mut().enable();
                if stands().is_none() {
                    return;
                }
                freed.await;
            }
        };
        match tokio::time::timeout(PATIENCE, free).await {
            Ok(()) => Ok(Some(hold)),
            Err(_) => Err(busy(
                &stands().unwrap_or_default(),
                "a call that runs changes or needs it; call again when that has ended",
            )),
        }
    }

    /// Lets a call that nobody was asked about edit what it is judged to, unless an approved call needs that. None where there
    /// is nothing.
    pub(super) fn edited(self: &Arc<Self>, edits: Edits) -> Result<Option<Hold>, ToolError> {
        if edits.is_empty() {
            return Ok(None);
        }
        let hold = self.hold(Use { needed: Needed::default(), edits });
        // Noted before it is looked at who needs it: of two that come at once one at least sees the other.
        let others = self.before(u64::MAX);
        match others.iter().find_map(|other| other.needed.changed_by(&hold.what.edits)) {
            Some(path) => Err(busy(
                &path,
                "a call that runs was approved with it as it is; change it when that has ended",
            )),
            None => Ok(Some(hold)),
        }
    }

    fn hold(self: &Arc<Self>, what: Use) -> Hold {
        let what = Arc::new(what);
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.last += 1;
        let number = uses.last;
        uses.all.push((number, Arc::clone(&what)));
        Hold { held: Arc::clone(self), number, what }
    }

    /// What came before this number and is in use.
    fn before(&self, number: u64) -> Vec<Arc<Use>> {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let before = uses.all.iter().filter(|(other, _)| *other < number);
        before.map(|(_, other)| Arc::clone(other)).collect()
    }
}

impl Hold {
    /// Refuses what has come to be needed since.
    pub(super) fn must_cover(&self, needed: &Needed) -> Result<(), ToolError> {
        let new = needed.paths.iter().find(|path| !self.what.needed.paths.contains(path));
        new.map_or(Ok(()), |path| Err(busy(path, "has changed just now; call again")))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut uses = self.held.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.all.retain(|(number, _)| *number != self.number);
        drop(uses);
        self.held.freed.notify_waiters();
    }
}

fn busy(path: &Path, what: &str) -> ToolError {
    ToolError::Execution(format!("{}: {what}", visible::one_line(&path.to_string_lossy())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(names: &[&str]) -> Needed {
        Needed { paths: names.iter().map(PathBuf::from).collect(), inodes: Vec::new() }
    }

    fn edits(names: &[&str]) -> Edits {
        Edits::of_files(names.iter().map(PathBuf::from))
    }

    #[tokio::test]
    async fn what_is_run_is_not_edited_and_what_is_edited_is_waited_for() {
        let held = Arc::new(Held::default());
        let approved = async |runs: &[&str], changes: &[&str]| {
            held.approved(needed(runs), edits(changes)).await.map(Option::unwrap)
        };
        let run = approved(&["/w/a", "/w/b"], &[]).await.unwrap();
        let again = approved(&["/w/b"], &[]).await.unwrap();
        let refused = held.edited(edits(&["/w/c", "/w/b"])).unwrap_err().to_string();
        assert!(refused.contains("/w/b"), "{refused}");
        drop(run);
        held.edited(edits(&["/w/b"])).unwrap_err();
        drop(again);
        let edit = held.edited(edits(&["/w/b"])).unwrap();
        let waits = tokio::spawn({
            let held = Arc::clone(&held);
            async move { held.approved(needed(&["/w/a", "/w/b"]), edits(&[])).await.map(drop) }
        });
        // It waits, and no further edit begins meanwhile.
        tokio::task::yield_now().await;
        held.edited(edits(&["/w/a"])).unwrap_err();
        drop(edit);
        waits.await.unwrap().unwrap();
        let edit = held.edited(edits(&["/w/b"])).unwrap();
        approved(&["/w/b"], &[]).await.expect_err("not for ever");
        drop(edit);
        // Of two that change what both run, the first one's own change is nothing to it, and the second one waits.
        let first = approved(&["/w/a"], &["/w/a"]).await.unwrap();
        approved(&["/w/a"], &["/w/a"]).await.unwrap_err();
        approved(&[], &["/w/a"]).await.unwrap_err();
        drop(first);
        drop(approved(&["/w/a"], &["/w/a"]).await.unwrap());
        assert!(held.uses.lock().unwrap().all.is_empty());
    }
}
