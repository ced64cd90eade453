//! `toolgate config show`: the config that a server would start with, and where each value comes from.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use super::super::error::CliError;
use super::super::output::Output;
use crate::app;
use crate::config::{self, Layer};

/// The arguments of `toolgate config show`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ShowArgs {
    /// The file [default: what TOOLGATE_CONFIG names]
    file: Option<PathBuf>,
    /// As one JSON object, `config` and `layers`
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  toolgate config show config.json
  TOOLGATE_LIMITS__STREAMS=64 toolgate config show --json";

pub(super) fn run(args: ShowArgs, output: &mut Output) -> Result<u8, CliError> {
    let loaded = app::load_config(args.file).map_err(|error| CliError::Usage {
        what: error.to_string(),
        hint: "toolgate config check says all that is wrong".to_owned(),
    })?;
    let shown = loaded.config.redacted();
    let from = |key: &str| match loaded.layers.get(key) {
        None => "default".to_owned(),
        Some(Layer::File) => "file".to_owned(),
        Some(Layer::Variable(name)) => name.clone(),
        Some(Layer::Flag(flag)) => (*flag).to_owned(),
    };
    let values = config::values(&shown);
    if args.json {
        let layers: serde_json::Map<_, _> =
            values.keys().map(|key| (key.clone(), from(key).into())).collect();
        output.json(&json!({ "config": shown, "layers": layers }).to_string())?;
        return Ok(0);
    }
    for (key, value) in &values {
        output.line(&format!("{key} = {value}  ({})", from(key)))?;
    }
    Ok(0)
}
