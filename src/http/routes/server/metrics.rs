//! `GET /metrics`: the numbers, in the text formats that Prometheus reads. Takes no token, shows no secret.

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;

use crate::http::error::ApiError;
use crate::http::state::ApiState;
use crate::session::SessionError;
use crate::telemetry::metrics::{Exposition, Sampled};

/// Get the server's numbers
///
/// In the text format of Prometheus; OpenMetrics for who asks for `application/openmetrics-text`.
#[utoipa::path(
    get,
    path = "/metrics",
    operation_id = "getMetrics",
    tag = "server",
    responses((status = OK, description = "The numbers", content(
        (String = "text/plain"),
        (String = "application/openmetrics-text"),
    ))),
    security(()),
)]
pub(in crate::http) async fn metrics(
    State(state): State<ApiState>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let exposition = accepted(&headers);
    let rendering = tokio::task::spawn_blocking(move || {
        let limits = state.in_force.now().config.limits.clone();
        let now = Sampled { sessions: state.sessions.load(), store: state.store.load(), limits };
        state.metrics.render(&now, exposition)
    });
    let text = rendering.await.map_err(|error| SessionError::Internal(format!("/metrics: {error}")))?;
    let mut response = Response::new(text.into());
    let content_type = HeaderValue::from_static(exposition.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    Ok(response)
}

/// OpenMetrics for who asks for it; the older format, which everything reads, for everyone else.
fn accepted(headers: &HeaderMap) -> Exposition {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut types = accepts.flat_map(|accept| accept.split(','));
    if types.any(|kind| kind.trim().starts_with("application/openmetrics-text")) {
        Exposition::OpenMetrics
    } else {
        Exposition::Prometheus
    }
}
