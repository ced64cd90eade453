//! What is in memory of an active session and of its open calls.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OnceCell, watch};
use tokio_util::sync::CancellationToken;

use super::error::SessionError;
use super::runtime::RuntimeFile;
use super::todos::TodoFile;
use crate::domain::call::{Call, CallStatus};
use crate::domain::digest::Digest;
use crate::domain::identity::CallKey;
use crate::domain::schema::ToolSchema;
use crate::executor::GatedExecutor;
use crate::permission::WorkingDirectory;
use crate::store::{SessionRecord, Store};
use crate::workspace::{ReadLedger, Workspace};

/// How many ids of a session's calls are remembered, at 8 bytes each; past that every call is
/// recorded before it runs.
const KNOWN_MAX: usize = 2_000_000;

/// An active session.
pub(super) struct LiveSession {
    pub(super) record: SessionRecord,
    pub(super) folder: PathBuf,
    pub(super) workspace: Arc<Workspace>,
    pub(super) working_directory: Arc<WorkingDirectory>,
    pub(super) reads: Arc<ReadLedger>,
    pub(super) runtime: RuntimeFile,
    pub(super) todos: Arc<TodoFile>,
    pub(super) executor: Arc<dyn GatedExecutor>,
    pub(super) schemas: Arc<[ToolSchema]>,
    ending: AtomicBool,
    known: OnceCell<Mutex<HashSet<u64>>>,
    calls: Mutex<HashMap<CallKey, Arc<LiveCall>>>,
}

/// An open call, or one that is being accepted.
pub(super) struct LiveCall {
    pub(super) fingerprint: Digest,
    /// Cancelled when the call is to end, by its client or with the server.
    pub(super) cancel: CancellationToken,
    /// Told when someone decided.
    pub(super) wake: Notify,
    /// Held by who ends the call in more than one step, and by who cancels it: one of them comes first.
    pub(super) fate: tokio::sync::Mutex<()>,
    state: watch::Sender<State>,
}

#[derive(Debug, Clone)]
enum State {
    Accepting,
    Accepted(Arc<Call>),
    /// It was not accepted after all: what there is of it stands in the store.
    Gone,
}

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Until the call has ended or waits for someone.
    ForAnswerOrPause,
    /// Until the call has ended, through pauses.
    ForAnswer,
}

impl Waiting {
    fn is_over(self, call: &Call) -> bool {
        call.status.has_ended() || (self == Self::ForAnswerOrPause && call.status.is_waiting())
    }
}

/// What reserving a call's id came to.
pub(super) enum Reserved {
    /// The id is free, and now taken by this.
    New(Arc<LiveCall>),
    /// The same call is open.
    Joined(Arc<LiveCall>),
    /// Another call with this id is being accepted: which of the two has the id is not known before
    /// that has come to its end.
    Contested(Arc<LiveCall>),
}

impl LiveSession {
    pub(super) fn new(
        record: SessionRecord,
        folder: PathBuf,
        workspace: Arc<Workspace>,
        executor: Arc<dyn GatedExecutor>,
    ) -> Self {
        let directory = workspace.root().to_path_buf();
        let runtime = RuntimeFile::new(folder.join("runtime.json"), record.session.runtime.clone());
        let todos = Arc::new(TodoFile::new(&folder));
        let schemas = executor.schemas().into();
        Self {
            record,
            folder,
            workspace,
            working_directory: Arc::new(WorkingDirectory::new(directory)),
            reads: Arc::new(ReadLedger::default()),
            runtime,
            todos,
            executor,
            schemas,
            ending: AtomicBool::new(false),
            known: OnceCell::new(),
            calls: Mutex::new(HashMap::new()),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.record.session.session_id
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<CallKey, Arc<LiveCall>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Remembers a call's id; whether it is certain that the session never had it. Ids are kept as
    /// hashes: two that fall together are taken for one that was there.
    pub(super) async fn note(&self, store: &dyn Store, key: &CallKey) -> Result<bool, SessionError> {
        let load = || async {
            let keys = store.call_keys(self.id()).await?;
            Ok::<_, SessionError>(Mutex::new(keys.iter().map(hash).collect()))
        };
        let known = self.known.get_or_try_init(load).await?;
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(known.len() < KNOWN_MAX && known.insert(hash(key)))
    }

    /// Takes a call's id, or joins the same call: at most one of several requests gets `New`.
    pub(super) fn reserve(
        &self,
        key: &CallKey,
        fingerprint: &Digest,
        open_max: usize,
    ) -> Result<Reserved, SessionError> {
        let mut calls = self.calls();
        if self.ending.load(Ordering::SeqCst) {
            return Err(SessionError::Ended);
        }
        if let Some(open) = calls.get(key) {
            return if open.fingerprint == *fingerprint {
                Ok(Reserved::Joined(Arc::clone(open)))
            } else if open.is_accepting() {
                Ok(Reserved::Contested(Arc::clone(open)))
            } else {
                Err(id_conflict(key))
            };
        }
        if calls.len() >= open_max {
            return Err(SessionError::TooMany(format!(
                "{open_max} calls of this session are open; let some end first"
            )));
        }
        let call = Arc::new(LiveCall::accepting(fingerprint.clone()));
        calls.insert(key.clone(), Arc::clone(&call));
        Ok(Reserved::New(call))
    }

    /// Puts a call that was found in the store among the open ones.
    pub(super) fn reopen(&self, call: &Call, fingerprint: Digest) -> Arc<LiveCall> {
        let live = Arc::new(LiveCall::accepting(fingerprint));
        live.publish(call.clone());
        self.calls().insert(call.key.clone(), Arc::clone(&live));
        live
    }

    pub(super) fn open_call(&self, key: &CallKey) -> Option<Arc<LiveCall>> {
        self.calls().get(key).cloned()
    }

    /// Forgets a call that has ended or was not accepted.
    pub(super) fn forget(&self, key: &CallKey) {
        self.calls().remove(key);
    }

    /// Takes no further calls; the open ones.
    pub(super) fn begin_ending(&self) -> Vec<CallKey> {
        let calls = self.calls();
        self.ending.store(true, Ordering::SeqCst);
        calls.keys().cloned().collect()
    }

    /// Takes calls again, after an end that failed.
    pub(super) fn end_failed(&self) {
        self.ending.store(false, Ordering::SeqCst);
    }

    /// Ends what runs, for the server going down: waiting calls are left to wait.
    pub(super) fn cancel_running(&self) {
        for call in self.calls().values() {
            if call.current().is_some_and(|call| !call.status.is_waiting()) {
                call.cancel.cancel();
            }
        }
    }

    /// How each call that was accepted stands.
    pub(super) fn statuses(&self) -> Vec<CallStatus> {
        let calls: Vec<_> = self.calls().values().cloned().collect();
        calls.iter().filter_map(|call| Some(call.current()?.status)).collect()
    }

    pub(super) fn has_open_calls(&self) -> bool {
        !self.calls().is_empty()
    }
}

impl LiveCall {
    fn accepting(fingerprint: Digest) -> Self {
        Self {
            fingerprint,
            cancel: CancellationToken::new(),
            wake: Notify::new(),
            fate: tokio::sync::Mutex::new(()),
            state: watch::Sender::new(State::Accepting),
        }
    }

    /// Tells everyone who waits how the call stands.
    pub(super) fn publish(&self, call: Call) {
        self.state.send_replace(State::Accepted(Arc::new(call)));
    }

    /// Someone decided: the call no longer waits for a person, and is about to run or to end.
    pub(super) fn decided(&self) {
        self.state.send_if_modified(|state| match state {
            State::Accepted(call) if call.status == CallStatus::AwaitingApproval => {
                Arc::make_mut(call).status = CallStatus::Queued;
                true
            }
            State::Accepted(_) | State::Accepting | State::Gone => false,
        });
    }

    /// Another approval took the place of the one that the call waits for.
    pub(super) fn asks_again(&self, approval_id: &str) {
        self.state.send_if_modified(|state| match state {
            State::Accepted(call) if call.status == CallStatus::AwaitingApproval => {
                Arc::make_mut(call).approval_id = Some(approval_id.to_owned());
                true
            }
            State::Accepted(_) | State::Accepting | State::Gone => false,
        });
    }

    /// Tells everyone who waits to look in the store.
    pub(super) fn give_up(&self) {
        self.state.send_replace(State::Gone);
    }

    fn is_accepting(&self) -> bool {
        matches!(&*self.state.borrow(), State::Accepting)
    }

    /// How the call stands now; none while it is being accepted.
    pub(super) fn current(&self) -> Option<Arc<Call>> {
        match &*self.state.borrow() {
            State::Accepted(call) => Some(Arc::clone(call)),
            State::Accepting | State::Gone => None,
        }
    }

    /// Waits until the call stands as wanted; none when it was not accepted after all.
    pub(super) async fn wait(&self, waiting: Waiting) -> Option<Arc<Call>> {
        let over = |state: &State| match state {
            State::Accepting => false,
            State::Accepted(call) => waiting.is_over(call),
            State::Gone => true,
        };
        let mut state = self.state.subscribe();
        let reached = state.wait_for(over).await.ok()?.clone();
        match reached {
            State::Accepted(call) => Some(call),
            State::Accepting | State::Gone => None,
        }
    }

    /// Waits until the call no longer waits for someone as it did in `known`: it goes on, it has ended, or
    /// it waits for something else.
    pub(super) async fn moved_on(&self, known: &Call) {
        let moved = |state: &State| match state {
            State::Accepted(call) => (call.status, &call.approval_id) != (known.status, &known.approval_id),
            State::Accepting | State::Gone => true,
        };
        let _ = self.state.subscribe().wait_for(moved).await;
    }

    /// Waits until the call is accepted, or was not.
    pub(super) async fn accepted(&self) -> Option<Arc<Call>> {
        let mut state = self.state.subscribe();
        let reached = state.wait_for(|state| !matches!(state, State::Accepting)).await.ok()?.clone();
        match reached {
            State::Accepted(call) => Some(call),
            State::Accepting | State::Gone => None,
        }
    }
}

fn hash(key: &CallKey) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

pub(super) fn id_conflict(key: &CallKey) -> SessionError {
    let shown = crate::domain::visible::clipped(&key.call_id, 100);
    SessionError::conflict(
        "call_id_conflict",
        format!(
            "another call has the id \"{shown}\" in this session; a repeat must have equal name and arguments"
        ),
    )
}
