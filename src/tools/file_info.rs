//! FileInfo: what is known of one path, without showing its content.

mod facts;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::blocking;
use super::judged;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::domain::visible;
use crate::permission::{PermittedCall, Touch};
use facts::{Facts, Subject};

/// How long it may take: a file's content is read once.
const INFO_TIME: Duration = Duration::from_secs(30);

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct FileInfo;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

#[async_trait]
impl Tool for FileInfo {
    fn name(&self) -> &'static str {
        "FileInfo"
    }

    fn description(&self) -> &'static str {
        "Says what a path is without showing its content: kind, size, mode, time of the last change, media type; for \
         a text file encoding, byte order mark, line ends and number of lines; for an image its dimensions; for a \
         symbolic link its target; and whether the file was read in this session and is unchanged since, as Edit \
         and Write want it."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": {"type": "string", "minLength": 1,
                    "description": "The file or folder, absolute or relative to the working directory"},
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::ReadOnly
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["get_file_info", "file_info", "stat"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[("file_path", "path"), ("filename", "path")]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Read(arguments["path"].as_str().unwrap_or_default().to_owned())]
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let Arguments { path } = read_arguments(call.arguments())?;
        let scope = Arc::clone(ctx.require_scope()?);
        let (located, workspace) = judged::place(&call)?;
        let no_directory = || ToolError::Internal("the call has no judged directory".to_owned());
        let directory = call.directory().ok_or_else(no_directory)?.to_path_buf();
        let hidden = call.hidden();
        let result = blocking::run(&scope.cancel.clone(), INFO_TIME, move |patience| {
            let shown = visible::one_line(&path);
            let subject = Subject {
                link: workspace.link_at_end(&directory, &path),
                workspace: &workspace,
                located: &located,
                hidden: &hidden,
                seen: scope.reads.seen(&located.real),
                shown: &shown,
            };
            let facts = subject.facts(patience)?;
            Ok(render(&facts, &shown))
        })
        .await?;
        Ok(ToolOutcome::Completed(result))
    }
}

fn render(facts: &Facts, shown: &str) -> ToolResult {
    let mut text = format!("{shown}: {}\n", facts.kind);
    for (what, value) in &facts.lines {
        let _ = writeln!(text, "{what}: {value}");
    }
    ToolResult::ok(text).with_details(facts.details.clone().into())
}

impl ToolGuide for FileInfo {
    fn tool_name(&self) -> &'static str {
        "FileInfo"
    }

    fn when_to_use(&self) -> &'static str {
        "to know what a path is, how large, how encoded, when changed, before you read or change it"
    }

    fn when_not_to_use(&self) -> &'static str {
        "to see content (Read) or what lies in a folder (ListDir)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![GuideExample::new("One file", r#"{"path":"assets/logo.png"}"#)]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Read", "ListDir"]
    }
}

#[cfg(test)]
#[path = "file_info/tests.rs"]
mod tests;
