//! `toolgate tools`: what can be called, and its schemas for a model's API.

use std::fmt::Write as _;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::domain::visible;

use super::client::{Client, Query};
use super::color::Tone;
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::output::Output;

/// The most characters of a tool's description in the list.
const SUMMARY_MAX: usize = 100;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ToolsArgs {
    /// What this session can call now; without it the tools that every session has
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Print the schemas as JSON in this API's shape, ready for its `tools` parameter
    #[arg(long, value_enum, requires = "session")]
    format: Option<Format>,
    /// As the server sends it; with --session in the shape of --format [default: openai]
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// The shapes that model APIs take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Chat completions
    Openai,
    /// Responses
    OpenaiResponses,
    /// Messages
    Anthropic,
    /// Model Context Protocol
    Mcp,
}

impl Format {
    fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Mcp => "mcp",
        }
    }
}

const EXAMPLES: &str = "\
Examples:
  toolgate tools
  toolgate tools --session run-7
  toolgate tools --session run-7 --format anthropic > tools.json

With --format the output is one JSON document, {\"tools\": [...]}.";

/// Prints them.
pub(super) async fn run(args: ToolsArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Either)?)?;
    let Some(session) = &args.session else {
        let answer = client.get(&["info"], &Vec::new(), Duration::ZERO).await?;
        if args.json {
            output.json(&serde_json::json!({"tools": answer.value["tools"]}).to_string())?;
            return Ok(0);
        }
        for name in answer.value["tools"].as_array().into_iter().flatten() {
            output.line(name.as_str().unwrap_or_default())?;
        }
        return Ok(0);
    };
    // The Messages shape has name and description at the top, which the list needs.
    let list = args.format.is_none() && !args.json;
    let format = args.format.unwrap_or(if list { Format::Anthropic } else { Format::Openai });
    let query: Query<'_> = vec![("format", format.name().into())];
    let answer = client.get(&["sessions", session, "tools"], &query, Duration::ZERO).await?;
    if list {
        let mut text = String::new();
        for tool in answer.value["tools"].as_array().into_iter().flatten() {
            let name = visible::one_line(tool["name"].as_str().unwrap_or_default());
            let summary = summary(&tool["description"]);
            let _ =
                writeln!(text, "{}  {summary}", output.paint().tone(Tone::Strong, &format!("{name:<20}")));
        }
        output.prepared(&text)?;
    } else {
        output.json(&answer.text)?;
    }
    Ok(0)
}

/// The first line of a description.
fn summary(description: &Value) -> String {
    let line = description.as_str().unwrap_or_default().trim_start().lines().next().unwrap_or_default();
    visible::clipped(line, SUMMARY_MAX)
}
