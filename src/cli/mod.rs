//! The command line: what `toolgate` can be told, and which command does it.

mod approvals;
mod approve;
mod call;
mod client;
mod config;
mod connection;
mod decision;
mod deny;
mod error;
mod event_line;
#[cfg(test)]
mod fake_server;
mod health;
mod output;
mod progress;
mod serve;
mod sse;
mod subscription;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use error::CliError;
use output::Output;

/// Gives any agent hands, and its owner the gate.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::ServeArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate                                              serve on 127.0.0.1:8765
  toolgate call Bash '{\"command\":\"ls\"}'                 make one tool call
  toolgate watch                                        see what happens in all sessions
  toolgate approvals                                    see what waits for a decision
  toolgate approve apr_0192                             allow it once

The client commands reach http://127.0.0.1:8765, or what TOOLGATE_URL names. They take their token
from TOOLGATE_TOKEN, else from the data directory of a server on this machine.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server (also what `toolgate` alone does)
    Serve(serve::ServeArgs),
    /// Make one tool call and print its result
    Call(call::CallArgs),
    /// Print events as they happen, of one session or of all
    Watch(watch::WatchArgs),
    /// List what waits for a decision, or show one approval in full
    Approvals(approvals::ApprovalsArgs),
    /// Allow a call that waits
    Approve(approve::ApproveArgs),
    /// Refuse a call that waits
    Deny(deny::DenyArgs),
    /// Ask a server whether it is ready
    Health(health::HealthArgs),
    /// Check or show the configuration, its schema and reference
    Config(config::ConfigArgs),
}

/// Runs the command that the arguments name and returns how the process should exit.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no reason to complain: nobody reads it.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { error::USAGE } else { 0 });
        }
    };
    let outcome = match cli.command {
        None => return serve::run(cli.serve),
        Some(Command::Serve(args)) => return serve::run(args),
        Some(Command::Call(args)) => block_on(call::run(args, &mut Output::stdout())),
        Some(Command::Watch(args)) => block_on(watch::run(args, &mut Output::stdout())),
        Some(Command::Approvals(args)) => block_on(approvals::run(args, &mut Output::stdout())),
        Some(Command::Approve(args)) => block_on(approve::run(args, &mut Output::stdout())),
        Some(Command::Deny(args)) => block_on(deny::run(args, &mut Output::stdout())),
        Some(Command::Health(args)) => block_on(health::run(args, &mut Output::stdout())),
        Some(Command::Config(args)) => config::run(args, &mut Output::stdout()),
    };
    match outcome {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            if let Some(report) = error.report() {
                output::complain(&report);
            }
            ExitCode::from(error.exit_code())
        }
    }
}

fn block_on<F: Future<Output = Result<u8, CliError>>>(future: F) -> Result<u8, CliError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
    runtime.block_on(future)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_tree_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn serve_is_the_default() {
        let bare = Cli::try_parse_from(["toolgate", "--listen", "127.0.0.1:0"]).unwrap();
        assert!(bare.command.is_none());
        assert_eq!(bare.serve.listen.as_deref(), Some("127.0.0.1:0"));
        let named =
            Cli::try_parse_from(["toolgate", "serve", "--workspace-root", "/a", "--workspace-root", "/b"]);
        let Some(Command::Serve(args)) = named.unwrap().command else { panic!("not serve") };
        assert_eq!(args.workspace_root.len(), 2);
    }

    #[test]
    fn every_command_shows_examples() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:"), "{} has no examples", command.get_name());
        }
    }
}
