//! AskUser: a question to the person behind the session.

use async_trait::async_trait;
use serde_json::{Value, json};

use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::{HumanRequest, Question, ToolOutcome};
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::permission::{PermittedCall, Touch};

/// The longest question, in characters.
const QUESTION_MAX: usize = 8_000;
/// The most options, and the longest of them in characters.
const OPTIONS_MAX: usize = 20;
const OPTION_MAX: usize = 500;

/// Asks the user and pauses the call until someone with the operator's role answers.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskUser;

#[async_trait]
impl Tool for AskUser {
    fn name(&self) -> &'static str {
        "AskUser"
    }

    fn description(&self) -> &'static str {
        "Asks the user a question and waits for the answer. Use it when you cannot go on without \
         knowing what the user wants. Offer options where you can; the user may also answer freely \
         unless allow_custom is false."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "question": {
                    "type": "string", "minLength": 1, "maxLength": QUESTION_MAX,
                    "description": "The question, complete in itself."
                },
                "options": {
                    "type": "array", "maxItems": OPTIONS_MAX,
                    "items": {"type": "string", "minLength": 1, "maxLength": OPTION_MAX},
                    "description": "Answers to choose from."
                },
                "allow_custom": {
                    "type": "boolean",
                    "description": "Whether an answer outside the options is taken. Default true."
                }
            },
            "required": ["question"],
            "additionalProperties": false
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::ReadOnly
    }

    fn concurrency_safe(&self) -> bool {
        false
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["ask_user", "AskUserQuestion"]
    }

    fn touches(&self, _arguments: &Value) -> Vec<Touch> {
        vec![Touch::SessionOnly]
    }

    async fn invoke(&self, call: PermittedCall, _ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let question: Question = serde_json::from_value(call.arguments().clone())
            .map_err(|error| ToolError::InvalidArguments(error.to_string()))?;
        if question.options.is_empty() && !question.allow_custom {
            return Err(ToolError::InvalidArguments(
                "allow_custom is false and there are no options: nothing could be answered".to_owned(),
            ));
        }
        Ok(ToolOutcome::NeedsHuman(HumanRequest::Question(question)))
    }
}

/// When to ask.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskUserGuide;

impl ToolGuide for AskUserGuide {
    fn tool_name(&self) -> &'static str {
        "AskUser"
    }

    fn when_to_use(&self) -> &'static str {
        "when two readings of the task lead to different work, or a choice is the user's to make."
    }

    fn when_not_to_use(&self) -> &'static str {
        "for what the files can tell you, and never for a permission: calls that need one pause by themselves."
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![GuideExample::new(
            "Two config files could be meant",
            r#"{"question": "Which config should I change?", "options": ["dev.toml", "prod.toml"]}"#,
        )]
    }

    fn related_tools(&self) -> Vec<&str> {
        Vec::new()
    }
}
