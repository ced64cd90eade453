//! Sleep: lets time pass.

use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::arguments::read_arguments;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::permission::{PermittedCall, Touch};

/// The longest sleep, in seconds.
const SECONDS_MAX: u32 = 300;
/// How often a sleep says how far it is: at most 60 times.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Waits for a while; a cancel ends it at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sleep;

#[derive(Deserialize)]
struct Arguments {
    seconds: f64,
}

#[async_trait]
impl Tool for Sleep {
    fn name(&self) -> &'static str {
        "Sleep"
    }

    fn description(&self) -> &'static str {
        "Waits for a number of seconds, at most 300; fractions are allowed. Use it to give something \
         outside time to happen, such as a deployment. It needs no permission, runs beside other \
         read-only calls, and takes no shell."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "seconds": {
                    "type": "number", "minimum": 0, "maximum": SECONDS_MAX,
                    "description": "How long to wait, in seconds. Fractions are allowed."
                }
            },
            "required": ["seconds"],
            "additionalProperties": false
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::ReadOnly
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["sleep"]
    }

    fn touches(&self, _arguments: &Value) -> Vec<Touch> {
        vec![Touch::SessionOnly]
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let Arguments { seconds } = read_arguments(call.arguments())?;
        let asked = Duration::try_from_secs_f64(seconds)
            .map_err(|error| ToolError::InvalidArguments(format!("seconds: {error}")))?;
        let begun = Instant::now();
        let cancel = ctx.scope.as_ref().map(|scope| scope.cancel.clone()).unwrap_or_default();
        tokio::select! {
            biased;
            () = cancel.cancelled() => {
                let slept = begun.elapsed().as_secs_f64();
                let message = format!("Cancelled after {slept:.1} of {seconds} seconds.");
                Err(ToolError::Cancelled { message })
            }
            () = pass(begun, asked, TELL_EVERY, &ctx) => {
                Ok(ToolOutcome::Completed(ToolResult::ok(format!("Slept {seconds} seconds."))))
            }
        }
    }
}

/// Lets the time pass and says each `every` how far it is.
async fn pass(begun: Instant, asked: Duration, every: Duration, ctx: &ToolCtx) {
    let (end, total) = (begun + asked, Some(asked.as_secs_f64()));
    let mut next = begun + every;
    while next < end {
        tokio::time::sleep_until(next).await;
        // Who reads slowly shall not make it longer.
        let told = ctx.emit_progress((next - begun).as_secs_f64(), total, None);
        if tokio::time::timeout_at(end, told).await.is_err() {
            return;
        }
        next += every;
    }
    tokio::time::sleep_until(end).await;
}

impl ToolGuide for Sleep {
    fn tool_name(&self) -> &'static str {
        "Sleep"
    }

    fn when_to_use(&self) -> &'static str {
        "when something that no call can wait for needs time."
    }

    fn when_not_to_use(&self) -> &'static str {
        "to wait for a command: Bash answers when it ends. Prefer looking again after a few seconds to one \
         long sleep."
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![GuideExample::new("Before asking a deployment for its state again", r#"{"seconds": 10}"#)]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["Bash"]
    }
}

#[cfg(test)]
#[path = "sleep_tests.rs"]
mod tests;
