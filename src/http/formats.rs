//! Tool schemas in the shapes that model APIs take.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::domain::schema::ToolSchema;

/// The shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ToolFormat {
    /// Chat completions: `{type, function: {name, description, parameters}}`.
    #[default]
    Openai,
    /// Responses: `{type, name, description, parameters}`.
    OpenaiResponses,
    /// Messages: `{name, description, input_schema}`.
    Anthropic,
    /// MCP: `{name, description, inputSchema}`.
    Mcp,
}

/// One tool in a shape.
pub(super) fn tool(format: ToolFormat, schema: &ToolSchema) -> Value {
    let function = &schema.function;
    let (name, description, parameters) = (&function.name, &function.description, &function.parameters);
    match format {
        ToolFormat::Openai => json!(schema),
        ToolFormat::OpenaiResponses => json!({
            "type": "function", "name": name, "description": description, "parameters": parameters,
            // Strict mode refuses optional parameters, which most tools have.
            "strict": false
        }),
        ToolFormat::Anthropic => {
            json!({"name": name, "description": description, "input_schema": parameters})
        }
        ToolFormat::Mcp => json!({"name": name, "description": description, "inputSchema": parameters}),
    }
}
