//! A call as the resolver found it: one owner's exact name, effective arguments, classification.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::petition::Petition;
use super::scope::Scope;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::workspace::ContentHash;

/// What the gate judges and, once permitted, the tool gets: nothing downstream parses again.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedCall {
    /// The id that the model gave the call.
    pub tool_call_id: String,
    /// The exact, case-sensitive name.
    pub tool_name: String,
    /// Other names under which rules may know the tool, such as an MCP server's own.
    pub other_names: Vec<String>,
    /// Effective arguments: a JSON object without aliases.
    pub arguments: Arc<Value>,
    /// How the call may be scheduled.
    pub mutability: ToolMutability,
    /// Whether it may run beside other read-only calls.
    pub concurrency_safe: bool,
    /// What it would touch.
    pub touches: Vec<Touch>,
    /// What was mended in the argument text.
    pub repair: Option<&'static str>,
}

impl ResolvedCall {
    /// The effective arguments as text: what executors get in place of the model's own text.
    pub fn argument_text(&self) -> String {
        self.arguments.to_string()
    }

    /// What it asks people for.
    pub fn petition(&self) -> Option<&Petition> {
        self.touches.iter().find_map(|touch| match touch {
            Touch::Petition(petition) => Some(petition),
            _ => None,
        })
    }
}

/// One thing that a call would touch, as its arguments say it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Touch {
    /// It reads the file or folder.
    Read(String),
    /// It makes or changes the file.
    Edit(String),
    /// It runs a shell command, in a directory of its own where one is given.
    Run {
        /// The command as bash gets it.
        command: String,
        /// The directory asked for.
        directory: Option<String>,
    },
    /// It sends to the URL.
    Network(String),
    /// It touches the session's own state alone.
    SessionOnly,
    /// It asks people for what outlasts the call.
    Petition(Petition),
    /// Only its owner knows.
    Foreign,
}

/// Shows what a call would change, without changing anything.
#[async_trait]
pub trait Previewer: Send + Sync {
    /// The diff, and the content that it was made from.
    async fn preview(&self, arguments: &Value, scope: &Scope) -> Result<Preview, ToolError>;
}

/// What a reviewer is shown of a change, and what the change was computed from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Preview {
    /// A unified diff.
    pub diff: Option<String>,
    /// Each file that the diff shows, with the content that it had; none where it did not exist.
    pub files: Vec<(PathBuf, Option<ContentHash>)>,
    /// There may be more of them than an approval can be bound to.
    pub more: bool,
}

/// For calls that have nothing to show beforehand.
#[derive(Debug, Clone, Copy, Default)]
pub struct NothingToPreview;

#[async_trait]
impl Previewer for NothingToPreview {
    async fn preview(&self, _: &Value, _: &Scope) -> Result<Preview, ToolError> {
        Ok(Preview::default())
    }
}
