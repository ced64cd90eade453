//! A reader of server-sent events.

use reqwest::{RequestBuilder, Response};
use serde_json::Value;

use super::{contract, within};

/// One frame of a stream.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Frame {
    pub(crate) id: Option<u64>,
    pub(crate) event: Option<String>,
    pub(crate) data: Option<Value>,
    pub(crate) retry: Option<u64>,
    pub(crate) comment: bool,
}

impl Frame {
    fn parse(text: &str) -> Self {
        let mut frame = Self::default();
        for line in text.lines() {
            let (field, value) = line.split_once(':').unwrap();
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "" => frame.comment = true,
                "id" => frame.id = Some(value.parse().unwrap()),
                "event" => frame.event = Some(value.to_owned()),
                "data" => frame.data = Some(serde_json::from_str(value).unwrap()),
                "retry" => frame.retry = Some(value.parse().unwrap()),
                other => panic!("an unknown field {other:?} in {text:?}"),
            }
        }
        frame
    }

    pub(crate) fn is(&self, kind: &str) -> bool {
        self.event.as_deref() == Some(kind)
    }
}

/// An open stream.
pub(crate) struct Stream {
    response: Response,
    buffer: Vec<u8>,
}

impl Stream {
    pub(crate) async fn open(request: RequestBuilder) -> Self {
        let (client, request) = request.header("Accept", "text/event-stream").build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = client.execute(request).await.unwrap();
        contract::hold(&method, &path, response.status().as_u16(), response.headers(), None);
        let kind = response.headers().get("content-type").cloned();
        assert_eq!(response.status(), 200, "{}", response.text().await.unwrap());
        assert_eq!(kind.unwrap(), "text/event-stream");
        Self { response, buffer: Vec::new() }
    }

    /// The next frame, comments and `retry` too; none at the stream's end.
    pub(crate) async fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some(end) = self.buffer.windows(2).position(|pair| pair == b"\n\n") {
                let text = String::from_utf8(self.buffer.drain(..end + 2).collect()).unwrap();
                let frame = Frame::parse(text.trim_end_matches('\n'));
                if let (Some(_), Some(event)) = (frame.id, &frame.data) {
                    contract::hold_event(event);
                }
                return Some(frame);
            }
            let chunk = within("an event stream", self.response.chunk()).await.unwrap();
            let Some(chunk) = chunk else {
                assert!(self.buffer.is_empty(), "half a frame at the end");
                return None;
            };
            self.buffer.extend_from_slice(&chunk);
        }
    }

    /// The next event; none at the stream's end.
    pub(crate) async fn next(&mut self) -> Option<Frame> {
        loop {
            let frame = self.frame().await?;
            if frame.event.is_some() {
                return Some(frame);
            }
        }
    }

    /// Events up to one of this type, that one too.
    pub(crate) async fn until(&mut self, kind: &str) -> Vec<Frame> {
        let mut events = Vec::new();
        loop {
            let Some(event) = self.next().await else { panic!("no {kind} before the end: {events:?}") };
            let last = event.is(kind);
            events.push(event);
            if last {
                return events;
            }
        }
    }

    /// The ids of all events to the stream's end, without a look at the rest: for very long streams.
    pub(crate) async fn ids(mut self) -> Vec<u64> {
        let (mut ids, mut line, mut short) = (Vec::new(), Vec::new(), true);
        while let Some(chunk) = within("an event stream", self.response.chunk()).await.unwrap() {
            for part in chunk.split_inclusive(|byte| *byte == b'\n') {
                // Lines of ids are short; of others only the beginning is kept.
                short = short && line.len() + part.len() < 64;
                line.extend_from_slice(if short { part } else { &[] });
                if part.ends_with(b"\n") {
                    let text = std::str::from_utf8(&line).unwrap_or_default();
                    ids.extend(text.strip_prefix("id: ").map(|id| id.trim().parse::<u64>().unwrap()));
                    line.clear();
                    short = true;
                }
            }
        }
        ids
    }

    /// All events to the stream's end.
    pub(crate) async fn rest(&mut self) -> Vec<Frame> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            events.push(event);
        }
        events
    }
}
