//! Ratios of the server to what it could at best be, measured in one run; nothing is asserted.
//!
//! `cargo bench --bench ratios` prints a table; `-- --quick` takes fewer rounds, `-- --only NAME` one
//! suite. Each pair is measured in turns, so that a noisy machine disturbs both sides alike.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench that cannot go on ends")]
#![expect(clippy::cast_precision_loss, reason = "counts are small")]
#![expect(clippy::disallowed_methods, reason = "it measures raw spawns against the launcher's")]

#[path = "ratios/client.rs"]
mod client;
#[path = "ratios/log.rs"]
mod log;
#[path = "ratios/servers.rs"]
mod servers;
#[path = "ratios/suites/mod.rs"]
mod suites;
#[path = "ratios/table.rs"]
mod table;

use suites::commands;

/// How often everything is done.
pub(crate) struct Plan {
    rounds: usize,
    reads: usize,
    commands: usize,
    history: usize,
    readers: usize,
    files: usize,
}

const FULL: Plan =
    Plan { rounds: 9, reads: 2_000, commands: 200, history: 100_000, readers: 1_000, files: 20_000 };
const QUICK: Plan = Plan { rounds: 3, reads: 300, commands: 30, history: 1_000, readers: 200, files: 2_000 };

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let after = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).map(String::as_str)
    };
    if let Some(count) = after(commands::RAW_SPAWNS) {
        return commands::raw_spawns(count.parse().expect("a count"));
    }
    if let Some(file) = after(servers::SERVE_BARE) {
        return servers::serve_bare(file, after(servers::LOG_IN));
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let plan = if quick { &QUICK } else { &FULL };
    let only = after("--only");
    table::head();
    for (name, suite) in suites::ALL {
        if only.is_none_or(|only| only == *name) {
            suite(plan);
        }
    }
}
