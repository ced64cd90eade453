//! Tests of the log as a whole: what a line says, and that nothing in it can forge another.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tracing_subscriber::layer::SubscriberExt as _;

use super::*;
use crate::domain::clock::{Clock, Timestamp};

#[derive(Debug)]
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_123).unwrap()
    }
}

#[derive(Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// What is logged by `work`; it gets what changes the level.
fn logged(format: Format, directives: Option<&str>, work: impl FnOnce(&LogControl)) -> String {
    let sink = Sink::default();
    let options = LogOptions {
        format,
        level: LogLevel::Info,
        directives: directives.map(str::to_owned),
        clock: Arc::new(Fixed),
    };
    let (log, layer) = Log::start(options, sink.clone(), &Metrics::default()).unwrap();
    let control = log.control();
    tracing::subscriber::with_default(Registry::default().with(layer), || work(&control));
    drop(log);
    let bytes = sink.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

const TEXT: Format = Format::Text { colour: false };

fn outside(id: &str) {
    let span =
        tracing::error_span!("request", request_id = "req_1", "url.path" = "/v1/x", "otel.kind" = "server");
    let call = tracing::error_span!(
        parent: &span,
        "call",
        "session.id" = "s",
        "gen_ai.tool.call.id" = id,
        "gen_ai.tool.name" = "Bash",
        late = tracing::field::Empty,
    );
    call.record("late", 7);
    let _entered = call.enter();
    tracing::warn!(%id, count = 3, "something {}", "happened");
}

#[test]
fn a_line_says_what_the_spans_around_it_say() {
    assert_eq!(
        logged(TEXT, None, |_| outside("c")),
        "2023-11-14T22:13:20.123Z  WARN telemetry::log::tests: something happened id=c count=3 \
         session_id=s call_id=c tool=Bash late=7 request_id=req_1 path=/v1/x\n"
    );
    let line: Value = serde_json::from_str(&logged(Format::Json, None, |_| outside("c"))).unwrap();
    let expected = serde_json::json!({
        "time": "2023-11-14T22:13:20.123Z", "level": "warn", "target": "telemetry::log::tests",
        "message": "something happened", "id": "c", "count": 3, "session_id": "s", "call_id": "c",
        "tool": "Bash", "late": 7, "request_id": "req_1", "path": "/v1/x",
    });
    assert_eq!(line, expected);
}

#[test]
fn a_text_from_outside_forges_neither_lines_nor_fields() {
    for hostile in [
        "x\n2023-11-14T22:13:20.123Z ERROR forged: line",
        "x\r\n{\"level\":\"error\",\"message\":\"forged\"}",
        "x session_id=other",
        "x\" session_id=\"other",
        "x\\\" session_id=other",
        "\u{1b}[2J\u{1b}[31mred\u{9b}1m",
        "a\u{202e}b\u{200b}\u{2028}c",
        "{} %s {id}",
        "",
    ] {
        let text = logged(TEXT, None, |_| outside(hostile));
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert!(
            !text.trim_end().contains(|c: char| c.is_control() || ('\u{200b}'..='\u{202e}').contains(&c)),
            "{text:?}"
        );
        // Outside of quotes there is the session's own alone.
        let mut quoted = false;
        let mut escaped = false;
        let bare: String = text
            .chars()
            .filter(|c| {
                let toggles = *c == '"' && !escaped;
                escaped = *c == '\\' && !escaped;
                quoted ^= toggles;
                !quoted && !toggles
            })
            .collect();
        assert_eq!(bare.matches("session_id=").count(), 1, "{text}");
        let json = logged(Format::Json, None, |_| outside(hostile));
        assert_eq!(json.matches('\n').count(), 1, "{json}");
        let line: Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&line["call_id"], &line["session_id"]), (&Value::from(hostile), &Value::from("s")));
    }
}

#[test]
fn a_value_is_cut_and_counted() {
    let long = "é".repeat(10_000);
    for format in [TEXT, Format::Json] {
        let line = logged(format, None, |_| outside(&long));
        assert!(line.len() < 3 * 4096 && line.contains("more bytes)"), "{}", line.len());
    }
}

#[test]
fn the_level_can_be_changed_while_it_runs() {
    let say = |control: &LogControl| {
        tracing::debug!("first");
        control.set_level(LogLevel::Debug);
        tracing::debug!("second");
        control.set_level(LogLevel::Off);
        tracing::error!("third");
    };
    let text = logged(TEXT, None, say);
    assert!(text.contains("second") && !text.contains("first") && !text.contains("third"), "{text}");
    let fixed = logged(TEXT, Some("error"), say);
    assert!(fixed.contains("third") && !fixed.contains("second"), "RUST_LOG wins: {fixed}");
}

#[test]
fn directives_that_cannot_be_read_are_told() {
    let options = LogOptions {
        format: TEXT,
        level: LogLevel::Info,
        directives: Some("toolgate=loud".to_owned()),
        clock: Arc::new(Fixed),
    };
    let refused = Log::start(options, Sink::default(), &Metrics::default());
    assert!(refused.is_err_and(|error| error.to_string().contains("RUST_LOG")));
}

#[test]
fn what_the_shell_parser_says_of_commands_is_not_written() {
    let text = logged(TEXT, Some("trace"), |_| {
        // Telemetry knows nothing of permission: the parser itself is asked.
        let options = brush_parser::ParserOptions::default();
        let tokens = brush_parser::uncached_tokenize_str("login 'hunter2'", &options.tokenizer_options());
        brush_parser::parse_tokens(&tokens.unwrap(), &options).unwrap();
        brush_parser::word::parse("'hunter2'", &options).unwrap();
        tracing::debug!(target: "toolgate", "still heard");
    });
    assert!(text.contains("still heard") && !text.contains("hunter2"), "{text}");
}
