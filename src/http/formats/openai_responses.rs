//! OpenAI's responses: the output is a list of items, of which only function calls concern us.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Provider;
use super::names::Names;
use super::openai::{IMAGE_TYPES, NAMES, functions};
use super::reading::{Items, Piece, argument_text};
use super::turn::{Answer, ModelCall, TurnError, images_of};
use crate::domain::schema::ToolSchema;

const EXPECTED: &str = "expected a whole response {output: [items]}, a list of items, or one item {type, …}";

/// Responses.
pub(super) struct Responses;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Body<'a> {
    #[serde(borrow)]
    output: Option<Items<'a>>,
    r#type: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an item {type, …}")]
struct Item<'a> {
    r#type: Option<String>,
    role: Option<String>,
    id: Option<String>,
    call_id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    caller: Option<Caller>,
}

/// Who called: the model itself, or a program of its.
#[derive(Deserialize)]
struct Caller {
    r#type: String,
    caller_id: Option<String>,
}

impl Provider for Responses {
    fn names(&self) -> Names {
        NAMES
    }

    fn tools(&self, tools: &[ToolSchema]) -> Vec<Value> {
        let tool = |mut function: Value| {
            function["type"] = json!("function");
            // Strict mode refuses optional parameters, which most tools have.
            function["strict"] = json!(false);
            function
        };
        functions(tools).map(tool).collect()
    }

    fn parse(&self, body: &str) -> Result<Vec<ModelCall>, TurnError> {
        let body = Piece::body(body);
        if body.is_list() {
            return calls(&body.list()?);
        }
        if !body.is_object() {
            return Err(body.wrong(EXPECTED));
        }
        let read: Body<'_> = body.read()?;
        match (read.output, read.r#type) {
            (Some(output), _) => calls(&body.items("output", &output)),
            (None, Some(_)) => calls(std::slice::from_ref(&body)),
            (None, None) => Err(body.wrong(EXPECTED)),
        }
    }

    fn render(&self, answers: &[Answer<'_>]) -> Vec<Value> {
        answers.iter().map(item_of).collect()
    }
}

/// The function calls that no item of the list answers: those of the API's own tools come with their
/// outputs, and other kinds of calls are for whoever declared those tools.
fn calls(items: &[Piece<'_>]) -> Result<Vec<ModelCall>, TurnError> {
    let mut answered = HashSet::new();
    let mut calls = Vec::new();
    for piece in items {
        let item: Item<'_> = piece.read()?;
        match item.r#type.as_deref() {
            Some("function_call") => calls.push(model_call(piece, item)),
            Some("function_call_output") => answered.extend(item.call_id),
            None if item.role.is_none() => {
                return Err(TurnError::new(format!("{}/type", piece.at), "an item has a type"));
            }
            _ => {}
        }
    }
    calls.retain(|call| !call.id.as_ref().is_some_and(|id| answered.contains(id)));
    Ok(calls)
}

fn model_call(piece: &Piece<'_>, item: Item<'_>) -> ModelCall {
    let arguments = argument_text(item.arguments);
    let mut call = ModelCall::function(&piece.at, item.call_id, item.name, arguments);
    call.own_id = item.id.filter(|id| !id.is_empty());
    if let Some(caller) = item.caller {
        let mut repeated = Map::new();
        repeated.insert("type".to_owned(), json!(caller.r#type));
        repeated.extend(caller.caller_id.map(|id| ("caller_id".to_owned(), json!(id))));
        call.echo.insert("caller".to_owned(), Value::Object(repeated));
    }
    call
}

fn item_of(answer: &Answer<'_>) -> Value {
    let (text, images) = images_of(answer, IMAGE_TYPES);
    let output = if images.is_empty() {
        json!(text)
    } else {
        let text = (!text.is_empty()).then(|| json!({"type": "input_text", "text": text}));
        let images = images.into_iter().map(|image| {
            let url = format!("data:{};base64,{}", image.media_type, image.data);
            json!({"type": "input_image", "image_url": url, "detail": "auto"})
        });
        text.into_iter().chain(images).collect()
    };
    let mut item = json!({"type": "function_call_output", "call_id": answer.id, "output": output});
    if let Some(item) = item.as_object_mut() {
        item.extend(answer.call.echo.clone());
    }
    item
}
