//! Anthropic's messages: tool uses are blocks of the content, and their results one message of the user's.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Provider;
use super::names::{NameRule, Names};
use super::reading::{Piece, argument_text};
use super::schema::plain;
use super::turn::{Answer, ModelCall, TurnError, images_of};
use crate::domain::schema::ToolSchema;

/// `Base64ImageSource.media_type`.
const IMAGE_TYPES: &[&str] = &["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Tools: `^[a-zA-Z0-9_-]{1,64}$` (128 with newer models). The API holds the keys of the root's
/// properties against `^[a-zA-Z0-9_.-]{1,64}$`, and refuses the whole request for one that does not fit.
const NAMES: Names = Names {
    tool: NameRule { also: &['-'], begins_with_letter: false, max: 64 },
    parameter: Some(NameRule { also: &['-', '.'], begins_with_letter: false, max: 64 }),
};

const EXPECTED: &str = "expected the assistant's message {role, content: [blocks]}, which a whole response is \
                        too, or a list of content blocks";

/// Messages.
pub(super) struct Messages;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Message<'a> {
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "a content block {type, …}")]
struct Block<'a> {
    r#type: Option<String>,
    role: Option<String>,
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    toolset_name: Option<String>,
}

impl Provider for Messages {
    fn names(&self) -> Names {
        NAMES
    }

    fn tools(&self, tools: &[ToolSchema]) -> Vec<Value> {
        let renamed = NAMES.rename_tools(tools);
        let tool = |tool: &ToolSchema| {
            let function = &tool.function;
            let mut parameters = plain(&function.parameters);
            NAMES.rename_parameters(&mut parameters.schema);
            json!({
                "name": renamed.get(&function.name).unwrap_or(&function.name),
                "description": parameters.describe(&function.description),
                "input_schema": parameters.schema,
            })
        };
        tools.iter().map(tool).collect()
    }

    fn parse(&self, body: &str) -> Result<Vec<ModelCall>, TurnError> {
        let body = Piece::body(body);
        if body.is_object() {
            return message(&body);
        }
        if !body.is_list() {
            return Err(body.wrong(EXPECTED));
        }
        match body.list()?.as_slice() {
            [only] if only.read::<Block<'_>>()?.role.is_some() => message(only),
            blocks => calls(blocks),
        }
    }

    /// All results stand in one message: the API wants each tool use answered in the next one.
    fn render(&self, answers: &[Answer<'_>]) -> Vec<Value> {
        if answers.is_empty() {
            return Vec::new();
        }
        let results: Vec<Value> = answers.iter().map(block_of).collect();
        vec![json!({"role": "user", "content": results})]
    }
}

fn message(piece: &Piece<'_>) -> Result<Vec<ModelCall>, TurnError> {
    let message: Message<'_> = piece.read()?;
    if message.role.as_deref().is_some_and(|role| role != "assistant") {
        return Err(TurnError::new(format!("{}/role", piece.at), "expected a message of role assistant"));
    }
    let Some(content) = message.content else { return Err(piece.wrong(EXPECTED)) };
    let content = piece.under("content", content);
    if content.text.starts_with('"') {
        return Ok(Vec::new());
    }
    calls(&content.list()?)
}

/// The tool uses; those of the API's own tools (`server_tool_use`, `mcp_tool_use`) it answers itself.
fn calls(blocks: &[Piece<'_>]) -> Result<Vec<ModelCall>, TurnError> {
    let mut calls = Vec::new();
    for piece in blocks {
        let block: Block<'_> = piece.read()?;
        match block.r#type.as_deref() {
            Some("tool_use") => calls.push(model_call(piece, block)),
            Some(_) => {}
            None if block.role.is_some() => {
                return Err(piece.wrong("post the assistant's one message, not the conversation"));
            }
            None => return Err(TurnError::new(format!("{}/type", piece.at), "a content block has a type")),
        }
    }
    Ok(calls)
}

fn model_call(piece: &Piece<'_>, block: Block<'_>) -> ModelCall {
    let mut call = ModelCall::function(&piece.at, block.id, block.name, argument_text(block.input));
    call.echo.extend(block.toolset_name.map(|name| ("toolset_name".to_owned(), json!(name))));
    call
}

fn block_of(answer: &Answer<'_>) -> Value {
    let (text, images) = images_of(answer, IMAGE_TYPES);
    let mut block = json!({"type": "tool_result", "tool_use_id": answer.id});
    let Some(fields) = block.as_object_mut() else { return block };
    if !images.is_empty() {
        // The API refuses text blocks without a letter in them.
        let text = (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}));
        let images = images.into_iter().map(|image| {
            let source = json!({"type": "base64", "media_type": image.media_type, "data": image.data});
            json!({"type": "image", "source": source})
        });
        fields.insert("content".to_owned(), text.into_iter().chain(images).collect());
    } else if !text.is_empty() {
        fields.insert("content".to_owned(), json!(text));
    }
    if !answer.success {
        fields.insert("is_error".to_owned(), json!(true));
    }
    fields.extend(answer.call.echo.clone());
    block
}
