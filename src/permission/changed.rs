//! What the session itself changed in the files that a command would run, for who decides on it.
//!
//! A file counts as changed when the kernel says that it was touched after the session was made. By
//! which call, the session's own record says: the audit log names the files of each edit that was
//! allowed, and when each command ran. What no record explains is told as changed all the same.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::audit::path_shown;
use super::commands::read_only;
use super::desk::Ask;
use super::scope::Scope;
use super::shell::{self, scan::Role};
use crate::domain::approval::ChangedFile;
use crate::domain::audit::AuditEntry;
use crate::domain::call::Call;
use crate::domain::clock::Timestamp;
use crate::domain::identity::CallKey;
use crate::domain::{hunks, visible};
use crate::store::{Store, StoreError};

/// So many of the command's files are told, those that run first.
const FILES_MAX: usize = 16;
/// So many of the session's latest edits and commands are looked at.
const RECORDS_MAX: usize = 512;
/// So many of a file's latest edits are told, out of so many whose calls are looked at.
const EDITS_MAX: usize = 8;
const CALLS_MAX: usize = 32;
/// The longest diff of one edit, and of all together, in characters.
const DIFF_MAX: usize = 4_000;
const DIFFS_MAX: usize = 64_000;
/// The kernel stamps files by a clock that lags behind by up to a tick; in milliseconds.
const TICK_MS: i64 = 20;
/// Tools whose changes their own record tells file by file.
const EDITS: &[&str] = &["Write", "Edit", "ApplyPatch"];

/// What changed in the files that the ask is bound to; nothing for what is no command.
pub(super) async fn of_ask(
    store: &Arc<dyn Store>,
    session_id: &str,
    scope: &Scope,
    ask: &Ask,
) -> Result<(Vec<ChangedFile>, u64), StoreError> {
    let nothing = || Ok((Vec::new(), 0));
    if ask.leaves.is_none() || ask.preview.files.is_empty() {
        return nothing();
    }
    let Some(record) = store.session(session_id).await? else { return nothing() };
    let since = record.session.created_at.as_millisecond();
    let paths: Vec<PathBuf> = ask.preview.files.iter().map(|(path, _)| path.clone()).collect();
    let stamped = move || stamps(paths, since);
    // A stat that hangs (a dead network mount) keeps its thread; the ask goes without.
    let Ok(mut touched) = tokio::task::spawn_blocking(stamped).await else { return nothing() };
    if touched.is_empty() {
        return nothing();
    }
    let order = ask.arguments["command"].as_str().map(Order::of).unwrap_or_default();
    touched.sort_by_cached_key(|(path, at)| (order.place(path), std::cmp::Reverse(*at)));
    let left_out = touched.len().saturating_sub(FILES_MAX);
    touched.truncate(FILES_MAX);
    let records = store.latest_changes(session_id, RECORDS_MAX).await?;
    let mut told = Telling {
        store,
        session_id,
        records: &records,
        root: scope.workspace.root(),
        changed: Vec::new(),
        left: DIFFS_MAX,
    };
    for (path, at) in touched {
        told.file(&path, at).await?;
    }
    Ok((told.changed, u64::try_from(left_out).unwrap_or(u64::MAX)))
}

/// In which order a command's programs take up what it names.
#[derive(Debug, Default)]
struct Order(Vec<Vec<String>>);

impl Order {
    fn of(command: &str) -> Self {
        let analysis = shell::analyse(command);
        let runs = analysis.segments().iter().filter(|segment| segment.role() == Role::Runs);
        let words = runs.map(|segment| segment.words().map(str::to_owned).collect::<Vec<_>>());
        // What only reads runs nothing of what it is given.
        Self(words.filter(|words| !words.first().is_some_and(|word| read_only::is_listed(word))).collect())
    }

    /// The place of the first word that means the file: the program's own is 0, that of what it runs most often 1, as is
    /// that of what it looks for without being told (`Makefile`).
    fn place(&self, path: &Path) -> usize {
        let is_pattern = |word: &&str| word.contains(['*', '?', '[', '$']);
        let means = |word: &&str| path.ends_with(word.trim_start_matches("./")) && !word.is_empty();
        let first = |of: &dyn Fn(&&str) -> bool| {
            let at = |words: &Vec<String>| words.iter().position(|word| of(&word.as_str()));
            self.0.iter().filter_map(at).min()
        };
        first(&means).or_else(|| first(&is_pattern)).unwrap_or(1)
    }
}

/// Those that were touched since then, and when.
fn stamps(paths: Vec<PathBuf>, since: i64) -> Vec<(PathBuf, i64)> {
    let stamp = |path: PathBuf| {
        let meta = std::fs::symlink_metadata(&path).ok()?;
        let at = meta.ctime().saturating_mul(1_000).saturating_add(meta.ctime_nsec() / 1_000_000);
        (at >= since).then_some((path, at))
    };
    paths.into_iter().filter_map(stamp).collect()
}

/// Tells of files, one after the other.
struct Telling<'a> {
    store: &'a Arc<dyn Store>,
    session_id: &'a str,
    records: &'a [AuditEntry],
    root: &'a Path,
    changed: Vec<ChangedFile>,
    /// So many characters of diffs may still be told.
    left: usize,
}

impl Telling<'_> {
    /// Tells of one file: what touched it last, and its edits, from the latest on.
    async fn file(&mut self, path: &Path, at: i64) -> Result<(), StoreError> {
        let name = path_shown(path);
        let shown = |path: &Path| visible::one_line(&path.to_string_lossy());
        let inner = path.strip_prefix(self.root).ok();
        let told = shown(inner.unwrap_or(path));
        let in_diffs = shown(inner.or_else(|| path.strip_prefix("/").ok()).unwrap_or(path));
        let of_file: Vec<&AuditEntry> =
            self.records.iter().filter(|entry| entry.record.edits.contains(&name)).collect();
        let (mut edits, mut seen) = (Vec::new(), 0);
        for entry in of_file.iter().take(CALLS_MAX) {
            if edits.len() == EDITS_MAX {
                break;
            }
            seen += 1;
            let Some(call) = self.call_of(entry).await? else { continue };
            // One that failed changed nothing.
            if call.result.as_ref().is_some_and(|result| result.success) {
                edits.push((call.finished_at.unwrap_or(entry.time), call));
            }
        }
        let explained = |(ended, _): &(Timestamp, Call)| at <= ended.as_millisecond() + TICK_MS;
        if !edits.first().is_some_and(explained) {
            let by = self.running_at(at).await?;
            let moment = Timestamp::from_millisecond(at).unwrap_or_default();
            self.changed.push(change(&told, moment, by.as_ref(), None));
        }
        for (ended, call) in edits {
            let diff = self.diff_of(&call, &in_diffs);
            self.changed.push(change(&told, ended, Some(&call), diff));
        }
        if let Some(earliest) = self.changed.last_mut() {
            earliest.earlier = u64::try_from(of_file.len() - seen).unwrap_or(u64::MAX);
            earliest.unsearched = self.records.len() >= RECORDS_MAX;
        }
        Ok(())
    }

    /// The latest call that is no edit and ran at that time.
    async fn running_at(&self, at: i64) -> Result<Option<Call>, StoreError> {
        let ran = |entry: &&AuditEntry| {
            let tool = entry.record.tool_name.as_deref().unwrap_or_default();
            !EDITS.contains(&tool) && entry.time.as_millisecond() <= at + TICK_MS
        };
        let Some(entry) = self.records.iter().find(ran) else { return Ok(None) };
        let call = self.call_of(entry).await?;
        Ok(call.filter(|call| call.finished_at.is_none_or(|ended| ended.as_millisecond() + TICK_MS >= at)))
    }

    async fn call_of(&self, entry: &AuditEntry) -> Result<Option<Call>, StoreError> {
        let Some(call_id) = entry.record.call_id.clone() else { return Ok(None) };
        self.store.call(self.session_id, &CallKey { turn: entry.record.turn.clone(), call_id }).await
    }

    /// What of the call's diff is about the file that it calls so, where its record has one.
    fn diff_of(&mut self, call: &Call, name: &str) -> Option<String> {
        let diff = call.details.as_ref().and_then(|details| details["diff"].as_str())?;
        let text = visible::diff(&hunks::about(diff, name)?);
        let (total, max) = (text.chars().count(), DIFF_MAX.min(self.left));
        self.left -= total.min(max);
        if total <= max {
            return Some(text);
        }
        let kept: String = text.chars().take(max).collect();
        Some(format!("{kept}… ({} more characters)", total - max))
    }
}

fn change(path: &str, at: Timestamp, call: Option<&Call>, diff: Option<String>) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        at,
        turn: call.and_then(|call| call.key.turn.clone()),
        call_id: call.map(|call| call.key.call_id.clone()),
        tool_name: call.map(|call| call.tool_name.clone()),
        diff,
        earlier: 0,
        unsearched: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_first_is_told_first() {
        for (command, paths) in [
            ("sh build.sh data0 data1", &["build.sh", "data0", "data1"][..]),
            ("sh build.sh *.txt", &["build.sh", "a.txt"]),
            ("sh build.sh $X", &["build.sh", "a.txt"]),
            ("cat a b c; ./sub/run.sh d", &["sub/run.sh", "d", "a"]),
            ("cat a b c && sh ./run.sh d", &["run.sh", "d"]),
            ("make data0 data1 data2", &["Makefile", "data1"]),
            ("python3 x.py < a", &["x.py", "other"]),
        ] {
            let order = Order::of(command);
            let places: Vec<usize> =
                paths.iter().map(|path| order.place(&Path::new("/ws").join(path))).collect();
            assert!(places.is_sorted() && places[0] <= 1, "{command}: {places:?}");
        }
    }
}
