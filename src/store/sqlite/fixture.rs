//! What the tests of the store share: a store in a folder of its own, and records to put in it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;
use tempfile::TempDir;

use super::{SqliteOptions, SqliteStore};
use crate::domain::approval::{
    Approval, ApprovalStatus, AskReason, Choice, Decision, DecisionRequest, Offer, Scope,
};
use crate::domain::call::{Call, CallStatus};
use crate::domain::clock::{Clock, SystemClock, Timestamp};
use crate::domain::digest::Digest;
use crate::domain::event::{AgentEvent, CallRef, Resolution};
use crate::domain::identity::CallKey;
use crate::domain::result::ToolResult;
use crate::domain::schema::ToolMutability;
use crate::domain::session::{RuntimeFlags, Session, SessionStatus};
use crate::store::{
    Accepted, ApprovalStep, CallPatch, CallStep, CallStore as _, EventLog as _, EventPage, EventQuery,
    NewCall, SessionRecord, SessionStore as _,
};

pub(super) struct Fixture {
    pub(super) store: Arc<SqliteStore>,
    pub(super) dir: TempDir,
}

impl std::ops::Deref for Fixture {
    type Target = SqliteStore;

    fn deref(&self) -> &SqliteStore {
        &self.store
    }
}

/// A clock that goes when it is told to, in milliseconds.
#[derive(Debug)]
pub(super) struct Hands(pub(super) AtomicI64);

impl Hands {
    pub(super) fn at(moment: Timestamp) -> Arc<Self> {
        Arc::new(Self(moment.as_millisecond().into()))
    }

    pub(super) fn go_on(&self, ms: i64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(self.0.load(Ordering::SeqCst)).unwrap()
    }
}

pub(super) fn open_in(dir: &Path, options: &SqliteOptions) -> SqliteStore {
    SqliteStore::open(dir, Arc::new(SystemClock), options).unwrap()
}

impl Fixture {
    /// A store with the sessions `s` and `other`.
    pub(super) async fn new() -> Self {
        Self::with(SqliteOptions::default()).await
    }

    pub(super) async fn with(options: SqliteOptions) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Arc::new(open_in(dir.path(), &options));
        store.create_session(session("s")).await.unwrap();
        store.create_session(session("other")).await.unwrap();
        Self { store, dir }
    }

    /// The same by a clock of the test's, which stands.
    pub(super) async fn at(hands: &Arc<Hands>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock: Arc<dyn Clock> = hands.clone();
        let store = Arc::new(SqliteStore::open(dir.path(), clock, &SqliteOptions::default()).unwrap());
        store.create_session(session("s")).await.unwrap();
        store.create_session(session("other")).await.unwrap();
        Self { store, dir }
    }

    /// Closes the store and opens it again.
    pub(super) async fn reopened(self) -> Self {
        self.store.close().await;
        drop(Arc::try_unwrap(self.store).unwrap());
        let store = Arc::new(open_in(self.dir.path(), &SqliteOptions::default()));
        Self { store, dir: self.dir }
    }

    pub(super) async fn accept_one(&self, id: &str) -> Call {
        match self.accept(new_call(id)).await.unwrap() {
            Accepted::New(call) => call,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn get(&self, id: &str) -> Call {
        self.call("s", &key(id)).await.unwrap().unwrap()
    }

    /// All events of a query, read page by page.
    pub(super) async fn all(&self, mut query: EventQuery) -> Vec<(u64, String, String)> {
        let mut found = Vec::new();
        loop {
            let page: EventPage = self.events(query.clone()).await.unwrap();
            found.extend(page.events.into_iter().map(|event| (event.id, event.kind, event.json)));
            assert!(page.next_after >= query.after);
            query.after = page.next_after;
            if page.next_after >= page.latest {
                return found;
            }
        }
    }

    pub(super) async fn kinds(&self, session_id: &str) -> Vec<String> {
        let events = self.all(of(session_id)).await;
        let numbers: Vec<u64> = events.iter().map(|(id, ..)| *id).collect();
        assert_eq!(numbers, (1..=events.len() as u64).collect::<Vec<_>>(), "gapless from 1");
        events.into_iter().map(|(_, kind, _)| kind).collect()
    }
}

pub(super) fn of(session_id: &str) -> EventQuery {
    EventQuery { session_id: Some(session_id.to_owned()), limit: 1000, ..EventQuery::default() }
}

pub(super) fn key(id: &str) -> CallKey {
    CallKey::new(None, id.to_owned()).unwrap()
}

pub(super) fn session(id: &str) -> SessionRecord {
    SessionRecord {
        session: Session {
            session_id: id.to_owned(),
            workspace: format!("/w/{id}"),
            labels: [("team".to_owned(), "x".to_owned())].into(),
            status: SessionStatus::Active,
            runtime: RuntimeFlags::default(),
            created_at: moment(),
            ended_at: None,
            last_seq: 0,
        },
        owner: "agent".to_owned(),
        workspace_root: "/w".to_owned(),
        tools: Vec::new(),
        fingerprint: Digest::of(id.as_bytes()),
        session_token: format!("secret of {id}"),
    }
}

pub(super) fn moment() -> Timestamp {
    "2026-01-02T03:04:05.678Z".parse().unwrap()
}

pub(super) fn new_call(id: &str) -> NewCall {
    call_of("s", key(id), json!({"path": "a"}))
}

pub(super) fn call_of(session_id: &str, key: CallKey, arguments: serde_json::Value) -> NewCall {
    let start = AgentEvent::ToolStart {
        call: CallRef::from(&key),
        tool_name: "Read".to_owned(),
        arguments: arguments.clone(),
    };
    NewCall {
        fingerprint: Digest::of(arguments.to_string().as_bytes()),
        call: Call {
            session_id: session_id.to_owned(),
            key,
            tool_name: "Read".to_owned(),
            arguments,
            requested_arguments: None,
            status: CallStatus::Queued,
            result: None,
            details: None,
            error: None,
            approval_id: None,
            question: None,
            mutability: ToolMutability::ReadOnly,
            created_at: moment(),
            started_at: None,
            finished_at: None,
            first_seq: 0,
            last_seq: 0,
        },
        events: vec![start],
        audit: Vec::new(),
        sync: false,
    }
}

pub(super) fn step(id: &str, from: &'static [CallStatus], to: CallStatus) -> CallStep {
    CallStep {
        session_id: "s".to_owned(),
        key: key(id),
        from,
        to,
        patch: CallPatch::default(),
        approval: ApprovalStep::None,
        events: Vec::new(),
        audit: Vec::new(),
        sync: false,
    }
}

pub(super) fn finish(id: &str, from: &'static [CallStatus]) -> CallStep {
    let result = ToolResult::ok("done").with_details(json!({"exit_code": 0}));
    CallStep {
        patch: CallPatch {
            result: Some(result.clone()),
            finished_at: Some(moment()),
            ..CallPatch::default()
        },
        events: vec![AgentEvent::ToolComplete { call: CallRef::from(&key(id)), result }],
        ..step(id, from, CallStatus::Completed)
    }
}

pub(super) fn token(id: &str, content: &str) -> AgentEvent {
    AgentEvent::ToolToken {
        call: CallRef::from(&key(id)),
        stream: "stdout".to_owned(),
        content: content.to_owned(),
    }
}

pub(super) fn approval(approval_id: &str, call: &str) -> Box<Approval> {
    Box::new(Approval {
        approval_id: approval_id.to_owned(),
        session_id: "s".to_owned(),
        call: key(call),
        tool_name: "Bash".to_owned(),
        arguments: json!({"command": "rm x"}),
        digest: Digest::of(approval_id.as_bytes()),
        status: ApprovalStatus::Pending,
        reason: AskReason { text: "asks".to_owned(), rule: None },
        cwd: "/w/s".to_owned(),
        cwd_exact: None,
        cwd_from: None,
        sandbox: "none".to_owned(),
        diff: None,
        leaves: Some(vec!["rm x".to_owned()]),
        display: "rm x".to_owned(),
        offers: vec![Offer::once()],
        claim: None,
        grants_expire_in_s: None,
        created_at: moment(),
        expires_at: moment(),
        decision: None,
        changed_files: Vec::new(),
        changed_files_left_out: 0,
        identical: Vec::new(),
        worker: None,
        forwarded: false,
    })
}

pub(super) fn ask(call: &str, approval_id: &str) -> CallStep {
    let asked = approval(approval_id, call);
    CallStep {
        patch: CallPatch { approval_id: Some(approval_id.to_owned()), ..CallPatch::default() },
        events: vec![AgentEvent::ToolApprovalRequested {
            call: CallRef::from(&key(call)),
            approval: asked.clone(),
        }],
        approval: ApprovalStep::Open { new: asked, of_token: 1_000 },
        ..step(call, &[CallStatus::Queued], CallStatus::AwaitingApproval)
    }
}

pub(super) fn decision(choice: Choice, arguments: Option<serde_json::Value>) -> Decision {
    Decision {
        request: DecisionRequest {
            decision: choice,
            scope: Scope::Once,
            pattern: None,
            arguments,
            expires_in_s: None,
            message: None,
        },
        by: "operator".to_owned(),
        at: moment(),
        digest: Digest::of(b"what may run"),
        grant: None,
    }
}

pub(super) fn resolved(call: &str, approval_id: &str, decision: Resolution) -> AgentEvent {
    AgentEvent::ToolApprovalResolved {
        call: CallRef::from(&key(call)),
        approval_id: approval_id.to_owned(),
        decision,
        scope: Scope::Once,
        by: "operator".to_owned(),
        arguments: None,
    }
}
