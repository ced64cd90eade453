//! An ask that a worker forwards to its host, and how it stands there: what the two send each other.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::approval::{Approval, ApprovalStatus, AskReason, ChangedFile, Choice, is_zero};
use super::clock::Timestamp;
use super::digest::Digest;
use super::identity::{CallKey, check_session_id};

/// The most bytes of an ask as JSON.
pub const ASK_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The longest that a worker may let an ask wait, in seconds: 30 days.
pub const EXPIRES_IN_S_MAX: u64 = 30 * 24 * 60 * 60;
/// The longest tool name and sandbox level, in bytes.
const NAME_BYTES_MAX: usize = 256;
/// The longest working directory, reason and rule, in bytes.
const LINE_BYTES_MAX: usize = 16 * 1024;
/// The longest line to show, in bytes.
const DISPLAY_BYTES_MAX: usize = 64 * 1024;
/// The most changes of files.
const CHANGES_MAX: usize = 256;
/// The most commands that a shell text is shown as.
const LEAVES_MAX: usize = 10_000;

/// What a worker asks its host: what would run there, and what its allow is bound to. All of it is the
/// worker's word.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkerAsk {
    /// What the worker calls itself: 1 to 64 of `A-Z a-z 0-9 . _ -`.
    #[schema(pattern = "^[A-Za-z0-9._-]{1,64}$")]
    pub worker: String,
    /// The worker's session.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    pub session_id: String,
    /// The turn of the call, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_length = 1, max_length = 256)]
    pub turn: Option<String>,
    /// The call that waits.
    #[schema(min_length = 1, max_length = 256)]
    pub call_id: String,
    /// The exact tool.
    #[schema(min_length = 1, max_length = 256)]
    pub tool_name: String,
    /// The effective arguments.
    #[serde(deserialize_with = "super::arguments::unambiguous")]
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Over everything that an allow covers; the answer says it again.
    pub digest: Digest,
    /// Why it asks.
    pub reason: AskReason,
    /// The working directory, on the worker.
    pub cwd: String,
    /// The sandbox level, on the worker.
    pub sandbox: String,
    /// A unified diff of what would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The commands that a shell text would run, as far as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Vec<String>>,
    /// One line to show.
    pub display: String,
    /// Of the files that a command names or implies: what the worker's session changed in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 256)]
    pub changed_files: Vec<ChangedFile>,
    /// So many further files of the command changed, too, and are not told of.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed_files_left_out: u64,
    /// How long it may wait, in seconds; the host's own bound may be shorter.
    #[schema(minimum = 1, maximum = 2_592_000)]
    pub expires_in_s: u64,
}

impl WorkerAsk {
    /// The call; the error says which field is out of bounds, as a JSON pointer, and how.
    pub fn check(&self) -> Result<CallKey, (&'static str, String)> {
        let bounded = |pointer, text: &str, max: usize| {
            if text.len() <= max { Ok(()) } else { Err((pointer, format!("at most {max} bytes"))) }
        };
        if !is_worker_name(&self.worker) {
            return Err(("/worker", "a name has 1 to 64 of A-Z a-z 0-9 . _ -".to_owned()));
        }
        check_session_id(&self.session_id).map_err(|error| ("/session_id", error.to_string()))?;
        let key = CallKey::new(self.turn.clone(), self.call_id.clone());
        let key = key.map_err(|error| ("/call_id", error.to_string()))?;
        if self.tool_name.is_empty() || self.tool_name.chars().any(char::is_control) {
            return Err(("/tool_name", "a tool has a name without control characters".to_owned()));
        }
        if !self.arguments.is_object() {
            return Err(("/arguments", "arguments are a JSON object".to_owned()));
        }
        if !self.digest.is_well_formed() {
            return Err(("/digest", "a digest has 64 hexadecimal digits in lower case".to_owned()));
        }
        if !(1..=EXPIRES_IN_S_MAX).contains(&self.expires_in_s) {
            return Err(("/expires_in_s", format!("1 to {EXPIRES_IN_S_MAX}")));
        }
        if self.leaves.as_ref().is_some_and(|leaves| leaves.len() > LEAVES_MAX) {
            return Err(("/leaves", format!("at most {LEAVES_MAX}")));
        }
        if self.changed_files.len() > CHANGES_MAX {
            return Err(("/changed_files", format!("at most {CHANGES_MAX}")));
        }
        bounded("/tool_name", &self.tool_name, NAME_BYTES_MAX)?;
        bounded("/sandbox", &self.sandbox, NAME_BYTES_MAX)?;
        bounded("/cwd", &self.cwd, LINE_BYTES_MAX)?;
        bounded("/reason/text", &self.reason.text, LINE_BYTES_MAX)?;
        bounded("/reason/rule", self.reason.rule.as_deref().unwrap_or_default(), LINE_BYTES_MAX)?;
        bounded("/display", &self.display, DISPLAY_BYTES_MAX)?;
        Ok(key)
    }

    /// Over what an ask is about: the same id with another one is a conflict.
    pub fn fingerprint(&self) -> Digest {
        let call = CallKey { turn: self.turn.clone(), call_id: self.call_id.clone() }.storage_key();
        let arguments = self.arguments.to_string();
        let fields = [&self.session_id, &call, self.digest.as_str(), &self.tool_name, &arguments];
        Digest::of_fields(fields.map(str::as_bytes))
    }
}

/// Whether a worker may call itself that.
pub fn is_worker_name(name: &str) -> bool {
    let letters = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    (1..=64).contains(&name.len()) && name.bytes().all(letters)
}

/// How a worker's ask stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct WorkerStanding {
    /// The host's approval.
    pub approval_id: String,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// What was asked for: an allow holds for nothing else.
    pub digest: Digest,
    /// When it is denied by itself.
    pub expires_at: Timestamp,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<WorkerDecision>,
}

/// What a host's reviewer decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerDecision {
    /// Allow or deny; an allow is for this once.
    pub decision: Choice,
    /// Which token of the host decided.
    pub by: String,
    /// For the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl From<Approval> for WorkerStanding {
    fn from(approval: Approval) -> Self {
        let decision = approval.decision.map(|decision| WorkerDecision {
            decision: decision.request.decision,
            by: decision.by,
            message: decision.request.message,
        });
        Self {
            approval_id: approval.approval_id,
            status: approval.status,
            digest: approval.digest,
            expires_at: approval.expires_at,
            decision,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn ask() -> Value {
        json!({"worker": "w-1", "session_id": "s", "call_id": "c", "tool_name": "Bash",
            "arguments": {"command": "ls"}, "digest": "0".repeat(64), "reason": {"text": "r"}, "cwd": "/w",
            "sandbox": "none", "display": "ls", "expires_in_s": 60})
    }

    #[test]
    fn every_field_has_its_bound() {
        let read = |ask: Value| serde_json::from_value::<WorkerAsk>(ask).unwrap().check();
        assert_eq!(read(ask()).unwrap(), CallKey { turn: None, call_id: "c".into() });
        for (field, bad) in [
            ("worker", json!("")),
            ("worker", json!("a b")),
            ("worker", json!("x".repeat(65))),
            ("session_id", json!("../x")),
            ("call_id", json!("a\n")),
            ("call_id", json!("x".repeat(257))),
            ("tool_name", json!("")),
            ("tool_name", json!("Ba\u{1b}sh")),
            ("tool_name", json!("x".repeat(257))),
            ("arguments", json!([])),
            ("digest", json!("0".repeat(63))),
            ("digest", json!("A".repeat(64))),
            ("sandbox", json!("x".repeat(257))),
            ("cwd", json!("x".repeat(LINE_BYTES_MAX + 1))),
            ("display", json!("x".repeat(DISPLAY_BYTES_MAX + 1))),
            ("leaves", json!(vec![""; LEAVES_MAX + 1])),
            ("expires_in_s", json!(0)),
            ("expires_in_s", json!(EXPIRES_IN_S_MAX + 1)),
        ] {
            let mut wrong = ask();
            wrong[field] = bad;
            assert_eq!(read(wrong).unwrap_err().0, format!("/{field}"), "{field}");
        }
        let mut wrong = ask();
        wrong["reason"]["rule"] = json!("x".repeat(LINE_BYTES_MAX + 1));
        assert_eq!(read(wrong).unwrap_err().0, "/reason/rule");
    }

    #[test]
    fn what_an_ask_is_about_tells_it_from_others() {
        let print = |ask: Value| serde_json::from_value::<WorkerAsk>(ask).unwrap().fingerprint();
        for (field, other) in [
            ("session_id", json!("t")),
            ("call_id", json!("d")),
            ("turn", json!("t")),
            ("tool_name", json!("Write")),
            ("arguments", json!({"command": "rm"})),
            ("digest", json!("1".repeat(64))),
        ] {
            let mut changed = ask();
            changed[field] = other;
            assert_ne!(print(changed), print(ask()), "{field}");
        }
        let mut later = ask();
        later["expires_in_s"] = json!(59);
        assert_eq!(print(later), print(ask()), "a repeat has less time left");
    }
}
