//! `toolgate health`: asks a server whether it is ready, for health checks without curl.

use std::time::Duration;

use clap::Args;
use serde_json::Value;

use super::connection::ConnectionArgs;
use super::error::{self, CliError};
use super::output::Output;

/// A server that takes longer is not healthy.
const ANSWER_LIMIT: Duration = Duration::from_secs(5);

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct HealthArgs {
    /// Print the server's answer as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate health             exit code 0 where the server takes calls, else 5
  toolgate health --json      the same with the reasons, as JSON

Needs no token.";

/// Asks, and prints what the server said.
pub(super) async fn run(args: HealthArgs, output: &mut Output) -> Result<u8, CliError> {
    let base = args.connection.base()?;
    let unreachable = |cause: String| CliError::Unreachable { url: base.to_string(), cause };
    let http = reqwest::Client::builder().no_proxy().timeout(ANSWER_LIMIT).build();
    let asked =
        async { http?.get(base.join("readyz").unwrap_or_else(|_| base.clone())).send().await?.text().await };
    let text = asked.await.map_err(|error: reqwest::Error| unreachable(error.to_string()))?;
    let answer: Value = serde_json::from_str(&text)
        .map_err(|error| CliError::NotToolgate { url: base.to_string(), what: error.to_string() })?;
    report(&answer, &text, args.json, output)
}

fn report(answer: &Value, text: &str, json: bool, output: &mut Output) -> Result<u8, CliError> {
    let ready = answer["ready"] == Value::Bool(true);
    if json {
        output.json(text)?;
    } else {
        output.line(if ready { "ready" } else { "not ready" })?;
        for reason in answer["reasons"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            output.line(&format!("  {reason}"))?;
        }
    }
    Ok(if ready { 0 } else { error::UNREACHABLE })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::output::capture::Captured;
    use super::*;

    #[test]
    fn reasons_are_shown_and_the_exit_code_says_the_same() {
        for (answer, code, shown) in [
            (json!({"ready": true, "reasons": []}), 0, "ready\n"),
            (
                json!({"ready": false, "reasons": ["a\u{1b}[2J"]}),
                error::UNREACHABLE,
                "not ready\n  a\\u{1b}[2J\n",
            ),
            (json!({"other": 1}), error::UNREACHABLE, "not ready\n"),
        ] {
            let captured = Captured::default();
            let told = report(&answer, &answer.to_string(), false, &mut captured.output()).unwrap();
            assert_eq!((told, captured.text().as_str()), (code, shown));
        }
    }
}
