//! An answer as a result: text for a model, details for programs.

use std::fmt::Write as _;

use reqwest::header::HeaderMap;
use reqwest::{StatusCode, Version};
use serde_json::{Map, Value, json};

use crate::domain::result::ToolResult;
use crate::domain::visible;
use crate::domain::web::WebUrl;
use crate::tools::net::{BodyEnd, Redirect, Text};

/// The headers that a model is shown, and those that begin with one of these; programs get them all.
const SHOWN: &[&str] = &[
    "accept-patch",
    "accept-post",
    "accept-ranges",
    "age",
    "allow",
    "cache-control",
    "content-disposition",
    "content-language",
    "content-length",
    "content-location",
    "content-range",
    "content-type",
    "deprecation",
    "etag",
    "expires",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "set-cookie",
    "sunset",
    "warning",
    "www-authenticate",
];
const SHOWN_BEGINNINGS: &[&str] = &["ratelimit", "x-ratelimit", "x-request-id"];
/// The longest value that a model is shown, in characters.
const VALUE_SHOWN: usize = 1_000;
/// The longest value in the details, in characters, and the most bytes of all of them.
const VALUE_KEPT: usize = 8_000;
const VALUES_BYTES: usize = 64 * 1024;

/// An answer that was read.
pub(super) struct Got {
    pub(super) url: WebUrl,
    pub(super) status: StatusCode,
    pub(super) version: Version,
    pub(super) headers: HeaderMap,
    pub(super) redirects: usize,
    pub(super) headers_left_behind: bool,
    pub(super) elsewhere: Option<Redirect>,
    pub(super) payload: Payload,
    /// The bytes of the body that were read, decompressed.
    pub(super) bytes: u64,
    pub(super) end: BodyEnd,
}

/// What an answer carries.
pub(super) enum Payload {
    None,
    Text(Text),
    Binary { media_type: String, artifact: Option<String> },
}

/// The result of a call that asked for a URL.
pub(super) fn result(got: &Got, asked: &WebUrl) -> ToolResult {
    let mut text = format!("{:?} {}\n", got.version, got.status);
    if got.url != *asked {
        let _ = writeln!(text, "url: {}", got.url);
    }
    for (name, value) in &got.headers {
        let name = name.as_str();
        if SHOWN.contains(&name) || SHOWN_BEGINNINGS.iter().any(|start| name.starts_with(start)) {
            let value = visible::clipped(&String::from_utf8_lossy(value.as_bytes()), VALUE_SHOWN);
            let _ = writeln!(text, "{name}: {value}");
        }
    }
    if let Payload::Text(body) = &got.payload
        && !body.content.is_empty()
    {
        text.push('\n');
        text.push_str(&body.content);
        text.push_str(if body.content.ends_with('\n') { "" } else { "\n" });
    }
    for note in notes(got) {
        let _ = write!(text, "\n[{note}]");
    }
    let whole = matches!(got.end, BodyEnd::Complete | BodyEnd::Cut);
    let success = whole && got.status.as_u16() < 400;
    ToolResult { success, result: text.trim_end().to_owned(), ..ToolResult::default() }
        .with_details(details(got))
}

fn notes(got: &Got) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(redirect) = &got.elsewhere {
        notes.push(format!("a redirect to {} was not followed: {}", redirect.url, redirect.why));
    }
    if got.headers_left_behind {
        notes.push(format!(
            "redirected to {}: the headers that you set were not sent there, since it is another origin; call it \
             directly if it needs them",
            got.url
        ));
    }
    match &got.payload {
        Payload::Text(body) if body.lossy => notes.push(format!(
            "not all of the body is valid {}: what is not is replaced by U+FFFD",
            body.charset
        )),
        Payload::Binary { media_type, artifact } => {
            let kind = if media_type.is_empty() { "unknown type" } else { media_type };
            let encoding = got.headers.get(reqwest::header::CONTENT_ENCODING);
            let encoding = encoding.map_or_else(String::new, |encoding| {
                format!(", encoded as {}", String::from_utf8_lossy(encoding.as_bytes()))
            });
            let kept = artifact.as_ref().map_or_else(String::new, |url| format!("; kept at {url}"));
            let kind = visible::clipped(&format!("{kind}{encoding}"), VALUE_SHOWN);
            notes.push(format!("the body is no text: {} bytes of {kind}{kept}", got.bytes));
        }
        _ => {}
    }
    match (&got.end, &got.payload) {
        (BodyEnd::Complete, _) => {}
        (BodyEnd::Cut, Payload::Binary { .. }) => {
            notes.push(format!("cut after {} bytes; there is more", got.bytes));
        }
        (BodyEnd::Cut, _) => notes.push(format!(
            "cut after {} bytes; there is more: ask for it with a larger max_bytes, or a Range header",
            got.bytes
        )),
        (BodyEnd::TimedOut, _) => {
            notes.push(format!("timed out after {} bytes of the body; give a longer timeout_ms", got.bytes));
        }
        (BodyEnd::Broken(reason), _) => {
            notes.push(format!(
                "broke off after {} bytes: {}",
                got.bytes,
                visible::clipped(reason, VALUE_SHOWN)
            ));
        }
    }
    notes
}

fn details(got: &Got) -> Value {
    let mut details = json!({
        "status": got.status.as_u16(),
        "url": got.url.to_string(),
        "headers": headers(&got.headers),
        "bytes": got.bytes,
        "truncated": got.end == BodyEnd::Cut,
        "timed_out": got.end == BodyEnd::TimedOut,
        "redirects": got.redirects,
    });
    let mut add = |name: &str, value: &str| details[name] = Value::from(value);
    match &got.payload {
        Payload::None => {}
        Payload::Text(text) => add("charset", text.charset),
        Payload::Binary { media_type, artifact } => {
            add("media_type", &visible::clipped(media_type, VALUE_SHOWN));
            if let Some(url) = artifact {
                add("artifact", url);
            }
        }
    }
    if let Some(redirect) = &got.elsewhere {
        add("redirect", &redirect.url);
    }
    details
}

/// All headers in order, those that come more than once as a list; the last ones are left out past the bound.
fn headers(headers: &HeaderMap) -> Map<String, Value> {
    let mut kept = Map::new();
    let mut room = VALUES_BYTES;
    for name in headers.keys() {
        let values = headers.get_all(name).iter();
        let mut values: Vec<Value> = values
            .map(|value| visible::clipped(&String::from_utf8_lossy(value.as_bytes()), VALUE_KEPT))
            .take_while(|value| {
                let fits = value.len() <= room;
                room = room.saturating_sub(value.len());
                fits
            })
            .map(Value::from)
            .collect();
        match values.len() {
            0 => break,
            1 => kept.insert(name.to_string(), values.remove(0)),
            _ => kept.insert(name.to_string(), Value::Array(values)),
        };
    }
    kept
}
