//! Answers to questions, and results of the client's own tools.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, MapAccess, Visitor};
use utoipa::ToSchema;

use super::error::SessionError;
use super::principal::Principal;
use super::service::Sessions;
use crate::domain::call::{Call, CallStatus};
use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::identity::CallKey;
use crate::domain::result::{APPROVAL_PAUSE, Image, ToolResult};
use crate::store::{ApprovalStep, CallStep, StoreError};

use super::finish::{Ending, close};

/// The longest answer or result text, in bytes.
const TEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What a client reports of its own tool: a text, or a whole result.
#[derive(Debug, Clone, PartialEq, ToSchema)]
#[serde(untagged)]
pub enum ReportedResult {
    /// A text that the model reads; it succeeded.
    Text(String),
    /// A whole result.
    Whole(WholeResult),
}

/// Reads which of the two it is and then that one, so that what is wrong with it can be said.
impl<'de> Deserialize<'de> for ReportedResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl<'de> Visitor<'de> for Either {
            type Value = ReportedResult;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or an object with `result`")
            }

            fn visit_str<E>(self, text: &str) -> Result<ReportedResult, E> {
                Ok(ReportedResult::Text(text.to_owned()))
            }

            fn visit_string<E>(self, text: String) -> Result<ReportedResult, E> {
                Ok(ReportedResult::Text(text))
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<ReportedResult, A::Error> {
                WholeResult::deserialize(MapAccessDeserializer::new(fields)).map(ReportedResult::Whole)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

/// A whole result of a client's own tool.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WholeResult {
    /// Whether it did what was asked.
    #[serde(default = "yes")]
    pub success: bool,
    /// The text that the model reads.
    pub result: String,
    /// How a client may want to show it.
    #[serde(default)]
    pub display_preference: Option<String>,
    /// Images that belong to it.
    #[serde(default)]
    pub images: Vec<Image>,
}

fn yes() -> bool {
    true
}

impl From<ReportedResult> for ToolResult {
    fn from(reported: ReportedResult) -> Self {
        match reported {
            ReportedResult::Text(text) => Self::ok(text),
            ReportedResult::Whole(whole) => Self {
                success: whole.success,
                result: whole.result,
                // The gate's own mark cannot be forged from outside.
                display_preference: whole.display_preference.filter(|mark| mark != APPROVAL_PAUSE),
                images: whole.images,
                details: None,
            },
        }
    }
}

/// A call that someone replies to.
enum Found {
    /// It waits for the reply.
    Waiting(Call),
    /// It does not, or not any more.
    Moved(Call),
}

/// A reply to what was replied to: the same one is answered, so that a lost answer can be asked for
/// again; another one is refused.
fn repeated(call: Call, result: &ToolResult) -> Result<Call, SessionError> {
    let same = call.status == CallStatus::Completed && call.result.as_ref() == Some(result);
    if same { Ok(call) } else { Err(SessionError::NotWaiting(call.status)) }
}

impl Sessions {
    /// Answers a question; for operators.
    pub async fn answer(
        &self,
        principal: &Principal,
        session_id: &str,
        key: &CallKey,
        answer: String,
    ) -> Result<Call, SessionError> {
        if !principal.is_operator() {
            return Err(SessionError::forbidden("operator_required", "only an operator answers questions"));
        }
        let told = ToolResult::ok(answer.clone());
        let call = match self.call_that_waits(principal, session_id, key, CallStatus::AwaitingAnswer).await? {
            Found::Waiting(call) => call,
            Found::Moved(call) => return repeated(call, &told),
        };
        if answer.len() > TEXT_BYTES_MAX {
            return Err(SessionError::invalid("/answer", format!("at most {TEXT_BYTES_MAX} bytes")));
        }
        let question = call.question.clone();
        if let Some(question) = question
            && !question.allow_custom
            && !question.options.contains(&answer)
        {
            let message = format!("the answer must be one of: {}", question.options.join(", "));
            return Err(SessionError::unprocessable("not_an_option", "/answer", message));
        }
        let answered = AgentEvent::ClarificationAnswered {
            call: CallRef::from(key),
            answer: answer.clone(),
            by: principal.name.clone(),
        };
        self.complete(&call, &[CallStatus::AwaitingAnswer], ToolResult::ok(answer), Some(answered)).await
    }

    /// Takes the result of the client's own tool.
    pub async fn report(
        &self,
        principal: &Principal,
        session_id: &str,
        key: &CallKey,
        reported: ReportedResult,
    ) -> Result<Call, SessionError> {
        let result = ToolResult::from(reported);
        let call = match self.call_that_waits(principal, session_id, key, CallStatus::AwaitingResult).await? {
            Found::Waiting(call) => call,
            Found::Moved(call) => return repeated(call, &result),
        };
        if result.result.len() > TEXT_BYTES_MAX {
            return Err(SessionError::invalid("/result", format!("at most {TEXT_BYTES_MAX} bytes")));
        }
        self.complete(&call, &[CallStatus::AwaitingResult], result, None).await
    }

    async fn call_that_waits(
        &self,
        principal: &Principal,
        session_id: &str,
        key: &CallKey,
        status: CallStatus,
    ) -> Result<Found, SessionError> {
        let live = self.active(principal, session_id).await?;
        let call = self.store().call(live.id(), key).await?.ok_or(SessionError::NotFound("call"))?;
        Ok(if call.status == status { Found::Waiting(call) } else { Found::Moved(call) })
    }

    async fn complete(
        &self,
        call: &Call,
        from: &'static [CallStatus],
        result: ToolResult,
        before: Option<AgentEvent>,
    ) -> Result<Call, SessionError> {
        let ending = Ending::of_result(&call.key, result);
        let mut step: CallStep = ending.step(call, from, None, self.0.parts.clock.now(), ApprovalStep::None);
        if let Some(before) = before {
            step.events.insert(0, before);
        }
        step.sync = true;
        match self.store().step(step).await {
            Ok(ended) => {
                self.ended(&ended);
                Ok(ended)
            }
            Err(StoreError::CallMoved(current)) => Err(SessionError::NotWaiting(current.status)),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells everyone who waits for a call that ended without its run.
    pub(super) fn ended(&self, ended: &Call) {
        let live = self.live_map().get(&ended.session_id).cloned();
        if let Some(live) = live
            && let Some(live_call) = live.open_call(&ended.key)
        {
            close(&live, &live_call, ended.clone());
        }
    }
}
