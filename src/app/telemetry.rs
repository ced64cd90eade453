//! Starts the log and traces as the config and the environment say.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::panic::PanicHookInfo;
use std::sync::Arc;

use super::StartError;
use crate::config::{LogFormat, TelemetryConfig};
use crate::domain::clock::SystemClock;
use crate::telemetry::log::Format;
use crate::telemetry::{LogOptions, Metrics, Telemetry};

/// Starts both; `RUST_LOG` wins over the config's level.
pub(super) fn start(
    config: &TelemetryConfig,
    environment: &[(OsString, OsString)],
    metrics: &Metrics,
) -> Result<Telemetry, StartError> {
    let terminal = std::io::stderr().is_terminal();
    let directives = environment.iter().find(|(name, value)| name == "RUST_LOG" && !value.is_empty());
    let options = LogOptions {
        format: match config.log_format {
            LogFormat::Json => Format::Json,
            LogFormat::Auto if !terminal => Format::Json,
            LogFormat::Auto | LogFormat::Text => Format::Text { colour: terminal },
        },
        level: config.log_level,
        directives: directives.map(|(_, value)| value.to_string_lossy().into_owned()),
        clock: Arc::new(SystemClock),
    };
    let telemetry =
        Telemetry::start(config, options, metrics).map_err(|error| StartError(error.to_string()))?;
    // The standard hook writes to standard error itself, and would wait there for whoever reads it.
    std::panic::set_hook(Box::new(log_panic));
    Ok(telemetry)
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let text = panic.payload_as_str().unwrap_or("a panic without a text");
    if crate::permission::shell::is_caught(panic) {
        return;
    }
    let location = panic.location().map(ToString::to_string);
    tracing::error!(panic = text, location, "a task panicked");
}
