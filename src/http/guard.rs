//! What every request passes first: Host and Origin, the bound on requests, an id, a last resort.

use std::any::Any;

use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use tracing::Instrument as _;

use super::access::Access;
use super::error::{ApiError, Problem};
use super::snapshot::Snapshot;
use super::state::ApiState;
use crate::permission::Revision;

/// Routes that are answered whatever the `Host`: probes come with the pod's address.
pub(super) const PROBES: &[&str] = &["/healthz", "/readyz", "/metrics"];

/// Gives a request its id, holds it against the guards, and writes out problems.
pub(super) async fn guard(State(state): State<ApiState>, mut request: Request, next: Next) -> Response {
    let revision = state.in_force.now();
    let request_id = new_request_id();
    let access = Access::begin(&request, &request_id, &state.metrics);
    let response = async {
        if let Err(error) = admit(&state, &revision, &request) {
            return error.into_response();
        }
        request.extensions_mut().insert(Snapshot(revision));
        let Some(_place) = state.facts.requests.try_enter() else {
            let detail = "the server has as many requests as it takes; try again";
            return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "overloaded", detail)
                .retry_after(1)
                .into_response();
        };
        next.run(request).await
    }
    .instrument(access.span())
    .await;
    let response = finish(response, &request_id);
    access.answered(response.status().as_u16());
    response
}

/// An id for a request.
pub(super) fn new_request_id() -> String {
    format!("req_{}", uuid::Uuid::now_v7().simple())
}

/// Writes out a problem and adds what every answer has.
fn finish(mut response: Response, request_id: &str) -> Response {
    let problem = response.extensions_mut().remove::<Problem>();
    let mut response = match problem {
        Some(problem) => {
            let range = response.headers_mut().remove(header::CONTENT_RANGE);
            let mut rendered = problem.render(request_id);
            if let Some(range) = range {
                rendered.headers_mut().insert(header::CONTENT_RANGE, range);
            }
            rendered
        }
        None => response,
    };
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert("x-request-id", value);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// A foreign `Host` is a rebinding page's, a foreign `Origin` a browser's: neither is answered.
fn admit(state: &ApiState, revision: &Revision, request: &Request) -> Result<(), ApiError> {
    if PROBES.contains(&request.uri().path()) {
        return Ok(());
    }
    let refuse = |code, detail: &str| Err(ApiError::new(StatusCode::FORBIDDEN, code, detail));
    let Some(host) = host_of(request) else {
        return Err(ApiError::bad_request("host_required", "send one Host header (RFC 9110, section 7.2)"));
    };
    let server = &revision.config.server;
    let own = state.facts.own_hosts.iter().chain(&server.allowed_hosts);
    let is_foreign = |host: &str| !own.clone().any(|allowed| names(host, allowed));
    // RFC 9112, section 3.2.2: a request may name its host in the target too, and that one wins.
    if is_foreign(&host) || request.uri().authority().is_some_and(|target| is_foreign(target.as_str())) {
        return refuse("host_not_allowed", "this Host is not the server's; add it to server.allowed_hosts");
    }
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(()) };
    let origin = origin.to_str().unwrap_or_default();
    let its_host = origin.split_once("://").map(|(_, rest)| rest);
    let same = its_host.is_some_and(|its| its.eq_ignore_ascii_case(&host));
    let listed = server.allowed_origins.iter().any(|allowed| allowed == origin);
    if origins.next().is_some() || !(same || listed) {
        return refuse("origin_not_allowed", "this Origin may not call; add it to server.allowed_origins");
    }
    Ok(())
}

fn host_of(request: &Request) -> Option<String> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok()?.to_owned(),
        (None, _) => request.uri().authority()?.to_string(),
        _ => return None,
    };
    (!host.is_empty()).then_some(host)
}

/// Whether a `Host` is an allowed name, with or without its port.
fn names(host: &str, allowed: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    };
    host.eq_ignore_ascii_case(allowed) || name.eq_ignore_ascii_case(allowed)
}

/// No such route.
pub(super) async fn no_route(uri: Uri) -> ApiError {
    let path = crate::domain::visible::clipped(uri.path(), 200);
    ApiError::new(StatusCode::NOT_FOUND, "no_route", format!("there is no route {path}"))
}

/// The route is there, but not for this method.
pub(super) async fn no_method() -> ApiError {
    ApiError::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this route does not take this method",
    )
}

/// A panic is our fault: logged, and said without its text.
#[expect(clippy::needless_pass_by_value, reason = "the layer hands it over")]
pub(super) fn panicked(panic: Box<dyn Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic");
    tracing::error!(panic = text, "a request panicked");
    ApiError::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the server failed; see its log")
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn hosts_match_with_and_without_port() {
        for (host, allowed, is) in [
            ("127.0.0.1:8765", "127.0.0.1", true),
            ("LOCALHOST", "localhost", true),
            ("[::1]:80", "[::1]", true),
            ("[::1]", "[::1]", true),
            ("gate.example:443", "gate.example:443", true),
            ("gate.example:444", "gate.example:443", false),
            ("localhost.evil", "localhost", false),
            ("evil:localhost", "localhost", false),
            ("127.0.0.1.evil:80", "127.0.0.1", false),
        ] {
            assert_eq!(names(host, allowed), is, "{host} {allowed}");
        }
    }
}
