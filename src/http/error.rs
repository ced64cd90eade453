//! Errors as problem details (RFC 9457): the one place where a refusal gets its status and code.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::{Value, json};

use crate::session::SessionError;

/// A refusal on its way to the client; the request id is added at the edge.
#[derive(Debug, Clone)]
pub(crate) struct ApiError(Box<Refusal>);

#[derive(Debug, Clone)]
struct Refusal {
    status: StatusCode,
    code: &'static str,
    detail: String,
    errors: Vec<FieldError>,
    extra: Option<(&'static str, Value)>,
    retry_after_s: Option<u32>,
}

/// What is wrong with one field.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct FieldError {
    pointer: String,
    message: String,
}

/// A problem in a response, to be written out once the request's id is known.
#[derive(Debug, Clone)]
pub(super) struct Problem(ApiError);

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        let detail = detail.into();
        Self(Box::new(Refusal { status, code, detail, errors: Vec::new(), extra: None, retry_after_s: None }))
    }

    pub(crate) fn bad_request(code: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, detail)
    }

    pub(crate) fn field(mut self, pointer: impl Into<String>, message: impl Into<String>) -> Self {
        self.0.errors.push(FieldError { pointer: pointer.into(), message: message.into() });
        self
    }

    fn with(mut self, name: &'static str, value: Value) -> Self {
        self.0.extra = Some((name, value));
        self
    }

    /// The problem as JSON.
    pub(super) fn body(&self, request_id: &str) -> String {
        let error = &*self.0;
        let mut body = json!({
            "type": format!("urn:toolgate:problem:{}", error.code),
            "title": error.status.canonical_reason().unwrap_or("Error"),
            "status": error.status.as_u16(),
            "detail": error.detail,
            "code": error.code,
            "request_id": request_id,
        });
        if let Some(map) = body.as_object_mut() {
            if !error.errors.is_empty() {
                map.insert("errors".to_owned(), json!(error.errors));
            }
            if let Some((name, value)) = &error.extra {
                map.insert((*name).to_owned(), value.clone());
            }
        }
        body.to_string()
    }

    pub(crate) fn retry_after(mut self, seconds: u32) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }
}

impl Problem {
    /// The response as it is sent.
    pub(super) fn render(self, request_id: &str) -> Response {
        let mut response = Response::new(Body::from(self.0.body(request_id)));
        let error = *self.0.0;
        *response.status_mut() = error.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        if error.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = error.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        *response.status_mut() = self.0.status;
        response.extensions_mut().insert(Problem(self));
        response
    }
}

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> Self {
        let text = error.to_string();
        match error {
            SessionError::NotFound(_) => Self::new(StatusCode::NOT_FOUND, "not_found", text),
            SessionError::Invalid { pointer, message } => {
                Self::bad_request("invalid_request", text).field(pointer, message)
            }
            SessionError::Unprocessable { code, pointer, message } => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, code, text).field(pointer, message)
            }
            SessionError::Forbidden { code, .. } => Self::new(StatusCode::FORBIDDEN, code, text),
            SessionError::Conflict { code, .. } => Self::new(StatusCode::CONFLICT, code, text),
            SessionError::Ended => Self::new(StatusCode::CONFLICT, "session_ended", text),
            SessionError::Decided(approval) => {
                let problem = Self::new(StatusCode::CONFLICT, "already_decided", text);
                problem.with("approval", json!(approval))
            }
            SessionError::Superseded(approval) => {
                Self::new(StatusCode::CONFLICT, "superseded", text).with("approval", json!(approval))
            }
            SessionError::NotWaiting(_) => Self::new(StatusCode::CONFLICT, "not_waiting", text),
            SessionError::TooMany(_) => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many", text).retry_after(1)
            }
            SessionError::ShuttingDown => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "shutting_down", text).retry_after(5)
            }
            SessionError::Busy => Self::new(StatusCode::SERVICE_UNAVAILABLE, "busy", text).retry_after(1),
            SessionError::Internal(reason) => {
                tracing::error!(%reason, "a request failed");
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server failed; see its log")
            }
        }
    }
}
