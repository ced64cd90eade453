//! One turn: the calls that a model made in it, under ids and names of ours, and what it gets back.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::TurnFormat;
use crate::domain::call::{Call, ToolCall};
use crate::domain::digest::Digest;
use crate::domain::identity::CallKey;
use crate::domain::result::Image;
use crate::domain::schema::ToolSchema;
use crate::session::BATCH_MAX;

/// The longest name of a tool that is looked for, in bytes.
const NAME_MAX: usize = 1024;

/// Why a body is no turn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(in crate::http) struct TurnError {
    /// Where, as a JSON pointer.
    pub(in crate::http) pointer: String,
    /// What is wrong and what would be right.
    pub(in crate::http) message: String,
}

/// A call as it stood in what the model said.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::http) struct ModelCall {
    /// Where it stood, as a JSON pointer.
    pub(super) at: String,
    /// The API's id of it; none where it gave none.
    pub(super) id: Option<String>,
    /// An id to record it under where the API gave none, one that no other turn has.
    pub(super) own_id: Option<String>,
    /// The name as the model wrote it.
    pub(super) name: String,
    /// What is asked.
    pub(super) asked: Asked,
    /// What the API wants repeated beside the id.
    pub(super) echo: Map<String, Value>,
}

/// What a call asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Asked {
    /// A function, with JSON text.
    Function(String),
    /// Something else that has to be answered: why it cannot be done, for the model.
    Other(&'static str),
}

/// An answer to one call, for a provider to put into its form.
#[derive(Debug)]
pub(in crate::http) struct Answer<'a> {
    /// The call.
    pub(super) call: &'a ModelCall,
    /// Its id: the API's, or the one that was made.
    pub(super) id: &'a str,
    /// For the model.
    pub(super) text: &'a str,
    /// Whether it is what was asked for.
    pub(super) success: bool,
    /// Images that belong to it.
    pub(super) images: &'a [Image],
}

/// The calls of one turn.
#[derive(Debug)]
pub(in crate::http) struct Turn {
    format: TurnFormat,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    call: ModelCall,
    id: String,
    /// The call as it is run; else why it is not, for the model.
    run: Result<ToolCall, String>,
}

impl ModelCall {
    /// A call of a function.
    pub(super) fn function(at: &str, id: Option<String>, name: Option<String>, arguments: String) -> Self {
        Self {
            at: at.to_owned(),
            id: id.filter(|id| !id.is_empty()),
            own_id: None,
            name: name.unwrap_or_default(),
            asked: Asked::Function(arguments),
            echo: Map::new(),
        }
    }
}

impl TurnError {
    pub(super) fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

impl Turn {
    /// Reads what a model said. `turn` is the name that the client gave the turn.
    pub(in crate::http) fn read(
        format: TurnFormat,
        tools: &[ToolSchema],
        body: &str,
        turn: Option<&str>,
    ) -> Result<Self, TurnError> {
        let calls = parse(format, body)?;
        if calls.len() > BATCH_MAX {
            let at = calls[0].at.rsplit_once('/').map_or("", |(list, _)| list);
            let message = format!("{} tool calls, at most {BATCH_MAX} are taken", calls.len());
            return Err(TurnError::new(at, message));
        }
        let names = format.provider().names();
        let mut members: Vec<Member> = Vec::with_capacity(calls.len());
        for (index, call) in calls.into_iter().enumerate() {
            let id = match (&call.id, turn, &call.own_id) {
                (Some(id), _, _) | (None, None, Some(id)) => id.clone(),
                (None, Some(_), _) => format!("call_{index}"),
                (None, None, None) => {
                    let message = "this call has no id: give the request ?turn=T, another T for each turn, so \
                                   that a repeat of this request is not taken for a new turn";
                    return Err(TurnError::new(call.at, message));
                }
            };
            if members.iter().any(|member| member.id == id) {
                return Err(TurnError::new(call.at, "another call of this turn has the same id"));
            }
            let run = run(&call, &id, |name, arguments| names.restore(tools, name, arguments));
            members.push(Member { call, id, run });
        }
        Ok(Self { format, members })
    }

    /// The calls to run, in order.
    pub(in crate::http) fn calls(&self) -> Vec<ToolCall> {
        self.members.iter().filter_map(|member| member.run.as_ref().ok()).cloned().collect()
    }

    /// What is to be appended, once the calls have ended; they come in the order of [`Self::calls`].
    pub(in crate::http) fn render(&self, ended: &[Call]) -> Vec<Value> {
        let mut ended = ended.iter();
        let mut answers = Vec::with_capacity(self.members.len());
        for Member { call, id, run } in &self.members {
            let result = run.as_ref().map(|_| ended.next().and_then(|call| call.result.as_ref()));
            let (text, success, images) = match result {
                Ok(Some(result)) => (result.result.as_str(), result.success, result.images.as_slice()),
                Ok(None) => ("the call has no result", false, [].as_slice()),
                Err(why) => (why.as_str(), false, [].as_slice()),
            };
            answers.push(Answer { call, id, text, success, images });
        }
        self.format.provider().render(&answers)
    }
}

/// The calls in a body. One without any that has some in the form of another API was posted as the wrong
/// format: taken as a message without calls, it would end the client's loop without a word.
fn parse(format: TurnFormat, body: &str) -> Result<Vec<ModelCall>, TurnError> {
    let parsed = format.provider().parse(body);
    if parsed.as_ref().is_ok_and(|calls| !calls.is_empty()) {
        return parsed;
    }
    let has_calls = |other: &&TurnFormat| other.provider().parse(body).is_ok_and(|calls| !calls.is_empty());
    match TurnFormat::ALL.iter().filter(|other| **other != format).find(has_calls) {
        Some(other) => {
            let message = format!("this has tool calls in the form of ?format={}", other.as_str());
            Err(TurnError::new(parsed.err().map_or_else(String::new, |error| error.pointer), message))
        }
        None => parsed,
    }
}

fn run(
    call: &ModelCall,
    id: &str,
    restore: impl Fn(&str, &str) -> (String, String),
) -> Result<ToolCall, String> {
    let arguments = match &call.asked {
        Asked::Function(arguments) => arguments,
        Asked::Other(why) => return Err((*why).to_owned()),
    };
    if call.name.is_empty() || call.name.len() > NAME_MAX {
        return Err(format!(
            "the name of a tool has 1 to {NAME_MAX} bytes, this one has {}",
            call.name.len()
        ));
    }
    let (name, arguments) = restore(&call.name, arguments);
    Ok(ToolCall::new(key_of(id), name, arguments))
}

/// The id under which a call is recorded. Some gateways pack a model's signature into it and make it
/// longer than ours may be.
fn key_of(id: &str) -> String {
    match CallKey::new(None, id.to_owned()) {
        Ok(key) => key.call_id,
        Err(_) => format!("sha256:{}", Digest::of(id.as_bytes())),
    }
}

/// Images of the types that an API takes, and a text with what was left out.
pub(super) fn images_of<'a>(answer: &Answer<'a>, types: &[&str]) -> (String, Vec<&'a Image>) {
    let (taken, others): (Vec<_>, Vec<_>) =
        answer.images.iter().partition(|image| types.contains(&image.media_type.as_str()));
    let mut text = answer.text.to_owned();
    for image in others {
        let kind = crate::domain::visible::clipped(&image.media_type, 100);
        let _ = write!(text, "\n[an image of type {kind} is left out: this API takes {}]", types.join(", "));
    }
    (text, taken)
}
