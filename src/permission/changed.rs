//! What the session itself changed in the files that a command would run, for who decides on it.
//!
//! A file counts as changed when the kernel says that it was touched after the session was made. By
//! which call, the session's own record says: the audit log names the files of each edit that was
//! allowed, and when each command ran. What no record explains is told as changed all the same.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::audit::path_shown;
use super::desk::Ask;
use super::scope::Scope;
use crate::domain::approval::ChangedFile;
use crate::domain::audit::AuditEntry;
use crate::domain::call::Call;
use crate::domain::clock::Timestamp;
use crate::domain::identity::CallKey;
use crate::domain::visible;
use crate::store::{Store, StoreError};

/// So many of the command's files are told, those that were changed last.
const FILES_MAX: usize = 16;
/// So many of the session's latest edits and commands are looked at.
const RECORDS_MAX: usize = 512;
/// The longest diff of one file, in characters.
const DIFF_MAX: usize = 4_000;
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
) -> Result<Vec<ChangedFile>, StoreError> {
    if ask.leaves.is_none() || ask.preview.files.is_empty() {
        return Ok(Vec::new());
    }
    let Some(record) = store.session(session_id).await? else { return Ok(Vec::new()) };
    let since = record.session.created_at.as_millisecond();
    let paths: Vec<PathBuf> = ask.preview.files.iter().map(|(path, _)| path.clone()).collect();
    let stamped = move || stamps(paths, since);
    // A stat that hangs (a dead network mount) keeps its thread; the ask goes without.
    let Ok(touched) = tokio::task::spawn_blocking(stamped).await else { return Ok(Vec::new()) };
    if touched.is_empty() {
        return Ok(Vec::new());
    }
    let records = store.latest_changes(session_id, RECORDS_MAX).await?;
    let root = scope.workspace.root();
    let mut changed = Vec::new();
    for (path, at) in touched {
        one(store, session_id, &records, root, &path, at, &mut changed).await?;
    }
    Ok(changed)
}

/// Those that were touched last since then, and when.
fn stamps(paths: Vec<PathBuf>, since: i64) -> Vec<(PathBuf, i64)> {
    let stamp = |path: PathBuf| {
        let meta = std::fs::symlink_metadata(&path).ok()?;
        let at = meta.ctime().saturating_mul(1_000).saturating_add(meta.ctime_nsec() / 1_000_000);
        (at >= since).then_some((path, at))
    };
    let mut touched: Vec<(PathBuf, i64)> = paths.into_iter().filter_map(stamp).collect();
    touched.sort_by_key(|(_, at)| std::cmp::Reverse(*at));
    touched.truncate(FILES_MAX);
    touched
}

/// Tells of one file: its last edit, and what touched it after that.
async fn one(
    store: &Arc<dyn Store>,
    session_id: &str,
    records: &[AuditEntry],
    root: &Path,
    path: &Path,
    at: i64,
    changed: &mut Vec<ChangedFile>,
) -> Result<(), StoreError> {
    let name = path_shown(path);
    let shown = visible::one_line(&path.strip_prefix(root).unwrap_or(path).to_string_lossy());
    let edits = records.iter().filter(|entry| entry.record.edits.contains(&name));
    for entry in edits {
        let Some(call) = call_of(store, session_id, entry).await? else { continue };
        // One that failed changed nothing.
        if !call.result.as_ref().is_some_and(|result| result.success) {
            continue;
        }
        let ended = call.finished_at.unwrap_or(entry.time);
        let diff = diff_of(&call, &shown);
        changed.push(told(&shown, ended, Some(&call), diff));
        if at <= ended.as_millisecond() + TICK_MS {
            return Ok(());
        }
        break;
    }
    let moment = Timestamp::from_millisecond(at).unwrap_or_default();
    let ran = |entry: &&AuditEntry| {
        let tool = entry.record.tool_name.as_deref().unwrap_or_default();
        !EDITS.contains(&tool) && entry.time.as_millisecond() <= at + TICK_MS
    };
    if let Some(entry) = records.iter().find(ran)
        && let Some(call) = call_of(store, session_id, entry).await?
        && call.finished_at.is_none_or(|ended| ended.as_millisecond() + TICK_MS >= at)
    {
        changed.push(told(&shown, moment, Some(&call), None));
        return Ok(());
    }
    changed.push(told(&shown, moment, None, None));
    Ok(())
}

async fn call_of(
    store: &Arc<dyn Store>,
    session_id: &str,
    entry: &AuditEntry,
) -> Result<Option<Call>, StoreError> {
    let Some(call_id) = entry.record.call_id.clone() else { return Ok(None) };
    store.call(session_id, &CallKey { turn: entry.record.turn.clone(), call_id }).await
}

fn told(path: &str, at: Timestamp, call: Option<&Call>, diff: Option<String>) -> ChangedFile {
    ChangedFile {
        path: path.to_owned(),
        at,
        turn: call.and_then(|call| call.key.turn.clone()),
        call_id: call.map(|call| call.key.call_id.clone()),
        tool_name: call.map(|call| call.tool_name.clone()),
        diff,
    }
}

/// The part of the call's diff that is about the file, where its record has a diff.
fn diff_of(call: &Call, shown: &str) -> Option<String> {
    let diff = call.details.as_ref().and_then(|details| details["diff"].as_str())?;
    let text = part_of(diff, shown);
    let text = visible::diff(&text);
    let total = text.chars().count();
    if total <= DIFF_MAX {
        return Some(text);
    }
    let kept: String = text.chars().take(DIFF_MAX).collect();
    Some(format!("{kept}… ({} more characters)", total - DIFF_MAX))
}

/// The part of a diff of several files that is about this one; all of it where no part says so.
fn part_of(diff: &str, shown: &str) -> String {
    let is_head = |lines: &[&str]| matches!(lines, [old, new, ..] if old.starts_with("--- ") && new.starts_with("+++ "));
    let lines: Vec<&str> = diff.split_inclusive('\n').collect();
    let heads: Vec<usize> = (0..lines.len()).filter(|at| is_head(&lines[*at..])).collect();
    for (number, head) in heads.iter().enumerate() {
        let names = [lines[*head], lines[head + 1]];
        let about = |line: &&str| {
            let name = line[4..].trim_end();
            name.strip_prefix("a/").or_else(|| name.strip_prefix("b/")).is_some_and(|name| {
                name == shown || name.ends_with(&format!("/{shown}")) || shown.ends_with(&format!("/{name}"))
            })
        };
        if names.iter().any(about) {
            let end = heads.get(number + 1).copied().unwrap_or(lines.len());
            return lines[*head..end].concat();
        }
    }
    diff.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_diff_of_several_files_one_part_is_shown() {
        let diff = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n--- /dev/null\n+++ b/sub/y\n@@ -0,0 +1 @@\n+3\n";
        assert_eq!(part_of(diff, "x"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-1\n+2\n");
        assert_eq!(part_of(diff, "sub/y"), "--- /dev/null\n+++ b/sub/y\n@@ -0,0 +1 @@\n+3\n");
        assert_eq!(part_of(diff, "z"), diff);
    }
}
