//! TodoWrite: the tasks that an agent sets itself, for everyone to see.

use std::collections::HashSet;
use std::fmt::Write as _;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::domain::todo::{Todo, TodoStatus};
use crate::permission::{PermittedCall, Touch};

/// The most items of a list.
const TODOS_MAX: usize = 200;
/// The longest text of an item, in characters.
const TEXT_MAX: usize = 2_000;
/// The longest id of an item, in characters.
const ID_MAX: usize = 128;

/// Puts a list in the place of the session's list.
#[derive(Debug, Clone, Copy, Default)]
pub struct TodoWrite;

#[derive(Deserialize)]
struct Arguments {
    todos: Vec<Todo>,
}

#[async_trait]
impl Tool for TodoWrite {
    fn name(&self) -> &'static str {
        "TodoWrite"
    }

    fn description(&self) -> &'static str {
        "Keeps the list of your tasks in this session, for the user to see. Send the whole list each \
         time: it replaces the one before; an empty list clears it. Have one item in_progress at a \
         time, and mark an item completed as soon as it is done."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array", "maxItems": TODOS_MAX,
                    "description": "The whole list, in order.",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {
                                "type": "string", "minLength": 1, "maxLength": TEXT_MAX,
                                "description": "What is to be done."
                            },
                            "status": {
                                "type": "string", "enum": ["pending", "in_progress", "completed"]
                            },
                            "activeForm": {
                                "type": "string", "minLength": 1, "maxLength": TEXT_MAX,
                                "description": "The same while it is being done: \"Running the tests\"."
                            },
                            "id": {
                                "type": "string", "minLength": 1, "maxLength": ID_MAX,
                                "description": "Your own id of it; no two items have the same."
                            },
                            "priority": {"type": "string", "enum": ["high", "medium", "low"]}
                        },
                        "required": ["content", "status"],
                        "additionalProperties": false
                    }
                }
            },
            "required": ["todos"],
            "additionalProperties": false
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["todo_write", "todowrite"]
    }

    fn touches(&self, _arguments: &Value) -> Vec<Touch> {
        vec![Touch::SessionOnly]
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let Arguments { todos } = read_arguments(call.arguments())?;
        let mut seen = HashSet::new();
        if let Some((place, id)) = todos
            .iter()
            .enumerate()
            .filter_map(|(place, todo)| Some((place, todo.id.as_deref()?)))
            .find(|(_, id)| !seen.insert(*id))
        {
            return Err(ToolError::InvalidArguments(format!(
                "/todos/{place}/id: {id:?} is in the list twice; give each item an id of its own, or none"
            )));
        }
        let kept = ctx.scope.as_ref().and_then(|scope| scope.todos.clone());
        let text = as_text(&todos);
        let details = json!({ "todos": todos });
        if let Some(kept) = kept {
            kept.replace(todos).await?;
        }
        Ok(ToolOutcome::Completed(ToolResult::ok(text).with_details(details)))
    }
}

/// The list as it stands, for the model.
fn as_text(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "The list is empty.".to_owned();
    }
    let count = |status| todos.iter().filter(|todo| todo.status == status).count();
    let mut text = format!("{} of {} completed:", count(TodoStatus::Completed), todos.len());
    for (index, todo) in todos.iter().enumerate() {
        let mark = match todo.status {
            TodoStatus::Pending => "[ ]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Completed => "[x]",
        };
        // One line each, whatever is in it.
        let content = todo.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(text, "\n{}. {mark} {content}", index + 1);
    }
    let under_way = count(TodoStatus::InProgress);
    if under_way > 1 {
        let _ = write!(text, "\n\n{under_way} items are in_progress; one at a time is easier to follow.");
    }
    text
}

impl ToolGuide for TodoWrite {
    fn tool_name(&self) -> &'static str {
        "TodoWrite"
    }

    fn when_to_use(&self) -> &'static str {
        "for work of three steps or more, when the user gives several tasks, and each time an item begins or ends."
    }

    fn when_not_to_use(&self) -> &'static str {
        "for a single simple step, or to tell the user something: say that in your answer."
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![GuideExample::new(
            "The first step is under way",
            r#"{"todos": [{"content": "Find the failing test", "status": "in_progress"}, {"content": "Fix it", "status": "pending"}]}"#,
        )]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["ExitPlanMode"]
    }
}

#[cfg(test)]
#[path = "todo_write_tests.rs"]
mod tests;
