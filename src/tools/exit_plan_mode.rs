//! ExitPlanMode: shows a person the plan and asks to begin.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::permission::{PermittedCall, Petition, Touch};

/// The longest plan, in characters.
const PLAN_MAX: usize = 50_000;

/// Asks to leave plan mode. The gate does the asking, and the session leaves the mode, when that was
/// allowed, with the step that ends the call.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExitPlanMode;

#[derive(Deserialize)]
struct Arguments {
    plan: String,
}

#[async_trait]
impl Tool for ExitPlanMode {
    fn name(&self) -> &'static str {
        "ExitPlanMode"
    }

    fn description(&self) -> &'static str {
        "Shows the user your finished plan and waits for a decision. Only in plan mode, in which nothing \
         can be changed. When the plan is approved the session leaves plan mode and you carry it out; \
         when it is not, you stay in plan mode and are told why."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "plan": {
                    "type": "string", "minLength": 1, "maxLength": PLAN_MAX,
                    "description": "The plan, in Markdown, complete in itself."
                }
            },
            "required": ["plan"],
            "additionalProperties": false
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["exit_plan_mode"]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        // Arguments that the schema does not know were refused before anything is judged by this.
        let Ok(Arguments { plan }) = read_arguments(arguments) else { return vec![Touch::Foreign] };
        vec![Touch::Petition(Petition::EndOfPlan { plan })]
    }

    async fn invoke(&self, call: PermittedCall, _ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let Arguments { plan } = read_arguments(call.arguments())?;
        if !call.was_asked() {
            return Err(ToolError::Execution("There is nobody here who could approve a plan.".to_owned()));
        }
        // The reviewer may have changed it.
        let text = format!(
            "The plan was approved and the session has left plan mode: carry it out. What needs permission \
             asks by itself. The plan as it was approved:\n\n{plan}"
        );
        Ok(ToolOutcome::Completed(ToolResult::ok(text)))
    }
}

impl ToolGuide for ExitPlanMode {
    fn tool_name(&self) -> &'static str {
        "ExitPlanMode"
    }

    fn when_to_use(&self) -> &'static str {
        "in plan mode, once you know what you would do and how you would check it."
    }

    fn when_not_to_use(&self) -> &'static str {
        "for a question about the task: ask that with AskUser first. Not outside of plan mode."
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![GuideExample::new(
            "The cause of a bug is found",
            r#"{"plan": "1. Add a test that fails.\n2. Check the bound in src/page.rs.\n3. Run the tests."}"#,
        )]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["AskUser", "TodoWrite"]
    }
}
