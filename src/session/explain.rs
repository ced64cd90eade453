//! Says what would come of a call: judged as a dispatch would be, and nothing else of it happens.

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::accept::NAME_BYTES_MAX;
use super::error::SessionError;
use super::live::LiveSession;
use super::principal::Principal;
use super::service::Sessions;
use crate::domain::call::{Arguments, FunctionCall, ToolCall, text_or_object_or_none};
use crate::domain::explanation::Explanation;
use crate::domain::result::ToolError;
use crate::domain::schema::FunctionKind;
use crate::domain::session::PermissionMode;
use crate::executor::{GatedExecutor, resolve_for_judging};
use crate::permission::example::ExampleError;
use crate::permission::explain::written;
use crate::permission::{Circumstances, Flags, Paper, PaperCall, Revision, Scope};

/// The workspace of a call that no session makes, as in the tests of a config.
const PAPER_WORKSPACE: &str = "/workspace";
/// The longest call that is written as a rule is, in bytes.
const WRITTEN_BYTES_MAX: usize = 256 * 1024;
/// The longest path of a workspace or directory, in bytes.
const PATH_BYTES_MAX: usize = 4096;

/// A call to judge, said in one of three ways, and in which circumstances.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// The call as the tests of a config say it: `Bash(git status)`, `Edit(src/a.rs)`,
    /// `WebFetch(https://docs.rs/)`, or a tool's name.
    #[schema(max_length = 262_144, example = "Bash(git status)")]
    call: Option<String>,
    /// A tool's name, with `arguments`.
    #[schema(min_length = 1, max_length = 1024)]
    tool_name: Option<String>,
    /// JSON text or a JSON object, with `tool_name`.
    #[serde(default, deserialize_with = "text_or_object_or_none")]
    #[schema(value_type = Option<Arguments>)]
    arguments: Option<String>,
    /// A model's call as it is, in the form of `POST …/calls`.
    function: Option<FunctionCall>,
    /// Stands beside `function`, and says nothing here.
    id: Option<String>,
    /// Stands beside `function`.
    #[serde(rename = "type")]
    kind: Option<FunctionKind>,
    /// Judge as in this session: its workspace as it is on the disk, its flags, what was granted to it. Without
    /// it the call is judged on paper: by its text alone, as if no symlink existed.
    #[schema(pattern = "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")]
    session_id: Option<String>,
    /// On paper: the absolute path of the workspace; `/workspace` where it is left out.
    #[schema(max_length = 4096)]
    workspace: Option<String>,
    /// On paper: the directory that the call starts in, absolute or from the workspace.
    #[schema(max_length = 4096)]
    cwd: Option<String>,
    /// As if the session were in this mode; its own, or `permissions.mode`, where it is left out.
    mode: Option<PermissionMode>,
    /// As if the session ran everything that is not held back, or as if it did not.
    bypass: Option<bool>,
    /// As if nobody could answer, or as if somebody could.
    no_human_approver: Option<bool>,
}

/// What would come of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Explained {
    /// The verdict, and all that led to it.
    #[serde(flatten)]
    pub explanation: Explanation,
    /// Whether the server has a tool of this name; one that it has not is judged as a foreign one.
    pub known_tool: bool,
    /// The session that it was judged in; none on paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The revision of config and rules that it was judged by.
    pub revision: u64,
}

/// The call of a request.
enum Said {
    Written(String),
    Made(ToolCall),
}

impl Sessions {
    /// Judges a call as it would be judged if it were made now. Nothing runs, nobody is asked, nothing is
    /// recorded.
    pub async fn explain(
        &self,
        principal: &Principal,
        request: ExplainRequest,
    ) -> Result<Explained, SessionError> {
        let said = request.said()?;
        match request.session_id.clone() {
            Some(session_id) => self.explain_in(principal, session_id, &request, said).await,
            None => self.explain_on_paper(&request, said).await,
        }
    }

    async fn explain_in(
        &self,
        principal: &Principal,
        session_id: String,
        request: &ExplainRequest,
        said: Said,
    ) -> Result<Explained, SessionError> {
        for (given, pointer) in [(&request.workspace, "/workspace"), (&request.cwd, "/cwd")] {
            if given.is_some() {
                return Err(SessionError::invalid(
                    pointer,
                    "a session has its own; leave it or session_id out",
                ));
            }
        }
        let live = self.active(principal, &session_id).await?;
        let revision = self.revision();
        let flags = self.flags(&live, &revision).await;
        let (resolved, known_tool) = match said {
            Said::Made(call) => resolve_for_judging(&*live.executor, &call).map_err(refused)?,
            Said::Written(text) => {
                let resolved = written(&text).map_err(|error| unreadable(&error))?;
                let known_tool = live.executor.owns(&resolved.tool_name);
                (resolved, known_tool)
            }
        };
        let number = revision.number;
        let scope = Arc::new(self.scope_on_trial(&live, revision));
        let nobody = request.no_human_approver.unwrap_or(flags.no_human_approver);
        let circumstances = Circumstances {
            scope: Some(&scope),
            bypass: request.bypass.unwrap_or(flags.bypass_permissions),
            mode: request.mode.unwrap_or(flags.permission_mode),
            interactive: !nobody,
        };
        let gate = live.executor.gate_for(&resolved.tool_name);
        let explanation = gate.explain(&resolved, circumstances).await.map_err(refused)?;
        Ok(Explained { explanation, known_tool, session_id: Some(session_id), revision: number })
    }

    async fn explain_on_paper(
        &self,
        request: &ExplainRequest,
        said: Said,
    ) -> Result<Explained, SessionError> {
        let workspace = request.workspace.as_deref().unwrap_or(PAPER_WORKSPACE);
        if !workspace.starts_with('/') {
            return Err(SessionError::invalid("/workspace", "an absolute path"));
        }
        for (path, pointer) in [(Some(workspace), "/workspace"), (request.cwd.as_deref(), "/cwd")] {
            if path.is_some_and(|path| path.len() > PATH_BYTES_MAX || path.contains('\0')) {
                let message = format!("a path has at most {PATH_BYTES_MAX} bytes, and no NUL");
                return Err(SessionError::invalid(pointer, message));
            }
        }
        let revision = self.revision();
        let executor: &dyn GatedExecutor = &*self.0.parts.executor;
        let (resolved, text) = match said {
            Said::Made(call) => (Some(resolve_for_judging(executor, &call).map_err(refused)?), String::new()),
            Said::Written(text) => (None, text),
        };
        let (call, tool, known_tool) = if let Some((resolved, known)) = &resolved {
            (PaperCall::Resolved(resolved), resolved.tool_name.as_str(), *known)
        } else {
            let tool = text.split('(').next().unwrap_or_default();
            (PaperCall::Written(&text), tool, executor.owns(tool))
        };
        let paper = Paper {
            call,
            workspace: Path::new(workspace),
            cwd: request.cwd.as_deref().map(Path::new),
            flags: Flags {
                bypass: request.bypass.unwrap_or(false),
                mode: request.mode.unwrap_or(revision.config.permissions.mode),
                someone_there: !request.no_human_approver.unwrap_or(false),
            },
            revision: &revision,
        };
        let told = executor.gate_for(tool).explain_on_paper(&paper).await;
        let explanation = told.map_err(|error| match (&resolved, error) {
            (None, ToolError::InvalidArguments(message)) => SessionError::invalid("/call", message),
            (_, error) => refused(error),
        })?;
        Ok(Explained { explanation, known_tool, session_id: None, revision: revision.number })
    }

    /// The surroundings of a call that never runs: as a dispatch would have them, but for all that records.
    fn scope_on_trial(&self, live: &LiveSession, revision: Arc<Revision>) -> Scope {
        Scope {
            session_id: Some(live.id().to_owned()),
            agent: live.record.owner.clone(),
            workspace_root: live.record.workspace_root.clone().into(),
            directory: live.working_directory.current(),
            reads: Arc::clone(&live.reads),
            locks: self.0.locks.clone(),
            schemas: Some(Arc::clone(&live.schemas)),
            revision: Some(revision),
            // Nothing is run: it knows where programs are looked for.
            launcher: self.0.parts.launcher.clone(),
            ..Scope::standalone(Arc::clone(&live.workspace), "explain")
        }
    }
}

impl ExplainRequest {
    /// The one call that the request says.
    fn said(&self) -> Result<Said, SessionError> {
        let one = "say the call in one way: `call`, or `tool_name` with `arguments`, or `function`";
        let function = match (&self.call, &self.tool_name, &self.function) {
            (Some(call), None, None) => {
                if self.arguments.is_some() {
                    return Err(SessionError::invalid("/arguments", "these go with `tool_name`"));
                }
                if call.is_empty() || call.len() > WRITTEN_BYTES_MAX || call.contains('\0') {
                    let message = format!("a call has 1 to {WRITTEN_BYTES_MAX} bytes, and no NUL");
                    return Err(SessionError::invalid("/call", message));
                }
                return Ok(Said::Written(call.clone()));
            }
            (None, Some(name), None) => {
                let arguments = self.arguments.clone().unwrap_or_default();
                FunctionCall { name: name.clone(), arguments }
            }
            (None, None, Some(function)) if self.arguments.is_none() => function.clone(),
            (None, None, Some(_)) => {
                return Err(SessionError::invalid("/arguments", "these stand in `function`"));
            }
            _ => return Err(SessionError::invalid("", one)),
        };
        let pointer = if self.function.is_some() { "/function/name" } else { "/tool_name" };
        let is_name = (1..=NAME_BYTES_MAX).contains(&function.name.len());
        if !is_name || function.name.contains(char::is_control) {
            let message = format!("a tool's name has 1 to {NAME_BYTES_MAX} bytes without control characters");
            return Err(SessionError::invalid(pointer, message));
        }
        Ok(Said::Made(ToolCall::new("explain", function.name, function.arguments)))
    }
}

/// What cannot even be judged: the call would fail, whoever allowed it.
fn refused(error: ToolError) -> SessionError {
    match error {
        ToolError::InvalidArguments(message) => {
            SessionError::unprocessable("invalid_arguments", "/arguments", message)
        }
        ToolError::Internal(message) => SessionError::Internal(message),
        other => SessionError::unprocessable("cannot_run", "", other.to_string()),
    }
}

fn unreadable(error: &ExampleError) -> SessionError {
    SessionError::invalid("/call", error.to_string())
}
