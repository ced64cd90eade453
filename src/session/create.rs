//! Making a session, and changing its flags.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa::openapi as spec;

use super::error::SessionError;
use super::live::LiveSession;
use super::principal::Principal;
use super::service::Sessions;
use crate::config::Config;
use crate::domain::arguments::unambiguous_texts;
use crate::domain::digest::Digest;
use crate::domain::identity::check_session_id;
use crate::domain::session::{PermissionMode, RuntimeFlags, Session, SessionStatus, SessionTool};
use crate::executor::check_session_tools;
use crate::permission::Revision;
use crate::store::{Created, SessionRecord};

/// Bounds on labels: how many, and how long a name or a value may be, in bytes.
const LABELS_MAX: usize = 64;
const LABEL_BYTES_MAX: usize = 256;

/// What a client sends to make a session.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewSession {
    /// An id of the client's choice, never used again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$", example = "run-42")]
    pub session_id: Option<String>,
    /// A folder that is or lies under a configured root; a fresh one where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The client's own labels.
    #[serde(default, deserialize_with = "unambiguous_texts")]
    #[schema(schema_with = labels)]
    pub labels: BTreeMap<String, String>,
    /// Flags to begin with.
    #[serde(default)]
    pub runtime: RuntimePatch,
    /// Tools that the client itself runs.
    #[serde(default)]
    #[schema(max_items = 128)]
    pub tools: Vec<SessionTool>,
}

/// Labels within their bounds, as they are described.
fn labels() -> spec::RefOr<spec::Schema> {
    let text = || {
        let text = spec::ObjectBuilder::new().schema_type(spec::Type::String);
        text.max_length(Some(LABEL_BYTES_MAX)).pattern(Some(r"^[^\x00]*$"))
    };
    let labels = spec::ObjectBuilder::new()
        .property_names(Some(text()))
        .additional_properties(Some(text()))
        .max_properties(Some(LABELS_MAX));
    let about = "The client's own labels: at most 64, names and values of at most 256 bytes without NUL.";
    labels.description(Some(about)).into()
}

/// Flags to set; what is left out stays.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RuntimePatch {
    /// Skip what only asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bypass_permissions: Option<bool>,
    /// The mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// Nobody can answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_human_approver: Option<bool>,
    /// The client can go on later with a backgrounded command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub can_async_resume: Option<bool>,
}

impl RuntimePatch {
    fn apply(&self, flags: &mut RuntimeFlags) {
        if let Some(bypass) = self.bypass_permissions {
            flags.bypass_permissions = bypass;
        }
        if let Some(mode) = self.permission_mode {
            flags.permission_mode = mode;
        }
        if let Some(nobody) = self.no_human_approver {
            flags.no_human_approver = nobody;
        }
        if let Some(resume) = self.can_async_resume {
            flags.can_async_resume = resume;
        }
    }
}

impl Sessions {
    /// Makes a session, or finds the one that the same body made; whether it is new.
    pub async fn create(
        &self,
        principal: &Principal,
        request: NewSession,
    ) -> Result<(SessionRecord, bool), SessionError> {
        if self.0.draining.is_cancelled() {
            return Err(SessionError::ShuttingDown);
        }
        if principal.only_session.is_some() {
            return Err(SessionError::forbidden("forbidden", "a session's own token cannot make sessions"));
        }
        let revision = self.revision();
        let config = &*revision.config;
        self.check(config, principal, &request)?;
        let fingerprint = fingerprint(&request)?;
        let id = request.session_id.clone().unwrap_or_else(|| self.0.parts.ids.make("ses"));
        let _one_at_a_time = self.0.making.lock().await;
        if let Some(record) = self.store().session(&id).await? {
            return existing(principal, record, &fingerprint);
        }
        self.check_quota(config, principal).await?;
        let (workspace, root) = self.place(principal, &request, &id).await?;
        let record = self.new_record(
            config.permissions.mode,
            principal,
            request,
            &id,
            (&workspace, &root),
            fingerprint,
        )?;
        let folder = self.0.parts.folder.join(&id);
        make_folder(&folder.join("output"))
            .map_err(|error| SessionError::Internal(format!("the session's folder: {error}")))?;
        match self.store().create_session(record).await? {
            Created::New(record) => {
                let live = self.enliven(record.clone())?;
                live.runtime
                    .write(&record.session.runtime)
                    .map_err(|error| SessionError::Internal(format!("runtime.json: {error}")))?;
                Ok((record, true))
            }
            Created::Existing(record) => Ok((record, false)),
            Created::Conflict => Err(id_taken()),
        }
    }

    fn check(
        &self,
        config: &Config,
        principal: &Principal,
        request: &NewSession,
    ) -> Result<(), SessionError> {
        if let Some(id) = &request.session_id {
            check_session_id(id)?;
        }
        if request.labels.len() > LABELS_MAX {
            return Err(SessionError::invalid("/labels", format!("at most {LABELS_MAX} labels")));
        }
        let long = |text: &String| text.len() > LABEL_BYTES_MAX || text.contains('\0');
        if let Some((name, _)) = request.labels.iter().find(|(name, value)| long(name) || long(value)) {
            let name = crate::domain::visible::clipped(name, 40);
            let message =
                format!("label {name}: names and values have at most {LABEL_BYTES_MAX} bytes, no NUL");
            return Err(SessionError::invalid("/labels", message));
        }
        check_session_tools(&request.tools, &*self.0.parts.executor)
            .map_err(|error| SessionError::invalid(format!("/tools/{}", error.index), error.message))?;
        check_flags(config, principal, &request.runtime)
    }

    async fn check_quota(&self, config: &Config, principal: &Principal) -> Result<(), SessionError> {
        let bound = principal.max_sessions.unwrap_or(config.limits.sessions_per_token);
        let active = self.store().active_sessions().await?;
        let owned = active.iter().filter(|record| record.owner == principal.name).count();
        if owned >= bound {
            let message = format!("{owned} sessions of this token are active; end some first");
            return Err(SessionError::TooMany(message));
        }
        Ok(())
    }

    /// The workspace and the root that it lies under.
    async fn place(
        &self,
        principal: &Principal,
        request: &NewSession,
        id: &str,
    ) -> Result<(PathBuf, PathBuf), SessionError> {
        let roots = &self.0.parts.roots;
        let first = roots.first().ok_or_else(|| SessionError::Internal("no workspace root".to_owned()))?;
        let workspace = match &request.workspace {
            None => first.join(id),
            Some(asked) => given(asked, roots, first)?,
        };
        let root = roots
            .iter()
            .filter(|root| workspace.starts_with(root))
            .max_by_key(|root| root.as_os_str().len())
            .ok_or_else(not_allowed)?;
        if !matches_patterns(&principal.workspaces, &workspace) {
            return Err(SessionError::forbidden(
                "workspace_not_allowed",
                "this token's workspace patterns do not match the workspace",
            ));
        }
        for other in self.store().active_sessions().await? {
            let theirs = Path::new(&other.session.workspace);
            let nested = workspace.starts_with(theirs) || theirs.starts_with(&workspace);
            if nested && other.owner != principal.name {
                return Err(SessionError::conflict(
                    "workspace_in_use",
                    "the workspace is, holds or lies in one that another token uses now",
                ));
            }
        }
        // Only now: a session that is refused leaves no folder.
        if request.workspace.is_none() {
            fresh(&workspace)?;
        }
        Ok((workspace, root.clone()))
    }

    fn new_record(
        &self,
        mode: PermissionMode,
        principal: &Principal,
        request: NewSession,
        id: &str,
        (workspace, root): (&Path, &Path),
        fingerprint: Digest,
    ) -> Result<SessionRecord, SessionError> {
        let mut runtime = RuntimeFlags { permission_mode: mode, ..RuntimeFlags::default() };
        request.runtime.apply(&mut runtime);
        let secret = self.0.parts.ids.secret().map_err(|error| SessionError::Internal(error.to_string()))?;
        let text = |path: &Path| {
            path.to_str()
                .map(str::to_owned)
                .ok_or_else(|| SessionError::invalid("/workspace", "the workspace's path is not valid UTF-8"))
        };
        Ok(SessionRecord {
            session: Session {
                session_id: id.to_owned(),
                workspace: text(workspace)?,
                labels: request.labels,
                status: SessionStatus::Active,
                runtime,
                created_at: self.0.parts.clock.now(),
                ended_at: None,
                last_seq: 0,
            },
            owner: principal.name.clone(),
            workspace_root: text(root)?,
            tools: request.tools,
            fingerprint,
            session_token: format!("tgs_{id}.{secret}"),
        })
    }

    /// The flags in force, read anew; what changed is told.
    pub(super) async fn flags(&self, live: &LiveSession, revision: &Revision) -> RuntimeFlags {
        let reading = live.runtime.read(revision.config.max_mode());
        if reading.news {
            let told = self.store().set_runtime(live.id(), reading.flags.clone(), reading.problem).await;
            if let Err(error) = told {
                tracing::error!(session_id = live.id(), %error, "a change of runtime.json was not recorded");
            }
        }
        reading.flags
    }

    /// The flags of a session.
    pub async fn runtime(
        &self,
        principal: &Principal,
        session_id: &str,
    ) -> Result<RuntimeFlags, SessionError> {
        Ok(self.get(principal, session_id).await?.runtime)
    }

    /// Changes flags; for operators.
    pub async fn patch_runtime(
        &self,
        principal: &Principal,
        session_id: &str,
        patch: &RuntimePatch,
    ) -> Result<RuntimeFlags, SessionError> {
        let live = self.active(principal, session_id).await?;
        let revision = self.revision();
        check_flags(&revision.config, principal, patch)?;
        let patched = |flags: &mut RuntimeFlags| {
            patch.apply(flags);
            true
        };
        // What was changed by hand before is told first.
        let flags = self.flags(&live, &revision).await;
        let Some(flags) = write_flags(&live, &revision, patched)? else { return Ok(flags) };
        self.store().set_runtime(session_id, flags.clone(), None).await?;
        Ok(flags)
    }
}

/// Writes changed flags, where the change says that something changed: those that then hold, still to be
/// told.
pub(super) fn write_flags(
    live: &LiveSession,
    revision: &Revision,
    change: impl FnOnce(&mut RuntimeFlags) -> bool,
) -> Result<Option<RuntimeFlags>, SessionError> {
    let changed = live.runtime.change(revision.config.max_mode(), change);
    changed.map_err(|error| SessionError::Internal(format!("runtime.json: {error}")))
}

/// An agent may set only what narrows, and nobody more than the config admits.
fn check_flags(config: &Config, principal: &Principal, patch: &RuntimePatch) -> Result<(), SessionError> {
    let widens = patch.bypass_permissions == Some(true)
        || patch.permission_mode.is_some_and(|mode| !mode.is_within(config.permissions.mode));
    if widens && !principal.is_operator() {
        return Err(SessionError::forbidden(
            "operator_required",
            "this widens what may run beyond permissions.mode: only an operator sets it",
        ));
    }
    let bound = config.max_mode();
    let mode_fits = patch.permission_mode.is_none_or(|mode| bound.admits(mode));
    if !mode_fits || (patch.bypass_permissions == Some(true) && !bound.admits_bypass()) {
        let why = if config.host_decides() {
            "the host of this server decides: no mode here is wider than permissions.mode"
        } else {
            "this is wider than permissions.max_mode"
        };
        return Err(SessionError::forbidden("exceeds_max_mode", why));
    }
    Ok(())
}

fn existing(
    principal: &Principal,
    record: SessionRecord,
    fingerprint: &Digest,
) -> Result<(SessionRecord, bool), SessionError> {
    if record.owner == principal.name && record.fingerprint == *fingerprint {
        Ok((record, false))
    } else {
        Err(id_taken())
    }
}

fn id_taken() -> SessionError {
    SessionError::conflict(
        "session_id_conflict",
        "this session_id is taken; a repeat must have the same body, and ids are never used again",
    )
}

fn fingerprint(request: &NewSession) -> Result<Digest, SessionError> {
    let text = serde_json::to_vec(request).map_err(|error| SessionError::Internal(error.to_string()))?;
    Ok(Digest::of(&text))
}

/// A new, empty workspace.
fn fresh(path: &Path) -> Result<(), SessionError> {
    let taken = || SessionError::conflict("workspace_in_use", "the session's fresh workspace exists already");
    match fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // An empty one is what a crash between making and recording it leaves.
            let is_link = fs::symlink_metadata(path).is_ok_and(|meta| meta.file_type().is_symlink());
            let empty = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
            if empty && !is_link { Ok(()) } else { Err(taken()) }
        }
        Err(error) => Err(SessionError::Internal(format!("the workspace {}: {error}", path.display()))),
    }
}

/// A workspace that the client names, resolved; a relative one lies under the first root.
fn given(asked: &str, roots: &[PathBuf], first_root: &Path) -> Result<PathBuf, SessionError> {
    let invalid = |message: String| SessionError::invalid("/workspace", message);
    if asked.is_empty() || asked.contains('\0') {
        return Err(invalid("the workspace is empty or holds a NUL".to_owned()));
    }
    let resolved = first_root.join(asked).canonicalize();
    let is_dir = |path: &PathBuf| path.is_dir();
    match resolved.ok().filter(is_dir) {
        Some(resolved) => Ok(resolved),
        None if beneath(roots, &first_root.join(asked)) => {
            Err(invalid(format!("{asked:?} is no directory that can be used")))
        }
        // Whether something is there outside the roots is nobody's business here.
        None => Err(not_allowed()),
    }
}

/// Whether a path, as it is written, lies under a root.
fn beneath(roots: &[PathBuf], path: &Path) -> bool {
    let climbs = path.components().any(|part| part == std::path::Component::ParentDir);
    !climbs && roots.iter().any(|root| path.starts_with(root))
}

fn not_allowed() -> SessionError {
    SessionError::forbidden("workspace_not_allowed", "the workspace lies under no configured root")
}

fn matches_patterns(patterns: &[String], workspace: &Path) -> bool {
    let glob = |pattern: &String| {
        globset::GlobBuilder::new(pattern).literal_separator(true).build().map(|glob| glob.compile_matcher())
    };
    // A pattern that cannot be read matches nothing.
    patterns.is_empty() || patterns.iter().any(|p| glob(p).is_ok_and(|glob| glob.is_match(workspace)))
}

fn make_folder(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}
