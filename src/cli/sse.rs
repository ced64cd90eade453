//! Reads server-sent events out of bytes as they arrive (WHATWG HTML, "Server-sent events").

use std::time::Duration;

/// The longest event that is taken, in bytes: an approval shows arguments of 8 MiB and a diff.
const EVENT_MAX: usize = 64 * 1024 * 1024;

/// One event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct SseEvent {
    /// The id that the server gave this very event.
    pub(super) id: Option<String>,
    /// Its type; `message` where the server named none.
    pub(super) kind: String,
    /// Its content.
    pub(super) data: String,
}

/// An event that is longer than any Toolgate sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event of more than {EVENT_MAX} bytes")]
pub(super) struct TooLong;

/// The state between two chunks of bytes.
#[derive(Debug, Default)]
pub(super) struct SseParser {
    line: Vec<u8>,
    after_return: bool,
    started: bool,
    event: SseEvent,
    has_data: bool,
    retry: Option<Duration>,
}

impl SseParser {
    /// Takes the next bytes and returns the events that they complete.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<SseEvent>, TooLong> {
        let mut events = Vec::new();
        for &byte in bytes {
            let was_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => {
                    self.after_return = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_line(&line));
                }
                _ => {
                    if self.line.len() + self.event.data.len() >= EVENT_MAX {
                        return Err(TooLong);
                    }
                    self.line.push(byte);
                }
            }
        }
        Ok(events)
    }

    /// How long the server wants a client to wait before it comes back, where it said so.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn end_line(&mut self, line: &[u8]) -> Option<SseEvent> {
        let text = String::from_utf8_lossy(line);
        let text = if self.started { &*text } else { text.trim_start_matches('\u{feff}') };
        self.started = true;
        if text.is_empty() {
            return self.dispatch();
        }
        let (field, value) = text.split_once(':').unwrap_or((text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                self.event.data.push_str(value);
                self.event.data.push('\n');
                self.has_data = true;
            }
            "event" => value.clone_into(&mut self.event.kind),
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "retry" if value.bytes().all(|b| b.is_ascii_digit()) => {
                self.retry = value.parse().ok().map(Duration::from_millis);
            }
            _ => {} // a comment (the heartbeat), or a field of a later time
        }
        None
    }

    fn dispatch(&mut self) -> Option<SseEvent> {
        let mut event = std::mem::take(&mut self.event);
        if !std::mem::take(&mut self.has_data) {
            return None;
        }
        event.data.pop();
        if event.kind.is_empty() {
            "message".clone_into(&mut event.kind);
        }
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: Option<&str>, kind: &str, data: &str) -> SseEvent {
        SseEvent { id: id.map(Into::into), kind: kind.into(), data: data.into() }
    }

    const STREAM: &str = "\u{feff}retry: 1500\n: hello\n\nid: 1\nevent: a\ndata: é漢\n\nid:2\r\nevent:b\r\n\
                          data:x\r\ndata:  y\r\n\r\ndata\r\revent: lost\n\nid: 3\u{0}\nwhat: ever\ndata: z\n\nid: 4\ndata: cut";

    #[test]
    fn every_cut_gives_the_same_events() {
        let expected = [
            event(Some("1"), "a", "é漢"),
            event(Some("2"), "b", "x\n y"),
            event(None, "message", ""),
            event(None, "message", "z"),
        ];
        for size in 1..=STREAM.len() {
            let mut parser = SseParser::default();
            let chunks = STREAM.as_bytes().chunks(size);
            let events: Vec<_> = chunks.flat_map(|chunk| parser.feed(chunk).unwrap()).collect();
            assert_eq!(events, expected, "in pieces of {size}");
            assert_eq!(parser.retry(), Some(Duration::from_millis(1500)));
        }
    }

    #[test]
    fn an_endless_event_is_refused() {
        let mut parser = SseParser::default();
        let piece = vec![b'x'; 1024 * 1024];
        assert!((0..=64).any(|_| parser.feed(&piece) == Err(TooLong)));
        let mut parser = SseParser::default();
        let line = [b"data: ".as_slice(), &piece, b"\n"].concat();
        assert!((0..=64).any(|_| parser.feed(&line) == Err(TooLong)));
    }
}
