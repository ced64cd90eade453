//! Request bodies: bounded in size and time, JSON read with the place of what is wrong.

use std::time::Duration;

use axum::body::{Bytes, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::named_fields::NamedFields;
use super::snapshot::snapshot;
use super::state::ApiState;

/// The most bytes of a body.
pub(super) const BODY_MAX: usize = 16 * 1024 * 1024;
/// The most bytes of a batch's body.
pub(super) const BATCH_BODY_MAX: usize = 32 * 1024 * 1024;

/// A JSON body of at most `MAX` bytes.
pub(super) struct JsonBody<T, const MAX: usize = BODY_MAX>(pub(super) T);

impl<T: DeserializeOwned, const MAX: usize> FromRequest<ApiState> for JsonBody<T, MAX> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        parse(&read(request, state, MAX).await?).map(Self)
    }
}

/// The text of a JSON body of at most `MAX` bytes, a list too: one JSON value that is looked into later.
pub(super) struct JsonText<const MAX: usize = BODY_MAX>(pub(super) String);

impl<const MAX: usize> FromRequest<ApiState> for JsonText<MAX> {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let bytes = read(request, state, MAX).await?;
        let text = String::from_utf8(bytes.into())
            .map_err(|_| ApiError::bad_request("invalid_json", "the body is not valid UTF-8"))?;
        serde_json::from_str::<serde::de::IgnoredAny>(&text).map_err(|error| {
            ApiError::bad_request("invalid_json", format!("the body is not valid JSON: {error}"))
        })?;
        Ok(Self(text))
    }
}

/// Reads a body that says that it is JSON, within its bound and the time for it.
async fn read(request: Request, state: &ApiState, max: usize) -> Result<Bytes, ApiError> {
    let declared = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if declared.is_some_and(|declared| !is_json(declared)) {
        return Err(ApiError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            "send the body as application/json",
        ));
    }
    let length = request.headers().get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|length| length.parse::<u64>().ok()).is_some_and(|length| length > max as u64) {
        return Err(too_large(max));
    }
    let timeout = snapshot(request.extensions(), state).config.limits.body_timeout_ms;
    let reading = to_bytes(request.into_body(), max);
    let bytes = tokio::time::timeout(Duration::from_millis(timeout), reading).await.map_err(|_| {
        let detail = format!("the body did not arrive within {timeout} ms");
        ApiError::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", detail)
    })?;
    bytes.map_err(|error| body_error(&error, max))
}

fn body_error(error: &axum::Error, max: usize) -> ApiError {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(inner) = source {
        if inner.to_string().contains("length limit exceeded") {
            return too_large(max);
        }
        source = inner.source();
    }
    ApiError::bad_request("body_broken", "the body ended before it was complete")
}

fn too_large(max: usize) -> ApiError {
    let detail = format!("the body has more than {max} bytes");
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", detail)
}

fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    essence.eq_ignore_ascii_case("application/json") || essence.to_ascii_lowercase().ends_with("+json")
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, ApiError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(NamedFields(&mut deserializer)).map_err(|error| {
        let pointer = pointer(error.path());
        let inner = error.into_inner();
        if inner.is_syntax() || inner.is_eof() {
            return ApiError::bad_request("invalid_json", format!("the body is not valid JSON: {inner}"));
        }
        let message = inner.to_string();
        ApiError::bad_request("invalid_request", format!("the body does not fit: {message}"))
            .field(pointer, message)
    })?;
    deserializer.end().map_err(|error| {
        ApiError::bad_request("invalid_json", format!("there is more after the JSON value: {error}"))
    })?;
    Ok(value)
}

/// A JSON pointer (RFC 6901) from a path of the deserializer.
pub(super) fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter().fold(String::new(), |mut pointer, segment| {
        pointer.push('/');
        match segment {
            Segment::Seq { index } => pointer.push_str(&index.to_string()),
            Segment::Map { key } => pointer.push_str(&key.replace('~', "~0").replace('/', "~1")),
            Segment::Enum { variant } => pointer.push_str(variant),
            Segment::Unknown => pointer.push('?'),
        }
        pointer
    })
}
