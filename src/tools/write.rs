//! Write: makes a file, or replaces one that the session has read, as a whole.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::text::{Change, Original, change_file, preview_change, with_crlf};
use super::{CONTENT_ARGUMENT_TEXT_MAX, GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::permission::{PermittedCall, Preview, Scope, Touch};
use crate::workspace::LineEnding;

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Write;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_path: String,
    content: String,
}

#[async_trait]
impl Tool for Write {
    fn name(&self) -> &'static str {
        "Write"
    }

    fn description(&self) -> &'static str {
        "Writes a whole text file: makes a new one (missing folders too) or replaces an existing one, which must \
         have been read with Read in this session and not have changed since. An existing file keeps its \
         encoding, byte order mark, CR LF line ends, mode and owner; a symlink's target is written. To change a \
         part of a file, use Edit. The answer has a unified diff of what changed."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "minLength": 1,
                    "description": "The file, absolute or relative to the working directory"},
                "content": {"type": "string", "description": "The whole new content"},
            },
            "required": ["file_path", "content"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["write_file", "create_file"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[("path", "file_path"), ("filename", "file_path"), ("contents", "content"), ("text", "content")]
    }

    fn argument_text_max(&self) -> usize {
        CONTENT_ARGUMENT_TEXT_MAX
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Edit(arguments["file_path"].as_str().unwrap_or_default().to_owned())]
    }

    async fn preview(&self, arguments: &Value, scope: &Scope) -> Result<Preview, ToolError> {
        let Arguments { file_path, content } = read_arguments(arguments)?;
        preview_change(scope, &file_path, move |original| plan(original, content)).await
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let Arguments { file_path, content } = read_arguments(call.arguments())?;
        change_file(&call, &ctx, &file_path, move |original| plan(original, content)).await
    }
}

fn plan(original: &Original, content: String) -> Result<Change, ToolError> {
    let shown = &original.shown;
    let lines = content.lines().count();
    let Some(file) = &original.file else {
        let summary = format!("Created {shown} ({lines} lines, {} bytes).", content.len());
        return Ok(Change { summary, text: content, show_diff: false });
    };
    if original.seen.is_none() {
        return Err(ToolError::Execution(format!(
            "{shown} exists and has not been read in this session. Read it first, then write it."
        )));
    }
    if original.seen != original.hash {
        return Err(ToolError::Execution(format!(
            "{shown} has changed since it was read. Read it again, then write it."
        )));
    }
    let crlf = file.line_ending == LineEnding::CrLf && !content.contains('\r');
    let text = if crlf { with_crlf(&content) } else { content };
    let kept = if crlf { " with the CR LF line ends that it had" } else { "" };
    if text == file.text {
        let summary = format!("{shown} has exactly this content already: nothing changed.");
        return Ok(Change { summary, text, show_diff: false });
    }
    let summary = format!("Replaced the content of {shown} ({lines} lines){kept}.");
    Ok(Change { summary, text, show_diff: true })
}

impl ToolGuide for Write {
    fn tool_name(&self) -> &'static str {
        "Write"
    }

    fn when_to_use(&self) -> &'static str {
        "to make a new file, or to replace most of a file that you have read"
    }

    fn when_not_to_use(&self) -> &'static str {
        "for a small change to an existing file (Edit), or to append output of a command (Bash)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![GuideExample::new(
            "Make a file",
            r#"{"file_path":"src/hello.py","content":"print(\"hello\")\n"}"#,
        )]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Edit", "Read"]
    }
}

#[cfg(test)]
#[path = "write_tests.rs"]
mod tests;
