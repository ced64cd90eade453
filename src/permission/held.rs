//! What an approved call was shown with stays as it is until the call has ended, as far as calls of this server go: while a
//! script runs that a person has read, no other call may edit it, or put something else in its place, by a tool, a
//! redirection or a program that is known to change what it is given.
//!
//! What programs do to files by themselves is not seen here: that is the sandbox's affair.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::desk::Ask;
use super::edits::{Edits, Inode};
use crate::domain::result::ToolError;
use crate::domain::visible;

/// How long an approved call waits for others that stand against it before it is given up. A session tries again what waited less,
/// as long: ten minutes in all, as a command may run.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 300_000 });

/// Which files are run or edited now, by calls that have not ended: so many as run at once.
#[derive(Debug, Default)]
pub(super) struct Held {
    uses: Mutex<Uses>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Uses {
    last: u64,
    all: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    number: u64,
    what: Arc<Use>,
    /// It runs, and does not only wait for others.
    runs: bool,
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

impl Uses {
    fn add(&mut self, what: &Arc<Use>, runs: bool) -> u64 {
        self.last += 1;
        self.all.push(Entry { number: self.last, what: Arc::clone(what), runs });
        self.last
    }

    /// Lets one that waits run, unless another one that runs, or came before it, stands against it: what of.
    fn start(&mut self, number: u64) -> Option<PathBuf> {
        let own = self.all.iter().position(|entry| entry.number == number)?;
        let what = Arc::clone(&self.all[own].what);
        let mut others =
            self.all.iter().filter(|other| other.number < number || other.runs && other.number != number);
        let stands = others.find_map(|other| what.conflict(&other.what));
        self.all[own].runs = stands.is_none();
        stands
    }
}

impl Held {
    /// Lets an approved call run once no other one that runs changes what it needs, or needs what it changes; among those
    /// that wait for each other the first comes first. None where there is nothing; `true` where it had to wait.
    pub(super) async fn approved(
        self: &Arc<Self>,
        needed: Needed,
        edits: Edits,
        cancel: &CancellationToken,
    ) -> Result<(Option<Hold>, bool), ToolError> {
        if needed.paths.is_empty() && edits.is_empty() {
            return Ok((None, false));
        }
        let what = Arc::new(Use { needed, edits });
        let number = self.uses().add(&what, false);
        let hold = Hold { held: Arc::clone(self), number, what };
        let mut waited = false;
        let free = async {
            loop {
                let freed = self.freed.notified();
                tokio::pin!(freed);
                freed.as_mut().enable();
                if self.uses().start(number).is_none() {
                    return;
                }
                waited = true;
                freed.await;
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                Err(ToolError::Cancelled { message: "Cancelled before it began.".to_owned() })
            }
            done = tokio::time::timeout(PATIENCE, free) => {
                if done.is_ok() {
                    return Ok((Some(hold), waited));
                }
                let path = self.uses().start(number).unwrap_or_default();
                Err(busy(&path, "a call that runs changes or needs it; call again when that has ended"))
            }
        }
    }

    /// Lets a call that nobody was asked about edit what it is judged to, unless an approved call that runs needs that. None
    /// where there is nothing.
    pub(super) fn edited(self: &Arc<Self>, edits: Edits) -> Result<Option<Hold>, ToolError> {
        if edits.is_empty() {
            return Ok(None);
        }
        let what = Arc::new(Use { needed: Needed::default(), edits });
        let mut uses = self.uses();
        let mut running = uses.all.iter().filter(|other| other.runs);
        if let Some(path) = running.find_map(|other| other.what.needed.changed_by(&what.edits)) {
            return Err(busy(
                &path,
                "a call that runs was approved with it as it is; change it when that has ended",
            ));
        }
        let number = uses.add(&what, true);
        drop(uses);
        Ok(Some(Hold { held: Arc::clone(self), number, what }))
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.held.uses().all.retain(|entry| entry.number != self.number);
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
        let never = CancellationToken::new();
        let approved = async |runs: &[&str], changes: &[&str]| {
            held.approved(needed(runs), edits(changes), &never).await.map(|(hold, _)| hold.unwrap())
        };
        let run = approved(&["/w/a", "/w/b"], &[]).await.unwrap();
        let again = approved(&["/w/b"], &[]).await.unwrap();
        let refused = held.edited(edits(&["/w/c", "/w/b"])).unwrap_err().to_string();
        assert!(refused.contains("/w/b"), "{refused}");
        drop(run);
        held.edited(edits(&["/w/b"])).unwrap_err();
        drop(again);
        let edit = held.edited(edits(&["/w/b"])).unwrap();
        approved(&["/w/b"], &[]).await.expect_err("not for ever");
        let waits = tokio::spawn({
            let (held, never) = (Arc::clone(&held), never.clone());
            async move { held.approved(needed(&["/w/a", "/w/b"]), edits(&[]), &never).await }
        });
        tokio::task::yield_now().await;
        // What only waits keeps nobody from editing.
        let other = held.edited(edits(&["/w/a"])).unwrap();
        drop(edit);
        tokio::task::yield_now().await;
        drop(other);
        let (granted, waited) = waits.await.unwrap().unwrap();
        assert!(granted.is_some() && waited);
        drop(granted);
        // Of two that change what both run, the first one's own change is nothing to it, and the second one waits.
        let first = approved(&["/w/a"], &["/w/a"]).await.unwrap();
        approved(&["/w/a"], &["/w/a"]).await.unwrap_err();
        approved(&[], &["/w/a"]).await.unwrap_err();
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        let gone = held.approved(needed(&["/w/a"]), edits(&["/w/a"]), &cancelled).await.unwrap_err();
        assert!(matches!(gone, ToolError::Cancelled { .. }), "{gone:?}");
        drop(first);
        drop(approved(&["/w/a"], &["/w/a"]).await.unwrap());
        assert!(held.uses().all.is_empty());
    }
}
