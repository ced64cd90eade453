//! What a model is told of a tool, and how a tool's calls may be scheduled.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// A tool as a model's API wants to see it: `{type: "function", function: {…}}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSchema {
    /// Always `function`.
    #[serde(rename = "type")]
    pub kind: FunctionKind,
    /// Name, description and parameters.
    pub function: FunctionSchema,
}

/// The one kind of tool that model APIs share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FunctionKind {
    /// A function that the model calls with JSON arguments.
    #[default]
    Function,
}

/// The inside of a [`ToolSchema`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FunctionSchema {
    /// The exact, case-sensitive name.
    pub name: String,
    /// Written for a model.
    pub description: String,
    /// A JSON Schema (draft 2020-12) with `type: object` at its root.
    pub parameters: Value,
}

impl ToolSchema {
    /// A schema from its three parts.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        let function = FunctionSchema { name: name.into(), description: description.into(), parameters };
        Self { kind: FunctionKind::Function, function }
    }

    /// The tool's exact name.
    pub fn name(&self) -> &str {
        &self.function.name
    }
}

/// Whether a call can change anything: this schedules, it does not permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolMutability {
    /// It changes nothing.
    ReadOnly,
    /// It may change something; also what is not known.
    Mutating,
}
