//! How a call that was made is told: its result, remarks beside it, and the exit code.

use serde_json::Value;

use crate::domain::call::{Call, CallStatus};
use crate::domain::visible;

use super::error::{self, CliError};
use super::output::{self, Output};

/// The result's text on standard output; not again where its output was printed as it came.
pub(super) fn report(call: &Call, streamed: bool, output: &mut Output) -> Result<(), CliError> {
    // What is no output of the tool's (a refusal, an error) stands only in the result.
    if streamed && call.status == CallStatus::Completed {
        return Ok(());
    }
    output.text(&result_text(call))
}

/// The same among the results of other calls, whose heads it must not look like.
pub(super) fn report_among_others(call: &Call, output: &mut Output) -> Result<(), CliError> {
    output.quoted(&result_text(call))
}

/// The result in whole lines.
fn result_text(call: &Call) -> String {
    let text = call.result.as_ref().map_or("", |result| result.result.as_str());
    let end = if text.ends_with('\n') || text.is_empty() { "" } else { "\n" };
    format!("{text}{end}")
}

/// What a person should know beside the result, on standard error.
pub(super) fn remarks(call: &Call, value: &Value) {
    if let Some(remark) = status_remark(call, value) {
        output::complain(&visible::again(&remark));
    }
    let images = call.result.as_ref().map_or(0, |result| result.images.len());
    if images > 0 {
        output::complain(&format!("{images} images: --json has them"));
    }
    for notice in value["notices"].as_array().into_iter().flatten() {
        let text = notice.as_str().map_or_else(|| notice.to_string(), ToOwned::to_owned);
        output::complain(&format!("notice: {}", visible::again(&text)));
    }
}

fn status_remark(call: &Call, value: &Value) -> Option<String> {
    let id = &call.key.call_id;
    let again =
        format!("then the same command with --session {} --id {id} gives the result", call.session_id);
    match call.status {
        CallStatus::AwaitingApproval => {
            let approval = call.approval_id.as_deref().unwrap_or("ID");
            Some(format!("waits for approval: toolgate approve {approval}; {again}"))
        }
        CallStatus::AwaitingAnswer => {
            let question = call.question.as_ref().map_or("", |question| question.question.as_str());
            Some(format!("waits for an answer to: {question}; {again}"))
        }
        CallStatus::AwaitingResult => Some(format!("waits for the client's own tool to report; {again}")),
        CallStatus::Queued | CallStatus::Running => {
            Some(format!("{} {id} still runs; {again}", call.tool_name))
        }
        CallStatus::Completed if call.result.as_ref().is_some_and(|result| !result.success) => {
            Some(format!("unsuccessful{}", ending(value)))
        }
        CallStatus::Failed => {
            let code = call.error.as_ref().map_or("", |error| error.code.as_str());
            Some(format!("failed ({code})"))
        }
        CallStatus::Denied | CallStatus::Cancelled | CallStatus::Interrupted => {
            Some(call.status.as_str().to_owned())
        }
        CallStatus::Completed | CallStatus::Backgrounded => None,
    }
}

fn ending(call: &Value) -> String {
    let details = &call["details"];
    if details["timed_out"] == Value::Bool(true) {
        return " (timed out)".into();
    }
    match (details["exit_code"].as_i64(), details["signal"].as_i64()) {
        (Some(code), _) => format!(" (exit code {code})"),
        (None, Some(signal)) => format!(" (signal {signal})"),
        (None, None) => String::new(),
    }
}

/// How a command about this call exits.
pub(super) fn exit_code(call: &Call) -> u8 {
    match call.status {
        CallStatus::Completed if call.result.as_ref().is_some_and(|result| result.success) => 0,
        CallStatus::Backgrounded => 0,
        CallStatus::Completed | CallStatus::Failed | CallStatus::Cancelled | CallStatus::Interrupted => {
            error::UNSUCCESSFUL
        }
        CallStatus::Denied => error::DENIED,
        CallStatus::Queued
        | CallStatus::Running
        | CallStatus::AwaitingApproval
        | CallStatus::AwaitingAnswer
        | CallStatus::AwaitingResult => error::WAITS,
    }
}
