//! Tests of the numbers as a whole: the formats, the bounds of labels.

use super::*;
use crate::domain::call::{Call, CallStatus};
use crate::domain::clock::Timestamp;
use crate::domain::identity::CallKey;
use crate::domain::schema::ToolMutability;

fn ended(tool: &str, status: CallStatus) -> Call {
    Call {
        session_id: "s".to_owned(),
        key: CallKey::new(None, "c".to_owned()).unwrap(),
        tool_name: tool.to_owned(),
        arguments: serde_json::json!({}),
        requested_arguments: None,
        status,
        result: None,
        details: None,
        error: None,
        approval_id: None,
        question: None,
        mutability: ToolMutability::ReadOnly,
        created_at: Timestamp::UNIX_EPOCH,
        started_at: Some(Timestamp::UNIX_EPOCH),
        finished_at: Some(Timestamp::from_second(2).unwrap()),
        first_seq: 0,
        last_seq: 0,
    }
}

fn rendered(metrics: &Metrics) -> String {
    metrics.render(&Sampled::default(), Exposition::Prometheus)
}

#[track_caller]
fn assert_line(text: &str, line: &str) {
    assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
}

#[test]
fn calls_are_counted_by_tool_and_status() {
    let metrics = Metrics::new(&["Bash", "Read"]);
    metrics.calls().ended(&ended("Bash", CallStatus::Completed));
    metrics.calls().ended(&ended("Bash", CallStatus::Completed));
    metrics.calls().ended(&ended("Read", CallStatus::Denied));
    let text = rendered(&metrics);
    assert_line(&text, "toolgate_calls_total{tool=\"Bash\",status=\"completed\"} 2");
    assert_line(&text, "toolgate_calls_total{tool=\"Read\",status=\"denied\"} 1");
    assert_line(&text, "toolgate_calls_total{tool=\"Read\",status=\"completed\"} 0");
    assert_line(&text, "toolgate_call_duration_seconds_sum{tool=\"Bash\"} 4.0");
}

#[test]
fn a_text_from_outside_is_no_label() {
    let metrics = Metrics::new(&["Bash"]);
    let before = rendered(&metrics).lines().count();
    for n in 0..1_000 {
        metrics.calls().ended(&ended(&format!("x{n}\"}} 1\nforged_total 9"), CallStatus::Failed));
        drop(metrics.http().request(None, &format!("VERB{n}")));
    }
    let text = rendered(&metrics);
    assert_line(&text, "toolgate_calls_total{tool=\"other\",status=\"failed\"} 1000");
    assert_line(
        &text,
        "toolgate_http_requests_total{route=\"other\",method=\"other\",status=\"aborted\"} 1000",
    );
    assert!(!text.contains("forged"), "{text}");
    let series_of_one_route = 32;
    assert!(text.lines().count() <= before + series_of_one_route, "{text}");
}

#[test]
fn requests_and_streams_are_open_while_they_live() {
    let metrics = Metrics::default();
    let request = metrics.http().request(Some("/v1/info"), "GET");
    let stream = metrics.http().stream();
    let text = rendered(&metrics);
    assert_line(&text, "toolgate_http_requests_open 1");
    assert_line(&text, "toolgate_http_streams_open 1");
    request.answered(200);
    drop(stream);
    let text = rendered(&metrics);
    assert_line(&text, "toolgate_http_requests_open 0");
    assert_line(&text, "toolgate_http_streams_open 0");
    assert_line(&text, "toolgate_http_requests_total{route=\"/v1/info\",method=\"GET\",status=\"200\"} 1");
}

#[test]
fn both_formats_are_whole() {
    let metrics = Metrics::default();
    let open = metrics.render(&Sampled::default(), Exposition::OpenMetrics);
    assert!(open.ends_with("# EOF\n"), "{open}");
    assert!(open.contains("# TYPE toolgate_calls counter\n"), "{open}");
    let classic = rendered(&metrics);
    assert!(!classic.contains("# EOF") && classic.contains("# TYPE toolgate_calls_total counter\n"));
    assert!(
        classic.contains("process_resident_memory_bytes") && classic.contains("process_cpu_seconds_total")
    );
    let version = env!("CARGO_PKG_VERSION");
    assert_line(&classic, &format!("toolgate_build_info{{version=\"{version}\"}} 1"));
}

#[test]
fn a_reload_that_is_refused_shows_until_one_is_good() {
    let metrics = Metrics::default();
    metrics.config().reloaded(Reload::Refused);
    assert_line(&rendered(&metrics), "toolgate_config_valid 0");
    metrics.config().reloaded(Reload::Applied);
    let text = rendered(&metrics);
    assert_line(&text, "toolgate_config_valid 1");
    assert_line(&text, "toolgate_config_reloads_total{outcome=\"refused\"} 1");
}
