//! Bash: one bash process a command, in its own process tree, in the session's working directory.

mod carry;
mod command_words;
mod direct;
mod guide;
mod implied_files;
mod named_files;
mod ready;
mod report;
mod run;
mod unasked;

use std::sync::{Arc, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tracing::field::Empty;
use tracing::{Instrument as _, trace_span};

pub use self::guide::BashGuide;
use self::ready::Ready;
use self::report::Facts;
use self::run::Stop;
use super::{Tool, ToolConfig, ToolCtx};
use crate::config::Config;
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::permission::{PermittedCall, Preview, Scope, Touch};
use crate::process::artifact::ArtifactWriter;
use crate::process::{CommandSpec, Ended, Exit, LaunchError, Launcher, Limits};
use crate::telemetry::trace::DETAIL;

/// Time-out without a `timeout` argument, in milliseconds.
const DEFAULT_TIMEOUT_MS: u64 = 120_000;
/// The longest time-out that a call can ask for, in milliseconds.
const MAX_TIMEOUT_MS: u64 = 600_000;
/// The longest command in bytes: what Linux takes as one argument of a program (`MAX_ARG_STRLEN`), less its
/// end.
const MAX_COMMAND_BYTES: usize = 128 * 1024 - 1;

const DESCRIPTION: &str = "Runs a command with bash and returns its output (stdout and stderr in order of \
arrival), its exit code and what else there is to say.\n\
- Begins in the session's working directory. `cd` carries over to the next call inside the workspace; \
variables, functions and aliases do not.\n\
- There is no input: standard input is at its end. Use flags such as -y instead of answering prompts.\n\
- Ends after `timeout` milliseconds (120000 unless given, at most 600000); what was printed until then is \
returned.\n\
- Processes that it leaves running are ended with it.\n\
- Long output keeps its beginning and its end; the result says how much was left out.\n\
- Listing `/` or another directory above the server's own files may be refused; name the directory that you \
need.";

const GIB: u64 = 1024 * 1024 * 1024;
/// Bounds of every command's tree.
const LIMITS: Limits =
    Limits { processes: Some(1024), memory_bytes: Some(4 * GIB), file_bytes: Some(8 * GIB) };

/// The tool.
#[derive(Debug, Clone)]
pub struct Bash {
    config: ToolConfig,
    limits: Limits,
}

impl Bash {
    /// A tool that goes by this configuration where its calls carry none.
    pub fn new(config: Arc<RwLock<Config>>) -> Self {
        Self::configured(ToolConfig::new(config))
    }

    /// The same, over a shared handle.
    pub fn configured(config: ToolConfig) -> Self {
        Self { config, limits: LIMITS }
    }

    /// With other bounds for a command's tree.
    #[must_use]
    pub fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }
}

fn text<'a>(arguments: &'a Value, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

#[async_trait]
impl Tool for Bash {
    fn name(&self) -> &'static str {
        "Bash"
    }

    fn description(&self) -> &str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": MAX_COMMAND_BYTES,
                    "description": "The command, as bash reads it.",
                },
                "timeout": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MAX_TIMEOUT_MS,
                    "description": "Milliseconds until the command is ended. 120000 unless given.",
                },
                "description": {
                    "type": "string",
                    "description": "What the command does, in a few words, for the people who review it.",
                },
                "workdir": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The directory to begin in, instead of the session's working directory.",
                },
            },
            "required": ["command"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["run_command", "execute_command", "run_shell_command"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[("cmd", "command")]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Run {
            command: text(arguments, "command").unwrap_or_default().to_owned(),
            directory: text(arguments, "workdir").map(ToOwned::to_owned),
        }]
    }

    async fn preview(&self, arguments: &Value, scope: &Scope) -> Result<Preview, ToolError> {
        // What cannot be run is not asked about either.
        let command = checked_command(text(arguments, "command"))?;
        named_files::preview(command, text(arguments, "workdir"), scope).await
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let scope = Arc::clone(ctx.require_scope()?);
        let launcher = scope
            .launcher
            .clone()
            .ok_or_else(|| ToolError::Execution("this server cannot run programs".to_owned()))?;
        let command = checked_command(text(call.arguments(), "command"))?;
        let timeout = call.arguments().get("timeout").and_then(Value::as_u64).unwrap_or(DEFAULT_TIMEOUT_MS);
        let timeout = Duration::from_millis(timeout.clamp(1, MAX_TIMEOUT_MS));
        let (Some(start), Some(workspace)) = (call.directory(), call.workspace()) else {
            return Err(ToolError::Execution("there is no directory to run in".to_owned()));
        };
        let config = self.config.of(&ctx);
        let artifact = scope.artifact.as_ref();
        let writer =
            artifact.map(|artifact| ArtifactWriter::new(artifact.path.clone(), config.limits.artifact_bytes));
        let environment = launcher.environment(&config.bash.pass_environment);
        let ready = Ready::of(&call, command, workspace, start, environment).await?;
        let spec = CommandSpec {
            // A text that begins with a dash is no option.
            argv: ["/bin/bash", "--noprofile", "--norc", "-c", "--", command].map(Into::into).to_vec(),
            direct: ready.direct,
            env: ready.environment,
            directory: ready.directory,
            input: None,
            extra: ready.descriptors,
            limits: self.limits,
        };
        let finished = start_and_run(&launcher, spec, timeout, writer, &ctx).await?;
        let facts = Facts {
            timeout,
            limits: self.limits,
            artifact: artifact.filter(|_| finished.artifact).map(|artifact| artifact.url.clone()),
            carried: ready.carry.apply(workspace, start, &scope.working_directory).await,
        };
        match finished.stop {
            Some(Stop::Cancelled) => Err(ToolError::Cancelled { message: report::cancelled(&finished) }),
            Some(Stop::TimedOut) | None => Ok(ToolOutcome::Completed(report::result(&finished, &facts))),
        }
    }
}

fn checked_command(command: Option<&str>) -> Result<&str, ToolError> {
    let refuse = |text: &str| Err(ToolError::InvalidArguments(text.to_owned()));
    match command {
        None | Some("") => refuse("command: give the command to run"),
        Some(command) if command.contains('\0') => {
            refuse("command: it has a NUL character, which bash cannot read")
        }
        Some(command) if command.len() > MAX_COMMAND_BYTES => refuse(&format!(
            "command: it has {} bytes, at most {MAX_COMMAND_BYTES} can be run; write it to a file and run that",
            command.len()
        )),
        Some(command) => Ok(command),
    }
}

async fn start_and_run(
    launcher: &Launcher,
    spec: CommandSpec,
    timeout: Duration,
    artifact: Option<ArtifactWriter>,
    ctx: &ToolCtx,
) -> Result<run::Finished, ToolError> {
    let cancel = ctx.require_scope()?.cancel.clone();
    let span = trace_span!(target: DETAIL, "process", "process.pid" = Empty, "process.exit.code" = Empty);
    let running = launcher.spawn(spec).instrument(span.clone()).await;
    let running = running.map_err(|error| launch_failed(&error))?;
    span.record("process.pid", running.tree.pid());
    let finished = run::to_its_end(running, timeout, &cancel, artifact, ctx).instrument(span.clone()).await;
    if let Ok(run::Finished { ended: Ended { exit: Exit::Code(code), .. }, .. }) = &finished {
        span.record("process.exit.code", code);
    }
    finished.map_err(|error| launch_failed(&error))
}

/// What the model can do something about is told to it; the rest is the server's fault.
fn launch_failed(error: &LaunchError) -> ToolError {
    match error {
        LaunchError::Start { .. } | LaunchError::Command(_) => ToolError::Execution(error.to_string()),
        _ => ToolError::Internal(error.to_string()),
    }
}
