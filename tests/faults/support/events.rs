//! A stream of server-sent events, and what tests ask of events.

use serde_json::Value;

use super::FAILSAFE;

/// A session's events as they come.
pub(crate) struct Stream {
    response: reqwest::Response,
    buffer: Vec<u8>,
}

impl Stream {
    pub(super) fn new(response: reqwest::Response) -> Self {
        Self { response, buffer: Vec::new() }
    }

    /// The next event; none at the end of the stream, also where it breaks off.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let frame: Vec<u8> = self.buffer.drain(..end + 2).collect();
                if let Some(event) = parsed(std::str::from_utf8(&frame).unwrap()) {
                    return Some(event);
                }
                continue;
            }
            let chunk = tokio::time::timeout(FAILSAFE, self.response.chunk());
            let chunk = chunk.await.expect("an event comes in time").ok()??;
            self.buffer.extend_from_slice(&chunk);
        }
    }

    /// Reads up to and including the first event that is wanted.
    pub(crate) async fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut read = Vec::new();
        loop {
            let event = self.next().await.expect("the stream goes on");
            let last = wanted(&event);
            read.push(event);
            if last {
                return read;
            }
        }
    }

    /// Reads a call's output up to and including a text.
    pub(crate) async fn until_output(&mut self, call: &str, text: &str) {
        let mut output = String::new();
        while !output.contains(text) {
            let event = self.next().await.expect("the stream goes on");
            if event["type"] == "tool_token" && event["tool_call_id"] == call {
                output.push_str(event["content"].as_str().unwrap());
            }
            assert!(!(ends_call(&event) && event["tool_call_id"] == call), "{call} ended: {event}");
        }
    }
}

fn parsed(frame: &str) -> Option<Value> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
    let event: Value = serde_json::from_str(field("data: ")?).unwrap();
    assert_eq!(field("id: ").map(str::to_owned), Some(event["seq"].to_string()), "{frame}");
    assert_eq!(field("event: "), event["type"].as_str(), "{frame}");
    Some(event)
}

/// Whether an event is a call's answer.
pub(crate) fn ends_call(event: &Value) -> bool {
    status_told(event).is_some()
}

/// The status that an ending event speaks of.
fn status_told(event: &Value) -> Option<&'static str> {
    match event["type"].as_str()? {
        "tool_complete" => Some("completed"),
        "tool_error" => Some("failed"),
        "tool_denied" => Some("denied"),
        "tool_cancelled" => Some("cancelled"),
        "tool_interrupted" => Some("interrupted"),
        "tool_backgrounded" => Some("backgrounded"),
        _ => None,
    }
}

/// The statuses that a call's ending events speak of: one, if all is well.
pub(crate) fn endings(events: &[Value], call: &str) -> Vec<&'static str> {
    events.iter().filter(|event| event["tool_call_id"] == call).filter_map(status_told).collect()
}
