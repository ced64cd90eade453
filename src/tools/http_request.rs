//! http_request: one HTTP request, and its answer as text.

mod guide;
mod report;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::{Method, StatusCode};
use serde::Deserialize;
use serde_json::{Value, json};

pub use self::guide::HttpRequestGuide;
use self::report::{Got, Payload};
use super::arguments::read_arguments;
use super::net::{Answer, Body, BodyEnd, Content, Form, HEADERS_MAX, NetError, Outbound, Request, Watch};
use super::{Tool, ToolCtx};
use crate::config::{BODY_BYTES_MAX, TIMEOUT_MS_MAX};
use crate::domain::outcome::ToolOutcome;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolMutability;
use crate::domain::web::{URL_BYTES_MAX, WebUrl};
use crate::permission::{Artifact, PermittedCall, Preview, Scope, Touch};
use crate::process::artifact::ArtifactWriter;

const DESCRIPTION: &str = "Sends one HTTP request and returns status, headers and body.\n\
- http and https only. Addresses of private networks are refused unless an operator has allowed them.\n\
- Redirects within the same origin are followed; another host is named in the result, to be called if you \
want it.\n\
- Text is returned up to max_bytes (the result says when it was cut); of other bodies type and size.\n\
- There are no cookies between calls. A status of 400 or more counts as a failure, and its body is returned.\n\
- To read a web page use WebFetch.";
/// What changes nothing (RFC 9110, section 9.2.1) and is scheduled as a read.
const SAFE_METHODS: [&str; 2] = ["GET", "HEAD"];

/// The tool.
#[derive(Clone)]
pub struct HttpRequest {
    outbound: Arc<Outbound>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    method: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    body: Option<String>,
    timeout_ms: Option<u64>,
    max_bytes: Option<u64>,
}

impl HttpRequest {
    pub(super) fn new(outbound: Arc<Outbound>) -> Self {
        Self { outbound }
    }
}

#[async_trait]
impl Tool for HttpRequest {
    fn name(&self) -> &'static str {
        "http_request"
    }

    fn description(&self) -> &'static str {
        DESCRIPTION
    }

    fn parameters(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "url": {
                    "type": "string", "minLength": 1, "maxLength": URL_BYTES_MAX,
                    "description": "An absolute http or https URL, without user name or password.",
                },
                "method": {
                    "type": "string", "enum": ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"],
                    "description": "GET unless given.",
                },
                "headers": {
                    "type": "object", "maxProperties": HEADERS_MAX,
                    "additionalProperties": {"type": "string"},
                    "description": "Headers by name, such as {\"Accept\": \"application/json\"}. Host, \
                                    Content-Length and the like are set for you.",
                },
                "body": {
                    "type": "string",
                    "description": "The body as text; name its type in a Content-Type header.",
                },
                "timeout_ms": {
                    "type": "integer", "minimum": 1, "maximum": TIMEOUT_MS_MAX,
                    "description": "Milliseconds for all of it, redirects and body too.",
                },
                "max_bytes": {
                    "type": "integer", "minimum": 1, "maximum": BODY_BYTES_MAX,
                    "description": "The most bytes of a text that are returned.",
                },
            },
            "required": ["url"],
            "additionalProperties": false,
        })
    }

    fn mutability(&self) -> ToolMutability {
        ToolMutability::Mutating
    }

    fn classify(&self, arguments: &Value) -> (ToolMutability, bool) {
        let method = arguments.get("method").and_then(Value::as_str).unwrap_or("GET");
        if SAFE_METHODS.contains(&method) {
            (ToolMutability::ReadOnly, true)
        } else {
            (ToolMutability::Mutating, false)
        }
    }

    fn legacy_names(&self) -> &[&'static str] {
        &["HttpRequest"]
    }

    fn parameter_aliases(&self) -> &[(&'static str, &'static str)] {
        &[("uri", "url")]
    }

    fn touches(&self, arguments: &Value) -> Vec<Touch> {
        vec![Touch::Network(arguments["url"].as_str().unwrap_or_default().to_owned())]
    }

    async fn preview(&self, arguments: &Value, _scope: &Scope) -> Result<Preview, ToolError> {
        // What cannot be sent is not asked about either.
        request(read_arguments(arguments)?)?;
        Ok(Preview::default())
    }

    async fn invoke(&self, call: PermittedCall, ctx: ToolCtx) -> Result<ToolOutcome, ToolError> {
        let arguments: Arguments = read_arguments(call.arguments())?;
        let in_force = self.outbound.config(&ctx);
        let config = &in_force.network;
        let max_bytes = arguments.max_bytes.unwrap_or(config.max_bytes.min(config.max_bytes_limit));
        if max_bytes > config.max_bytes_limit {
            let text = format!("max_bytes: at most {} are allowed here", config.max_bytes_limit);
            return Err(ToolError::InvalidArguments(text));
        }
        let timeout = arguments.timeout_ms.unwrap_or(config.timeout_ms).clamp(1, TIMEOUT_MS_MAX);
        let request = request(arguments)?;
        let (method, asked) = (request.method.clone(), request.url.clone());
        let scope = ctx.scope.as_deref();
        let cancel = scope.map(|scope| scope.cancel.clone()).unwrap_or_default();
        let watch = Watch::new(cancel, Duration::from_millis(timeout));
        let answer = match self.outbound.send(request, config, &watch).await {
            Err(error @ NetError::TimedOut(_)) => {
                return Ok(ToolOutcome::Completed(error.timed_out(&asked)));
            }
            answer => answer?,
        };
        let artifact = scope.and_then(|scope| scope.artifact.as_ref());
        let keep = match (artifact, in_force.limits.artifact_bytes) {
            (Some(artifact), bytes) if bytes > 0 => Keep { artifact: Some(artifact), bytes },
            _ => Keep { artifact: None, bytes: max_bytes },
        };
        let max_bytes = usize::try_from(max_bytes).unwrap_or(usize::MAX);
        let got = read(answer, &method, max_bytes, &keep, &watch).await?;
        Ok(ToolOutcome::Completed(report::result(&got, &asked)))
    }
}

/// The request that the arguments ask for.
fn request(arguments: Arguments) -> Result<Request, ToolError> {
    let wrong = |text: String| ToolError::InvalidArguments(text);
    let url = WebUrl::parse(&arguments.url).map_err(|error| wrong(format!("url: {error}")))?;
    let method = Method::from_bytes(arguments.method.as_deref().unwrap_or("GET").as_bytes());
    let method = method.map_err(|error| wrong(format!("method: {error}")))?;
    if method == Method::HEAD && arguments.body.is_some() {
        return Err(wrong("body: a HEAD request has none".to_owned()));
    }
    let body = arguments.body.map(Bytes::from);
    let request = Request { method, body, ..Request::get(url) };
    request.with_headers(&arguments.headers).map_err(|error| wrong(error.to_string()))
}

/// Where a body is kept that is no text.
struct Keep<'a> {
    artifact: Option<&'a Artifact>,
    /// How much of it is read.
    bytes: u64,
}

/// Reads the body: text into the result, other bytes into the call's artifact.
async fn read(
    answer: Answer,
    method: &Method,
    max_bytes: usize,
    keep: &Keep<'_>,
    watch: &Watch,
) -> Result<Got, ToolError> {
    let Answer { response, url, redirects, headers_left_behind, elsewhere, .. } = &answer;
    let mut got = Got {
        url: url.clone(),
        status: response.status(),
        version: response.version(),
        headers: response.headers().clone(),
        redirects: *redirects,
        headers_left_behind: *headers_left_behind,
        elsewhere: elsewhere.clone(),
        payload: Payload::None,
        bytes: 0,
        end: BodyEnd::Complete,
    };
    // Neither has a body, whatever its headers say (RFC 9110, section 6.4.1).
    if method == Method::HEAD || matches!(got.status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        return Ok(got);
    }
    let (response, _place) = answer.into_parts();
    let mut body = Body::new(response, watch);
    let content = Content::of(&got.headers, &body.first().await?);
    if content.form == Form::Binary {
        let artifact = keep_binary(&mut body, &mut got, keep).await?;
        got.payload = Payload::Binary { media_type: content.media_type, artifact };
    } else {
        let (bytes, end) = body.collect(max_bytes).await?;
        got.bytes = bytes.len() as u64;
        got.payload = Payload::Text(content.decode(&bytes, end != BodyEnd::Complete));
        got.end = end;
    }
    Ok(got)
}

/// Streams the body into the call's artifact, up to its bound; where it can be fetched.
async fn keep_binary(
    body: &mut Body<'_>,
    got: &mut Got,
    keep: &Keep<'_>,
) -> Result<Option<String>, ToolError> {
    let mut writer = keep.artifact.map(|artifact| ArtifactWriter::new(artifact.path.clone(), keep.bytes));
    let mut end = None;
    while let Some(mut chunk) = body.chunk().await? {
        let room = usize::try_from(keep.bytes.saturating_sub(got.bytes)).unwrap_or(usize::MAX);
        if chunk.len() > room {
            chunk.truncate(room);
            end = Some(BodyEnd::Cut);
        }
        got.bytes += chunk.len() as u64;
        if let Some(writer) = &mut writer {
            writer.write(chunk).await;
        }
        if end.is_some() {
            break;
        }
    }
    got.end = end.unwrap_or_else(|| body.end());
    let Some(writer) = writer else { return Ok(None) };
    match writer.finish().await {
        Ok(kept) => Ok(keep.artifact.filter(|_| kept).map(|artifact| artifact.url.clone())),
        Err(error) => {
            tracing::error!(%error, "the body of an answer could not be kept");
            Err(ToolError::Internal("the body could not be kept".to_owned()))
        }
    }
}

#[cfg(test)]
mod tests;
