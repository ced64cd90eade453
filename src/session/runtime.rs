//! `runtime.json`: the session's flags, in the data directory, read for each dispatch.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::config::MaxMode;
use crate::domain::session::{PermissionMode, RuntimeFlags};

/// The largest `runtime.json`, in bytes.
const FILE_MAX: u64 = 64 * 1024;

/// A session's `runtime.json` and the last good flags that were in it.
#[derive(Debug)]
pub struct RuntimeFile {
    path: PathBuf,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    stamp: Option<Stamp>,
    flags: RuntimeFlags,
    problem: Option<String>,
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// The flags in force, and whether they are news.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The flags, never wider than the configured bound.
    pub flags: RuntimeFlags,
    /// What is wrong with the file, or with what it asks for.
    pub problem: Option<String>,
    /// Whether flags or problem differ from the reading before.
    pub news: bool,
}

impl RuntimeFile {
    /// Over a file that may be there; `flags` are in force until it is read.
    pub fn new(path: PathBuf, flags: RuntimeFlags) -> Self {
        Self { path, known: Mutex::new(Known { stamp: None, flags, problem: None }) }
    }

    /// Reads the file where it changed. A broken or missing one keeps the last good flags.
    pub fn read(&self, bound: MaxMode) -> Reading {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = (known.flags.clone(), known.problem.clone());
        let (flags, exceeded) = self.refreshed(&mut known, bound);
        let problem = known.problem.clone().or(exceeded);
        Reading { news: before != (known.flags.clone(), known.problem.clone()), flags, problem }
    }

    /// Writes flags, in one step: a reader sees the old file or the new one.
    pub fn write(&self, flags: &RuntimeFlags) -> std::io::Result<()> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        self.put(&mut known, flags)
    }

    /// Changes the flags in force and writes them, where the change says that something changed:
    /// the flags that then hold. Two changes at once come one after the other.
    pub fn change(
        &self,
        bound: MaxMode,
        change: impl FnOnce(&mut RuntimeFlags) -> bool,
    ) -> std::io::Result<Option<RuntimeFlags>> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut flags = self.refreshed(&mut known, bound).0;
        if !change(&mut flags) {
            return Ok(None);
        }
        self.put(&mut known, &flags)?;
        Ok(Some(flags))
    }

    fn put(&self, known: &mut Known, flags: &RuntimeFlags) -> std::io::Result<()> {
        let mut text = serde_json::to_vec_pretty(flags)?;
        text.push(b'\n');
        replace_file(&self.path, &text)?;
        *known = Known { stamp: stamp(&self.path), flags: flags.clone(), problem: None };
        Ok(())
    }

    /// Reads the file where it changed: the flags in force, and what exceeds the bound.
    fn refreshed(&self, known: &mut Known, bound: MaxMode) -> (RuntimeFlags, Option<String>) {
        let stamp = stamp(&self.path);
        if stamp.is_none() || stamp != known.stamp {
            match load(&self.path) {
                Ok(flags) => (known.flags, known.problem) = (flags, None),
                Err(problem) => known.problem = Some(problem),
            }
            known.stamp = stamp;
        }
        bounded(known.flags.clone(), bound)
    }
}

/// Puts a file in the place of the one before, on the disk and in one step. Only one at a time may
/// do that with the same file.
pub(super) fn replace_file(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let fresh = path.with_extension("json.new");
    let mut file = fs::File::create(&fresh)?;
    file.write_all(content)?;
    file.sync_data()?;
    fs::rename(&fresh, path)
}

fn stamp(path: &Path) -> Option<Stamp> {
    let meta = fs::metadata(path).ok()?;
    Some(Stamp {
        inode: meta.ino(),
        size: meta.size(),
        modified: (meta.mtime(), meta.mtime_nsec()),
        changed: (meta.ctime(), meta.ctime_nsec()),
    })
}

fn load(path: &Path) -> Result<RuntimeFlags, String> {
    let size = fs::metadata(path).map_err(|error| format!("runtime.json cannot be read: {error}"))?.len();
    if size > FILE_MAX {
        return Err(format!("runtime.json has {size} bytes, at most {FILE_MAX} are read"));
    }
    let text = fs::read(path).map_err(|error| format!("runtime.json cannot be read: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("runtime.json is not valid: {error}"))
}

/// The flags cut down to what the config admits.
fn bounded(mut flags: RuntimeFlags, bound: MaxMode) -> (RuntimeFlags, Option<String>) {
    let mut exceeded = None;
    if !bound.admits(flags.permission_mode) {
        exceeded =
            Some(format!("the mode {} is wider than permissions.max_mode", flags.permission_mode.as_str()));
        flags.permission_mode = PermissionMode::Default;
    }
    if flags.bypass_permissions && !bound.admits_bypass() {
        exceeded = Some("bypass_permissions is wider than permissions.max_mode".to_owned());
        flags.bypass_permissions = false;
    }
    (flags, exceeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edit_by_hand_takes_effect_and_a_broken_one_does_not() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("runtime.json");
        let file = RuntimeFile::new(path.clone(), RuntimeFlags::default());
        file.write(&RuntimeFlags::default()).unwrap();
        assert!(!file.read(MaxMode::Bypass).news);

        fs::write(&path, r#"{"bypass_permissions": true, "mine": [1]}"#).unwrap();
        let reading = file.read(MaxMode::Bypass);
        assert!(reading.news && reading.flags.bypass_permissions);
        assert_eq!(reading.flags.others["mine"], serde_json::json!([1]));

        fs::write(&path, r#"{"bypass_permissions": fal"#).unwrap();
        let reading = file.read(MaxMode::Bypass);
        assert!(reading.news && reading.flags.bypass_permissions);
        assert!(reading.problem.unwrap().contains("not valid"));
        assert!(!file.read(MaxMode::Bypass).news);

        fs::remove_file(&path).unwrap();
        assert!(file.read(MaxMode::Bypass).flags.bypass_permissions);
    }

    #[test]
    fn nothing_is_wider_than_the_bound() {
        let dir = tempfile::tempdir().unwrap();
        let file = RuntimeFile::new(dir.path().join("runtime.json"), RuntimeFlags::default());
        let wide = RuntimeFlags {
            bypass_permissions: true,
            permission_mode: PermissionMode::AcceptEdits,
            ..RuntimeFlags::default()
        };
        file.write(&wide).unwrap();
        let reading = file.read(MaxMode::Default);
        assert!(!reading.flags.bypass_permissions);
        assert_eq!(reading.flags.permission_mode, PermissionMode::Default);
        assert!(reading.problem.is_some());
    }
}
