//! `toolgate sessions create`: makes a session.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use crate::cli::client::Client;
use crate::cli::connection::{ConnectionArgs, Role};
use crate::cli::decision::json_argument;
use crate::cli::error::CliError;
use crate::cli::output::Output;
use crate::cli::place::absolute;
use crate::domain::session::{PermissionMode, Session};
use crate::domain::visible;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CreateArgs {
    /// Its id; without it the server makes one
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// Its workspace, under one of the server's roots; without it a fresh directory
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// A label of your own; may be given again
    #[arg(long, value_name = "NAME=VALUE", value_parser = label)]
    label: Vec<(String, String)>,
    /// How its calls are permitted where no rule decides [default: the config's]
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
    /// Let everything run that no deny or always_ask rule holds back (needs an operator's token)
    #[arg(long)]
    bypass: bool,
    /// Nobody can answer: what would ask is denied
    #[arg(long)]
    no_human: bool,
    /// Tools that the client itself runs, as a JSON array (JSON, @FILE, or - for standard input)
    #[arg(long, value_name = "JSON")]
    tools: Option<String>,
    /// Print the session as JSON, with the token that reaches it alone
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// A session's mode on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(in crate::cli) enum ModeArg {
    /// Reading in the workspace runs, all else asks
    Default,
    /// Edits in the workspace run too (needs an operator's token)
    AcceptEdits,
    /// Only reading
    Plan,
    /// What would ask is denied
    DontAsk,
    /// Under a full sandbox commands run too (needs an operator's token)
    SandboxAuto,
}

impl From<ModeArg> for PermissionMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Default => Self::Default,
            ModeArg::AcceptEdits => Self::AcceptEdits,
            ModeArg::Plan => Self::Plan,
            ModeArg::DontAsk => Self::DontAsk,
            ModeArg::SandboxAuto => Self::SandboxAuto,
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  toolgate sessions create
  toolgate sessions create --id run-8 --workspace ~/project --label ticket=1234
  toolgate sessions create --mode plan --json | jq -r .session_token

The same again is no error: it prints the session that is there. The session belongs to the token that
made it; modes that widen need an operator's.";

/// Makes it.
pub(super) async fn run(args: &CreateArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Agent)?)?;
    let answer = client.post(&["sessions"], &Vec::new(), &body(args)?, Duration::ZERO).await?;
    if args.json {
        output.json(&answer.text)?;
        return Ok(0);
    }
    let session: Session = client.parse(&answer)?;
    let (id, workspace) = (visible::one_line(&session.session_id), visible::one_line(&session.workspace));
    output.prepared(&format!("session {id} in {workspace}\n"))?;
    Ok(0)
}

fn body(args: &CreateArgs) -> Result<Value, CliError> {
    let mut body = Map::new();
    if let Some(id) = &args.id {
        body.insert("session_id".into(), json!(id));
    }
    if let Some(workspace) = &args.workspace {
        body.insert("workspace".into(), json!(absolute(workspace)?));
    }
    if !args.label.is_empty() {
        let labels: Map<String, Value> =
            args.label.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
        body.insert("labels".into(), Value::Object(labels));
    }
    let mut runtime = Map::new();
    if let Some(mode) = args.mode {
        runtime.insert("permission_mode".into(), json!(PermissionMode::from(mode)));
    }
    if args.bypass {
        runtime.insert("bypass_permissions".into(), json!(true));
    }
    if args.no_human {
        runtime.insert("no_human_approver".into(), json!(true));
    }
    if !runtime.is_empty() {
        body.insert("runtime".into(), Value::Object(runtime));
    }
    if let Some(tools) = &args.tools {
        body.insert("tools".into(), json_argument(tools, "--tools")?);
    }
    Ok(Value::Object(body))
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a label is written as NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}
