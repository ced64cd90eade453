//! OpenAI's chat completions, and the many servers that speak its language.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::Provider;
use super::names::{NameRule, Names};
use super::reading::{Items, Piece, argument_text};
use super::schema::plain;
use super::turn::{Answer, Asked, ModelCall, TurnError, images_of};
use crate::domain::schema::ToolSchema;

/// Images that OpenAI's models see.
pub(super) const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/gif"];

/// `FunctionDefinition.name`: a-z, A-Z, 0-9, underscores and dashes, at most 64. Keys of parameters are
/// not held against a pattern.
pub(super) const NAMES: Names =
    Names { tool: NameRule { also: &['-'], begins_with_letter: false, max: 64 }, parameter: None };

const EXPECTED: &str = "expected the assistant's message {role, content, tool_calls}, a whole chat completion \
                        {choices: [{message}]}, or a list of tool calls [{id, type, function}]";

/// Chat completions.
pub(super) struct ChatCompletions;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Body<'a> {
    #[serde(borrow)]
    choices: Option<Items<'a>>,
    role: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_calls: Option<Items<'a>>,
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "a choice {message}")]
struct Choice<'a> {
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(expecting = "a tool call {id, type: \"function\", function}")]
struct Call<'a> {
    role: Option<String>,
    id: Option<String>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    custom: Option<Custom>,
}

#[derive(Deserialize)]
#[serde(expecting = "a function {name, arguments}")]
struct Function<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Custom {
    name: Option<String>,
}

impl Provider for ChatCompletions {
    fn names(&self) -> Names {
        NAMES
    }

    fn tools(&self, tools: &[ToolSchema]) -> Vec<Value> {
        functions(tools).map(|function| json!({"type": "function", "function": function})).collect()
    }

    fn parse(&self, body: &str) -> Result<Vec<ModelCall>, TurnError> {
        let body = Piece::body(body);
        if body.is_list() {
            return list(&body);
        }
        if !body.is_object() {
            return Err(body.wrong(EXPECTED));
        }
        let Some(choices) = body.read::<Body<'_>>()?.choices else { return message(&body) };
        let all = body.items("choices", &choices);
        let [choice] = all.as_slice() else {
            return Err(TurnError::new("/choices", format!("{} choices, one is taken", all.len())));
        };
        match choice.read::<Choice<'_>>()?.message {
            Some(found) => message(&choice.under("message", found)),
            None => Err(choice.wrong("a choice without message: put a stream's pieces together first")),
        }
    }

    /// A tool's message is text alone: images follow in a message of the user's, after all of them.
    fn render(&self, answers: &[Answer<'_>]) -> Vec<Value> {
        let mut messages = Vec::with_capacity(answers.len() + 1);
        let mut shown = Vec::new();
        for answer in answers {
            let (text, images) = images_of(answer, IMAGE_TYPES);
            messages.push(json!({"role": "tool", "tool_call_id": answer.id, "content": text}));
            if images.is_empty() {
                continue;
            }
            let label = format!("Images of the result of {} ({}):", answer.call.name, answer.id);
            shown.push(json!({"type": "text", "text": label}));
            shown.extend(images.into_iter().map(|image| {
                let url = format!("data:{};base64,{}", image.media_type, image.data);
                json!({"type": "image_url", "image_url": {"url": url}})
            }));
        }
        if !shown.is_empty() {
            messages.push(json!({"role": "user", "content": shown}));
        }
        messages
    }
}

/// `{name, description, parameters}` of each tool.
pub(super) fn functions(tools: &[ToolSchema]) -> impl Iterator<Item = Value> {
    let renamed = NAMES.rename_tools(tools);
    tools.iter().map(move |tool| {
        let function = &tool.function;
        let parameters = plain(&function.parameters);
        json!({
            "name": renamed.get(&function.name).unwrap_or(&function.name),
            "description": parameters.describe(&function.description),
            "parameters": parameters.schema,
        })
    })
}

/// A list of tool calls, or of the one message that has them.
fn list(body: &Piece<'_>) -> Result<Vec<ModelCall>, TurnError> {
    let items = body.list()?;
    let mut calls = Vec::with_capacity(items.len());
    for item in &items {
        let call: Call<'_> = item.read()?;
        match (call.role.is_some(), items.len()) {
            (true, 1) => return message(item),
            (true, _) => return Err(item.wrong("post the assistant's one message, not the conversation")),
            (false, _) => calls.push(model_call(item, call)?),
        }
    }
    Ok(calls)
}

fn message(piece: &Piece<'_>) -> Result<Vec<ModelCall>, TurnError> {
    let message: Body<'_> = piece.read()?;
    if message.role.as_deref().is_some_and(|role| role != "assistant") {
        return Err(TurnError::new(format!("{}/role", piece.at), "expected a message of role assistant"));
    }
    let Some(calls) = message.tool_calls else {
        if message.function_call.is_some() {
            let at = format!("{}/function_call", piece.at);
            return Err(TurnError::new(at, "function_call is the API's old form: send tools, not functions"));
        }
        if message.role.is_none() && message.content.is_none() {
            return Err(piece.wrong(EXPECTED));
        }
        return Ok(Vec::new());
    };
    piece.items("tool_calls", &calls).iter().map(|item| model_call(item, item.read()?)).collect()
}

fn model_call(piece: &Piece<'_>, call: Call<'_>) -> Result<ModelCall, TurnError> {
    match (call.function, call.custom) {
        (Some(function), _) => {
            let arguments = argument_text(function.arguments);
            Ok(ModelCall::function(&piece.at, call.id, function.name, arguments))
        }
        (None, Some(custom)) => {
            let why = "the tools here are functions: call it as a function, with a JSON object as arguments";
            let call = ModelCall::function(&piece.at, call.id, custom.name, String::new());
            Ok(ModelCall { asked: Asked::Other(why), ..call })
        }
        (None, None) => {
            Err(piece.wrong("expected a tool call {id, type: \"function\", function: {name, arguments}}"))
        }
    }
}
