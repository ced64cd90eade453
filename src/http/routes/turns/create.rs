//! `POST /v1/sessions/{sid}/turns`: what a model said, answered with what to append to the conversation.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema};

use crate::domain::call::Call;
use crate::domain::identity::CallKey;
use crate::http::auth::Caller;
use crate::http::body::{BATCH_BODY_MAX, JsonText};
use crate::http::error::ApiError;
use crate::http::formats::{Turn, TurnError, TurnFormat};
use crate::http::params::{CallText, PathParams, QueryParams, SessionPath, WAIT_DEFAULT_MS, wait};
use crate::session::{Batch, KnownPauses, Sessions};

/// What a turn is read as, and how long to wait for its calls.
#[derive(Default, Deserialize, utoipa::IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(in crate::http) struct TurnQuery {
    /// The model's API.
    #[serde(default)]
    #[param(inline)]
    format: TurnFormat,
    /// How long to wait for the calls, in milliseconds: 30000 where it is left out, at most 300000. Where
    /// it is given, calls that wait for a person when the request comes are waited for too.
    #[param(maximum = 300_000, default = 30_000)]
    wait_ms: Option<u64>,
    /// The client's name of the turn, 1 to 256 bytes: a name space for ids, which some models use again in
    /// each turn and some do not give.
    #[param(value_type = Option<CallText>, inline)]
    turn: Option<String>,
}

/// What to append to the conversation after the model's own message, and the calls.
#[derive(Serialize, utoipa::ToSchema)]
pub(in crate::http) struct TurnAnswer {
    /// Messages to append, in the API's form; empty where the model called nothing. Not there while a call
    /// is open, nor for `openai-responses`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    messages: Option<Vec<Value>>,
    /// The same for `openai-responses`: items to append.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    items: Option<Vec<Value>>,
    /// The calls as they stand, in the order of the model's message.
    calls: Vec<Call>,
}

/// What a model said, in its API's form: a message or a whole response, or the list of its items.
enum ModelTurn {}

impl utoipa::PartialSchema for ModelTurn {
    fn schema() -> RefOr<Schema> {
        let said =
            utoipa::openapi::schema::OneOfBuilder::new().item(ObjectBuilder::new()).item(ArrayBuilder::new());
        said.description(Some("A message, a whole response, or the list of its items")).into()
    }
}

impl utoipa::ToSchema for ModelTurn {}

/// Take a model's turn
///
/// The body is the model's message, response or output items as they came. The calls in it run as a batch, and
/// the answer has what to append to the conversation: `messages`, or `items` for `openai-responses`, once all
/// calls have ended (200). While one is open (202) the same request again collects; a repeat runs nothing again.
/// What is wrong with the body is said with its place; a model's mistake is answered like a result.
#[utoipa::path(
    post,
    path = "/v1/sessions/{sid}/turns",
    operation_id = "createTurn",
    tag = "turns",
    params(SessionPath, TurnQuery),
    request_body(content = inline(ModelTurn), content_type = "application/json", examples(
        ("openai" = (summary = "An assistant's message", value = json!({"role": "assistant", "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "Glob", "arguments": "{\"pattern\":\"*\"}"}},
        ]}))),
        ("none" = (summary = "A message without calls", value = json!({"role": "assistant", "content": "Done."}))),
    )),
    responses(
        (status = OK, description = "All calls have ended: what to append", body = TurnAnswer),
        (status = ACCEPTED, description = "At least one call is open", body = TurnAnswer),
    ),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["session_ended", "workspace_unavailable", "shutting_down", "call_id_conflict", "too_many"]))),
)]
pub(in crate::http) async fn create(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(SessionPath { sid }): PathParams<SessionPath>,
    QueryParams(query): QueryParams<TurnQuery>,
    JsonText(body): JsonText<BATCH_BODY_MAX>,
) -> Result<(StatusCode, Json<TurnAnswer>), ApiError> {
    let longest = wait(query.wait_ms.unwrap_or(WAIT_DEFAULT_MS))?;
    if let Some(turn) = &query.turn {
        CallKey::new(Some(turn.clone()), "call".to_owned()).map_err(|error| {
            ApiError::bad_request("invalid_query", error.to_string()).field("/turn", error.to_string())
        })?;
    }
    let tools = sessions.tools(&principal, &sid).await?;
    let turn = Turn::read(query.format, &tools, &body, query.turn.as_deref())?;
    drop(body);
    let calls = turn.calls();
    let batch = if calls.is_empty() {
        Batch { calls: Vec::new(), open: false }
    } else {
        let pauses = if query.wait_ms.is_some() { KnownPauses::Wait } else { KnownPauses::Answer };
        sessions.submit_batch(&principal, &sid, query.turn, calls, longest, pauses).await?
    };
    let status = if batch.open { StatusCode::ACCEPTED } else { StatusCode::OK };
    let appended = (!batch.open).then(|| turn.render(&batch.calls));
    let (messages, items) =
        if query.format == TurnFormat::OpenaiResponses { (None, appended) } else { (appended, None) };
    Ok((status, Json(TurnAnswer { messages, items, calls: batch.calls })))
}

impl From<TurnError> for ApiError {
    fn from(error: TurnError) -> Self {
        let detail = format!("the body does not fit: {}", error.message);
        Self::bad_request("invalid_request", detail).field(error.pointer, error.message)
    }
}
