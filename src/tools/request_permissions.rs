//! request_permissions: asks people once for rules, in place of once for each call.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use super::arguments::read_arguments;
use super::{GuideExample, Tool, ToolCtx, ToolGuide};
use crate::domain::approval::rule_in;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::{ToolError, ToolResult};
use crate::domain::schema::ToolMutability;
use crate::permission::{PermittedCall, Petition, Touch, granted_in};

/// The most rules of one request: as many as a person can read with care.
const RULES_MAX: usize = 20;
/// The longest rule and the longest reason, in characters.
const RULE_MAX: usize = 2_000;
const REASON_MAX: usize = 4_000;

/// Asks for rules that hold for the session. The gate does the asking, and the session stores what
/// was allowed in the step that ends the call.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestPermissions;

#[derive(Deserialize)]
struct Arguments {
    reason: String,
    permissions: Vec<String>,
}

#[async_trait]
impl Tool for RequestPermissions {
    fn name(&self) -> &'static str {
        "request_permissions"
    }

    fn description(&self) -> &'static str {
        "Asks a person to allow calls for the rest of this session, so that they need not be asked \
         about one by one. Each entry of permissions is a rule that names one thing: a command \
         word for word, `Bash(cargo test --lib)`, for the directory that you are in now; a file, `Edit(./src/a.rs)` or `Read(/etc/hosts)`; a \
         host, `WebFetch(domain:docs.rs)`; a tool of an MCP server, `mcp__github__get_issue`. \
         Wildcards cannot be granted. The person may grant some of the rules; the result lists \
         which."
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "reason": {
                    "type": "string", "minLength": 1, "maxLength": REASON_MAX,
                    "description": "What you need them for, for the person who decides."
                },
                "permissions": {
                    "type": "array", "minItems": 1, "maxItems": RULES_MAX, "uniqueItems": true,
                    "items": {"type": "string", "minLength": 1, "maxLength": RULE_MAX},
                    "description": "The rules, such as \"Bash(cargo test --lib)\"."
                }
            },
            "required": ["reason", "permissions"],
            "additionalProperties": false
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["RequestPermissions"]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        // Arguments that the schema does not know were refused before anything is judged by this.
        let Ok(Arguments { reason, permissions }) = read_arguments(arguments) else {
            return vec![Touch::Foreign];
        };
        vec![Touch::Petition(Petition::Rules { rules: permissions, claim: reason })]
    }

    async fn invoke(&self, call: PermittedCall, _ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let Arguments { permissions, .. } = read_arguments(call.arguments())?;
        let text = if call.was_asked() {
            let within = |rule: &str| granted_in(rule, call.directory()?, call.workspace()?.root());
            let rules: Vec<String> = permissions
                .iter()
                .map(|rule| format!("- {}", rule_in(rule, within(rule).as_deref())))
                .collect();
            format!(
                "Granted for this session:\n{}\nCalls that these rules name run without asking; all others are \
                 judged as before.",
                rules.join("\n")
            )
        } else {
            "Nothing had to be granted: this session does not ask. Whatever no deny or always_ask rule and no \
             mode holds back runs."
                .to_owned()
        };
        Ok(ToolOutcome::Completed(ToolResult::ok(text)))
    }
}

impl ToolGuide for RequestPermissions {
    fn tool_name(&self) -> &'static str {
        "request_permissions"
    }

    fn when_to_use(&self) -> &'static str {
        "before work that repeats the same few calls, each of which would ask a person."
    }

    fn when_not_to_use(&self) -> &'static str {
        "for one call: make it, it asks by itself. Never for more than the task needs."
    }

    fn examples(&self) -> Vec<GuideExample> {
        vec![GuideExample::new(
            "The tests are to run after each of many edits",
            r#"{"reason": "Run the tests after each edit", "permissions": ["Bash(cargo test --lib)"]}"#,
        )]
    }

    fn related_tools(&self) -> Vec<&str> {
        vec!["AskUser"]
    }
}
