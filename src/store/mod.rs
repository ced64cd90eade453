//! What the product asks of its storage, in terms of the domain; no SQL outside `sqlite`.
//!
//! Each method is one atomic step. Steps of one session take effect in one order, and an event is
//! durable before the step that wrote it returns. A store that spans several nodes can keep the
//! same promises: nothing here hands out a transaction.

mod forwarded_asks;
pub mod sqlite;
mod worker_asks;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::watch;

use crate::domain::approval::{Approval, ApprovalStatus, Decision};
use crate::domain::audit::{AuditDecision, AuditEntry, AuditKind, AuditRecord};
use crate::domain::call::{Call, CallError, CallStatus};
use crate::domain::clock::Timestamp;
use crate::domain::digest::Digest;
use crate::domain::event::AgentEvent;
use crate::domain::grant::Grant;
use crate::domain::identity::CallKey;
use crate::domain::outcome::Question;
use crate::domain::result::ToolResult;
use crate::domain::session::{RuntimeFlags, Session, SessionStatus, SessionTool};
use crate::telemetry::metrics::StoreLoad;
pub use forwarded_asks::{FORWARDED_SLACK_MS, ForwardedAsks};
pub use worker_asks::{Asked, ENDED_KEPT, NewWorkerAsk, WorkerAsks};

/// Why a step did not happen. Nothing of a failed step is kept.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no such session, call, approval or grant.
    #[error("not found")]
    NotFound,
    /// The call was not in one of the statuses that the step begins from.
    #[error("the call is {} already", .0.status.as_str())]
    CallMoved(Box<Call>),
    /// The approval was not in the status that the step begins from.
    #[error("the approval is {} already", .0.status.as_str())]
    ApprovalMoved(Box<Approval>),
    /// The session has ended.
    #[error("the session has ended")]
    SessionEnded,
    /// As many approvals wait in the session as may.
    #[error("too many approvals wait in this session")]
    TooManyPending,
    /// As many approvals wait in all sessions of the token as may.
    #[error("too many approvals wait in the sessions of this token")]
    TooManyOfToken,
    /// The cursor is none that a list of this kind gave out.
    #[error("the cursor is not one of this list")]
    BadCursor,
    /// The writer's queue is full: try again.
    #[error("the store is busy")]
    Busy,
    /// The disk or the database failed; the text is for the log alone.
    #[error("storage failed: {0}")]
    Failed(String),
}

/// A session with what only the server needs to know of it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRecord {
    /// What is answered.
    pub session: Session,
    /// The token that made it.
    pub owner: String,
    /// The configured root that its workspace lies under.
    pub workspace_root: String,
    /// The client's own tools.
    pub tools: Vec<SessionTool>,
    /// Over the body that made it: the same id with another body is a conflict.
    pub fingerprint: Digest,
    /// The secret that reaches this session alone.
    pub session_token: String,
}

/// What came of creating a session.
#[derive(Debug, Clone, PartialEq)]
pub enum Created {
    /// It was made, with its `session_started`.
    New(SessionRecord),
    /// The same body made it before.
    Existing(SessionRecord),
    /// Another body, or another token, made it before.
    Conflict,
}

/// A call to accept.
#[derive(Debug, Clone, PartialEq)]
pub struct NewCall {
    /// As it would be recorded; `first_seq` and `last_seq` are filled in.
    pub call: Call,
    /// Over name and argument text.
    pub fingerprint: Digest,
    /// Its events: `tool_start`, and its end where it has ended already.
    pub events: Vec<AgentEvent>,
    /// What the audit log is told with it.
    pub audit: Vec<AuditRecord>,
    /// Whether the record must be on the disk, not only in the operating system, when the step
    /// returns.
    pub sync: bool,
}

/// What came of accepting a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Accepted {
    /// It is new.
    New(Call),
    /// The same call was accepted before.
    Existing(Call),
    /// Another call has this id.
    Conflict,
}

/// A step of a call: it happens only from one of `from`.
#[derive(Debug, Clone, PartialEq)]
pub struct CallStep {
    /// The session.
    pub session_id: String,
    /// The call.
    pub key: CallKey,
    /// The statuses that it may be in.
    pub from: &'static [CallStatus],
    /// The status that it gets.
    pub to: CallStatus,
    /// What else changes.
    pub patch: CallPatch,
    /// What happens to approvals in the same step.
    pub approval: ApprovalStep,
    /// Events, in order, after those that earlier steps wrote.
    pub events: Vec<AgentEvent>,
    /// What the audit log is told in the same step.
    pub audit: Vec<AuditRecord>,
    /// Whether the step must be on the disk, not only in the operating system, when it returns.
    pub sync: bool,
}

/// The fields of a call that a step sets; `None` leaves a field as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CallPatch {
    /// Effective arguments, after an edit; the old ones become `requested_arguments` (once).
    pub arguments: Option<Value>,
    /// The result.
    pub result: Option<ToolResult>,
    /// Facts for programs.
    pub details: Option<Value>,
    /// Why it failed.
    pub error: Option<CallError>,
    /// The approval that it waits for or starts with.
    pub approval_id: Option<String>,
    /// The question that it waits for.
    pub question: Option<Question>,
    /// When the tool started.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
}

/// What happens to approvals in a call's step.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ApprovalStep {
    /// Nothing.
    #[default]
    None,
    /// A new one is opened; fails with [`StoreError::TooManyPending`] at the session's bound, with
    /// [`StoreError::TooManyOfToken`] at its token's, and with [`StoreError::ApprovalMoved`] where the call has one
    /// that waits or is not spent yet.
    Open {
        /// The new one.
        new: Box<Approval>,
        /// How many may wait in all sessions of the token.
        of_token: usize,
    },
    /// One that still waits, or was allowed and not spent, is superseded by a new one; fails with
    /// [`StoreError::ApprovalMoved`] where it does not stand as it was seen: who decided meanwhile was first.
    Supersede {
        /// The old one's id.
        old: String,
        /// How it was seen to stand: pending or allowed.
        seen: ApprovalStatus,
        /// The new one.
        new: Box<Approval>,
        /// How many may wait in all sessions of the token.
        of_token: usize,
    },
    /// An allowed one is spent: once, or the step fails.
    Spend(String),
    /// The same, and what it allowed begins to hold.
    Redeem {
        /// Its id.
        approval_id: String,
        /// What holds from then on.
        grants: Vec<Grant>,
    },
    /// The one of the call that still waits gets this status; fails with
    /// [`StoreError::ApprovalMoved`] where it was decided meanwhile. (A step that ends its call
    /// cancels what waits by itself, and logs that.)
    Close(ApprovalStatus),
}

/// Which events to read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventQuery {
    /// One session, or the log of all.
    pub session_id: Option<String>,
    /// Only later than this: a sequence number, or the log's own cursor where no session is named.
    pub after: u64,
    /// Only of this call.
    pub call: Option<CallKey>,
    /// Only of these types; empty means all.
    pub types: Vec<String>,
    /// At most so many, 1 to 1000.
    pub limit: usize,
    /// At most so many bytes of JSON, but for the first event; 0 for as many as the store gives.
    pub bytes: usize,
}

/// Events as they are streamed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EventPage {
    /// In order.
    pub events: Vec<StreamedEvent>,
    /// What `after` may be next: past everything that the filter left out. While it is below
    /// `latest` there is more to look at, also where this page has no event: one page looks
    /// through a bounded part of the log.
    pub next_after: u64,
    /// The latest sequence number (or cursor) there is.
    pub latest: u64,
    /// The earliest that is still kept, of the log of all the first after its last gap; 1 where
    /// nothing was dropped.
    pub earliest: u64,
}

/// One event, already written as the JSON that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamedEvent {
    /// The sequence number, or the log's cursor where no session was named.
    pub id: u64,
    /// Its type.
    pub kind: String,
    /// The whole event as JSON.
    pub json: String,
    /// Whether it ends its call.
    pub ends_call: bool,
}

/// A page of a list, oldest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// Where the next page begins, where there is one.
    pub next_cursor: Option<String>,
}

/// Where a page begins and how long it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest {
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// 1 to 1000.
    pub limit: usize,
}

/// Which approvals to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApprovalFilter {
    /// Only of this status.
    pub status: Option<ApprovalStatus>,
    /// Only of this session.
    pub session_id: Option<String>,
    /// Of identical ones only the first, which names the others.
    pub fold: bool,
}

/// The log of events.
#[async_trait]
pub trait EventLog: Send + Sync {
    /// Appends events that are not steps of a call (tokens, progress, config); returns the last
    /// sequence number. What comes after its call's end is dropped without an error (but for
    /// `bash_completed`), so that late tokens need no care. An ending event is refused: steps write
    /// those. Fails for an ended session, and for an event of a call that is not known.
    async fn append(&self, session_id: Option<&str>, events: Vec<AgentEvent>) -> Result<u64, StoreError>;
    /// Reads a page.
    async fn events(&self, query: EventQuery) -> Result<EventPage, StoreError>;
    /// Follows a session's latest sequence number, or the log's cursor where none is named.
    fn latest(&self, session_id: Option<&str>) -> watch::Receiver<u64>;
    /// How many follow that log now.
    fn followers(&self, session_id: Option<&str>) -> usize;
}

/// The calls.
#[async_trait]
pub trait CallStore: Send + Sync {
    /// Accepts a call, at most once under its key. Fails for an ended session.
    async fn accept(&self, new: NewCall) -> Result<Accepted, StoreError>;
    /// Accepts several in order, or none: any conflict refuses them all (the index of the first
    /// one is in the error's place).
    async fn accept_all(&self, new: Vec<NewCall>) -> Result<Result<Vec<Accepted>, usize>, StoreError>;
    /// Moves a call a step on. Whatever `from` says, a call that has ended never gets another status;
    /// a step has exactly one ending event where it ends its call, after which of the call only
    /// `bash_completed` can follow. An approval that still waits then becomes cancelled, with its
    /// event.
    async fn step(&self, step: CallStep) -> Result<Call, StoreError>;
    /// One call.
    async fn call(&self, session_id: &str, key: &CallKey) -> Result<Option<Call>, StoreError>;
    /// The fingerprint that a call was accepted with.
    async fn fingerprint(&self, session_id: &str, key: &CallKey) -> Result<Option<Digest>, StoreError>;
    /// The keys of all of a session's calls, in no order.
    async fn call_keys(&self, session_id: &str) -> Result<Vec<CallKey>, StoreError>;
    /// A session's calls, oldest first.
    async fn calls(&self, session_id: &str, page: PageRequest) -> Result<Page<Call>, StoreError>;
    /// What the server left behind in active sessions when it ended, for the start alone: calls that
    /// had not ended, and backgrounded ones whose `bash_completed` is not in the log.
    async fn open_calls(&self) -> Result<Vec<Call>, StoreError>;
}

/// The approvals.
#[async_trait]
pub trait ApprovalStore: Send + Sync {
    /// One approval.
    async fn approval(&self, approval_id: &str) -> Result<Option<Approval>, StoreError>;
    /// Approvals, oldest first.
    async fn approvals(
        &self,
        filter: ApprovalFilter,
        page: PageRequest,
    ) -> Result<Page<Approval>, StoreError>;
    /// Records a decision on one that is pending (else [`StoreError::ApprovalMoved`]), with its
    /// event, the grant it makes and the call's edited arguments, all synced to the disk.
    async fn decide(
        &self,
        approval_id: &str,
        decision: Decision,
        grant: Option<Grant>,
        event: AgentEvent,
    ) -> Result<Approval, StoreError>;
    /// How many wait in a session.
    async fn pending_count(&self, session_id: &str) -> Result<usize, StoreError>;
}

/// The sessions.
#[async_trait]
pub trait SessionStore: Send + Sync {
    /// Makes a session, at most once under its id.
    async fn create_session(&self, record: SessionRecord) -> Result<Created, StoreError>;
    /// One session, with its latest sequence number.
    async fn session(&self, session_id: &str) -> Result<Option<SessionRecord>, StoreError>;
    /// Sessions of one owner, or of all, oldest first.
    async fn sessions(
        &self,
        owner: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<SessionRecord>, StoreError>;
    /// All active sessions: for the start and for workspace nesting.
    async fn active_sessions(&self) -> Result<Vec<SessionRecord>, StoreError>;
    /// Records the flags in force, with `runtime_changed`.
    async fn set_runtime(
        &self,
        session_id: &str,
        runtime: RuntimeFlags,
        problem: Option<String>,
    ) -> Result<(), StoreError>;
    /// Marks it ended and writes `session_ended`; later steps of its calls fail. Its calls should
    /// have been cancelled; one that was accepted meanwhile is cancelled in the same step, with its
    /// events. Once: a repeat returns the record unchanged.
    async fn end_session(&self, session_id: &str) -> Result<SessionRecord, StoreError>;
}

/// The grants.
#[async_trait]
pub trait GrantStore: Send + Sync {
    /// The grants that hold now, oldest first.
    async fn grants(&self, page: PageRequest) -> Result<Page<Grant>, StoreError>;
    /// Those that hold for a session now: its own, and `always` ones of its agent under its root.
    async fn grants_for(
        &self,
        session_id: &str,
        agent: &str,
        workspace_root: &str,
    ) -> Result<Vec<Grant>, StoreError>;
    /// Revokes one, which the audit log is told in the same step; whether it was there.
    async fn revoke(&self, grant_id: &str, by: &str) -> Result<bool, StoreError>;
    /// Removes those whose time is over by `now`, a bounded number at once, which the audit log is told in the
    /// same step; when the next one is due. (Those of a session end with it, in the step that ends it.)
    async fn expire_grants(&self, now: Timestamp) -> Result<Option<Timestamp>, StoreError>;
}

/// Which entries of the audit log to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AuditFilter {
    /// Only of this session.
    pub session_id: Option<String>,
    /// Only of calls with this id.
    pub call_id: Option<String>,
    /// Only of this kind.
    pub kind: Option<AuditKind>,
    /// Only what came out so.
    pub decision: Option<AuditDecision>,
    /// Only of this tool.
    pub tool: Option<String>,
    /// Only by this token.
    pub by: Option<String>,
    /// Only from this moment on.
    pub since: Option<Timestamp>,
    /// Only before this moment.
    pub until: Option<Timestamp>,
}

/// The audit log: written by the steps that it tells of, never changed. How approvals end, and
/// grants, are told by the store itself in the step that does it.
#[async_trait]
pub trait AuditStore: Send + Sync {
    /// Entries, oldest first. One page looks through a bounded part of the log: while there is a
    /// next cursor there is more to look at, also where this page is short or empty.
    async fn audit(&self, filter: AuditFilter, page: PageRequest) -> Result<Page<AuditEntry>, StoreError>;
    /// What a session was allowed to edit and run, the latest first; at most so many.
    async fn latest_changes(&self, session_id: &str, limit: usize) -> Result<Vec<AuditEntry>, StoreError>;
    /// Tells what goes with no other step.
    async fn note(&self, session_id: &str, entries: Vec<AuditRecord>) -> Result<(), StoreError>;
}

/// All of it.
pub trait Store:
    EventLog + CallStore + ApprovalStore + WorkerAsks + ForwardedAsks + SessionStore + GrantStore + AuditStore
{
    /// Whether the store takes writes: for readiness.
    fn is_healthy(&self) -> bool;
    /// How full it is now. Touches the disk, for a moment.
    fn load(&self) -> StoreLoad;
}

impl SessionRecord {
    /// Whether it takes calls.
    pub fn is_active(&self) -> bool {
        self.session.status == SessionStatus::Active
    }
}
