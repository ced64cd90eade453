//! `toolgate rules explain`: the verdict over a call, with its reason and rule; nothing runs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::place::{own_places, place};
use super::tool_names;
use crate::cli::approvals::scope_name;
use crate::cli::client::Client;
use crate::cli::color::{Paint, Tone};
use crate::cli::connection::{ConnectionArgs, Role};
use crate::cli::error::{CliError, DENIED, WAITS};
use crate::cli::output::Output;
use crate::cli::paging::Paging;
use crate::cli::sessions::ModeArg;
use crate::config::{self, Config, LoadedConfig, Overrides, PermissionsConfig};
use crate::domain::approval::Offer;
use crate::domain::session::{PermissionMode, Session};
use crate::domain::visible;
use crate::permission::example;
use crate::permission::offer::offers_for;
use crate::permission::policy::{Circumstances, Policy};
use crate::permission::rule::Rule;
use crate::permission::shell::CommandAnalysis;
use crate::permission::subject::Place;
use crate::permission::verdict::{Decision, Verdict};
use crate::permission::{self, OwnPlaces};

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
    #[arg(long)]
    no_floor: bool,
    /// The workspace [default: the session's, else the present directory]
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The working directory, absolute or from the workspace [default: the workspace]
    #[arg(long, value_name = "DIR")]
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

Without --config the rules are the server's, which needs the operator's token. Paths are judged as they
are written: where a symlink leads is seen only when the call is made.

Exit codes as the call itself would have: 0 it would run, 3 it would be denied, 4 it would ask; 2, 5 and
6 as `toolgate call`.";

/// Rules and the circumstances that they are held in.
struct Ground {
    permissions: PermissionsConfig,
    own: OwnPlaces,
    /// The file, to name lines.
    file: Option<LoadedConfig>,
    workspace: Option<PathBuf>,
    mode: PermissionMode,
    bypass: bool,
    someone_there: bool,
    grants: Vec<Rule>,
}

/// Judges the call and prints what came of it.
pub(super) async fn run(args: &ExplainArgs, output: &mut Output) -> Result<u8, CliError> {
    let ground = match &args.config {
        Some(file) => of_file(file)?,
        None => of_server(args).await?,
    };
    let policy = compile(&ground)?;
    let workspace = match args.workspace.as_ref().or(ground.workspace.as_ref()) {
        Some(workspace) => std::path::absolute(workspace),
        None => std::env::current_dir(),
    };
    let workspace = workspace.map_err(|source| CliError::File { path: ".".into(), source })?;
    let told = explain(args, &ground, &policy, &place(&workspace, args.cwd.as_deref()))?;
    if args.json {
        output.json(&told.json(&ground).to_string())?;
    } else {
        output.prepared(&told.text(&ground, output.paint()))?;
    }
    Ok(match told.verdict.decision {
        Decision::Allow => 0,
        Decision::Deny => DENIED,
        Decision::Ask { .. } => WAITS,
    })
}

fn of_file(file: &Path) -> Result<Ground, CliError> {
    let loaded = config::load(Some(file), &Overrides::default()).map_err(|error| {
        CliError::usage(error.to_string(), "`toolgate rules check FILE` tells all that is wrong")
    })?;
    let permissions = loaded.config.permissions.clone();
    Ok(Ground {
        own: own_places(&loaded.config, Some(file)),
        mode: permissions.mode,
        permissions,
        file: Some(loaded),
        workspace: None,
        bypass: false,
        someone_there: true,
        grants: Vec::new(),
    })
}

async fn of_server(args: &ExplainArgs) -> Result<Ground, CliError> {
    let client = Client::new(args.connection.resolve(Role::Operator)?)?;
    let answer = client.get(&["config"], &Vec::new(), Duration::ZERO).await?;
    let config = &answer.value["config"];
    // Only what this needs: a server of another version may have keys that this one does not know.
    let permissions = PermissionsConfig::deserialize(&config["permissions"])
        .map_err(|error| client.strange(format!("its permissions: {error}")))?;
    let path = |value: &Value| value.as_str().map(PathBuf::from);
    let places = Config {
        data_dir: path(&config["data_dir"]),
        workspace_roots: config["workspace_roots"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(path)
            .collect(),
        ..Config::default()
    };
    let mut ground = Ground {
        own: own_places(&places, None),
        mode: permissions.mode,
        permissions,
        file: None,
        workspace: None,
        bypass: false,
        someone_there: true,
        grants: Vec::new(),
    };
    if let Some(id) = &args.session {
        let answer = client.get(&["sessions", id], &Vec::new(), Duration::ZERO).await?;
        let session: Session = client.parse(&answer)?;
        ground.grants = granted(&client, &session).await?;
        ground.mode = session.runtime.permission_mode;
        ground.bypass = session.runtime.bypass_permissions;
        ground.someone_there = !session.runtime.no_human_approver;
        ground.workspace = Some(PathBuf::from(session.workspace));
    }
    Ok(ground)
}

/// What was granted to the session, and for always under a root that its workspace lies in. The server
/// also asks for whose token the latter was granted, which a session does not tell.
async fn granted(client: &Client, session: &Session) -> Result<Vec<Rule>, CliError> {
    let mut rules = Vec::new();
    let mut pages = Paging::new(client, &["grants"], Vec::new());
    while let Some(items) = pages.next().await? {
        let holds = |grant: &&Value| match grant["session_id"].as_str() {
            Some(id) => id == session.session_id,
            None => grant["workspace_root"]
                .as_str()
                .is_some_and(|root| Path::new(&session.workspace).starts_with(root)),
        };
        let patterns = items.iter().filter(holds).filter_map(|grant| grant["pattern"].as_str());
        rules.extend(patterns.filter_map(|pattern| Rule::parse(pattern).ok()));
    }
    Ok(rules)
}

fn compile(ground: &Ground) -> Result<Policy, CliError> {
    let names = tool_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    // What rules say of a call is worth knowing most where an example fails.
    let untested = PermissionsConfig { tests: Vec::new(), ..ground.permissions.clone() };
    permission::compile(&untested, &ground.own, &names).map_err(|problems| {
        let told = problems.iter().map(|problem| {
            let line = ground.file.as_ref().and_then(|file| file.problem(&problem.key, "").line);
            let line = line.map_or(String::new(), |line| format!("line {line}: "));
            format!("{line}{}: {}", problem.key, problem.message)
        });
        CliError::usage(
            told.collect::<Vec<_>>().join("; "),
            "`toolgate rules check FILE` tells all that is wrong",
        )
    })
}

fn explain<'a>(
    args: &'a ExplainArgs,
    ground: &Ground,
    policy: &Policy,
    place: &Place,
) -> Result<Explained<'a>, CliError> {
    let subject = example::subject(&args.call, place).map_err(|error| {
        let form =
            "for instance 'Bash(git push)', 'Edit(src/main.rs)', 'WebFetch(https://docs.rs/)' or TodoWrite";
        CliError::usage(format!("`{}`: {error}", args.call), form)
    })?;
    let confined = !args.no_floor;
    let circumstances = Circumstances {
        mode: args.mode.map_or(ground.mode, Into::into),
        bypass: args.bypass || ground.bypass,
        someone_there: !args.no_human && ground.someone_there,
        confined,
        grants: &ground.grants,
    };
    let verdict = policy.judge(&subject, &circumstances);
    Ok(Explained {
        call: &args.call,
        offers: offers_for(&subject, &verdict, confined),
        leaves: subject.command.as_ref().map(CommandAnalysis::leaves),
        mode: circumstances.mode,
        bypass: circumstances.bypass,
        workspace: place.workspace.display().to_string(),
        cwd: place.cwd.display().to_string(),
        verdict,
    })
}

/// A verdict and what it was found under.
struct Explained<'a> {
    call: &'a str,
    verdict: Verdict,
    offers: Vec<Offer>,
    leaves: Option<Vec<String>>,
    mode: PermissionMode,
    bypass: bool,
    workspace: String,
    cwd: String,
}

impl Explained<'_> {
    fn forced(&self) -> bool {
        matches!(self.verdict.decision, Decision::Ask { forced: true })
    }

    /// The line of the rule that decided, where it stands in the file.
    fn line(&self, ground: &Ground) -> Option<usize> {
        let source = self.verdict.reason.source.as_deref()?;
        ground.file.as_ref()?.problem(source, "").line
    }

    fn text(&self, ground: &Ground, paint: Paint) -> String {
        let decision = self.verdict.decision.to_string();
        let mut text = format!(
            "{} {}\n",
            paint.status(&decision, &format!("{decision:<10}")),
            visible::one_line(self.call)
        );
        let mut field = |name: &str, value: &str| {
            let name = paint.tone(Tone::Quiet, &format!("{name:<10}"));
            let _ = writeln!(text, "{name} {}", visible::one_line(value));
        };
        field("because", &self.verdict.reason.text);
        if let Some(line) = self.line(ground) {
            let path = ground.file.as_ref().and_then(|file| file.path.as_ref());
            field(
                "at",
                &format!("{}:{line}", path.map(|path| path.display().to_string()).unwrap_or_default()),
            );
        }
        for leaf in self.leaves.iter().flatten() {
            field("runs", leaf);
        }
        let bypass = if self.bypass { ", bypass" } else { "" };
        field("mode", &format!("{}{bypass}", self.mode.as_str()));
        field("workspace", &self.workspace);
        if self.cwd != self.workspace {
            field("directory", &self.cwd);
        }
        for offer in &self.offers {
            let pattern = offer.pattern.as_deref().map(|pattern| format!(" {pattern}"));
            field("offer", &format!("{}{}", scope_name(offer.scope), pattern.unwrap_or_default()));
        }
        text
    }

    fn json(&self, ground: &Ground) -> Value {
        let reason = &self.verdict.reason;
        json!({
            "call": self.call,
            "verdict": self.verdict.decision.to_string(),
            "forced": self.forced(),
            "reason": reason.text,
            "rule": reason.rule,
            "source": reason.source,
            "line": self.line(ground),
            "leaves": self.leaves,
            "offers": self.offers,
            "mode": self.mode,
            "bypass": self.bypass,
            "workspace": self.workspace,
            "cwd": self.cwd,
        })
    }
}
