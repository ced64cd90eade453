//! `toolgate serve`: runs the server.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use crate::app::{self, ServeOptions};

#[derive(Debug, Default, PartialEq, Eq, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ServeArgs {
    /// Where to listen; port 0 takes a free one and prints it [default: 127.0.0.1:8765]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) listen: Option<String>,
    /// Where tokens, logs and records are kept [default: $XDG_STATE_HOME/toolgate]
    #[arg(long, value_name = "DIR")]
    pub(super) data_dir: Option<PathBuf>,
    /// Under which directory workspaces may lie; may be given again [default: ~/toolgate-workspaces]
    #[arg(long, value_name = "DIR")]
    pub(super) workspace_root: Vec<PathBuf>,
    /// The config file
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

const EXAMPLES: &str = "\
Examples:
  toolgate serve
  toolgate serve --listen 127.0.0.1:0 --data-dir /var/lib/toolgate --workspace-root /srv/work
  toolgate serve --config config.json

The first line on standard output is `listening on http://ADDRESS:PORT`. The tokens lie in
tokens/agent and tokens/operator in the data directory.";

/// Serves until the process is told to end.
pub(super) fn run(args: ServeArgs) -> ExitCode {
    app::serve(&ServeOptions {
        listen: args.listen,
        data_dir: args.data_dir,
        workspace_roots: args.workspace_root,
        config: args.config,
    })
}
