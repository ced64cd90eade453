//! Glob: files by the pattern of their path, newest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::blocking::{self, Patience, failure, given_up};
use super::judged;
use super::search::{Batch, Looks, SearchError, Seen, Skipped, Walk, shown_path, together};
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::permission::{Hidden, PermittedCall, Touch};
use crate::workspace::{FileKind, Located, Workspace};

/// How long a walk may take.
const GLOB_TIME: Duration = Duration::from_secs(20);
/// How many files are listed when the call does not say.
const LIMIT_DEFAULT: usize = 100;
/// How many files may be asked for.
const LIMIT_MAX: usize = 1000;

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Glob;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    pattern: String,
    path: Option<String>,
    limit: Option<usize>,
    #[serde(default)]
    include_ignored: bool,
}

#[async_trait]
impl Tool for Glob {
    fn name(&self) -> &'static str {
        "Glob"
    }

    fn description(&self) -> &'static str {
        "Finds files whose path matches a glob pattern, newest first. `*` and `?` stay within one folder, `**/` \
         goes through any number of folders, `{a,b}` and `[a-z]` work: `**/*.rs` finds at any depth, `*.rs` only \
         directly in the folder. What .gitignore names, and .git, is left out unless include_ignored is set. At \
         most 100 files are listed unless limit says otherwise, and the answer says how many there are."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "minLength": 1,
                    "description": "The glob pattern, relative to path"},
                "path": {"type": "string", "minLength": 1,
                    "description": "The folder to look in; the working directory if left out"},
                "limit": {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX,
                    "description": "How many files to list at most (100)"},
                "include_ignored": {"type": "boolean", "default": false,
                    "description": "Also list what .gitignore names"},
            },
            "required": ["pattern"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::ReadOnly
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["find_files", "glob_search"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[("directory", "path"), ("dir", "path"), ("glob", "pattern"), ("glob_pattern", "pattern")]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Read(arguments["path"].as_str().unwrap_or(".").to_owned())]
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let arguments: Arguments = read_arguments(call.arguments())?;
        let scope = Arc::clone(ctx.require_scope()?);
        let (top, workspace) = judged::place(&call)?;
        let directory = call.directory().unwrap_or(workspace.root()).to_path_buf();
        let hidden = call.hidden();
        let matcher = matcher(&arguments.pattern, &top)?;
        let result = blocking::run(&scope.cancel, GLOB_TIME, move |patience| {
            let search = Search { workspace: &workspace, hidden: &hidden, top: &top, matcher: &matcher };
            let newest = search.newest(&arguments, patience)?;
            Ok(render(&newest, &arguments, &directory))
        })
        .await?;
        Ok(ToolOutcome::Completed(result))
    }
}

fn matcher(pattern: &str, top: &Located) -> Result<GlobMatcher, ToolError> {
    let refuse = |text: String| ToolError::InvalidArguments(format!("pattern: {text}"));
    let mut relative = pattern;
    if pattern.starts_with('/') {
        let under = |folder: &Path| {
            let beneath = pattern.strip_prefix(folder.to_str()?)?;
            beneath.strip_prefix('/').or_else(|| folder.to_str()?.ends_with('/').then_some(beneath))
        };
        relative = under(&top.requested).or_else(|| under(&top.real)).ok_or_else(|| {
            refuse(
                "an absolute pattern must lie in the folder looked in; give that folder as path".to_owned(),
            )
        })?;
    }
    if relative.split('/').any(|part| part == "..") {
        return Err(refuse("`..` is not possible; give the folder to look in as path".to_owned()));
    }
    let relative = relative.trim_start_matches("./");
    GlobBuilder::new(relative)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| refuse(visible::one_line(&error.to_string())))
}

struct Search<'a> {
    workspace: &'a Workspace,
    hidden: &'a Hidden,
    top: &'a Located,
    matcher: &'a GlobMatcher,
}

/// The newest matches, and how many there were.
struct Newest {
    files: Vec<PathBuf>,
    total: u64,
    skipped: Skipped,
}

impl Search<'_> {
    fn newest(&self, arguments: &Arguments, patience: &Patience) -> Result<Newest, ToolError> {
        let limit = arguments.limit.unwrap_or(LIMIT_DEFAULT).clamp(1, LIMIT_MAX);
        let walk = Walk {
            workspace: self.workspace,
            hidden: self.hidden,
            patience,
            include_ignored: arguments.include_ignored,
        };
        if self.top.kind != Some(FileKind::Directory) {
            return Err(not_a_folder(arguments, self.top.kind));
        }
        let (mut newest, mut skipped) = (Kept::new(limit), Skipped::default());
        let looker = || {
            let look = |batch: &Batch, skipped: &mut Skipped| {
                let mut kept = Kept::new(limit);
                for run in batch {
                    walk.sift(run, skipped, &mut |seen, skipped| {
                        self.look(seen, &mut kept, skipped);
                        Ok(())
                    })?;
                }
                Ok(kept)
            };
            Box::new(look) as Looks<'_, _>
        };
        let left_out = together(&walk, self.top, &looker, &mut |_, part: Kept, left_out| {
            newest.total += part.total;
            part.files.into_iter().for_each(|file| newest.keep(file));
            skipped.add(left_out);
            Ok(())
        })
        .map_err(|error| match error {
            SearchError::GivenUp(why) => given_up(why, "Look in a smaller folder."),
            SearchError::Workspace(error) => failure(&error),
        })?;
        skipped.add(left_out);
        let files = newest.files.into_sorted_vec().into_iter().map(|(_, path)| path).collect();
        Ok(Newest { files, total: newest.total, skipped })
    }

    fn look(&self, seen: &Seen<'_>, kept: &mut Kept, skipped: &mut Skipped) {
        let Ok(relative) = seen.place.real.strip_prefix(&self.top.real) else { return };
        if !self.matcher.is_match(relative) {
            return;
        }
        match seen.folder.facts(seen.name) {
            Ok(facts) => {
                kept.total += 1;
                kept.keep((Reverse(facts.modified), self.top.requested.join(relative)));
            }
            Err(_) => skipped.unreadable += 1,
        }
    }
}

/// A file and how new it is.
type Aged = (Reverse<(i64, u32)>, PathBuf);

/// The newest matches so far, of files seen in any order. The oldest of them is on top, to be the first to go.
struct Kept {
    files: BinaryHeap<Aged>,
    limit: usize,
    total: u64,
}

impl Kept {
    fn new(limit: usize) -> Self {
        Self { files: BinaryHeap::new(), limit, total: 0 }
    }

    fn keep(&mut self, file: Aged) {
        self.files.push(file);
        if self.files.len() > self.limit {
            self.files.pop();
        }
    }
}

fn not_a_folder(arguments: &Arguments, kind: Option<FileKind>) -> ToolError {
    let path = visible::one_line(arguments.path.as_deref().unwrap_or("The working directory"));
    ToolError::Execution(match kind {
        None => format!("{path} does not exist."),
        Some(kind) => format!("{path} is {kind}, not a folder to look in."),
    })
}

fn render(newest: &Newest, arguments: &Arguments, directory: &Path) -> ToolResult {
    let mut text = String::new();
    for path in &newest.files {
        text.push_str(&shown_path(path, directory));
        text.push('\n');
    }
    if newest.total == 0 {
        text.push_str("No files match.");
        if !arguments.pattern.contains('/') {
            let _ = write!(
                text,
                " The pattern looks only directly in the folder; `**/{}` looks at any depth.",
                visible::one_line(&arguments.pattern)
            );
        }
    } else if (newest.files.len() as u64) < newest.total {
        let _ = write!(
            text,
            "\n[The newest {} of {} files. Raise limit (at most {LIMIT_MAX}) or narrow the pattern to see more.]",
            newest.files.len(),
            newest.total
        );
    }
    text.push_str(&newest.skipped.notice());
    ToolResult::ok(text).with_details(json!({"total": newest.total, "shown": newest.files.len()}))
}

impl ToolGuide for Glob {
    fn tool_name(&self) -> &'static str {
        "Glob"
    }

    fn when_to_use(&self) -> &'static str {
        "to find files by name or place"
    }

    fn when_not_to_use(&self) -> &'static str {
        "to find files by what is in them (Grep)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new("All Rust files", r#"{"pattern":"**/*.rs"}"#),
            GuideExample::new("Tests in one folder", r#"{"pattern":"**/*_test.{ts,tsx}","path":"web/src"}"#),
        ]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Grep", "Read"]
    }
}

#[cfg(test)]
#[path = "glob_tests.rs"]
mod tests;
