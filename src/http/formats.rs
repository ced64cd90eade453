//! The shapes that model APIs have for tools, calls and results: one file an API, one trait over them.

mod anthropic;
mod gemini;
mod names;
mod openai;
mod openai_responses;
mod reading;
mod schema;
mod turn;

use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::domain::schema::ToolSchema;

pub(super) use turn::{Turn, TurnError};

use names::Names;
use turn::{Answer, ModelCall};

/// A model API's own forms. Pure: no session, no store, no clock.
pub(super) trait Provider: Sync {
    /// What the API takes as names of tools and of their parameters.
    fn names(&self) -> Names;

    /// What goes into `tools` of a request. The schemas are rewritten to what the API accepts; the
    /// tool's own schema stays what arguments are held against.
    fn tools(&self, tools: &[ToolSchema]) -> Vec<Value>;

    /// The tool calls in what a model said: the assistant's message, the API's whole response, or the
    /// bare list of its items.
    fn parse(&self, body: &str) -> Result<Vec<ModelCall>, TurnError>;

    /// What is to be appended to the conversation after the model's own message.
    fn render(&self, answers: &[Answer<'_>]) -> Vec<Value>;
}

/// The APIs whose turns are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum TurnFormat {
    /// OpenAI, chat completions; also what speaks its language.
    #[default]
    Openai,
    /// OpenAI, responses.
    OpenaiResponses,
    /// Anthropic, messages.
    Anthropic,
    /// Google, generateContent.
    Gemini,
}

impl TurnFormat {
    const ALL: [Self; 4] = [Self::Openai, Self::OpenaiResponses, Self::Anthropic, Self::Gemini];

    /// The name in a query.
    fn as_str(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The forms of the API.
    pub(super) fn provider(self) -> &'static dyn Provider {
        match self {
            Self::Openai => &openai::ChatCompletions,
            Self::OpenaiResponses => &openai_responses::Responses,
            Self::Anthropic => &anthropic::Messages,
            Self::Gemini => &gemini::GenerateContent,
        }
    }
}

/// The shapes that tools are told in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum ToolFormat {
    /// Chat completions: `{type, function: {name, description, parameters}}`.
    #[default]
    Openai,
    /// Responses: `{type, name, description, parameters, strict}`.
    OpenaiResponses,
    /// Messages: `{name, description, input_schema}`.
    Anthropic,
    /// generateContent: one `{functionDeclarations: [{name, description, parameters}]}`.
    Gemini,
    /// MCP: `{name, description, inputSchema}`, the schemas as they are.
    Mcp,
}

/// All tools in a shape.
pub(super) fn tools(format: ToolFormat, tools: &[ToolSchema]) -> Vec<Value> {
    let turn = match format {
        ToolFormat::Openai => TurnFormat::Openai,
        ToolFormat::OpenaiResponses => TurnFormat::OpenaiResponses,
        ToolFormat::Anthropic => TurnFormat::Anthropic,
        ToolFormat::Gemini => TurnFormat::Gemini,
        ToolFormat::Mcp => {
            let tool = |tool: &ToolSchema| {
                let function = &tool.function;
                let (name, description) = (&function.name, &function.description);
                json!({"name": name, "description": description, "inputSchema": function.parameters})
            };
            return tools.iter().map(tool).collect();
        }
    };
    turn.provider().tools(tools)
}

#[cfg(test)]
mod tests;
