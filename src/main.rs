//! The binary's entry.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The helper that forks is this binary again: nothing else may have started before it.
    if std::env::args_os().nth(1).is_some_and(|argument| argument == toolgate::process::spawner::ARGUMENT) {
        toolgate::process::spawner::main();
    }
    toolgate::cli::run(std::env::args_os())
}
