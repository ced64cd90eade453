//! The command line: what `toolgate` can be told, and which command does it.

mod answer;
mod approvals;
mod approve;
mod audit;
mod batch;
mod batch_input;
mod call;
mod call_report;
mod cancel;
mod client;
mod color;
mod completions;
mod config;
mod connection;
mod decision;
mod deny;
mod error;
mod event_line;
mod events;
#[cfg(test)]
mod fake_server;
mod grants;
mod health;
mod ids;
mod info;
mod openapi;
mod output;
mod paging;
mod place;
mod progress;
mod rows;
mod rules;
mod serve;
mod sessions;
mod span;
mod sse;
mod subscription;
mod tools;
mod watch;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use color::ColorChoice;
use error::CliError;
use output::Output;

/// Gives any agent hands, and its owner the gate.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    serve: serve::ServeArgs,
    /// Colours: auto (on a terminal, unless NO_COLOR is set), always or never [default: auto]
    #[arg(long, global = true, value_enum, value_name = "WHEN", default_value = "auto")]
    #[arg(hide_possible_values = true, hide_default_value = true)]
    color: ColorChoice,
}

const EXAMPLES: &str = "\
Examples:
  toolgate                                              serve on 127.0.0.1:8765
  toolgate call Bash '{\"command\":\"ls\"}'                 make one tool call
  toolgate watch                                        see what happens, decide by key
  toolgate approvals                                    see what waits for a decision
  toolgate approve apr_0192                             allow it once
  toolgate rules explain 'Bash(git push)'               see what the rules say of a call

The client commands reach http://127.0.0.1:8765, or what TOOLGATE_URL names. They take their token from
--token-file, else TOOLGATE_TOKEN, else from the data directory of a server on this machine.

Exit codes: 0 it went well, 1 it did not (a call failed, rules are not in order), 2 the command line is
wrong, 3 the call was denied, 4 it waits for someone or still runs, 5 the server cannot be reached or
does not work, 6 the server refused the request.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server (also what `toolgate` alone does)
    Serve(serve::ServeArgs),
    /// Make one tool call and print its result
    Call(call::CallArgs),
    /// Make several calls, in order, and print their results
    Batch(batch::BatchArgs),
    /// End a call that runs or waits
    Cancel(cancel::CancelArgs),
    /// Show what happens, live, and decide what waits by key
    Watch(watch::WatchArgs),
    /// Print the log of events, of one session or of all
    Events(events::EventsArgs),
    /// List what waits for a decision, or show one approval in full
    Approvals(approvals::ApprovalsArgs),
    /// Allow a call that waits
    Approve(approve::ApproveArgs),
    /// Refuse a call that waits
    Deny(deny::DenyArgs),
    /// Answer the question that a call waits with, or show it
    Answer(answer::AnswerArgs),
    /// List what was granted beyond single calls, or take it back
    Grants(grants::GrantsArgs),
    /// Read the audit log: what the gate said, what people decided
    Audit(audit::AuditArgs),
    /// List, show, make and end sessions
    Sessions(sessions::SessionsArgs),
    /// List the tools, or print their schemas for a model's API
    Tools(tools::ToolsArgs),
    /// Explain what rules say of a call, or check a config file's rules
    Rules(rules::RulesArgs),
    /// Show what the server is, can do and bounds
    Info(info::InfoArgs),
    /// Ask a server whether it is ready
    Health(health::HealthArgs),
    /// Check or show the configuration, its schema and reference
    Config(config::ConfigArgs),
    /// Print what a shell needs to complete this program's arguments
    Completions(completions::CompletionsArgs),
    /// Print the description of the HTTP interface (OpenAPI 3.1)
    Openapi(openapi::OpenapiArgs),
}

/// Runs the command that the arguments name and returns how the process should exit.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !crate::permission::shell::is_caught(panic) {
            usual(panic);
        }
    }));
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // A closed pipe is no reason to complain: nobody reads it.
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { error::USAGE } else { 0 });
        }
    };
    if cli.command.is_some() && cli.serve != serve::ServeArgs::default() {
        let error = CliError::usage(
            "options of the server stand before another command",
            "write them after `serve`: toolgate serve --listen 127.0.0.1:8765",
        );
        output::complain(&error.report().unwrap_or_default());
        return ExitCode::from(error::USAGE);
    }
    let mut output = Output::stdout(cli.color.for_stdout());
    let outcome = match cli.command {
        None => return serve::run(cli.serve),
        Some(Command::Serve(args)) => return serve::run(args),
        Some(command) => block_on(client_command(command, &mut output)),
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

async fn client_command(command: Command, output: &mut Output) -> Result<u8, CliError> {
    match command {
        Command::Serve(_) => Ok(0), // has a runtime of its own
        Command::Call(args) => call::run(args, output).await,
        Command::Batch(args) => batch::run(args, output).await,
        Command::Cancel(args) => cancel::run(args, output).await,
        Command::Watch(args) => watch::run(args, output).await,
        Command::Events(args) => events::run(args, output).await,
        Command::Approvals(args) => approvals::run(args, output).await,
        Command::Approve(args) => approve::run(args, output).await,
        Command::Deny(args) => deny::run(args, output).await,
        Command::Answer(args) => answer::run(args, output).await,
        Command::Grants(args) => grants::run(args, output).await,
        Command::Audit(args) => audit::run(args, output).await,
        Command::Sessions(args) => sessions::run(args, output).await,
        Command::Tools(args) => tools::run(args, output).await,
        Command::Rules(args) => rules::run(args, output).await,
        Command::Info(args) => info::run(args, output).await,
        Command::Health(args) => health::run(args, output).await,
        Command::Config(args) => config::run(args, output),
        Command::Openapi(_) => openapi::run(output),
        Command::Completions(args) => completions::run(&args, &mut Cli::command(), output),
    }
}

fn block_on<F: Future<Output = Result<u8, CliError>>>(future: F) -> Result<u8, CliError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CliError::Runtime)?;
    runtime.block_on(future)
}

#[cfg(test)]
mod tests {
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
        fn check(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.starts_with("Examples:"), "{path} has no examples");
            command.get_subcommands().for_each(|command| check(command, &path));
        }
        check(&Cli::command(), "");
    }
}
