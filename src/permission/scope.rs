//! Where a call works and with what: fixed when the call is accepted, but for the rules: fixed when it starts.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::revision::Revision;
use crate::domain::audit::AuditRecord;
use crate::domain::call::Call;
use crate::domain::clock::Timestamp;
use crate::domain::identity::CallKey;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolSchema;
use crate::domain::todo::Todo;
use crate::process::Launcher;
use crate::workspace::{FileLocks, ReadLedger, Workspace};

/// The surroundings of one call.
#[derive(Clone)]
pub struct Scope {
    /// The session; none for calls that a library user makes by hand.
    pub session_id: Option<String>,
    /// The call.
    pub key: CallKey,
    /// The token that owns the session.
    pub agent: String,
    /// The configured root that the workspace lies under; grants for always hold beneath it.
    pub workspace_root: PathBuf,
    /// The workspace.
    pub workspace: Arc<Workspace>,
    /// The working directory, absolute and resolved.
    pub directory: PathBuf,
    /// The session's working directory for the calls that come after.
    pub working_directory: Arc<WorkingDirectory>,
    /// What the session has read, by content.
    pub reads: Arc<ReadLedger>,
    /// One writer a file, over all sessions.
    pub locks: FileLocks,
    /// Starts programs; without one nothing can be run.
    pub launcher: Option<Launcher>,
    /// The tools that the session can call now.
    pub schemas: Option<Arc<[ToolSchema]>>,
    /// The file that may keep the call's full output.
    pub artifact: Option<Artifact>,
    /// The session's list of tasks; none for calls that a library user makes by hand.
    pub todos: Option<Arc<dyn TodoList>>,
    /// The call's record; none for calls that a library user makes by hand.
    pub admission: Option<Arc<dyn Admission>>,
    /// What is in force for the call: it is judged and run by this one revision. None for calls that a
    /// library user makes by hand.
    pub revision: Option<Arc<Revision>>,
    /// Cancelled when the call is.
    pub cancel: CancellationToken,
    /// Set where the gate gave the call back since it had to wait for others: it is to be dispatched anew, by what is in force
    /// now.
    pub waited: Arc<AtomicBool>,
}

/// The call's record, made at the latest when something of the call has to be written.
#[async_trait]
pub trait Admission: Send + Sync {
    /// Makes the record, as queued, unless it is there.
    async fn admit(&self) -> Result<(), ToolError>;

    /// Makes the record as running, on the disk where `sync` says so; `false` where it is there
    /// already and the start takes a step of its own.
    async fn admit_running(&self, started_at: Timestamp, sync: bool) -> Result<bool, ToolError>;

    /// Hears that a call that changes nothing may run: its start is recorded only if it takes long.
    fn permitted(&self, started_at: Timestamp);

    /// Hears that the record says running, by a step of its own.
    fn started(&self, running: Call);

    /// Hears what the audit log is to be told of the call: it is written with the next step of it.
    fn note(&self, entry: AuditRecord);

    /// Hands over what was noted to who takes that step.
    fn noted(&self) -> Vec<AuditRecord>;
}

/// The tasks that the session's agent has set itself.
#[async_trait]
pub trait TodoList: Send + Sync {
    /// Puts a list in the place of the one before; it is on the disk when this returns.
    async fn replace(&self, todos: Vec<Todo>) -> Result<(), ToolError>;
}

/// Where the full output of a call is kept, and how it is named on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artifact {
    /// The file; its name is made by the server, never from outside text.
    pub path: PathBuf,
    /// Where a client gets it: a path of the HTTP interface.
    pub url: String,
}

impl Scope {
    /// A scope for calls that a library user makes by hand in a workspace.
    pub fn standalone(workspace: Arc<Workspace>, tool_call_id: &str) -> Self {
        let directory = workspace.root().to_path_buf();
        Self {
            session_id: None,
            key: CallKey { turn: None, call_id: tool_call_id.to_owned() },
            agent: String::new(),
            workspace_root: directory.clone(),
            working_directory: Arc::new(WorkingDirectory::new(directory.clone())),
            directory,
            workspace,
            reads: Arc::new(ReadLedger::default()),
            locks: FileLocks::new(),
            launcher: None,
            schemas: None,
            artifact: None,
            todos: None,
            admission: None,
            revision: None,
            cancel: CancellationToken::new(),
            waited: Arc::default(),
        }
    }
}

impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope")
            .field("session_id", &self.session_id)
            .field("key", &self.key)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A session's working directory, carried from one command to the next.
#[derive(Debug)]
pub struct WorkingDirectory(Mutex<PathBuf>);

impl WorkingDirectory {
    /// Begins at a directory.
    pub fn new(directory: PathBuf) -> Self {
        Self(Mutex::new(directory))
    }

    /// Where the next call begins.
    pub fn current(&self) -> PathBuf {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Moves to a directory that the caller has found to be inside the workspace.
    pub fn set(&self, directory: PathBuf) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = directory;
    }
}
