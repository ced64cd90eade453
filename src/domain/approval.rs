//! An approval: what a person is asked, bound to what exactly would run.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::clock::Timestamp;
use super::digest::Digest;
use super::identity::CallKey;
use super::visible;

/// The most approvals that may wait in one session; a further one is refused.
pub const PENDING_MAX: usize = 20;

/// A question to a person, immutable once opened but for its status and decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// Its id.
    pub approval_id: String,
    /// The session that asks; the worker's own where `worker` is there.
    pub session_id: String,
    /// The call that waits.
    #[serde(flatten)]
    pub call: CallKey,
    /// The exact tool.
    pub tool_name: String,
    /// The effective arguments.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Over name, arguments, resolved paths, shown files, working directory and sandbox level.
    pub digest: Digest,
    /// Where it stands.
    pub status: ApprovalStatus,
    /// Why it asks.
    pub reason: AskReason,
    /// The working directory that the call would run in: control and invisible characters escaped, long
    /// padding folded.
    pub cwd: String,
    /// The same without escapes, where there are any in `cwd`: percent-encoded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_exact: Option<String>,
    /// The session's own directory, where the call asks for another one: percent-encoded. A relative one
    /// is counted from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd_from: Option<String>,
    /// The sandbox level it would run under.
    pub sandbox: String,
    /// A unified diff of what would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// The commands that a shell text would run, as far as it was understood.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaves: Option<Vec<String>>,
    /// One line to show: control and invisible characters escaped, long padding folded.
    pub display: String,
    /// What the agent says that the call is for: its own word, which nobody checked. Escaped and clipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// What may be granted beyond this once.
    pub offers: Vec<Offer>,
    /// How long what an allow grants holds at most, in seconds; none where it can grant nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grants_expire_in_s: Option<u64>,
    /// When it was opened.
    pub created_at: Timestamp,
    /// When it is denied by itself.
    pub expires_at: Timestamp,
    /// What was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Of the files that a command names or implies: what changed in them since the session began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed_files: Vec<ChangedFile>,
    /// So many further files of the command changed, too, and are not told of.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed_files_left_out: u64,
    /// In a list: the other approvals that wait in the session and ask exactly the same. Each is decided
    /// by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identical: Vec<String>,
    /// The worker that forwarded it: the call runs there, and all that is shown of it is the worker's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<Worker>,
    /// Whether the host of this server decides it (`approvals.forward_to`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub forwarded: bool,
}

/// A change in a file that would be run. A file has one for each edit, the latest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ChangedFile {
    /// The file, beneath the workspace; escaped.
    pub path: String,
    /// When.
    pub at: Timestamp,
    /// The turn of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<String>,
    /// The call that changed it, or that ran when it changed; none where no call is known to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// What that call was of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_name: Option<String>,
    /// What that call changed in it, escaped and clipped, where its record tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Of a file's earliest change here: so many calls before it may have changed the file, too, and are not told of.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub earlier: u64,
    /// Of a file's earliest change here: the session did more than was looked through, so that it may have changed the
    /// file even before.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unsearched: bool,
}

/// The parameter in which an agent says what a call of the tool is for.
const CLAIMS: &[(&str, &str)] = &[("Bash", "description"), ("request_permissions", "reason")];
/// Most characters of it that are shown.
const CLAIM_MAX: usize = 2_000;

/// The parameter of a tool in which the agent says what a call is for.
pub(crate) fn claim_parameter(tool_name: &str) -> Option<&'static str> {
    CLAIMS.iter().find(|(tool, _)| *tool == tool_name).map(|(_, parameter)| *parameter)
}

/// What the agent says that a call is for, as [`Approval::claim`] shows it.
pub(crate) fn claim(tool_name: &str, arguments: &Value) -> Option<String> {
    let text = arguments.get(claim_parameter(tool_name)?)?.as_str()?;
    (!text.trim().is_empty()).then(|| visible::clipped(text, CLAIM_MAX))
}

impl Approval {
    /// Whether a reviewer of this one has seen all that the other one shows: they differ in nothing but
    /// their call and times.
    pub fn asks_the_same(&self, other: &Self) -> bool {
        self.session_id == other.session_id
            && self.worker == other.worker
            && self.digest == other.digest
            && self.tool_name == other.tool_name
            && self.arguments == other.arguments
            && self.reason == other.reason
            && (&self.cwd, &self.sandbox, &self.display) == (&other.cwd, &other.sandbox, &other.display)
            && (&self.diff, &self.leaves, &self.offers) == (&other.diff, &other.leaves, &other.offers)
            && self.grants_expire_in_s == other.grants_expire_in_s
            && self.changed_files == other.changed_files
            && self.changed_files_left_out == other.changed_files_left_out
    }

    /// The session's directory when the call was judged, from which its own is found again; none where
    /// no directory is recorded.
    pub fn directory(&self) -> Option<PathBuf> {
        match self.cwd_from.as_ref().or(self.cwd_exact.as_ref()) {
            Some(exact) => {
                let bytes = percent_encoding::percent_decode_str(exact).collect();
                Some(OsString::from_vec(bytes).into())
            }
            None if self.cwd.is_empty() => None,
            None => Some(PathBuf::from(&self.cwd)),
        }
    }
}

/// A path without loss: its bytes, percent-encoded (RFC 3986, section 2.1) but for letters, digits and `/`.
pub fn exact(path: &Path) -> String {
    const KEPT: &percent_encoding::AsciiSet = &percent_encoding::NON_ALPHANUMERIC.remove(b'/');
    percent_encoding::percent_encode(path.as_os_str().as_bytes(), KEPT).to_string()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is how serde asks")]
pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is how serde asks")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// Who forwarded an ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Worker {
    /// The name of its token in this server's config.
    pub token: String,
    /// What it calls itself; its own word.
    pub name: String,
}

impl std::fmt::Display for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (calls itself {})", self.token, self.name)
    }
}

/// Where an approval stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalStatus {
    /// It waits for a decision.
    Pending,
    /// A person allowed it; the call spends it when it starts.
    Allowed,
    /// A person refused.
    Denied,
    /// The call was cancelled, or its session ended.
    Cancelled,
    /// Nobody decided in time.
    Expired,
    /// What it was bound to changed; another one was opened.
    Superseded,
}

impl ApprovalStatus {
    /// The name on the wire and in storage.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
            Self::Superseded => "superseded",
        }
    }
}

/// Why a call has to be asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AskReason {
    /// For a person.
    pub text: String,
    /// The rule that asked, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
}

/// What a reviewer may grant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Offer {
    /// For how long.
    pub scope: Scope,
    /// The rule that would be stored; none for `once`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Of a command: the directory of the workspace in which it has to start, `.` for the workspace itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
}

impl Offer {
    /// This call alone.
    pub fn once() -> Self {
        Self { scope: Scope::Once, pattern: None, directory: None }
    }
}

/// A rule that is offered or granted, with where it holds, for people; not escaped.
pub fn rule_in(pattern: &str, directory: Option<&str>) -> String {
    directory.map_or_else(|| pattern.to_owned(), |directory| format!("{pattern} in {directory}"))
}

/// How long a decision holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This call alone.
    #[default]
    Once,
    /// The session.
    Session,
    /// The same agent token under the same workspace root.
    Always,
}

/// Allow or deny.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// It may run.
    Allow,
    /// It may not.
    Deny,
}

/// What a reviewer sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DecisionRequest {
    /// Allow or deny.
    pub decision: Choice,
    /// For how long; `once` where it is left out.
    #[serde(default)]
    pub scope: Scope,
    /// One of the offers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Edited arguments: the tool stays, scope is `once`.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "super::arguments::unambiguous_or_none"
    )]
    #[schema(value_type = Option<Object>)]
    pub arguments: Option<Value>,
    /// After how many seconds what this grants no longer holds, at most the approval's `grants_expire_in_s`,
    /// which also counts where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub expires_in_s: Option<u64>,
    /// A message to the model, at most 16 KiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 16384)]
    pub message: Option<String>,
}

/// A decision as it stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Decision {
    /// What was sent.
    #[serde(flatten)]
    pub request: DecisionRequest,
    /// Which token decided.
    pub by: String,
    /// When.
    pub at: Timestamp,
    /// What the allowed call must still have when it starts; differs from the approval's own
    /// digest only where the arguments were edited.
    pub digest: Digest,
    /// What it granted, where its scope is wider than `once`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<Granted>,
}

/// The grant that a decision made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Granted {
    /// Its id, for revoking.
    pub grant_id: String,
    /// From when on it no longer holds.
    pub expires_at: Timestamp,
}
