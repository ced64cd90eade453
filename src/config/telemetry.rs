//! The log and traces.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The log and traces. All of it but `log_level` needs a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TelemetryConfig {
    /// How the log, on standard error, is written. Needs a restart.
    pub log_format: LogFormat,
    /// The least level that is logged. The environment's `RUST_LOG`, where it is set, wins.
    pub log_level: LogLevel,
    /// Where traces go by OTLP over HTTP, such as `http://127.0.0.1:4318`; `/v1/traces` is added to a bare
    /// address. None are made where it is left out. For builds with the feature `otel`. Needs a restart.
    pub otlp_endpoint: Option<String>,
    /// `service.name` of the traces, 1 to 128 characters. Needs a restart.
    pub service_name: String,
    /// The share of traces that are made where the caller did not decide, 0 to 1. Needs a restart.
    pub trace_ratio: f64,
}

impl Default for TelemetryConfig {
    fn default() -> Self {
        Self {
            log_format: LogFormat::Auto,
            log_level: LogLevel::Info,
            otlp_endpoint: None,
            service_name: "toolgate".to_owned(),
            trace_ratio: 1.0,
        }
    }
}

/// How a line of the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text for a terminal, JSON for everything else.
    #[default]
    Auto,
    /// One line of text, for people.
    Text,
    /// One line of JSON, for programs.
    Json,
}

/// The least level that is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What the server could not do.
    Error,
    /// What needs a look, requests that the server failed among it.
    Warn,
    /// Starts, ends, and requests that were refused.
    #[default]
    Info,
    /// Every request.
    Debug,
    /// All there is.
    Trace,
}

impl LogLevel {
    /// The name in a filter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Error => "error",
            Self::Warn => "warn",
            Self::Info => "info",
            Self::Debug => "debug",
            Self::Trace => "trace",
        }
    }
}

/// What the types cannot say.
pub(super) fn check(config: &TelemetryConfig, wrong: &mut impl FnMut(&str, String)) {
    let name = &config.service_name;
    if name.is_empty() || name.chars().count() > 128 || name.chars().any(char::is_control) {
        wrong("telemetry.service_name", "1 to 128 characters, none of them a control character".to_owned());
    }
    if !(0.0..=1.0).contains(&config.trace_ratio) {
        wrong("telemetry.trace_ratio", format!("{} is out of bounds: 0 to 1", config.trace_ratio));
    }
    if let Some(endpoint) = &config.otlp_endpoint {
        if !cfg!(feature = "otel") {
            let message = "this build makes no traces: leave the key out, or build with --features otel";
            wrong("telemetry.otlp_endpoint", message.to_owned());
        }
        let rest = endpoint.strip_prefix("http://").or_else(|| endpoint.strip_prefix("https://"));
        let plain = |c: char| c.is_ascii_graphic() && !"@?#\"<>\\^`{|}".contains(c);
        if !rest.is_some_and(|rest| rest.len() <= 2048 && !rest.starts_with('/') && rest.contains(plain))
            || !endpoint.chars().all(plain)
        {
            let message = "an address such as http://127.0.0.1:4318, without user, query and fragment";
            wrong("telemetry.otlp_endpoint", message.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(config: &TelemetryConfig) -> Vec<(String, String)> {
        let mut found = Vec::new();
        check(config, &mut |key, message| found.push((key.to_owned(), message)));
        found
    }

    #[test]
    fn what_the_types_cannot_say_is_checked() {
        assert_eq!(wrong(&TelemetryConfig::default()), []);
        for ratio in [-0.1, 1.1, f64::NAN] {
            let config = TelemetryConfig { trace_ratio: ratio, ..TelemetryConfig::default() };
            assert_eq!(wrong(&config)[0].0, "telemetry.trace_ratio", "{ratio}");
        }
        for name in ["", "a\nb", &"x".repeat(129)] {
            let config = TelemetryConfig { service_name: name.to_owned(), ..TelemetryConfig::default() };
            assert_eq!(wrong(&config)[0].0, "telemetry.service_name", "{name}");
        }
    }

    #[test]
    fn an_endpoint_is_an_address_and_needs_the_feature() {
        let with = |endpoint: &str| {
            let endpoint = Some(endpoint.to_owned());
            wrong(&TelemetryConfig { otlp_endpoint: endpoint, ..TelemetryConfig::default() })
        };
        for good in ["http://127.0.0.1:4318", "https://otel.example/v1/traces", "http://[::1]:4318"] {
            let found = with(good);
            assert_eq!(found.is_empty(), cfg!(feature = "otel"), "{good}: {found:?}");
            assert!(found.iter().all(|(_, message)| message.contains("--features otel")), "{found:?}");
        }
        for bad in [
            "",
            "127.0.0.1:4318",
            "ftp://x",
            "http://",
            "http:///x",
            "http://u:p@x",
            "http://x?y",
            "http://x y",
        ] {
            assert!(with(bad).iter().any(|(_, message)| message.contains("such as")), "{bad}");
        }
    }
}
