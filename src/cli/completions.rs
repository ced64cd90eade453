//! `toolgate completions`: what a shell completes after `toolgate`.

use clap::{Args, ValueEnum};
use clap_complete::Shell;

use super::error::CliError;
use super::output::Output;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: ShellArg,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ShellArg {
    /// Bash, from 4 on
    Bash,
    /// Zsh
    Zsh,
    /// Fish
    Fish,
}

const EXAMPLES: &str = "\
Examples:
  toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate
  toolgate completions zsh > ~/.zfunc/_toolgate         (with ~/.zfunc in fpath)
  toolgate completions fish > ~/.config/fish/completions/toolgate.fish";

/// Prints the script.
pub(super) fn run(
    args: &CompletionsArgs,
    command: &mut clap::Command,
    output: &mut Output,
) -> Result<u8, CliError> {
    let shell = match args.shell {
        ShellArg::Bash => Shell::Bash,
        ShellArg::Zsh => Shell::Zsh,
        ShellArg::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, command, "toolgate", &mut script);
    output.own(&String::from_utf8_lossy(&script))?;
    Ok(0)
}
