//! What the audit log is told of a verdict: who, what, why and by which rules, without a secret.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use super::call::{ResolvedCall, Touch};
use super::checker::JudgedPath;
use super::desk::Ask;
use super::gate::Circumstances;
use super::scope::Scope;
use super::verdict::{By, Reason, Verdict};
use crate::domain::about;
use crate::domain::audit::{AuditConfig, AuditDecision, AuditKind, AuditReason, AuditRecord};
use crate::domain::redact;
use crate::domain::result::{DeniedBy, ToolError};
use crate::domain::visible;

/// The longest display of a call in the audit log, in characters.
const DISPLAY_MAX: usize = 1_000;
/// The longest reason, rule or pattern.
const TEXT_MAX: usize = 500;
/// The longest path: the kernel's own bound.
const PATH_MAX: usize = 4_096;
/// An argument that is longer is told by its length and digest alone, in bytes.
const ARGUMENT_MAX: usize = 256;
/// How deep arguments are looked into.
const DEPTH_MAX: usize = 8;
/// Arguments that are what a file or a message has in it.
const CONTENTS: &[&str] = &["content", "old_string", "new_string", "patch", "body", "input", "data"];

/// Where a checker leaves why it said what it said: the answers alone do not say it of an allow.
#[derive(Debug, Default)]
pub struct Told(OnceLock<Reason>);

impl Told {
    /// Leaves the reason of a verdict; the first one counts.
    pub fn verdict(&self, verdict: &Verdict) {
        // A second one would be that of the same judgement, seen again.
        let _ = self.0.set(verdict.reason.clone());
    }

    pub(super) fn by(&self) -> Option<By> {
        self.0.get().map(|reason| reason.by)
    }

    fn reason(&self, otherwise: &str) -> AuditReason {
        match self.0.get() {
            Some(reason) => AuditReason {
                text: visible::clipped_again(&redact::text(&reason.text), TEXT_MAX),
                rule: reason.rule.as_deref().map(|rule| shown(rule, TEXT_MAX)),
                source: reason.source.clone(),
                by: reason.by.as_str().to_owned(),
            },
            None => AuditReason {
                text: shown(otherwise, TEXT_MAX),
                rule: None,
                source: None,
                by: "checker".to_owned(),
            },
        }
    }
}

/// A path as the log has it: equal for equal paths.
pub(super) fn path_shown(path: &Path) -> String {
    shown(&path.to_string_lossy(), PATH_MAX)
}

/// The files that a call would change.
pub(super) fn edits(paths: &[JudgedPath]) -> Vec<String> {
    paths.iter().filter(|path| path.edits).map(|path| path_shown(&path.located.real)).collect()
}

/// A text of a person, a rule or an agent as the log has it.
pub(super) fn shown(text: &str, max: usize) -> String {
    visible::clipped(&redact::text(text), max)
}

/// That nobody had to be asked.
pub(super) fn allowed(call: &ResolvedCall, circumstances: Circumstances<'_>, told: &Told) -> AuditRecord {
    let reason = told.reason("the executor's own checker permits it");
    record(AuditDecision::Allow, reason, call, circumstances)
}

/// That a person is asked.
pub(super) fn asks(
    call: &ResolvedCall,
    circumstances: Circumstances<'_>,
    told: &Told,
    ask: &Ask,
) -> AuditRecord {
    let by = told.by();
    let mut reason = told.reason(&ask.reason.text);
    if by.is_none() {
        reason.rule = ask.reason.rule.as_deref().map(|rule| shown(rule, TEXT_MAX));
    }
    record(AuditDecision::Ask, reason, call, circumstances)
}

/// That a person who was asked allowed it: here, or where the ask was sent on to.
pub(super) fn confirmed(asked: &AuditRecord, approval_id: Option<&str>) -> AuditRecord {
    let mut entry = asked.clone();
    entry.decision = AuditDecision::Allow;
    entry.approval_id = approval_id.map(str::to_owned);
    if let Some(reason) = &mut entry.reason {
        let by = if approval_id.is_some() { "approval" } else { "host" };
        by.clone_into(&mut reason.by);
    }
    entry
}

/// That it may not run; none where it was not refused but could not be judged, or was cancelled.
pub(super) fn refused(
    call: &ResolvedCall,
    circumstances: Circumstances<'_>,
    told: &Told,
    error: &ToolError,
) -> Option<AuditRecord> {
    let ToolError::Denied { by, message, .. } = error else { return None };
    let mut reason = told.reason(message);
    // What came after the verdict: a reviewer's no, or nobody there.
    let own = match by {
        DeniedBy::Reviewer => Some("reviewer"),
        DeniedBy::Expired => Some("expired"),
        DeniedBy::NoHuman => Some(By::NoHuman.as_str()),
        DeniedBy::Rule | DeniedBy::Mode => None,
    };
    if let Some(own) = own.filter(|own| *own != reason.by) {
        // What a reviewer wrote to the model is the reviewer's.
        let text = if *by == DeniedBy::Reviewer { "a reviewer denied it" } else { message };
        reason = AuditReason { by: own.to_owned(), text: shown(text, TEXT_MAX), ..reason };
    }
    Some(record(AuditDecision::Deny, reason, call, circumstances))
}

fn record(
    decision: AuditDecision,
    reason: AuditReason,
    call: &ResolvedCall,
    circumstances: Circumstances<'_>,
) -> AuditRecord {
    let scope = circumstances.scope;
    let agent = scope.map(|scope| scope.agent.as_str()).unwrap_or_default();
    let mut entry = AuditRecord::new(AuditKind::Verdict, decision, agent);
    if let Some((scope, session_id)) = scope.and_then(|scope| scope.session_id.as_ref().map(|id| (scope, id)))
    {
        entry = entry.of_call(session_id, &scope.key);
    }
    entry.config = scope.and_then(|scope| config(scope));
    entry.tool_name = Some(call.tool_name.clone());
    entry.display = Some(display(call));
    entry.reason = Some(reason);
    entry.mode = Some(circumstances.mode);
    entry.bypass = Some(circumstances.bypass);
    entry
}

fn config(scope: &Scope) -> Option<AuditConfig> {
    let revision = scope.revision.as_ref()?;
    Some(AuditConfig { revision: revision.number, rules: revision.rules().clone() })
}

/// What would run: the command, or the name and the arguments.
fn display(call: &ResolvedCall) -> String {
    let command = call.touches.iter().find_map(|touch| match touch {
        Touch::Run { command, .. } => Some(command.as_str()),
        _ => None,
    });
    if let Some(command) = command {
        return shown(command, DISPLAY_MAX);
    }
    let arguments = about::json(&told_of(&call.arguments, "", 0));
    let shown = format!("{} {}", visible::one_line(&call.tool_name), visible::json(&arguments));
    visible::clipped_again(&shown, DISPLAY_MAX)
}

/// An argument as it may be kept.
fn told_of(value: &Value, key: &str, depth: usize) -> Value {
    match value {
        Value::String(text) if redact::is_secret_name(key) && !text.is_empty() => {
            Value::String(redact::REDACTED.to_owned())
        }
        Value::String(text) if CONTENTS.contains(&key) || text.len() > ARGUMENT_MAX => {
            Value::String(redact::summary(text))
        }
        Value::String(text) => Value::String(redact::text(text)),
        Value::Array(_) | Value::Object(_) if depth >= DEPTH_MAX => {
            Value::String(redact::summary(&value.to_string()))
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| told_of(item, key, depth + 1)).collect()),
        // A header's value is kept only where its name is known to be harmless.
        Value::Object(headers) if key == "headers" => {
            let told =
                |(name, _): (&String, &Value)| (name.clone(), Value::String(redact::REDACTED.to_owned()));
            Value::Object(headers.iter().map(told).collect())
        }
        Value::Object(fields) => {
            let told: Map<String, Value> =
                fields.iter().map(|(name, value)| (name.clone(), told_of(value, name, depth + 1))).collect();
            Value::Object(told)
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::domain::schema::ToolMutability;

    fn call(tool: &str, arguments: Value, touches: Vec<Touch>) -> ResolvedCall {
        ResolvedCall {
            tool_call_id: "c".to_owned(),
            tool_name: tool.to_owned(),
            other_names: Vec::new(),
            arguments: Arc::new(arguments),
            mutability: ToolMutability::Mutating,
            concurrency_safe: false,
            touches,
            repair: None,
        }
    }

    #[test]
    fn contents_and_secrets_are_told_by_length_and_digest_or_not_at_all() {
        let write = call("Write", json!({"file_path": "a", "content": "hunter2"}), Vec::new());
        let told = display(&write);
        assert!(
            told.contains(r#""file_path":"a""#) && told.contains("[7 bytes, sha256 f52fbd32b2b3"),
            "{told}"
        );
        for (tool, arguments) in [
            ("Edit", json!({"file_path": "a", "old_string": "hunter2", "new_string": "hunter2"})),
            ("ApplyPatch", json!({"patch": "+hunter2"})),
            (
                "http_request",
                json!({"url": "http://h/?token=hunter2", "headers": {"x": "hunter2"}, "body": "hunter2"}),
            ),
            ("WebFetch", json!({"url": "http://hunter2@h/"})),
            ("mcp__a__b", json!({"api_key": "hunter2", "deep": [{"password": ["hunter2"]}]})),
            ("mcp__a__b", json!({"text": format!("{}hunter2", "x".repeat(ARGUMENT_MAX))})),
            ("mcp__a__b", json!([[[[[[[[[["hunter2"]]]]]]]]]])),
        ] {
            let told = display(&call(tool, arguments, Vec::new()));
            assert!(!told.contains("hunter2"), "{told}");
        }
        let run = Touch::Run { command: "A_TOKEN=hunter2 ls \u{202e}\nx".to_owned(), directory: None };
        assert_eq!(display(&call("Bash", json!({}), vec![run])), "A_TOKEN=[redacted] ls \\u{202e}\\nx");
        let long = Touch::Run { command: "x".repeat(5_000), directory: None };
        assert!(display(&call("Bash", json!({}), vec![long])).len() < DISPLAY_MAX + 40);
    }
}
