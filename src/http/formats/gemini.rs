//! Google's generateContent: function calls are parts of the content, and so are their responses.

mod subset;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::Provider;
use super::names::{NameRule, Names};
use super::reading::{Items, Piece, argument_text};
use super::schema::plain;
use super::turn::{Answer, ModelCall, TurnError, images_of};
use crate::domain::schema::ToolSchema;

/// Images that the models see.
const IMAGE_TYPES: &[&str] = &["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"];

/// `FunctionDeclaration.name`: begins with a letter or underscore; letters, digits, underscores, dots,
/// colons and dashes, at most 64 (128 with newer models). Parameters: begin with a letter or underscore;
/// letters, digits and underscores, at most 64.
const NAMES: Names = Names {
    tool: NameRule { also: &['-', '.', ':'], begins_with_letter: true, max: 64 },
    parameter: Some(NameRule { also: &[], begins_with_letter: true, max: 64 }),
};

const EXPECTED: &str = "expected the model's content {role, parts}, a whole response {candidates: [{content}]}, or \
                        a list of parts";

/// generateContent.
pub(super) struct GenerateContent;

/// Keys are taken as the API writes them and as its Python library does.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Body<'a> {
    #[serde(borrow)]
    candidates: Option<Items<'a>>,
    #[serde(alias = "responseId")]
    response_id: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    role: Option<String>,
    #[serde(borrow)]
    parts: Option<Items<'a>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a part")]
struct Part<'a> {
    role: Option<String>,
    #[serde(borrow, alias = "functionCall")]
    function_call: Option<FunctionCall<'a>>,
}

#[derive(Deserialize)]
#[serde(expecting = "a function call {name, args}")]
struct FunctionCall<'a> {
    id: Option<String>,
    name: Option<String>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

impl Provider for GenerateContent {
    fn names(&self) -> Names {
        NAMES
    }

    fn tools(&self, tools: &[ToolSchema]) -> Vec<Value> {
        if tools.is_empty() {
            return Vec::new();
        }
        let renamed = NAMES.rename_tools(tools);
        let declaration = |tool: &ToolSchema| {
            let function = &tool.function;
            let mut parameters = plain(&function.parameters);
            NAMES.rename_parameters(&mut parameters.schema);
            let mut declaration = json!({
                "name": renamed.get(&function.name).unwrap_or(&function.name),
                "description": parameters.describe(&function.description),
            });
            // An object without properties is refused: without parameters there is no schema.
            let schema = subset::schema(&parameters.schema);
            if schema.contains_key("properties") {
                declaration["parameters"] = Value::Object(schema);
            }
            declaration
        };
        vec![json!({ "functionDeclarations": tools.iter().map(declaration).collect::<Vec<_>>() })]
    }

    fn parse(&self, body: &str) -> Result<Vec<ModelCall>, TurnError> {
        let body = Piece::body(body);
        if body.is_list() {
            return match body.list()?.as_slice() {
                [only] if only.read::<Part<'_>>()?.role.is_some() => content(only),
                parts => calls(parts),
            };
        }
        if !body.is_object() {
            return Err(body.wrong(EXPECTED));
        }
        let read: Body<'_> = body.read()?;
        let Some(candidates) = read.candidates else { return content(&body) };
        let all = body.items("candidates", &candidates);
        let [candidate] = all.as_slice() else {
            return Err(TurnError::new("/candidates", format!("{} candidates, one is taken", all.len())));
        };
        let mut calls = content(candidate)?;
        if let Some(response_id) = read.response_id.filter(|id| !id.is_empty()) {
            for (index, call) in calls.iter_mut().enumerate() {
                call.own_id = Some(format!("{response_id}/{index}"));
            }
        }
        Ok(calls)
    }

    fn render(&self, answers: &[Answer<'_>]) -> Vec<Value> {
        if answers.is_empty() {
            return Vec::new();
        }
        let parts: Vec<Value> = answers.iter().map(part_of).collect();
        vec![json!({"role": "user", "parts": parts})]
    }
}

/// A content, or a candidate that holds one. A candidate that was blocked has none, or no parts.
fn content(piece: &Piece<'_>) -> Result<Vec<ModelCall>, TurnError> {
    match piece.read::<Body<'_>>()?.content {
        Some(content) => content_parts(&piece.under("content", content)),
        None => content_parts(piece),
    }
}

fn content_parts(piece: &Piece<'_>) -> Result<Vec<ModelCall>, TurnError> {
    let content: Body<'_> = piece.read()?;
    if content.role.as_deref().is_some_and(|role| role != "model") {
        return Err(TurnError::new(format!("{}/role", piece.at), "expected a content of role model"));
    }
    match content.parts {
        Some(parts) => calls(&piece.items("parts", &parts)),
        None if content.role.is_some() || !piece.at.is_empty() => Ok(Vec::new()),
        None => Err(piece.wrong(EXPECTED)),
    }
}

fn calls(parts: &[Piece<'_>]) -> Result<Vec<ModelCall>, TurnError> {
    let mut calls = Vec::new();
    for piece in parts {
        let part: Part<'_> = piece.read()?;
        if part.role.is_some() {
            return Err(piece.wrong("post the model's one content, not the conversation"));
        }
        if let Some(call) = part.function_call {
            calls.push(ModelCall::function(&piece.at, call.id, call.name, argument_text(call.args)));
        }
    }
    Ok(calls)
}

fn part_of(answer: &Answer<'_>) -> Value {
    let (text, images) = images_of(answer, IMAGE_TYPES);
    let key = if answer.success { "output" } else { "error" };
    let mut response = Map::new();
    // Only an id of the API's own is known to it.
    response.extend(answer.call.id.as_ref().map(|id| ("id".to_owned(), json!(id))));
    response.insert("name".to_owned(), json!(answer.call.name));
    response.insert("response".to_owned(), json!({ key: text }));
    if !images.is_empty() {
        let part = |image: &crate::domain::result::Image| json!({"inlineData": {"mimeType": image.media_type, "data": image.data}});
        response.insert("parts".to_owned(), images.into_iter().map(part).collect());
    }
    json!({ "functionResponse": response })
}
