//! What an approved call was shown with stays as it is until the call has ended, as far as calls of this server go: while a
//! script runs that a person has read, no other call may edit it by a tool or a redirection.
//!
//! What programs do to files by themselves is not seen here: that is the sandbox's affair.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use foldhash::HashMap;
use tokio::sync::Notify;

use super::desk::Ask;
use crate::domain::result::ToolError;
use crate::domain::visible;

/// How long an approved call waits for edits of its files to end, which take milliseconds.
const PATIENCE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// Which files are run or edited now, by calls that have not ended.
#[derive(Debug, Default)]
pub(super) struct Held {
    files: Mutex<HashMap<PathBuf, Uses>>,
    freed: Notify,
}

#[derive(Debug, Default)]
struct Uses {
    /// By calls that were approved with what is in them.
    shown: usize,
    /// By calls that change them.
    edited: usize,
}

impl Uses {
    fn of(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Shown => &mut self.shown,
            Kind::Edited => &mut self.edited,
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Shown,
    Edited,
}

/// Files in use, until this is dropped.
#[derive(Debug)]
pub(super) struct Hold {
    held: Arc<Held>,
    kind: Kind,
    paths: Vec<PathBuf>,
}

impl Held {
    /// Keeps what a call is asked about with from being edited, once nobody edits it any more. None where there is nothing.
    pub(super) async fn shown(
        self: &Arc<Self>,
        ask: &Ask,
        edited: &[PathBuf],
    ) -> Result<Option<Hold>, ToolError> {
        let shown = shown(ask, edited).await;
        if shown.is_empty() {
            return Ok(None);
        }
        self.show(shown).await.map(Some).map_err(|path| busy(&path, "is being edited; call again"))
    }

    /// Lets a call edit what it is judged to, unless an approved call runs it. None where there is nothing.
    pub(super) fn edited(self: &Arc<Self>, edited: &[PathBuf]) -> Result<Option<Hold>, ToolError> {
        if edited.is_empty() {
            return Ok(None);
        }
        let running = "a call that runs was approved with it as it is; edit it when that has ended";
        self.edit(edited.to_vec()).map(Some).map_err(|path| busy(&path, running))
    }

    /// The first that is edited for too long otherwise.
    async fn show(self: &Arc<Self>, paths: Vec<PathBuf>) -> Result<Hold, PathBuf> {
        // Counted before it is looked at who edits, so that no further edit begins.
        let hold = self.hold(Kind::Shown, paths);
        let edited = || self.first(&hold.paths, |uses| uses.edited);
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
    fn edit(self: &Arc<Self>, paths: Vec<PathBuf>) -> Result<Hold, PathBuf> {
        let hold = self.hold(Kind::Edited, paths);
        match self.first(&hold.paths, |uses| uses.shown) {
            Some(path) => Err(path),
            None => Ok(hold),
        }
    }

    fn hold(self: &Arc<Self>, kind: Kind, paths: Vec<PathBuf>) -> Hold {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &paths {
            *files.entry(path.clone()).or_default().of(kind) += 1;
        }
        Hold { held: Arc::clone(self), kind, paths }
    }

    fn first(&self, paths: &[PathBuf], count: impl Fn(&Uses) -> usize) -> Option<PathBuf> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        paths.iter().find(|path| files.get(*path).is_some_and(|uses| count(uses) > 0)).cloned()
    }
}

impl Hold {
    /// Refuses what has come to be asked about since.
    pub(super) async fn must_cover(&self, ask: &Ask, edited: &[PathBuf]) -> Result<(), ToolError> {
        let shown = shown(ask, edited).await;
        let new = shown.iter().find(|path| !self.paths.contains(path));
        new.map_or(Ok(()), |path| Err(busy(path, "has changed just now; call again")))
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut files = self.held.files.lock().unwrap_or_else(PoisonError::into_inner);
        for path in &self.paths {
            let Some(uses) = files.get_mut(path) else { continue };
            let count = uses.of(self.kind);
            *count = count.saturating_sub(1);
            if uses.shown == 0 && uses.edited == 0 {
                files.remove(path);
            }
        }
        drop(files);
        self.held.freed.notify_waiters();
    }
}

/// The files that a person was shown a call with, under both of their names, but for those that it edits itself.
async fn shown(ask: &Ask, edited: &[PathBuf]) -> Vec<PathBuf> {
    let mut shown: Vec<PathBuf> = ask.preview.files.iter().map(|(path, _)| path.clone()).collect();
    let named = shown.clone();
    let real = move || named.iter().filter_map(|path| path.canonicalize().ok()).collect::<Vec<_>>();
    if !shown.is_empty() {
        shown.extend(tokio::task::spawn_blocking(real).await.unwrap_or_default());
        shown.sort_unstable();
        shown.dedup();
        shown.retain(|path| !edited.contains(path));
    }
    shown
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
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let run = held.show(paths(&["/w/a", "/w/b"])).await.unwrap();
        let again = held.show(paths(&["/w/b"])).await.unwrap();
        assert_eq!(held.edit(paths(&["/w/c", "/w/b"])).unwrap_err(), Path::new("/w/b"));
        drop(run);
        assert_eq!(held.edit(paths(&["/w/b"])).unwrap_err(), Path::new("/w/b"));
        drop(again);
        let edit = held.edit(paths(&["/w/b"])).unwrap();
        let waits = tokio::spawn({
            let (held, paths) = (Arc::clone(&held), paths(&["/w/a", "/w/b"]));
            async move { held.show(paths).await.map(drop) }
        });
        // It waits, and no further edit begins meanwhile.
        tokio::task::yield_now().await;
        assert_eq!(held.edit(paths(&["/w/a"])).unwrap_err(), Path::new("/w/a"));
        drop(edit);
        waits.await.unwrap().unwrap();
        let edit = held.edit(paths(&["/w/b"])).unwrap();
        assert_eq!(held.show(paths(&["/w/b"])).await.unwrap_err(), Path::new("/w/b"), "not for ever");
        drop(edit);
        assert!(held.files.lock().unwrap().is_empty());
    }
}
