//! One request as its operator sees it: the span around it, its line in the log, its numbers.

use axum::extract::{MatchedPath, Request};
use axum::http::header::HeaderName;
use tracing::Span;
use tracing::field::Empty;

use crate::domain::visible;
use crate::telemetry::Metrics;
use crate::telemetry::metrics::RequestInFlight;
use crate::telemetry::trace::{self, TraceContext};

/// The most characters of a path in logs and traces.
const PATH_MAX: usize = 500;
/// The longest id that a client can give its request, in bytes.
const CLIENT_ID_MAX: usize = 128;

/// A request under way. Dropped without an answer it is logged as one whose client went away.
pub(super) struct Access<'a> {
    span: Span,
    in_flight: Option<RequestInFlight<'a>>,
}

impl<'a> Access<'a> {
    /// Begins with a request's head.
    pub(super) fn begin(request: &Request, request_id: &str, metrics: &'a Metrics) -> Self {
        let route = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
        let method = request.method().as_str();
        let in_flight = Some(metrics.http().request(route, method));
        // At the level that is always there: every line within has the request's id.
        let span = tracing::error_span!(
            "request",
            request_id,
            trace_id = Empty,
            client_request_id = client_id(request),
            principal = Empty,
            "http.request.method" = method,
            "url.path" = Empty,
            "http.route" = route,
            "http.response.status_code" = Empty,
            "otel.name" = Empty,
            "otel.kind" = "server",
            "otel.status_code" = Empty,
        );
        match request.uri().path() {
            path if path.len() <= PATH_MAX => span.record("url.path", path),
            path => span.record("url.path", visible::clipped(path, PATH_MAX)),
        };
        trace::name(&span, || match route {
            Some(route) => format!("{method} {route}"),
            None => method.to_owned(),
        });
        trace::adopt(&span, trace_context(request));
        Self { span, in_flight }
    }

    /// The span around it.
    pub(super) fn span(&self) -> Span {
        self.span.clone()
    }

    /// It is answered: logged by what that says of the server's and of the client's part.
    pub(super) fn answered(mut self, status: u16) {
        let Some(in_flight) = self.in_flight.take() else { return };
        let ms = u64::try_from(in_flight.answered(status).as_millis()).unwrap_or(u64::MAX);
        self.span.record("http.response.status_code", status);
        if status >= 500 {
            self.span.record("otel.status_code", "ERROR");
        }
        self.span.in_scope(|| match status {
            500.. => tracing::warn!(status, ms, "answered"),
            400.. => tracing::info!(status, ms, "answered"),
            _ => tracing::debug!(status, ms, "answered"),
        });
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        if self.in_flight.is_some() {
            self.span.in_scope(|| tracing::info!("the client went away before its answer"));
        }
        trace::end(&self.span);
    }
}

/// The one value of a header; none where there are several.
fn single<'r>(request: &'r Request, name: &str) -> Option<&'r str> {
    let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
    let mut values = request.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (Some(value), None) => value.to_str().ok(),
        _ => None,
    }
}

/// An id that the client has for its request, for the log alone: the server's own is the one that is unique.
fn client_id(request: &Request) -> Option<&str> {
    let plain = |id: &&str| {
        id.len() <= CLIENT_ID_MAX && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-:".contains(&b))
    };
    single(request, "x-request-id").filter(plain).filter(|id| !id.is_empty())
}

/// The trace that the request is a part of. Several `tracestate` fields are one list (W3C Trace Context, section
/// 3.3.1); several `traceparent` fields are as none.
fn trace_context(request: &Request) -> Option<TraceContext> {
    let parent = single(request, "traceparent")?;
    let states = request.headers().get_all("tracestate").iter();
    let states: Vec<&str> = states.filter_map(|value| value.to_str().ok()).collect();
    TraceContext::parse(parent, Some(&states.join(",")))
}
