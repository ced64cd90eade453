//! `toolgate info`: what the server is, can do and bounds.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use serde_json::Value;

use crate::domain::visible;

use super::client::Client;
use super::color::{Paint, Tone};
use super::connection::{ConnectionArgs, Role};
use super::error::CliError;
use super::output::Output;
use super::rows::MORE_OF_FIELD;

#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InfoArgs {
    /// As the server sends it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: ConnectionArgs,
}

const EXAMPLES: &str = "\
Examples:
  toolgate info
  toolgate info --json
  TOOLGATE_URL=https://gate.example toolgate info --token-file ~/.gate-token

Also the quickest way to see whether address and token are right.";

/// Prints it.
pub(super) async fn run(args: InfoArgs, output: &mut Output) -> Result<u8, CliError> {
    let client = Client::new(args.connection.resolve(Role::Either)?)?;
    let answer = client.get(&["info"], &Vec::new(), Duration::ZERO).await?;
    if args.json {
        output.json(&answer.text)?;
    } else {
        let text = described(&answer.value, client.address(), output.paint());
        output.rows(&text, MORE_OF_FIELD)?;
    }
    Ok(0)
}

/// The answer's fields, one a line; what a later version adds is shown too.
fn described(info: &Value, address: &str, paint: Paint) -> String {
    let mut text = String::new();
    let mut field = |name: &str, value: &str| {
        let name = paint.tone(Tone::Quiet, &format!("{:<10}", visible::one_line(name)));
        let _ = writeln!(text, "{name} {}", visible::one_line(value));
    };
    field("server", address);
    let Value::Object(fields) = info else { return text };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("limits", Value::Object(limits)) => {
                for (limit, value) in limits {
                    field("limit", &format!("{limit} {}", shown(value)));
                }
            }
            (name, value) => field(name, &shown(value)),
        }
    }
    text
}

/// A value in words: text as it is, lists with commas, what is empty not at all.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "-".into(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let said = fields.iter().filter(|(_, value)| !value.is_null());
            said.map(|(name, value)| format!("{name} {}", shown(value))).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}
