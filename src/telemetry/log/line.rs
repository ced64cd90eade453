//! How a line looks: fields that are bounded, and text and JSON that nothing in them can break.

use std::fmt::{self, Write as _};

use serde_json::Value;
use tracing::Level;
use tracing::field::{Field, Visit};

use crate::domain::clock::Timestamp;
use crate::domain::visible;

/// The most bytes of one value; the rest is counted.
const VALUE_BYTES_MAX: usize = 4096;

/// Names of span fields that traces follow a convention for, and the ones that the log has for them; none
/// for what is of use to traces alone.
const NAMES: &[(&str, Option<&str>)] = &[
    ("http.request.method", Some("method")),
    ("url.path", Some("path")),
    ("http.route", None),
    ("http.response.status_code", None),
    ("session.id", Some("session_id")),
    ("gen_ai.tool.call.id", Some("call_id")),
    ("gen_ai.tool.name", Some("tool")),
    ("gen_ai.operation.name", None),
    ("toolgate.call.status", None),
    ("otel.name", None),
    ("otel.kind", None),
    ("otel.status_code", None),
];

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// For people.
    Text {
        /// Whether the level has a colour.
        colour: bool,
    },
    /// For programs.
    Json,
}

/// Fields of a span or an event, in order.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    message: String,
    values: Vec<(&'static str, Value)>,
}

impl Fields {
    fn put(&mut self, field: &Field, value: impl Into<Value>) {
        let name = match NAMES.iter().find(|(name, _)| *name == field.name()) {
            Some((_, None)) => return,
            Some((_, Some(name))) => name,
            None => field.name(),
        };
        self.set(name, value.into());
    }

    fn set(&mut self, name: &'static str, value: Value) {
        match self.values.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.values.push((name, value)),
        }
    }

    /// Takes over the fields of a span around it, as far as it does not say them itself.
    pub(super) fn inherit(&mut self, outer: &Self) {
        for (name, value) in &outer.values {
            if !self.values.iter().any(|(known, _)| known == name) {
                self.values.push((name, value.clone()));
            }
        }
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.put(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let mut text = Bounded::default();
        let _ = write!(text, "{value:?}");
        if field.name() == "message" {
            self.message = text.finish();
        } else {
            self.put(field, text.finish());
        }
    }
}

/// Text that takes so much and counts the rest.
#[derive(Default)]
struct Bounded {
    text: String,
    left_out: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = VALUE_BYTES_MAX.saturating_sub(self.text.len());
        let cut = if self.left_out > 0 { 0 } else { text.floor_char_boundary(room) };
        self.text.push_str(&text[..cut]);
        self.left_out += text.len() - cut;
        Ok(())
    }
}

impl Bounded {
    fn finish(mut self) -> String {
        if self.left_out > 0 {
            let _ = write!(self.text, "… ({} more bytes)", self.left_out);
        }
        self.text
    }
}

/// One line, its end included.
pub(super) fn write(format: Format, time: Timestamp, level: Level, target: &str, fields: &Fields) -> String {
    let target = target.strip_prefix("toolgate::").unwrap_or(target);
    match format {
        Format::Text { colour } => text(colour, time, level, target, fields),
        Format::Json => json(time, level, target, fields),
    }
}

fn text(colour: bool, time: Timestamp, level: Level, target: &str, fields: &Fields) -> String {
    let mut line = String::with_capacity(256);
    let _ = write!(line, "{time:.3} ");
    let shown = match level {
        Level::ERROR if colour => "\u{1b}[31mERROR\u{1b}[0m",
        Level::WARN if colour => "\u{1b}[33m WARN\u{1b}[0m",
        Level::ERROR => "ERROR",
        Level::WARN => " WARN",
        Level::INFO => " INFO",
        Level::DEBUG => "DEBUG",
        _ => "TRACE",
    };
    line.push_str(shown);
    let _ = write!(line, " {target}: {}", visible::again(&fields.message));
    for (name, value) in &fields.values {
        line.push(' ');
        line.push_str(name);
        line.push('=');
        match value {
            Value::String(value) => push_word(&mut line, value),
            other => {
                let _ = write!(line, "{other}");
            }
        }
    }
    line.push('\n');
    line
}

/// A value as one word; quoted where it could be taken for more than that.
fn push_word(line: &mut String, value: &str) {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-:/+@{}[]".contains(&b);
    if !value.is_empty() && value.bytes().all(plain) {
        line.push_str(value);
        return;
    }
    let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
    let _ = write!(line, "\"{}\"", visible::again(&quoted));
}

fn json(time: Timestamp, level: Level, target: &str, fields: &Fields) -> String {
    let mut line = String::with_capacity(384);
    let level = level_name(level);
    let message = Value::from(fields.message.as_str());
    let _ = write!(
        line,
        "{{\"time\":\"{time:.3}\",\"level\":\"{level}\",\"target\":\"{target}\",\"message\":{message}"
    );
    for (name, value) in &fields.values {
        let _ = write!(line, ",{}:{value}", Value::from(*name));
    }
    line.push_str("}\n");
    line
}

/// The name of a level, also as a label.
pub(super) fn level_name(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        _ => "trace",
    }
}
