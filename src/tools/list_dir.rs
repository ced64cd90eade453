//! ListDir: what lies in a folder, as a tree.

mod tree;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::blocking::{self, given_up};
use super::judged;
use super::search::{SearchError, UNASKED};
use super::suggest::missing_file;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::permission::{PermittedCall, Touch};
use crate::workspace::FileKind;
use tree::{ENTRIES_MAX, Explorer, Tree};

/// How long a listing may take.
const LIST_TIME: Duration = Duration::from_secs(20);
/// How deep it goes when the call does not say.
const DEPTH_DEFAULT: usize = 2;
/// How deep it may go.
const DEPTH_MAX: usize = 10;

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct ListDir;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: Option<String>,
    depth: Option<usize>,
}

#[async_trait]
impl Tool for ListDir {
    fn name(&self) -> &'static str {
        "ListDir"
    }

    fn description(&self) -> &'static str {
        "Lists a folder as a tree: folders end in `/`, files show their size, symbolic links show `-> target` and \
         are not followed. Hidden files show too. depth says how many levels (2 if left out): 1 is the folder's own \
         entries. Folders such as .git, node_modules and target, and those that .gitignore names, show but are not \
         opened: list them by themselves. At most 1000 entries, upper levels first; what is left out is said."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1,
                    "description": "The folder, absolute or relative to the working directory, which is taken if left out"},
                "depth": {"type": "integer", "minimum": 1, "maximum": DEPTH_MAX,
                    "description": "How many levels to list (2)"},
            },
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::ReadOnly
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["list_dir", "list_directory", "directory_tree", "LS", "ls"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[
            ("dir_path", "path"),
            ("directory", "path"),
            ("dir", "path"),
            ("target_directory", "path"),
            ("relative_workspace_path", "path"),
            ("max_depth", "depth"),
        ]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Read(arguments["path"].as_str().unwrap_or(".").to_owned())]
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let arguments: Arguments = read_arguments(call.arguments())?;
        let scope = Arc::clone(ctx.require_scope()?);
        let (top, workspace) = judged::place(&call)?;
        let hidden = call.hidden();
        let depth = arguments.depth.unwrap_or(DEPTH_DEFAULT).clamp(1, DEPTH_MAX);
        let shown = visible::one_line(arguments.path.as_deref().unwrap_or("."));
        let result = blocking::run(&scope.cancel, LIST_TIME, move |patience| {
            match top.kind {
                Some(FileKind::Directory) => {}
                None => return Err(missing_file(&workspace, &top, &hidden, &shown)),
                Some(kind) => {
                    let advice = "FileInfo says more about it, Read shows a file.";
                    return Err(ToolError::Execution(format!("{shown} is {kind}, not a folder. {advice}")));
                }
            }
            let explorer = Explorer { workspace: &workspace, hidden: &hidden, patience };
            let tree = explorer.explore(&top, depth).map_err(|error| match error {
                SearchError::GivenUp(why) => given_up(why, "List a smaller folder, or fewer levels."),
                SearchError::Workspace(error) => blocking::failure(&error),
            })?;
            Ok(render(&tree, &shown))
        })
        .await?;
        Ok(ToolOutcome::Completed(result))
    }
}

fn render(tree: &Tree, shown: &str) -> ToolResult {
    let slash = if shown.ends_with('/') { "" } else { "/" };
    let mut text = format!("{shown}{slash}\n");
    tree.write(&mut text);
    if tree.is_empty() {
        text.push_str("[The folder is empty.]\n");
    }
    if tree.is_cut() {
        let _ = writeln!(
            text,
            "\n[Only {} entries are shown (at most {ENTRIES_MAX}). List a folder beneath by itself, or use Glob.]",
            tree.shown()
        );
    }
    if tree.unasked() > 0 {
        let _ = writeln!(text, "\n[Left out: {} {UNASKED}.]", tree.unasked());
    }
    ToolResult::ok(text).with_details(json!({"shown": tree.shown(), "cut": tree.is_cut()}))
}

impl ToolGuide for ListDir {
    fn tool_name(&self) -> &'static str {
        "ListDir"
    }

    fn when_to_use(&self) -> &'static str {
        "to get to know a folder: what is in it and how it is laid out"
    }

    fn when_not_to_use(&self) -> &'static str {
        "to find files by name (Glob) or by what is in them (Grep)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new("The working directory, two levels", "{}"),
            GuideExample::new("Only what lies in one folder", r#"{"path":"src","depth":1}"#),
        ]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Glob", "FileInfo", "Read"]
    }
}

#[cfg(test)]
#[path = "list_dir/tests.rs"]
mod tests;
