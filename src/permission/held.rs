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

/// How long an approved call waits for edits of its files to end, which take milliseconds.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// Which files are run or edited now, by calls that have not ended: so many as run at once.
#[derive(Debug, Default)]
pub(super) struct Held {
    uses: Mutex<Uses>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Uses {
    last: u64,
    all: Vec<(u64, Use)>,
}

#[derive(Debug, Clone)]
enum Use {
    /// By a call that was approved with what is in them.
    Shown(Arc<Needed>),
    /// By a call that changes them.
    Edited(Arc<Edits>),
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
    what: Use,
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

impl Held {
    /// Keeps what a call needs from being edited, once nobody edits it any more. None where there is nothing.
    pub(super) async fn shown(self: &Arc<Self>, needed: Needed) -> Result<Option<Hold>, ToolError> {
        if needed.paths.is_empty() {
            return Ok(None);
        }
        self.show(needed).await.map(Some).map_err(|path| busy(&path, "is being edited; call again"))
    }

    /// Lets a call edit what it is judged to, unless an approved call runs it: another one than its `own`. None where there is
    /// nothing.
    pub(super) fn edited(
        self: &Arc<Self>,
        edits: Edits,
        own: Option<&Hold>,
    ) -> Result<Option<Hold>, ToolError> {
        if edits.is_empty() {
            return Ok(None);
        }
        let running = "a call that runs was approved with it as it is; change it when that has ended";
        self.edit(edits, own).map(Some).map_err(|path| busy(&path, running))
    }

    /// The first that is edited for too long otherwise.
    async fn show(self: &Arc<Self>, needed: Needed) -> Result<Hold, PathBuf> {
        let needed = Arc::new(needed);
        // Noted before it is looked at who edits, so that no further edit begins.
        let hold = self.hold(Use::Shown(Arc::clone(&needed)));
        let edited = || {
            self.others(None).into_iter().find_map(|other| match other {
                Use::Edited(edits) => needed.changed_by(&edits),
                Use::Shown(_) => None,
            })
        };
        let free = async {
            loop {
                let freed = self.freed.notified();
                tokio::pin!(freed);
                freed.as_mut().enable();
                if edited().is_none() {
                    return;
                }
                freed.await;
            }
        };
        match tokio::time::timeout(PATIENCE, free).await {
            Ok(()) => Ok(hold),
            Err(_) => Err(edited().unwrap_or_default()),
        }
    }

    /// The first that an approved call runs otherwise.
    fn edit(self: &Arc<Self>, edits: Edits, own: Option<&Hold>) -> Result<Hold, PathBuf> {
        let edits = Arc::new(edits);
        let hold = self.hold(Use::Edited(Arc::clone(&edits)));
        let needed = self.others(own).into_iter().find_map(|other| match other {
            Use::Shown(needed) => needed.changed_by(&edits),
            Use::Edited(_) => None,
        });
        needed.map_or(Ok(hold), Err)
    }

    fn hold(self: &Arc<Self>, what: Use) -> Hold {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.last += 1;
        let number = uses.last;
        uses.all.push((number, what.clone()));
        Hold { held: Arc::clone(self), number, what }
    }

    /// What is in use, but for one's own.
    fn others(&self, own: Option<&Hold>) -> Vec<Use> {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        let others = uses.all.iter().filter(|(number, _)| own.is_none_or(|own| own.number != *number));
        others.map(|(_, other)| other.clone()).collect()
    }
}

impl Hold {
    /// Refuses what has come to be needed since.
    pub(super) fn must_cover(&self, needed: &Needed) -> Result<(), ToolError> {
        let Use::Shown(held) = &self.what else { return Ok(()) };
        let new = needed.paths.iter().find(|path| !held.paths.contains(path));
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

    #[tokio::test]
    async fn what_is_run_is_not_edited_and_what_is_edited_is_waited_for() {
        let held = Arc::new(Held::default());
        let paths = |names: &[&str]| -> Vec<_> { names.iter().map(PathBuf::from).collect() };
        let needed = move |names: &[&str]| Needed { paths: paths(names), inodes: Vec::new() };
        let edits = move |names: &[&str]| Edits::of_files(paths(names));
        let run = held.show(needed(&["/w/a", "/w/b"])).await.unwrap();
        let again = held.show(needed(&["/w/b"])).await.unwrap();
        assert_eq!(held.edit(edits(&["/w/c", "/w/b"]), None).unwrap_err(), Path::new("/w/b"));
        assert_eq!(held.edit(edits(&["/w/b"]), Some(&run)).unwrap_err(), Path::new("/w/b"));
        drop(held.edit(edits(&["/w/a"]), Some(&run)).unwrap());
        drop(run);
        assert_eq!(held.edit(edits(&["/w/b"]), None).unwrap_err(), Path::new("/w/b"));
        drop(again);
        let edit = held.edit(edits(&["/w/b"]), None).unwrap();
        let waits = tokio::spawn({
            let (held, needed) = (Arc::clone(&held), needed(&["/w/a", "/w/b"]));
            async move { held.show(needed).await.map(drop) }
        });
        // It waits, and no further edit begins meanwhile.
        tokio::task::yield_now().await;
        assert_eq!(held.edit(edits(&["/w/a"]), None).unwrap_err(), Path::new("/w/a"));
        drop(edit);
        waits.await.unwrap().unwrap();
        let edit = held.edit(edits(&["/w/b"]), None).unwrap();
        assert_eq!(held.show(needed(&["/w/b"])).await.unwrap_err(), Path::new("/w/b"), "not for ever");
        drop(edit);
        assert!(held.uses.lock().unwrap().all.is_empty());
    }
}
