//! The sessions of this server: the one handle that the interfaces above use.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use subtle::ConstantTimeEq as _;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::error::SessionError;
use super::live::{LiveCall, LiveSession, Waiting};
use super::principal::Principal;
use super::runtime::RuntimeFile;
use super::worker_asks::AskBoard;
use crate::config::Capacity;
use crate::domain::approval::Approval;
use crate::domain::audit::AuditEntry;
use crate::domain::call::Call;
use crate::domain::clock::SharedClock;
use crate::domain::grant::Grant;
use crate::domain::identity::{CallKey, Ids};
use crate::domain::schema::ToolSchema;
use crate::domain::session::Session;
use crate::executor::{ClientTool, GatedExecutor, OverlayToolExecutor, ToolRegistry};
use crate::permission::{ApprovalProxy, InForce, Revision, StoreDesk};
use crate::process::Launcher;
use crate::store::{ApprovalFilter, AuditFilter, Page, PageRequest, SessionRecord, Store};
use crate::telemetry::metrics::{Places, SessionLoad};
use crate::workspace::{FileLocks, Workspace};

/// How long a request waits for its running call's end when the server goes down.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// What the sessions are made of.
pub struct Parts {
    /// Where everything is recorded.
    pub store: Arc<dyn Store>,
    /// Config, rules and tokens in force.
    pub in_force: Arc<InForce>,
    /// Bounds the calls that run at once.
    pub running: Capacity,
    /// The time.
    pub clock: SharedClock,
    /// Makes ids and secrets.
    pub ids: Arc<dyn Ids>,
    /// The chain that every session shares.
    pub executor: Arc<dyn GatedExecutor>,
    /// The desk that the chain's gate asks at.
    pub desk: StoreDesk,
    /// The host that decides what waits at the desk, where the config names one.
    pub host: Option<Arc<dyn ApprovalProxy>>,
    /// Starts programs.
    pub launcher: Option<Launcher>,
    /// The folder of the sessions' own folders.
    pub folder: PathBuf,
    /// Resolved roots of workspaces, at least one.
    pub roots: Vec<PathBuf>,
}

/// All sessions. Cheap to clone.
#[derive(Clone)]
pub struct Sessions(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) parts: Parts,
    pub(super) locks: FileLocks,
    /// The asks of workers that wait here.
    pub(super) asks: AskBoard,
    /// Told when something was recorded that time will end.
    pub(super) dated: Notify,
    /// Told when an ask waits at the host in vain.
    pub(super) overtaken: Notify,
    pub(super) tasks: TaskTracker,
    /// Cancelled when nothing new is to be accepted.
    pub(super) draining: CancellationToken,
    /// Cancelled when what still runs is to end.
    pub(super) stopping: CancellationToken,
    /// One session is made at a time, so that two cannot take nested workspaces.
    pub(super) making: tokio::sync::Mutex<()>,
    live: Mutex<HashMap<String, Arc<LiveSession>>>,
}

impl Sessions {
    /// Sessions over their parts; nothing is recovered yet.
    pub fn new(parts: Parts) -> Self {
        Self(Arc::new(Inner {
            parts,
            locks: FileLocks::new(),
            asks: AskBoard::default(),
            dated: Notify::new(),
            overtaken: Notify::new(),
            tasks: TaskTracker::new(),
            draining: CancellationToken::new(),
            stopping: CancellationToken::new(),
            making: tokio::sync::Mutex::new(()),
            live: Mutex::new(HashMap::new()),
        }))
    }

    pub(super) fn store(&self) -> &Arc<dyn Store> {
        &self.0.parts.store
    }

    /// What is in force now. An operation takes one and stays with it.
    pub(super) fn revision(&self) -> Arc<Revision> {
        self.0.parts.in_force.now()
    }

    pub(super) fn live_map(&self) -> MutexGuard<'_, HashMap<String, Arc<LiveSession>>> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One session's record.
    pub(super) async fn record(
        &self,
        principal: &Principal,
        session_id: &str,
    ) -> Result<SessionRecord, SessionError> {
        let record = self.store().session(session_id).await?;
        record.filter(|record| principal.reaches(record)).ok_or(SessionError::NotFound("session"))
    }

    /// An active session that the principal reaches.
    pub(super) async fn active(
        &self,
        principal: &Principal,
        session_id: &str,
    ) -> Result<Arc<LiveSession>, SessionError> {
        if self.0.draining.is_cancelled() {
            return Err(SessionError::ShuttingDown);
        }
        let known = self.live_map().get(session_id).cloned();
        if let Some(live) = known {
            return if principal.reaches(&live.record) {
                Ok(live)
            } else {
                Err(SessionError::NotFound("session"))
            };
        }
        let record = self.record(principal, session_id).await?;
        if !record.is_active() {
            return Err(SessionError::Ended);
        }
        let live = self.enliven(record)?;
        // It may have ended between the reading of its record and now.
        if self.record(principal, session_id).await?.is_active() {
            return Ok(live);
        }
        self.live_map().remove(session_id);
        Err(SessionError::Ended)
    }

    /// Brings an active session into memory; the one that is there already wins.
    pub(super) fn enliven(&self, record: SessionRecord) -> Result<Arc<LiveSession>, SessionError> {
        let workspace = Workspace::open(record.session.workspace.as_ref())
            .map_err(|error| SessionError::conflict("workspace_unavailable", error.to_string()))?;
        let executor = self.executor_for(&record)?;
        let id = record.session.session_id.clone();
        let folder = self.0.parts.folder.join(&id);
        let live = Arc::new(LiveSession::new(record, folder, Arc::new(workspace), executor));
        Ok(Arc::clone(self.live_map().entry(id).or_insert(live)))
    }

    fn executor_for(&self, record: &SessionRecord) -> Result<Arc<dyn GatedExecutor>, SessionError> {
        let shared = Arc::clone(&self.0.parts.executor);
        if record.tools.is_empty() {
            return Ok(shared);
        }
        let registry = ToolRegistry::new();
        let refused =
            |error: crate::domain::result::ToolError| SessionError::invalid("/tools", error.to_string());
        for tool in &record.tools {
            registry.register(Arc::new(ClientTool::new(tool.clone())), None).map_err(refused)?;
        }
        Ok(Arc::new(OverlayToolExecutor::new(registry, shared).map_err(refused)?))
    }

    /// One session as it is answered.
    pub async fn get(&self, principal: &Principal, session_id: &str) -> Result<Session, SessionError> {
        let mut record = self.record(principal, session_id).await?;
        let known = self.live_map().get(session_id).cloned();
        if let (true, Some(live)) = (record.is_active(), known) {
            record.session.runtime = self.flags(&live, &self.revision()).await;
        } else if record.is_active() {
            let path = self.0.parts.folder.join(session_id).join("runtime.json");
            let file = RuntimeFile::new(path, record.session.runtime.clone());
            record.session.runtime = file.read(self.revision().config.max_mode()).flags;
        }
        Ok(record.session)
    }

    /// What is open and what runs now.
    pub fn load(&self) -> SessionLoad {
        let live: Vec<_> = self.live_map().values().cloned().collect();
        let (used, all) = self.0.parts.running.load();
        SessionLoad {
            open: live.iter().flat_map(|live| live.statuses()).collect(),
            running: Places { used, all },
        }
    }

    /// Whether the principal reaches a session, active or ended.
    pub async fn get_record(&self, principal: &Principal, session_id: &str) -> Result<(), SessionError> {
        self.record(principal, session_id).await.map(drop)
    }

    /// The names of the tools that every session has.
    pub fn shared_tools(&self) -> Vec<String> {
        self.0.parts.executor.schemas().into_iter().map(|schema| schema.function.name).collect()
    }

    /// The file that keeps a call's full output, if there is one.
    pub async fn artifact(
        &self,
        principal: &Principal,
        session_id: &str,
        key: &CallKey,
    ) -> Result<PathBuf, SessionError> {
        let record = self.record(principal, session_id).await?;
        self.store().call(session_id, key).await?.ok_or(SessionError::NotFound("call"))?;
        let folder = self.0.parts.folder.join(&record.session.session_id);
        Ok(super::run::artifact_path(&folder, key))
    }

    /// The sessions that the principal reaches, oldest first.
    pub async fn list(
        &self,
        principal: &Principal,
        page: PageRequest,
    ) -> Result<Page<Session>, SessionError> {
        let owner = (!principal.is_operator()).then_some(principal.name.as_str());
        let page = self.store().sessions(owner, page).await?;
        let reached = page.items.into_iter().filter(|record| principal.reaches(record));
        let items = reached.map(|record| record.session).collect();
        Ok(Page { items, next_cursor: page.next_cursor })
    }

    /// The tools that a session can call now.
    pub async fn tools(
        &self,
        principal: &Principal,
        session_id: &str,
    ) -> Result<Arc<[ToolSchema]>, SessionError> {
        Ok(Arc::clone(&self.active(principal, session_id).await?.schemas))
    }

    /// Guides and instructions for the session's system prompt.
    pub async fn guidance(&self, principal: &Principal, session_id: &str) -> Result<String, SessionError> {
        Ok(self.active(principal, session_id).await?.executor.guidance().unwrap_or_default())
    }

    /// One call, waited for as long as `wait`.
    pub async fn call(
        &self,
        principal: &Principal,
        session_id: &str,
        key: &CallKey,
        wait: Duration,
    ) -> Result<Call, SessionError> {
        self.record(principal, session_id).await?;
        let open = self.live_map().get(session_id).and_then(|live| live.open_call(key));
        if let Some(open) = &open {
            open.accepted().await;
        }
        if let Some(open) = open
            && let Some(call) = self.wait_for(&open, Waiting::ForAnswer, wait).await
        {
            return Ok(call);
        }
        self.store().call(session_id, key).await?.ok_or(SessionError::NotFound("call"))
    }

    /// A session's calls, oldest first.
    pub async fn calls(
        &self,
        principal: &Principal,
        session_id: &str,
        page: PageRequest,
    ) -> Result<Page<Call>, SessionError> {
        self.record(principal, session_id).await?;
        Ok(self.store().calls(session_id, page).await?)
    }

    /// Waits for an open call: how it stands when it is as wanted, or when the time is over.
    pub(super) async fn wait_for(&self, open: &LiveCall, waiting: Waiting, wait: Duration) -> Option<Call> {
        let reached = tokio::select! {
            reached = open.wait(waiting) => reached,
            () = tokio::time::sleep(wait) => open.current(),
            () = self.0.stopping.cancelled() => match open.current() {
                // What runs is being ended: whoever waits hears how.
                Some(call) if !call.status.is_waiting() => {
                    tokio::time::timeout(ENDS_WITHIN, open.wait(waiting)).await.unwrap_or(Some(call))
                }
                other => other,
            },
        };
        reached.map(|call| Call::clone(&call))
    }

    /// One approval; for operators.
    pub async fn approval(&self, approval_id: &str) -> Result<Approval, SessionError> {
        self.store().approval(approval_id).await?.ok_or(SessionError::NotFound("approval"))
    }

    /// Approvals, oldest first; for operators.
    pub async fn approvals(
        &self,
        filter: ApprovalFilter,
        page: PageRequest,
    ) -> Result<Page<Approval>, SessionError> {
        Ok(self.store().approvals(filter, page).await?)
    }

    /// The audit log, oldest first; for operators.
    pub async fn audit(
        &self,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditEntry>, SessionError> {
        Ok(self.store().audit(filter, page).await?)
    }

    /// Grants, oldest first; for operators.
    pub async fn grants(&self, page: PageRequest) -> Result<Page<Grant>, SessionError> {
        Ok(self.store().grants(page).await?)
    }

    /// Revokes a grant; for operators.
    pub async fn revoke(&self, principal: &Principal, grant_id: &str) -> Result<(), SessionError> {
        let revoked = self.store().revoke(grant_id, &principal.name).await?;
        if revoked { Ok(()) } else { Err(SessionError::NotFound("grant")) }
    }

    /// Whom a session's own token speaks for.
    pub async fn by_session_token(&self, token: &str) -> Option<Principal> {
        let (session_id, _) = token.strip_prefix("tgs_")?.split_once('.')?;
        let record = self.live_map().get(session_id).map(|live| live.record.clone());
        let record = match record {
            Some(record) => record,
            None => self.store().session(session_id).await.ok()??,
        };
        if !bool::from(record.session_token.as_bytes().ct_eq(token.as_bytes())) {
            return None;
        }
        let only_session = Some(record.session.session_id.clone());
        Some(Principal { only_session, ..Principal::new(record.owner, super::principal::Role::Agent) })
    }
}
