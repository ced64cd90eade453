//! Watches files through every folder and link on the way to them, and tells when one may have changed.
//!
//! Files are replaced in many ways: written in place, renamed over by an editor, swapped by a link as
//! Kubernetes does it. All of them change an entry in a folder on the way, so those folders are watched. What
//! comes is only a hint to look: whether something changed is for who reads the files to say.

use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use notify::event::{AccessKind, AccessMode};
use notify::{EventKind, RecursiveMode, Watcher};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, sleep_until};

use super::reach::{HopKind, way_to};

/// A burst is over when nothing came for so long.
const QUIET: Duration = Duration::from_millis(100);
/// However long a burst goes on, so long after its first event it is told.
const LONGEST: Duration = Duration::from_secs(1);
/// How often files are looked at while folders are watched: some file systems tell nothing (NFS), and a folder
/// further up may be replaced.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How often files are looked at while folders cannot be watched.
const POLL_EVERY: Duration = Duration::from_secs(2);

/// Makes a watcher that hands what it hears to a function.
type Make = fn(Hear) -> notify::Result<Box<dyn Watcher + Send + Sync>>;
type Hear = Box<dyn FnMut(notify::Result<notify::Event>) + Send>;

/// Watches files. Dropping it ends the watching.
pub struct FileWatch {
    make: Make,
    armed: Option<Armed>,
    /// Why folders cannot be watched, while they cannot.
    polling: Option<String>,
    // One place: who has been told that something changed need not be told again.
    tell: mpsc::Sender<()>,
    told: mpsc::Receiver<()>,
}

struct Armed {
    _watcher: Box<dyn Watcher + Send + Sync>,
    folders: BTreeSet<Watched>,
    names: BTreeSet<PathBuf>,
}

/// A folder as it was when it was watched: another one under its path has to be watched anew.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Watched {
    path: PathBuf,
    device: u64,
    inode: u64,
}

fn inotify(hear: Hear) -> notify::Result<Box<dyn Watcher + Send + Sync>> {
    Ok(Box::new(notify::RecommendedWatcher::new(hear, notify::Config::default())?))
}

impl Default for FileWatch {
    fn default() -> Self {
        Self::with(inotify)
    }
}

impl FileWatch {
    fn with(make: Make) -> Self {
        let (tell, told) = mpsc::channel(1);
        Self { make, armed: None, polling: None, tell, told }
    }

    /// Watches what leads to these files now, in the place of what was watched. To be called before they are
    /// read: what changes after that is told. Says why folders cannot be watched, where they cannot: then
    /// files are looked at every two seconds. Does a few blocking look-ups.
    pub fn arm(&mut self, files: &[PathBuf]) -> Option<&str> {
        let hops: Vec<_> = files.iter().flat_map(|file| way_to(file)).collect();
        let turns = hops.iter().filter(|hop| hop.kind != HopKind::Folder);
        let folders: BTreeSet<Watched> = turns.filter_map(|hop| watched(&hop.folder)).collect();
        let mut names: BTreeSet<PathBuf> = hops.iter().map(super::reach::Hop::path).collect();
        names.extend(folders.iter().map(|folder| folder.path.clone()));
        let same = |armed: &Armed| armed.folders == folders && armed.names == names;
        if !self.armed.as_ref().is_some_and(same) {
            match self.watch(folders, names) {
                Ok(armed) => (self.armed, self.polling) = (Some(armed), None),
                Err(error) => (self.armed, self.polling) = (None, Some(error.to_string())),
            }
        }
        self.polling.as_deref()
    }

    fn watch(&self, folders: BTreeSet<Watched>, names: BTreeSet<PathBuf>) -> notify::Result<Armed> {
        let (tell, of_interest) = (self.tell.clone(), names.clone());
        let mut watcher = (self.make)(Box::new(move |event| {
            if concerns(&event, &of_interest) {
                // Full: it is told already.
                let _ = tell.try_send(());
            }
        }))?;
        for folder in &folders {
            match watcher.watch(&folder.path, RecursiveMode::NonRecursive) {
                // It went away meanwhile: the next look finds what is there instead.
                Err(error) if matches!(error.kind, notify::ErrorKind::PathNotFound) => {
                    let _ = self.tell.try_send(());
                }
                other => other?,
            }
        }
        Ok(Armed { _watcher: watcher, folders, names })
    }

    /// Waits until the files should be looked at: after a burst of changes, or when `soon` is over, or else
    /// the usual time. May be dropped at any time by who then looks.
    pub async fn changed(&mut self, soon: Option<Duration>) {
        let usual = if self.armed.is_some() { LOOK_EVERY } else { POLL_EVERY };
        tokio::select! {
            _ = self.told.recv() => {}
            () = sleep(soon.unwrap_or(usual)) => return,
        }
        let latest = Instant::now() + LONGEST;
        loop {
            tokio::select! {
                () = sleep_until(latest) => return,
                () = sleep(QUIET) => return,
                _ = self.told.recv() => {}
            }
        }
    }
}

impl std::fmt::Debug for FileWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FileWatch").field("polling", &self.polling).finish_non_exhaustive()
    }
}

fn watched(folder: &Path) -> Option<Watched> {
    let meta = folder.metadata().ok()?;
    Some(Watched { path: folder.to_owned(), device: meta.dev(), inode: meta.ino() })
}

/// Whether an event may be about one of the names. That a file is read concerns nobody: it is us, mostly.
fn concerns(event: &notify::Result<notify::Event>, names: &BTreeSet<PathBuf>) -> bool {
    let Ok(event) = event else { return true };
    let read_only = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => false,
        EventKind::Access(_) => true,
        _ => false,
    };
    event.need_rescan() || (!read_only && event.paths.iter().any(|path| names.contains(path)))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const FAILSAFE: Duration = Duration::from_secs(20);

    /// What was written is told well before the files would have been looked at anyway.
    async fn told(watch: &mut FileWatch, what: &str) {
        tokio::time::timeout(FAILSAFE, watch.changed(None)).await.unwrap_or_else(|_| panic!("{what}"));
    }

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn write(&self, name: &str) -> PathBuf {
            std::fs::write(self.path(name), name).unwrap();
            self.path(name)
        }
    }

    #[tokio::test]
    async fn a_file_is_told_however_it_is_replaced() {
        let folder = Folder::new();
        let file = folder.write("config.json");
        let mut watch = FileWatch::default();
        assert_eq!(watch.arm(std::slice::from_ref(&file)), None);
        std::fs::write(&file, "in place").unwrap();
        told(&mut watch, "written in place").await;
        std::fs::rename(folder.write("other"), &file).unwrap();
        told(&mut watch, "renamed over").await;
        std::fs::remove_file(&file).unwrap();
        told(&mut watch, "removed").await;
        watch.arm(std::slice::from_ref(&file));
        folder.write("config.json");
        told(&mut watch, "made again").await;
    }

    #[tokio::test]
    async fn a_swapped_link_is_told_and_then_the_new_folder_is_watched() {
        let folder = Folder::new();
        for version in ["v1", "v2"] {
            std::fs::create_dir(folder.path(version)).unwrap();
            folder.write(&format!("{version}/config.json"));
        }
        symlink("v1", folder.path("..data")).unwrap();
        symlink("..data/config.json", folder.path("config.json")).unwrap();
        let file = folder.path("config.json");
        let mut watch = FileWatch::default();
        assert_eq!(watch.arm(std::slice::from_ref(&file)), None);
        symlink("v2", folder.path("..data_tmp")).unwrap();
        std::fs::rename(folder.path("..data_tmp"), folder.path("..data")).unwrap();
        told(&mut watch, "the swap").await;
        watch.arm(std::slice::from_ref(&file));
        folder.write("v2/config.json");
        told(&mut watch, "the file in the new folder").await;
    }

    #[tokio::test]
    async fn other_files_and_reading_are_not_told() {
        let folder = Folder::new();
        let file = folder.write("config.json");
        let mut watch = FileWatch::default();
        watch.arm(std::slice::from_ref(&file));
        for n in 0..50 {
            folder.write(&format!("other{n}"));
            std::fs::read(&file).unwrap();
        }
        // All events of one folder come in order: after the write to the file nothing else is left.
        std::fs::write(&file, "now").unwrap();
        told(&mut watch, "the write").await;
        assert!(watch.told.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_steady_stream_is_told_all_the_same() {
        let folder = Folder::new();
        let file = folder.write("config.json");
        let mut watch = FileWatch::default();
        watch.arm(std::slice::from_ref(&file));
        let tell = watch.tell.clone();
        let stream = tokio::spawn(async move {
            let mut every = tokio::time::interval(QUIET / 4);
            while tell.is_closed() || tell.try_send(()).is_ok() || tell.capacity() == 0 {
                every.tick().await;
            }
        });
        let began = Instant::now();
        told(&mut watch, "while they come").await;
        assert!(began.elapsed() >= LONGEST, "it was told as a burst that ended");
        stream.abort();
    }

    #[tokio::test]
    async fn where_folders_cannot_be_watched_files_are_polled_until_they_can() {
        let mut watch = FileWatch::with(|_| Err(notify::Error::new(notify::ErrorKind::MaxFilesWatch)));
        let folder = Folder::new();
        let file = folder.write("config.json");
        let reason = watch.arm(std::slice::from_ref(&file)).unwrap().to_owned();
        assert!(reason.contains("limit"), "{reason}");
        told(&mut watch, "the next poll").await;
        watch.make = inotify;
        assert_eq!(watch.arm(&[file]), None);
    }
}
