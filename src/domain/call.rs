//! A tool call: as a model makes it, and as it is recorded.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;
use utoipa::openapi as spec;

use super::clock::Timestamp;
use super::digest::Digest;
use super::identity::CallKey;
use super::outcome::Question;
use super::result::ToolResult;
use super::schema::{FunctionKind, ToolMutability};

/// A call as a model makes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ToolCall {
    /// The model's id, at most 256 bytes without control characters; the server makes one where it is
    /// missing or empty.
    #[serde(default)]
    #[schema(max_length = 256, pattern = r"^[^\x00-\x1f\x7f-\x9f]*$", example = "call_1")]
    pub id: String,
    /// Always `function`.
    #[serde(rename = "type", default)]
    pub kind: FunctionKind,
    /// Name and arguments.
    pub function: FunctionCall,
}

/// The inside of a [`ToolCall`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FunctionCall {
    /// The name as the model wrote it.
    #[schema(min_length = 1, max_length = 1024, example = "Glob")]
    pub name: String,
    /// JSON text; a JSON object in its place is taken as its text.
    #[serde(default, deserialize_with = "text_or_object")]
    #[schema(value_type = Arguments, required = false)]
    pub arguments: String,
}

impl ToolCall {
    /// A call from its three parts.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: impl Into<String>) -> Self {
        let function = FunctionCall { name: name.into(), arguments: arguments.into() };
        Self { id: id.into(), kind: FunctionKind::Function, function }
    }

    /// What makes two requests under one id the same call: equal name and argument text.
    pub fn fingerprint(&self) -> Digest {
        Digest::of_fields([self.function.name.as_bytes(), self.function.arguments.as_bytes()])
    }
}

/// Takes a JSON string as it is and a JSON object as its text, duplicate keys and all, so that the
/// strict parser sees what the client sent.
fn text_or_object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    let text = raw.get();
    match text.as_bytes().first() {
        Some(b'"') => serde_json::from_str(text).map_err(serde::de::Error::custom),
        Some(b'{') => Ok(text.to_owned()),
        _ => Err(serde::de::Error::custom("arguments must be a string of JSON text or a JSON object")),
    }
}

/// The same where the arguments may be left out.
pub(crate) fn text_or_object_or_none<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<String>, D::Error> {
    text_or_object(deserializer).map(Some)
}

/// What arguments are on the wire: JSON text, or the JSON object itself.
#[derive(Debug)]
pub enum Arguments {}

impl utoipa::PartialSchema for Arguments {
    fn schema() -> spec::RefOr<spec::Schema> {
        let text = spec::ObjectBuilder::new().schema_type(spec::Type::String).examples([
            r#"{"pattern":"**/*.rs"}"#,
            r#"{"file_path":"README.md"}"#,
            "",
        ]);
        let any = spec::schema::AdditionalProperties::FreeForm(true);
        let object = spec::ObjectBuilder::new().additional_properties(Some(any));
        let either = spec::OneOfBuilder::new().item(text).item(object);
        either.description(Some("JSON text, or the JSON object itself")).into()
    }
}

impl ToSchema for Arguments {}

/// Where a call stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallStatus {
    /// Accepted, not started.
    Queued,
    /// A person has to allow it.
    AwaitingApproval,
    /// The user has to answer its question.
    AwaitingAnswer,
    /// The client has to report its own tool's result.
    AwaitingResult,
    /// The tool runs.
    Running,
    /// The tool goes on in the background; the call has its answer.
    Backgrounded,
    /// The tool returned a result.
    Completed,
    /// There is an error in place of a result of the tool's.
    Failed,
    /// The gate or a person refused.
    Denied,
    /// It was cancelled.
    Cancelled,
    /// The server ended while it ran.
    Interrupted,
}

impl CallStatus {
    /// Whether the call has its answer.
    pub fn has_ended(self) -> bool {
        use CallStatus::{Backgrounded, Cancelled, Completed, Denied, Failed, Interrupted};
        matches!(self, Backgrounded | Completed | Failed | Denied | Cancelled | Interrupted)
    }

    /// Whether the call waits for someone.
    pub fn is_waiting(self) -> bool {
        matches!(self, Self::AwaitingApproval | Self::AwaitingAnswer | Self::AwaitingResult)
    }

    /// The name on the wire and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::AwaitingApproval => "awaiting_approval",
            Self::AwaitingAnswer => "awaiting_answer",
            Self::AwaitingResult => "awaiting_result",
            Self::Running => "running",
            Self::Backgrounded => "backgrounded",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
        }
    }
}

/// A call as it is recorded and answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Call {
    /// The session it belongs to.
    pub session_id: String,
    /// Id and turn.
    #[serde(flatten)]
    pub key: CallKey,
    /// The exact name where it was resolved, else the name as requested.
    pub tool_name: String,
    /// The effective arguments; the text as sent where it could not be read.
    #[schema(value_type = Arguments)]
    pub arguments: Value,
    /// What was requested, where a person edited the arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub requested_arguments: Option<Value>,
    /// Where it stands.
    pub status: CallStatus,
    /// The result; every ended call has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ToolResult>,
    /// Facts for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub details: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<CallError>,
    /// The approval that it waits for or started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// The question that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Whether it could change anything.
    pub mutability: ToolMutability,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When the tool started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<Timestamp>,
    /// The sequence number of its first event.
    pub first_seq: u64,
    /// The sequence number of its latest event.
    pub last_seq: u64,
}

/// Why a call failed, for programs and people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct CallError {
    /// A stable code.
    pub code: String,
    /// A sentence.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_may_be_text_or_an_object() {
        let text: ToolCall =
            serde_json::from_str(r#"{"id":"1","function":{"name":"Read","arguments":"{\"a\":1}"}}"#).unwrap();
        let object: ToolCall = serde_json::from_str(
            r#"{"id":"1","type":"function","function":{"name":"Read","arguments":{"a":1}}}"#,
        )
        .unwrap();
        assert_eq!(text.function.arguments, object.function.arguments);
        let twice: ToolCall =
            serde_json::from_str(r#"{"function":{"name":"Read","arguments":{"a":1,"a":2}}}"#).unwrap();
        assert_eq!(twice.function.arguments, r#"{"a":1,"a":2}"#);
        assert!(serde_json::from_str::<ToolCall>(r#"{"function":{"name":"R","arguments":7}}"#).is_err());
    }

    #[test]
    fn a_call_is_its_name_and_its_text() {
        let one = ToolCall::new("1", "Read", "{}");
        assert_eq!(one.fingerprint(), ToolCall::new("2", "Read", "{}").fingerprint());
        assert_ne!(one.fingerprint(), ToolCall::new("1", "Read", "{ }").fingerprint());
        assert_ne!(one.fingerprint(), ToolCall::new("1", "Read{", "}").fingerprint());
    }
}
