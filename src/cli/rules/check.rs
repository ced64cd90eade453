//! `toolgate rules check`: reads a config file as the server would, and tells all that is wrong.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use super::place::own_places;
use super::tool_names;
use crate::cli::color::Tone;
use crate::cli::error::{CliError, UNSUCCESSFUL};
use crate::cli::output::Output;
use crate::config::{self, ConfigError, ConfigProblem, LoadedConfig, Overrides};
use crate::domain::visible;
use crate::permission;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// The config file
    #[arg(env = "TOOLGATE_CONFIG", hide_env_values = true)]
    file: PathBuf,
    /// Warnings are errors
    #[arg(long)]
    strict: bool,
    /// One JSON document: {ok, problems, warnings, tests}
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate rules check config.json
  toolgate rules check config.json --strict --json

Needs no server. Each line of the output begins with FILE:LINE, as editors and CI take it. Exit codes:
0 in order, 1 not, 2 the file cannot be read.";

/// What came of it.
struct Report {
    problems: Vec<ConfigProblem>,
    warnings: Vec<(ConfigProblem, String)>,
    /// How many examples the file has.
    tests: usize,
}

/// Checks it.
pub(super) fn run(args: &CheckArgs, output: &mut Output) -> Result<u8, CliError> {
    let report = match config::load(Some(&args.file), &Overrides::default()) {
        Ok(loaded) => of_rules(&loaded),
        Err(ConfigError::Invalid { problems, .. }) => Report { problems, warnings: Vec::new(), tests: 0 },
        Err(error) => {
            return Err(CliError::usage(error.to_string(), "name a config file that you may read"));
        }
    };
    let ok = report.problems.is_empty() && (!args.strict || report.warnings.is_empty());
    if args.json {
        output.json(&as_json(args, &report, ok).to_string())?;
    } else {
        show(args, &report, output)?;
    }
    Ok(if ok { 0 } else { UNSUCCESSFUL })
}

fn of_rules(loaded: &LoadedConfig) -> Report {
    let names = tool_names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let places = own_places(&loaded.config, loaded.path.as_deref());
    let tests = loaded.config.permissions.tests.len();
    // Warnings are told where the examples fail, too: the one may explain the other.
    let mut untested = loaded.config.permissions.clone();
    untested.tests.clear();
    let warnings = permission::compile(&untested, &places, &names)
        .map(|policy| policy.warnings().to_vec())
        .unwrap_or_default();
    let warnings = warnings.into_iter().map(|w| (loaded.problem(&w.source, w.text), w.rule)).collect();
    let problems = permission::compile(&loaded.config.permissions, &places, &names).err().unwrap_or_default();
    let problems = problems.into_iter().map(|problem| {
        // An example's message names its place again, which the key says already.
        let place = problem.key.rsplit('.').next().unwrap_or_default();
        let message = problem.message.strip_prefix(&format!("{place}: ")).unwrap_or(&problem.message);
        loaded.problem(&problem.key, message)
    });
    Report { problems: problems.collect(), warnings, tests }
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn show(args: &CheckArgs, report: &Report, output: &mut Output) -> Result<(), CliError> {
    let paint = output.paint();
    let mut line = |tone, kind: &str, problem: &ConfigProblem, rule: Option<&str>| {
        let file = visible::one_line(&args.file.display().to_string());
        let at = problem.line.map_or(file.clone(), |line| format!("{file}:{line}"));
        let key = if problem.key.is_empty() { String::new() } else { format!("{}: ", problem.key) };
        let rule = rule.map_or(String::new(), |rule| format!("`{rule}` "));
        let said = visible::again(&format!("{key}{rule}{}", problem.message));
        output.prepared(&format!("{at}: {}: {said}\n", paint.tone(tone, kind)))
    };
    for problem in &report.problems {
        line(Tone::Bad, "error", problem, None)?;
    }
    for (problem, rule) in &report.warnings {
        line(Tone::Attention, "warning", problem, Some(rule))?;
    }
    let (errors, warnings) = (report.problems.len(), report.warnings.len());
    let tests = match (report.tests, errors) {
        (0, _) => "no tests".to_owned(),
        (1, 0) => "1 test holds".to_owned(),
        (number, 0) => format!("{number} tests hold"),
        (number, _) => count(number, "test"),
    };
    output.line(&format!("{}, {}, {tests}", count(errors, "error"), count(warnings, "warning")))
}

fn as_json(args: &CheckArgs, report: &Report, ok: bool) -> Value {
    let told = |problem: &ConfigProblem| json!({"line": problem.line, "key": problem.key, "message": problem.message});
    let warnings = report.warnings.iter().map(|(problem, rule)| {
        let mut told = told(problem);
        told["rule"] = json!(rule);
        told
    });
    json!({
        "file": args.file.display().to_string(),
        "ok": ok,
        "problems": report.problems.iter().map(told).collect::<Vec<_>>(),
        "warnings": warnings.collect::<Vec<_>>(),
        "tests": report.tests,
    })
}
