//! The floor under every child process: the server's own files and process are out of its reach.
//!
//! Landlock where the kernel has it with signal scope, bubblewrap where not. What Landlock leaves open is said
//! here: names and sizes of hidden files can be looked up (`stat`), the server's command line can be read
//! (it carries no secret), the numbers of its open descriptors can be listed (what they lead to cannot be told),
//! and sockets with a path can be connected to.

mod bubblewrap;
mod confine;
mod cover;
mod landlock;
mod privileges;

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use utoipa::ToSchema;

use self::bubblewrap::Mounting;
pub use self::cover::cover;
pub use self::privileges::confine_self;
pub use crate::config::FloorChoice;

/// Why the floor could not be laid.
#[derive(Debug, thiserror::Error)]
pub enum FloorError {
    /// The kernel refused a ruleset or a rule.
    #[error("Landlock refused the ruleset: {0}")]
    Ruleset(#[from] ::landlock::RulesetError),
    /// The kernel gave no ruleset, although it said that it would.
    #[error("Landlock gave no ruleset")]
    NoRuleset,
    /// A directory on the way to a protected path could not be listed.
    #[error("a directory above a protected path could not be listed: {0}")]
    List(#[from] rustix::io::Errno),
    /// A path that is to be protected is relative or cannot be resolved.
    #[error("{path} cannot be protected: {reason}")]
    Path {
        /// The path as it was given.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

/// Which floor is in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FloorKind {
    /// A Landlock ruleset.
    Landlock,
    /// Bubblewrap's namespaces.
    Bubblewrap,
    /// None.
    Missing,
}

/// What `/readyz` and `/v1/info` say about the floor.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, ToSchema)]
pub struct FloorStatus {
    /// The floor in force.
    pub kind: FloorKind,
    /// The Landlock ABI of the kernel, 0 without Landlock.
    pub abi: u32,
    /// Why there is none, where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_if_missing: Option<String>,
}

/// The paths that the floor treats apart, as they are named.
#[derive(Debug, Clone, Default)]
pub(crate) struct Named {
    /// Not to be read, listed, written.
    pub(crate) hidden: Vec<PathBuf>,
    /// Files of the server's that are replaced while it runs: hidden with what [`cover`] says.
    pub(crate) files: Vec<PathBuf>,
    /// Paths that commands need: no folder above them is hidden for a file's sake.
    pub(crate) needed: Vec<PathBuf>,
    /// To be read and executed only.
    pub(crate) read_only: Vec<PathBuf>,
    /// Usable although beneath a hidden path.
    pub(crate) allowed: Vec<PathBuf>,
}

/// The same as they lead now: absolute, without symlinks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FloorPaths {
    /// Not to be read, listed, written.
    pub(crate) hidden: Vec<PathBuf>,
    /// To be read and executed only.
    pub(crate) read_only: Vec<PathBuf>,
    /// Usable although beneath a hidden path.
    pub(crate) allowed: Vec<PathBuf>,
}

/// The kernel's own file systems, which the floor treats apart.
const SYSTEM: [&str; 3] = ["/dev", "/proc", "/sys"];

impl FloorPaths {
    /// Resolves the paths. One that does not exist yet is kept beneath its resolved ancestor: then nobody
    /// under the floor can make it either.
    pub(crate) fn resolve(named: &Named) -> Result<Self, FloorError> {
        let all = |paths: &[PathBuf]| paths.iter().map(|path| resolve(path)).collect::<Result<Vec<_>, _>>();
        let mut hidden = all(&named.hidden)?;
        hidden.extend(cover(&named.files, &named.needed));
        let hidden = cover::outermost(hidden);
        let paths = Self { hidden, read_only: all(&named.read_only)?, allowed: all(&named.allowed)? };
        // What lies there is given or withheld as a whole.
        for path in paths.hidden.iter().chain(&paths.read_only) {
            if let Some(system) = SYSTEM.iter().find(|system| path.starts_with(system)) {
                let reason = format!("it lies beneath {system}");
                return Err(FloorError::Path { path: path.clone(), reason });
            }
        }
        Ok(paths)
    }

    /// Whether an entry, which is no folder, looks like a copy of a hidden file beside it.
    fn is_draft(&self, entry: &Path) -> bool {
        let beside = |hidden: &&PathBuf| hidden.parent() == entry.parent() && !hidden.is_dir();
        entry.file_name().is_some_and(|name| {
            let hidden = self.hidden.iter().filter(beside).filter_map(|hidden| hidden.file_name());
            hidden.into_iter().any(|hidden| cover::is_draft_of(name, hidden))
        })
    }

    fn is_above_hidden(&self, directory: &Path) -> bool {
        self.hidden.iter().any(|path| path != directory && path.starts_with(directory))
    }

    fn is_above_protected(&self, directory: &Path) -> bool {
        self.hidden.iter().chain(&self.read_only).any(|path| path != directory && path.starts_with(directory))
    }
}

fn resolve(path: &Path) -> Result<PathBuf, FloorError> {
    let refuse = |reason: &str| FloorError::Path { path: path.to_owned(), reason: reason.to_owned() };
    if !path.is_absolute() {
        return Err(refuse("it is not absolute"));
    }
    let mut existing = path;
    let mut missing = Vec::new();
    while !landlock::exists(existing) {
        missing.push(existing.file_name().ok_or_else(|| refuse("it does not end in a name"))?);
        existing = existing.parent().ok_or_else(|| refuse("it has no parent"))?;
    }
    let mut resolved = std::fs::canonicalize(existing).map_err(|error| refuse(&error.to_string()))?;
    resolved.extend(missing.iter().rev());
    if resolved == Path::new("/") {
        return Err(refuse("everything lies beneath it"));
    }
    Ok(resolved)
}

/// What one command needs to run under the floor.
#[derive(Debug)]
pub enum Confinement {
    /// Restrict itself with this ruleset.
    Landlock(Arc<OwnedFd>),
    /// Put this before the command's arguments.
    Bubblewrap(Vec<OsString>),
    /// Nothing to add.
    Missing,
}

/// The floor of this server. Built once, kept current as directories change.
#[derive(Debug)]
pub struct Floor {
    named: Mutex<Arc<Named>>,
    status: FloorStatus,
    bubblewrap: Option<(PathBuf, Mounting)>,
    cached: Mutex<Option<landlock::Built>>,
}

impl Floor {
    /// Lays the floor that `choice` asks for. Blocks: it lists directories, and where bubblewrap is considered
    /// it runs a program in it to see whether it works here.
    pub(crate) fn lay(choice: FloorChoice, named: Named) -> Self {
        let abi = confine::landlock_abi();
        let missing =
            |reason: String| FloorStatus { kind: FloorKind::Missing, abi, reason_if_missing: Some(reason) };
        let mut floor = Self {
            named: Mutex::new(Arc::new(named)),
            status: missing("switched off by the configuration".to_owned()),
            bubblewrap: None,
            cached: Mutex::new(None),
        };
        if choice == FloorChoice::None {
            return floor;
        }
        let mut reasons = Vec::new();
        if choice != FloorChoice::Bubblewrap {
            match floor.try_landlock(abi) {
                Ok(()) => return floor,
                Err(reason) => reasons.push(format!("Landlock: {reason}")),
            }
        }
        if choice != FloorChoice::Landlock {
            match floor.try_bubblewrap(abi) {
                Ok(()) => return floor,
                Err(reason) => reasons.push(format!("bubblewrap: {reason}")),
            }
        }
        floor.status = missing(reasons.join("; "));
        floor
    }

    fn try_landlock(&mut self, abi: u32) -> Result<(), String> {
        if abi < landlock::LEAST_ABI {
            return Err(format!(
                "the kernel has ABI {abi}, {} is needed to scope signals",
                landlock::LEAST_ABI
            ));
        }
        self.ruleset(&self.paths().map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        self.status = FloorStatus { kind: FloorKind::Landlock, abi, reason_if_missing: None };
        Ok(())
    }

    fn try_bubblewrap(&mut self, abi: u32) -> Result<(), String> {
        let program = bubblewrap::find().ok_or("bwrap is not installed")?;
        let paths = self.paths().map_err(|error| error.to_string())?;
        let mut last = String::new();
        for mounting in [Mounting::Own, Mounting::UserNamespace] {
            let prefix = bubblewrap::prefix(&program, mounting, &paths).map_err(|error| error.to_string())?;
            match bubblewrap::works(&prefix) {
                Ok(()) => {
                    self.bubblewrap = Some((program, mounting));
                    self.status = FloorStatus { kind: FloorKind::Bubblewrap, abi, reason_if_missing: None };
                    return Ok(());
                }
                Err(reason) => last = reason,
            }
        }
        Err(last)
    }

    /// What is in force.
    pub fn status(&self) -> &FloorStatus {
        &self.status
    }

    /// Hides these files from the next command on, in the place of those that were named before. Those stay
    /// hidden where they are named again, or lie in a hidden folder.
    pub(crate) fn protect(&self, files: Vec<PathBuf>) -> Result<(), FloorError> {
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        let new = Named { files, ..Named::clone(&named) };
        FloorPaths::resolve(&new)?;
        *named = Arc::new(new);
        Ok(())
    }

    /// The paths as they lead now: a link may have been swapped since the last command.
    fn paths(&self) -> Result<FloorPaths, FloorError> {
        let named = Arc::clone(&self.named.lock().unwrap_or_else(PoisonError::into_inner));
        FloorPaths::resolve(&named)
    }

    /// What the next command needs. Does blocking look-ups of a few directories, and lists them where they
    /// changed.
    pub(crate) fn confinement(&self) -> Result<Confinement, FloorError> {
        Ok(match self.status.kind {
            FloorKind::Landlock => Confinement::Landlock(self.ruleset(&self.paths()?)?),
            FloorKind::Bubblewrap => match &self.bubblewrap {
                Some((program, mounting)) => {
                    Confinement::Bubblewrap(bubblewrap::prefix(program, *mounting, &self.paths()?)?)
                }
                None => Confinement::Missing,
            },
            FloorKind::Missing => Confinement::Missing,
        })
    }

    /// Whether a command can make entries in `directory`. Landlock gives no right on a directory that has a
    /// protected path somewhere beneath; bubblewrap has a folder read-only that holds a hidden file.
    pub(crate) fn can_write_in(&self, directory: &Path) -> bool {
        let Ok(paths) = self.paths() else { return false };
        match self.status.kind {
            FloorKind::Landlock => !paths.is_above_protected(directory),
            FloorKind::Bubblewrap => !bubblewrap::listed_folders(&paths).contains(directory),
            FloorKind::Missing => true,
        }
    }

    fn ruleset(&self, paths: &FloorPaths) -> Result<Arc<OwnedFd>, FloorError> {
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(built) = cached.as_ref().filter(|built| built.is_current(paths)) {
            return Ok(Arc::clone(&built.ruleset));
        }
        let built = landlock::build(paths)?;
        let ruleset = Arc::clone(&built.ruleset);
        *cached = Some(built);
        Ok(ruleset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(path: &Path) -> Result<PathBuf, FloorError> {
        let named = Named { hidden: vec![path.to_owned()], ..Named::default() };
        FloorPaths::resolve(&named).map(|mut paths| paths.hidden.remove(0))
    }

    #[test]
    fn protected_paths_are_resolved_also_where_they_do_not_exist_yet() {
        let directory = tempfile::tempdir().unwrap();
        let real = directory.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("data")).unwrap();
        std::os::unix::fs::symlink("data", real.join("link")).unwrap();
        for (given, expected) in [
            ("data", "data"),
            ("link", "data"),
            ("link/new/config.json", "data/new/config.json"),
            ("data/../data/x", "data/x"),
        ] {
            assert_eq!(resolved(&real.join(given)).unwrap(), real.join(expected), "{given}");
        }
    }

    #[test]
    fn what_the_floor_could_not_hold_is_refused() {
        for path in ["relative", "/", "/dev/shm/data", "/proc/data", "/sys"] {
            assert!(matches!(resolved(Path::new(path)), Err(FloorError::Path { .. })), "{path}");
        }
    }
}
