//! `GET /v1/sessions/{sid}/calls/{cid}/output`: the full output kept of a call, with ranges.

use std::io::SeekFrom;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, Schema, SchemaFormat, Type};

use crate::http::auth::Caller;
use crate::http::error::ApiError;
use crate::http::params::{CallPath, PathParams, QueryParams, TurnQuery};
use crate::session::{SessionError, Sessions};

/// How much is read at once, in bytes.
const CHUNK: usize = 64 * 1024;

/// Bytes as they are.
enum RawBytes {}

impl utoipa::PartialSchema for RawBytes {
    fn schema() -> RefOr<Schema> {
        let bytes = ObjectBuilder::new().schema_type(Type::String);
        bytes.format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary))).into()
    }
}

impl utoipa::ToSchema for RawBytes {}

/// Get the full output of a call
///
/// What was kept beyond the bounds of the result, as bytes. One range (RFC 9110, section 14) may be asked for.
#[utoipa::path(
    get,
    path = "/v1/sessions/{sid}/calls/{cid}/output",
    operation_id = "getCallOutput",
    tag = "calls",
    params(CallPath, TurnQuery,
        ("range" = Option<String>, Header, description = "`bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT`")),
    responses(
        (status = OK, description = "The whole output", body = inline(RawBytes), content_type = "application/octet-stream",
            headers(("accept-ranges" = String, description = "`bytes`"))),
        (status = PARTIAL_CONTENT, description = "The range", body = inline(RawBytes),
            content_type = "application/octet-stream", headers(
            ("content-range" = String, description = "`bytes FIRST-LAST/SIZE`"))),
    ),
    security(("bearer" = ["agent"])),
    extensions(("x-problems" = json!(["range_not_satisfiable"]))),
)]
pub(in crate::http) async fn output(
    State(sessions): State<Sessions>,
    Caller(principal): Caller,
    PathParams(CallPath { sid, cid }): PathParams<CallPath>,
    QueryParams(query): QueryParams<TurnQuery>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let path = sessions.artifact(&principal, &sid, &query.key(cid)?).await?;
    let failed = |error: std::io::Error| SessionError::Internal(format!("a call's output: {error}"));
    let mut file = match tokio::fs::File::open(&path).await {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(SessionError::NotFound("output: nothing more than the result was kept").into());
        }
        file => file.map_err(failed)?,
    };
    let size = file.metadata().await.map_err(failed)?.len();
    let range = match headers.get(header::RANGE) {
        None => None,
        Some(value) => match byte_range(value, size) {
            Ok(range) => range,
            Err(error) => return Ok(unsatisfiable(error, size)),
        },
    };
    let (start, length) = range.unwrap_or((0, size));
    file.seek(SeekFrom::Start(start)).await.map_err(failed)?;
    let chunks = stream::unfold(file.take(length), |mut file| async move {
        let mut chunk = Vec::with_capacity(CHUNK);
        match (&mut file).take(CHUNK as u64).read_to_end(&mut chunk).await {
            Ok(0) => None,
            Ok(_) => Some((Ok(Bytes::from(chunk)), file)),
            Err(error) => Some((Err(error), file)),
        }
    });
    let mut response = Response::new(Body::from_stream(chunks));
    if range.is_some() {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let text = format!("bytes {start}-{}/{size}", start + length - 1);
        if let Ok(value) = HeaderValue::from_str(&text) {
            response.headers_mut().insert(header::CONTENT_RANGE, value);
        }
    }
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // Whatever a command printed must not be shown as a page of this server's.
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment; filename=\"output\""));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    Ok(response)
}

/// The refusal of a range, which says how long the output is (RFC 9110, section 15.5.17).
fn unsatisfiable(error: ApiError, size: u64) -> Response {
    let mut response = error.into_response();
    if let Ok(value) = HeaderValue::from_str(&format!("bytes */{size}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, value);
    }
    response
}

/// One range of bytes (RFC 9110, section 14.1.2) as start and length; several, and other units,
/// are ignored as the section allows.
fn byte_range(value: &HeaderValue, size: u64) -> Result<Option<(u64, u64)>, ApiError> {
    let text = value.to_str().unwrap_or_default();
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return Ok(None);
    };
    if last.contains(',') {
        return Ok(None);
    }
    let unsatisfiable = || {
        let detail = format!("the output has {size} bytes");
        ApiError::new(StatusCode::RANGE_NOT_SATISFIABLE, "range_not_satisfiable", detail)
    };
    let number = |text: &str| text.parse::<u64>().map_err(|_| unsatisfiable());
    let (start, end) = match (first, last) {
        ("", suffix) => (size.saturating_sub(number(suffix)?), size),
        (first, "") => (number(first)?, size),
        (first, last) => (number(first)?, number(last)?.saturating_add(1).min(size)),
    };
    if start >= end { Err(unsatisfiable()) } else { Ok(Some((start, end - start))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        let range = |text: &'static str| byte_range(&HeaderValue::from_static(text), 10);
        for (text, expected) in [
            ("bytes=0-3", Some((0, 4))),
            ("bytes=4-", Some((4, 6))),
            ("bytes=-3", Some((7, 3))),
            ("bytes=0-99", Some((0, 10))),
            ("bytes=0-1,4-5", None),
            ("lines=1-2", None),
        ] {
            assert_eq!(range(text).unwrap(), expected, "{text}");
        }
        for text in ["bytes=10-", "bytes=5-3", "bytes=x-1", "bytes=-0"] {
            assert!(range(text).is_err(), "{text}");
        }
    }
}
