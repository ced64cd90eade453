//! Edit: replaces an exact piece of text in a file that the session has read.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::suggest::missing_file;
use super::text::{
    Change, MatchError, Original, change_file, describe_nearest, named_lines, preview_change, replace_exact,
};
use super::{CONTENT_ARGUMENT_TEXT_MAX, GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::permission::{PermittedCall, Preview, Scope, Touch};

/// The tool.
#[derive(Debug, Clone, Copy, Default)]
pub struct Edit;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    file_path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

#[async_trait]
impl Tool for Edit {
    fn name(&self) -> &'static str {
        "Edit"
    }

    fn description(&self) -> &'static str {
        "Replaces an exact piece of text in a file. The file must have been read with Read in this session. \
         old_string must match exactly, whitespace included, without the line numbers that Read shows, and must \
         occur once: add lines around it to make it unique, or set replace_all to replace every occurrence. \
         Line ends, encoding, mode and owner of the file stay; an old_string with LF matches a CR LF file. \
         When nothing matches, the error says what is nearest. The answer has a unified diff."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string", "minLength": 1,
                    "description": "The file, absolute or relative to the working directory"},
                "old_string": {"type": "string", "minLength": 1, "description": "The exact text to replace"},
                "new_string": {"type": "string", "description": "The text to put in its place"},
                "replace_all": {"type": "boolean", "default": false,
                    "description": "Replace every occurrence instead of exactly one"},
            },
            "required": ["file_path", "old_string", "new_string"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["edit_file", "str_replace"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[
            ("path", "file_path"),
            ("filename", "file_path"),
            ("old_str", "old_string"),
            ("old_text", "old_string"),
            ("new_str", "new_string"),
            ("new_text", "new_string"),
        ]
    }

    fn argument_text_max(&self) -> usize {
        CONTENT_ARGUMENT_TEXT_MAX
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Edit(arguments["file_path"].as_str().unwrap_or_default().to_owned())]
    }

    async fn preview(&self, arguments: &Value, scope: &Scope) -> Result<Preview, ToolError> {
        let edit: Arguments = read_arguments(arguments)?;
        let file_path = edit.file_path.clone();
        preview_change(scope, &file_path, move |original| plan(original, &edit)).await
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let edit: Arguments = read_arguments(call.arguments())?;
        let file_path = edit.file_path.clone();
        change_file(&call, &ctx, &file_path, move |original| plan(original, &edit)).await
    }
}

fn plan(original: &Original, edit: &Arguments) -> Result<Change, ToolError> {
    let shown = &original.shown;
    let refuse = |text: String| Err(ToolError::Execution(text));
    if edit.old_string.is_empty() {
        return refuse("old_string is empty. Use Write to make a file.".to_owned());
    }
    let Some(file) = &original.file else {
        return Err(missing_file(&original.workspace, &original.located, &original.hidden, shown));
    };
    if edit.old_string == edit.new_string {
        return refuse("old_string and new_string are the same: there is nothing to change.".to_owned());
    }
    if original.seen.is_none() {
        return refuse(format!("{shown} has not been read in this session. Read it first, then edit it."));
    }
    let changed = original.seen != original.hash;
    let since = if changed { " The file has changed since it was read: Read it again." } else { "" };
    if changed && edit.replace_all {
        return refuse(format!("Nothing was replaced in {shown}.{since}"));
    }
    let replaced = match replace_exact(&file.text, &edit.old_string, &edit.new_string, edit.replace_all) {
        Ok(replaced) => replaced,
        Err(MatchError::NotFound) => {
            let nearest = describe_nearest(&file.text, &edit.old_string, "old_string");
            return refuse(format!("old_string does not occur in {shown}. {nearest}{since}"));
        }
        Err(MatchError::Ambiguous(lines)) => return refuse(ambiguous(shown, &lines, since)),
    };
    let mut summary = format!("Edited {shown}: replaced {}", occurrences(&replaced.lines));
    if changed {
        summary
            .push_str(" The file had changed since it was read, but old_string still occurred exactly once.");
    }
    Ok(Change { summary, text: replaced.text, show_diff: true })
}

fn occurrences(lines: &[usize]) -> String {
    match lines {
        [line] => format!("1 occurrence, at line {line}."),
        _ => format!("{} occurrences, at lines {}.", lines.len(), named_lines(lines)),
    }
}

fn ambiguous(shown: &str, lines: &[usize], since: &str) -> String {
    if let [line] = lines {
        return format!(
            "old_string occurs in {shown} in several places that overlap, from line {line} on. Add text around \
             it so that one place is meant.{since}"
        );
    }
    format!(
        "old_string occurs {} times in {shown}, at lines {}. Add lines around it so that it occurs once, or set \
         replace_all.{since}",
        lines.len(),
        named_lines(lines)
    )
}

impl ToolGuide for Edit {
    fn tool_name(&self) -> &'static str {
        "Edit"
    }

    fn when_to_use(&self) -> &'static str {
        "to change a part of a file that you have read: copy old_string exactly from it"
    }

    fn when_not_to_use(&self) -> &'static str {
        "to make a file or replace all of it (Write)"
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![
            GuideExample::new(
                "Change one place",
                r#"{"file_path":"src/main.rs","old_string":"let port = 80;","new_string":"let port = 8080;"}"#,
            ),
            GuideExample::new(
                "Rename everywhere in a file",
                r#"{"file_path":"a.py","old_string":"foo(","new_string":"bar(","replace_all":true}"#,
            ),
        ]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Read", "Write", "Grep"]
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
