//! ApplyPatch: changes several files by one patch, all of it or nothing.

mod envelope;
mod git_path;
mod guide;
mod patch;
mod place;
mod plan;
mod unified;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::blocking::{self, GivenUp, failure, given_up};
use super::text::CHANGE_TIME;
use super::{CONTENT_ARGUMENT_TEXT_MAX, Tool, ToolCtx};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::permission::{Hidden, PermittedCall, Preview, Scope, Touch};
use crate::workspace::{ChangesetError, Located, Workspace, WorkspaceError};
use patch::Patch;
use plan::{Place, Plan, Planner};

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApplyPatch;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    patch: String,
}

#[async_trait]
impl Tool for ApplyPatch {
    fn name(&self) -> &'static str {
        "ApplyPatch"
    }

    fn description(&self) -> &'static str {
        "Changes, makes, deletes and moves text files by one patch: all of it is applied, or nothing. Files that \
         are changed, deleted or moved must have been read with Read in this session. The form:\n\
         *** Begin Patch\n\
         *** Update File: path/a.py\n\
         *** Move to: path/b.py   (only to move it)\n\
         @@ class A:   (a line above the hunk, only where its lines occur more than once)\n\
         \x20a line that stays, exactly as it is\n\
         -a line that goes\n\
         +a line that comes\n\
         *** Add File: path/new.py\n\
         +each line of the new file\n\
         *** Delete File: path/old.py\n\
         *** End Patch\n\
         Lines that stay and go must be in the file exactly, whitespace included, in order, and in one place only: \
         give about 3 lines around each change. `*** End of File` after a hunk says that it ends the file. A unified \
         diff (--- a/path, +++ b/path, @@ -1,3 +1,4 @@; git's renames too) is taken as well. Line ends, encoding, \
         mode and owner of files stay. Each file stands in one section."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "patch": {"type": "string", "minLength": 1,
                    "description": "The whole patch, from `*** Begin Patch` to `*** End Patch`, or a unified diff"},
            },
            "required": ["patch"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["apply_patch", "applypatch", "patch"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[("input", "patch"), ("patch_text", "patch"), ("patchText", "patch"), ("diff", "patch")]
    }

    fn argument_text_max(&self) -> usize {
        CONTENT_ARGUMENT_TEXT_MAX
    }

    fn check(&self, arguments: &Value) -> Result<(), ToolError> {
        read_patch(arguments).map(drop)
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        // A patch that cannot be read was refused by `check`, and touches nothing.
        let Ok(patch) = read_patch(arguments) else { return Vec::new() };
        patch.paths().into_iter().map(|path| Touch::Edit(path.to_owned())).collect()
    }

    async fn preview(&self, arguments: &Value, scope: &Scope) -> Result<Preview, ToolError> {
        let patch = read_patch(arguments)?;
        let resolve = |path: &str| scope.workspace.resolve(&scope.directory, path);
        let located: Result<Vec<Located>, WorkspaceError> = patch.paths().into_iter().map(resolve).collect();
        let located = located.map_err(|error| failure(&error))?;
        let places = places(&patch, located.into_iter(), &scope.directory, scope)?;
        let workspace = Arc::clone(&scope.workspace);
        blocking::run(&scope.cancel, CHANGE_TIME, move |_| {
            // Nobody has judged yet what may be seen: no name is suggested.
            let hidden = Hidden::by(|_| true);
            let plan = Planner { workspace: &workspace, hidden: &hidden }.plan(&patch, places)?;
            Ok(Preview { diff: Some(plan.diff), files: plan.files, more: false })
        })
        .await
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let patch = read_patch(call.arguments())?;
        let scope = Arc::clone(ctx.require_scope()?);
        let no_place = || ToolError::Internal("the call has no judged place".to_owned());
        let workspace = Arc::clone(call.workspace().ok_or_else(no_place)?);
        let directory = call.directory().ok_or_else(no_place)?;
        let reals: Vec<_> = call.located().map(|located| located.real.clone()).collect();
        let lock = tokio::select! {
            lock = scope.locks.lock_all(reals) => lock,
            () = scope.cancel.cancelled() => return Err(given_up(GivenUp::Cancelled, "")),
        };
        let places = places(&patch, call.located().cloned(), directory, &scope)?;
        let cancel = scope.cancel.clone();
        let result = blocking::run(&cancel, CHANGE_TIME, move |patience| {
            // Held by the work itself: it may outlive the one who waits for it.
            let _lock = lock;
            let hidden = call.hidden();
            let plan = Planner { workspace: &workspace, hidden: &hidden }.plan(&patch, places)?;
            must_be_as_approved(&call, &plan)?;
            patience.check().map_err(|why| given_up(why, "Nothing was changed."))?;
            carry_out(&workspace, &scope, &plan, patch.has_modes)
        })
        .await?;
        Ok(ToolOutcome::Completed(result))
    }
}

fn read_patch(arguments: &Value) -> Result<Patch, ToolError> {
    let Arguments { patch } = read_arguments(arguments)?;
    Patch::parse(&patch).map_err(|error| ToolError::InvalidArguments(error.to_string()))
}

/// The patch's paths with where they lead, which is in the same order.
fn places(
    patch: &Patch,
    mut located: impl Iterator<Item = Located>,
    directory: &Path,
    scope: &Scope,
) -> Result<Vec<Place>, ToolError> {
    let place = |path: &str| {
        let located =
            located.next().ok_or_else(|| ToolError::Internal("a path has no judged place".to_owned()))?;
        Ok(Place {
            shown: visible::one_line(path),
            seen: scope.reads.seen(&located.real),
            is_link: scope.workspace.link_at_end(directory, path).is_some(),
            located,
        })
    };
    patch.paths().into_iter().map(place).collect()
}

/// Every file still has the content that a person saw when allowing the call.
fn must_be_as_approved(call: &PermittedCall, plan: &Plan) -> Result<(), ToolError> {
    let changed = plan.files.iter().find(|(path, now)| {
        let approved = call.approved_content(path);
        approved.is_some_and(|approved| approved != *now)
    });
    match changed {
        Some((path, _)) => Err(failure(&WorkspaceError::Stale { path: path.clone() })),
        None => Ok(()),
    }
}

fn carry_out(
    workspace: &Workspace,
    scope: &Scope,
    plan: &Plan,
    has_modes: bool,
) -> Result<ToolResult, ToolError> {
    let changes: Vec<_> = plan.steps.iter().map(plan::Step::change).collect();
    let in_place = workspace.apply(&changes).map_err(|error| not_applied(&error))?;
    for (located, hash) in plan.steps.iter().filter_map(plan::Step::leaves) {
        scope.reads.note(&located.real, hash);
    }
    let mut text = format!("Applied the patch:\n{}", plan.summary.join("\n"));
    if in_place.contains(&true) {
        text.push_str("\nFiles with several hard links were written in place, so all their names show this.");
    }
    if has_modes {
        text.push_str("\nThe file modes that the patch asks for were not set; use Bash with chmod.");
    }
    let files: Vec<_> = plan.files.iter().map(|(path, _)| path.to_string_lossy()).collect();
    Ok(ToolResult::ok(text).with_details(json!({"diff": plan.diff, "files": files})))
}

fn not_applied(error: &ChangesetError) -> ToolError {
    let cause = visible::one_line(&error.cause.to_string());
    if error.left_changed.is_empty() {
        return ToolError::Execution(format!("Nothing of the patch was applied: {cause}"));
    }
    let left = error.left_changed.iter().map(|(path, why)| {
        let path = visible::one_line(&path.to_string_lossy());
        format!("{path} ({})", visible::one_line(&why.to_string()))
    });
    ToolError::Execution(format!(
        "The patch was not applied: {cause}. These files were changed by others meanwhile and could not be set \
         back; look at them: {}",
        left.collect::<Vec<_>>().join(", ")
    ))
}

#[cfg(test)]
#[path = "apply_patch/tests.rs"]
mod tests;
