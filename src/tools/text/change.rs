//! One file's change from plan to disk: the same plan makes the preview that a person judges and the write.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::unified;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::visible;
use crate::permission::{Hidden, PermittedCall, Preview, Scope};
use crate::tools::ToolCtx;
use crate::tools::blocking::{self, failure, given_up};
use crate::tools::judged;
use crate::workspace::{ContentHash, Expected, Located, TextFile, Workspace, WorkspaceError};

/// The largest file, in bytes, that is changed: it is loaded whole.
pub(in crate::tools) const EDITABLE_BYTES: u64 = 16 * 1024 * 1024;
/// The most bytes of a diff that the text for the model repeats; `details` has all of it.
const DIFF_IN_TEXT_BYTES: usize = 16 * 1024;
/// How long a change may take, and so a lock on its file be held.
pub(in crate::tools) const CHANGE_TIME: Duration = Duration::from_mins(1);

/// What a file was before its change, and what is known of it.
pub(in crate::tools) struct Original {
    /// The file's text and form; `None` when there is no file.
    pub(in crate::tools) file: Option<TextFile>,
    /// The hash of its content now.
    pub(in crate::tools) hash: Option<ContentHash>,
    /// The hash of what the session last saw of it.
    pub(in crate::tools) seen: Option<ContentHash>,
    /// The file's name for messages.
    pub(in crate::tools) shown: String,
    pub(in crate::tools) located: Located,
    pub(in crate::tools) workspace: Arc<Workspace>,
    pub(in crate::tools) hidden: Hidden,
}

/// What a file is to become.
pub(in crate::tools) struct Change {
    /// The text for the model, without the diff.
    pub(in crate::tools) summary: String,
    /// The new text.
    pub(in crate::tools) text: String,
    /// Whether the model is shown the diff (it wrote a new file's content itself).
    pub(in crate::tools) show_diff: bool,
}

/// Shows what `plan` would change.
pub(in crate::tools) async fn preview_change(
    scope: &Scope,
    file_path: &str,
    plan: impl FnOnce(&Original) -> Result<Change, ToolError> + Send + 'static,
) -> Result<Preview, ToolError> {
    let located = scope.workspace.resolve(&scope.directory, file_path).map_err(|error| failure(&error))?;
    let seen = scope.reads.seen(&located.real);
    let (workspace, shown) = (Arc::clone(&scope.workspace), visible::one_line(file_path));
    blocking::run(&scope.cancel, CHANGE_TIME, move |_| {
        // Nobody has judged yet what may be seen: no name is suggested.
        let hidden = Hidden::by(|_| true);
        let original = load(workspace, located, seen, shown, hidden)?;
        let change = plan(&original)?;
        let diff = diff(&original, &change);
        Ok(Preview { diff: Some(diff), files: vec![(original.located.real, original.hash)], more: false })
    })
    .await
}

/// Changes the judged file by `plan`, alone on it, and never another content than the one a person saw.
pub(in crate::tools) async fn change_file(
    call: &PermittedCall,
    ctx: &ToolCtx,
    file_path: &str,
    plan: impl FnOnce(&Original) -> Result<Change, ToolError> + Send + 'static,
) -> Result<ToolOutcome, ToolError> {
    let scope = Arc::clone(ctx.require_scope()?);
    let (located, workspace) = judged::place(call)?;
    let approved = call.approved_content(&located.real);
    let (hidden, shown) = (call.hidden(), visible::one_line(file_path));
    let lock = tokio::select! {
        lock = scope.locks.lock(&located.real) => lock,
        () = scope.cancel.cancelled() => return Err(given_up(blocking::GivenUp::Cancelled, "")),
    };
    let cancel = scope.cancel.clone();
    let result = blocking::run(&cancel, CHANGE_TIME, move |patience| {
        // Held by the work itself: it may outlive the one who waits for it.
        let _lock = lock;
        let seen = scope.reads.seen(&located.real);
        let original = load(workspace, located, seen, shown, hidden)?;
        if approved.is_some_and(|approved| approved != original.hash) {
            return Err(failure(&WorkspaceError::Stale { path: original.located.real }));
        }
        let change = plan(&original)?;
        patience.check().map_err(|why| given_up(why, "Nothing was changed."))?;
        write(&scope, &original, &change)
    })
    .await?;
    Ok(ToolOutcome::Completed(result))
}

fn load(
    workspace: Arc<Workspace>,
    located: Located,
    seen: Option<ContentHash>,
    shown: String,
    hidden: Hidden,
) -> Result<Original, ToolError> {
    let (file, hash) = match workspace.read_whole(&located, EDITABLE_BYTES) {
        Err(WorkspaceError::NotFound { .. }) => (None, None),
        Err(error) => return Err(failure(&error)),
        Ok(bytes) => {
            let file = TextFile::decode(&bytes).map_err(|error| {
                ToolError::Execution(format!(
                    "{shown} cannot be changed as text: {error} ({} bytes)",
                    bytes.len()
                ))
            })?;
            (Some(file), Some(ContentHash::of(&bytes)))
        }
    };
    Ok(Original { file, hash, seen, shown, located, workspace, hidden })
}

fn write(scope: &Scope, original: &Original, change: &Change) -> Result<ToolResult, ToolError> {
    let real = &original.located.real;
    let form = original.file.clone().unwrap_or_else(|| TextFile::new(String::new()));
    let expected = original.hash.map_or(Expected::Absent, Expected::Content);
    let bytes = form.encode(&change.text);
    let report =
        original.workspace.replace(&original.located, expected, &bytes).map_err(|error| failure(&error))?;
    scope.reads.note(real, report.hash);
    let diff = diff(original, change);
    let mut text = change.summary.clone();
    if report.hard_linked {
        text.push_str(
            "\nThe file has several hard links: it was written in place, so all its names show this.",
        );
    }
    if change.show_diff && !diff.is_empty() {
        text.push_str("\n\n");
        text.push_str(head(&diff, DIFF_IN_TEXT_BYTES));
        if diff.len() > DIFF_IN_TEXT_BYTES {
            text.push_str("\n[the rest of the diff is not repeated here]");
        }
    }
    let details = json!({
        "diff": diff, "path": real.to_string_lossy(),
        "created": report.created, "hard_linked": report.hard_linked,
    });
    Ok(ToolResult::ok(text).with_details(details))
}

fn diff(original: &Original, change: &Change) -> String {
    let path = diff_path(&original.workspace, &original.located.real);
    unified(&path, original.file.as_ref().map(|file| file.text.as_str()), Some(&change.text))
}

/// How a diff names a file: from the workspace's root on, or from `/` without it.
pub(in crate::tools) fn diff_path(workspace: &Workspace, real: &Path) -> String {
    let path = real.strip_prefix(workspace.root()).or_else(|_| real.strip_prefix("/"));
    path.unwrap_or(real).to_string_lossy().into_owned()
}

fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}
