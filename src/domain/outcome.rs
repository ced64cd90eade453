//! How an execution stands when it returns: completed, still running, or waiting for someone.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::approval::Approval;
use super::result::{APPROVAL_PAUSE, ToolResult};

/// What an executor answers.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolOutcome {
    /// The tool is done.
    Completed(ToolResult),
    /// The tool goes on in the background; the acknowledgement is for the model.
    Running(RunningShell),
    /// Nothing goes on before someone answers.
    NeedsHuman(HumanRequest),
}

/// A background shell that a call started or was promoted to.
#[derive(Debug, Clone, PartialEq)]
pub struct RunningShell {
    /// The shell's id.
    pub bash_id: String,
    /// What the model is told at once.
    pub acknowledgement: ToolResult,
}

/// What is waited for.
#[derive(Debug, Clone, PartialEq)]
pub enum HumanRequest {
    /// The gate asks whether the call may run.
    Approval(Box<Approval>),
    /// The tool asks the user something.
    Question(Question),
    /// The client's own tool has to report its result.
    ClientResult,
}

/// A question to the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Question {
    /// The text of the question.
    pub question: String,
    /// Answers to choose from; empty means any text.
    #[serde(default)]
    pub options: Vec<String>,
    /// Whether a text that is no option is an answer too.
    #[serde(default = "yes")]
    pub allow_custom: bool,
}

fn yes() -> bool {
    true
}

impl ToolOutcome {
    /// Collapses the outcome to a result, for callers that know no other. A pause for an approval
    /// carries the reserved mark [`APPROVAL_PAUSE`].
    pub fn into_result(self) -> ToolResult {
        match self {
            Self::Completed(result) => result,
            Self::Running(shell) => shell.acknowledgement,
            Self::NeedsHuman(request) => request.into_result(),
        }
    }
}

impl HumanRequest {
    fn into_result(self) -> ToolResult {
        match self {
            Self::Approval(approval) => ToolResult {
                display_preference: Some(APPROVAL_PAUSE.to_owned()),
                ..ToolResult::unsuccessful(format!(
                    "{} waits for approval {}: {}",
                    approval.tool_name, approval.approval_id, approval.reason.text
                ))
            },
            Self::Question(question) => {
                ToolResult::unsuccessful(format!("Waits for the user's answer: {}", question.question))
            }
            Self::ClientResult => ToolResult::unsuccessful("Waits for the client to report the result."),
        }
    }
}
