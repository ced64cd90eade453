//! `toolgate rules explain`: what would come of a call, by a config file's rules or the server's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};

use super::place::{own_places, place};
use super::told::Told;
use super::tool_names;
use crate::cli::client::Client;
use crate::cli::connection::{ConnectionArgs, Role};
use crate::cli::error::{CliError, DENIED, WAITS};
use crate::cli::output::Output;
use crate::cli::rows::MORE_OF_FIELD;
use crate::cli::sessions::ModeArg;
use crate::config::{self, LoadedConfig, Overrides, PermissionsConfig};
use crate::domain::explanation::{Explanation, Verdict};
use crate::domain::session::PermissionMode;
use crate::permission;
use crate::permission::example;
use crate::permission::policy::{Circumstances, Policy};
use crate::session::Explained;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// The call, written as a rule is: `Bash(COMMAND)`, `Edit(PATH)`, `WebFetch(URL)`, or a tool's name
    call: String,
    /// Judge by this config file's rules, without a server
    #[arg(long, value_name = "FILE", conflicts_with = "session")]
    config: Option<PathBuf>,
    /// Judge as in this session: its workspace, its mode, what was granted to it
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The session's mode [default: the session's, else the config's]
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// As if the session ran everything that is not held back
    #[arg(long)]
    bypass: bool,
    /// As if nobody could answer
    #[arg(long)]
    no_human: bool,
    /// As if there were no floor under commands
    #[arg(long, requires = "config")]
    no_floor: bool,
    /// The workspace [default: the session's, else the present directory]
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    workspace: Option<PathBuf>,
    /// The working directory, absolute or from the workspace [default: the session's, else the workspace]
    #[arg(long, value_name = "DIR", conflicts_with = "session")]
    cwd: Option<PathBuf>,
    /// One JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate rules explain 'Bash(git push)'
  toolgate rules explain 'Bash(git push)' --config config.json --bypass
  toolgate rules explain 'Edit(src/main.rs)' --config config.json --mode accept_edits
  toolgate rules explain 'Bash(cat notes.txt)' --session run-7

Without --config the server judges, by the rules in force; an agent's token is enough, for its own
sessions. In a session paths are judged where they really lead, else as they are written. Nothing runs,
and nobody is asked.

Exit codes as the call itself would have: 0 it would run, 3 it would be denied, 4 it would ask; 2, 5 and
6 as `toolgate call`.";

/// Has the call judged and prints what is told of it.
pub(super) async fn run(args: &ExplainArgs, output: &mut Output) -> Result<u8, CliError> {
    let (explanation, file, more) = match &args.config {
        Some(file) => {
            let (explanation, loaded) = by_file(args, file)?;
            (explanation, Some(loaded), Map::new())
        }
        None => by_server(args).await?,
    };
    let decision = explanation.decision;
    let told = Told { call: &args.call, explanation, file: file.as_ref() };
    if args.json {
        output.json(&told.json(more).to_string())?;
    } else {
        output.rows(&told.text(output.paint()), MORE_OF_FIELD)?;
    }
    Ok(match decision {
        Verdict::Allow => 0,
        Verdict::Deny => DENIED,
        Verdict::Ask => WAITS,
    })
}

/// The workspace that was named, or the present directory; absolute.
fn workspace(args: &ExplainArgs) -> Result<PathBuf, CliError> {
    let workspace = match &args.workspace {
        Some(workspace) => std::path::absolute(workspace),
        None => std::env::current_dir(),
    };
    workspace.map_err(|source| CliError::File { path: ".".into(), source })
}

fn by_file(args: &ExplainArgs, file: &Path) -> Result<(Explanation, LoadedConfig), CliError> {
    let loaded = config::load(Some(file), &Overrides::default()).map_err(|error| {
        CliError::usage(error.to_string(), "`toolgate rules check FILE` tells all that is wrong")
    })?;
    let policy = compile(&loaded)?;
    let place = place(&workspace(args)?, args.cwd.as_deref());
    let subject = example::subject(&args.call, &place).map_err(|error| {
        let form =
            "for instance 'Bash(git push)', 'Edit(src/main.rs)', 'WebFetch(https://docs.rs/)' or TodoWrite";
        CliError::usage(format!("`{}`: {error}", args.call), form)
    })?;
    let circumstances = Circumstances {
        mode: args.mode.map_or(loaded.config.permissions.mode, Into::into),
        bypass: args.bypass,
        someone_there: !args.no_human,
        confined: !args.no_floor,
        grants: &[],
    };
    Ok((policy.explain(&subject, &circumstances), loaded))
}

fn compile(loaded: &LoadedConfig) -> Result<Policy, CliError> {
    let names = tool_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // What rules say of a call is worth knowing most where an example fails.
    let untested = PermissionsConfig { tests: Vec::new(), ..loaded.config.permissions.clone() };
    let own = own_places(&loaded.config, loaded.path.as_deref());
    permission::compile(&untested, &own, &names).map_err(|problems| {
        let told = problems.iter().map(|problem| {
            let line = loaded.problem(&problem.key, "").line;
            let line = line.map_or(String::new(), |line| format!("line {line}: "));
            format!("{line}{}: {}", problem.key, problem.message)
        });
        CliError::usage(
            told.collect::<Vec<_>>().join("; "),
            "`toolgate rules check FILE` tells all that is wrong",
        )
    })
}

/// What the server says, and of it what only a server knows.
async fn by_server(
    args: &ExplainArgs,
) -> Result<(Explanation, Option<LoadedConfig>, Map<String, Value>), CliError> {
    let client = Client::new(args.connection.resolve(Role::Either)?)?;
    let mut body = json!({"call": args.call});
    let mut say = |key: &str, value: Value| body[key] = value;
    if let Some(session) = &args.session {
        say("session_id", json!(session));
    } else {
        say("workspace", json!(workspace(args)?.display().to_string()));
        if let Some(cwd) = &args.cwd {
            say("cwd", json!(cwd.display().to_string()));
        }
    }
    if let Some(mode) = args.mode {
        say("mode", json!(PermissionMode::from(mode)));
    }
    for (key, given) in [("bypass", args.bypass), ("no_human_approver", args.no_human)] {
        if given {
            say(key, json!(true));
        }
    }
    let answer = client.post(&["permissions", "explain"], &Vec::new(), &body, Duration::ZERO).await?;
    let explained: Explained = client.parse(&answer)?;
    let more = ["known_tool", "session_id", "revision"];
    let more = more.into_iter().filter_map(|key| Some((key.to_owned(), answer.value.get(key)?.clone())));
    Ok((explained.explanation, None, more.collect()))
}
