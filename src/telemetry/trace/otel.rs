//! The exporter: spans leave by OTLP over HTTP, from a bounded queue and a thread of its own. A collector that
//! is slow or gone costs spans, never time.

use std::time::Duration;

use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracerProvider};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::filter_fn;

use super::TraceContext;
use crate::config::TelemetryConfig;
use crate::telemetry::log::AnyLayer;

/// Spans that wait to be sent; further ones are dropped.
const QUEUE: usize = 2_048;
/// Spans of one request to the collector.
const BATCH: usize = 256;
/// How long spans wait for more to come with them.
const SEND_EVERY: Duration = Duration::from_secs(2);
/// How long the collector has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// How long an end waits for what is still to be sent.
const FLUSH_WITHIN: Duration = Duration::from_millis(300);
/// The most attributes of a span; ours have fewer.
const ATTRIBUTES_MAX: u32 = 32;

/// Traces cannot be made.
#[derive(Debug, thiserror::Error)]
#[error("telemetry.otlp_endpoint: no traces can be sent there: {0}")]
pub struct TraceError(String);

/// Traces that are made. Dropping it sends what waits, within 300 ms.
pub struct Traces {
    provider: SdkTracerProvider,
}

impl Traces {
    /// Starts to make traces, where an endpoint is configured; and the layer that makes them.
    pub(in crate::telemetry) fn start(
        config: &TelemetryConfig,
    ) -> Result<Option<(Self, AnyLayer)>, TraceError> {
        let Some(endpoint) = &config.otlp_endpoint else { return Ok(None) };
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpJson)
            .with_endpoint(full_endpoint(endpoint))
            .with_timeout(ANSWER_WITHIN)
            .build()
            .map_err(|error| TraceError(error.to_string()))?;
        let batches = BatchConfigBuilder::default()
            .with_max_queue_size(QUEUE)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(SEND_EVERY)
            .build();
        let ratio = Sampler::TraceIdRatioBased(config.trace_ratio);
        let provider = SdkTracerProvider::builder()
            .with_span_processor(BatchSpanProcessor::builder(exporter).with_batch_config(batches).build())
            .with_sampler(Sampler::ParentBased(Box::new(ratio)))
            .with_max_attributes_per_span(ATTRIBUTES_MAX)
            .with_resource(resource(&config.service_name))
            .build();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("toolgate"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            .with_context_activation(false);
        // Spans of ours alone: what the exporter does itself makes no traces.
        let ours = filter_fn(|metadata| metadata.is_span() && metadata.target().starts_with("toolgate"));
        Ok(Some((Self { provider }, Box::new(layer.with_filter(ours)))))
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown_with_timeout(FLUSH_WITHIN) {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

/// The address for traces, as the OTLP specification makes it of a base address.
fn full_endpoint(endpoint: &str) -> String {
    let bare = endpoint.splitn(4, '/').nth(3).is_none_or(str::is_empty);
    if bare { format!("{}/v1/traces", endpoint.trim_end_matches('/')) } else { endpoint.to_owned() }
}

fn resource(service_name: &str) -> Resource {
    Resource::builder()
        .with_service_name(service_name.to_owned())
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Makes a span a child of the caller's; what it is then itself, where traces are made.
pub(super) fn adopt(span: &Span, parent: Option<&TraceContext>) -> Option<TraceContext> {
    if let Some(parent) = parent.and_then(remote) {
        // It fails only where no traces are made.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }
    context_of(span)
}

fn remote(context: &TraceContext) -> Option<SpanContext> {
    let trace_id = TraceId::from_hex(&context.trace_id).ok()?;
    let span_id = SpanId::from_hex(&context.parent_id).ok()?;
    let state = context.state.as_deref().and_then(|state| state.parse::<TraceState>().ok());
    Some(SpanContext::new(trace_id, span_id, TraceFlags::new(context.flags), true, state.unwrap_or_default()))
}

/// What is below a span, where traces are made.
pub(super) fn context_of(span: &Span) -> Option<TraceContext> {
    let context = span.context();
    let span = context.span();
    let own = span.span_context();
    own.is_valid().then(|| {
        let (trace, id) = (own.trace_id().to_string(), own.span_id().to_string());
        TraceContext::of(trace, id, own.trace_flags().to_u8(), own.trace_state().header())
    })
}

/// Ends a span now.
pub(super) fn end(span: &Span) {
    span.context().span().end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_address_gets_the_path_of_traces() {
        for (given, full) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("http://127.0.0.1:4318/", "http://127.0.0.1:4318/v1/traces"),
            ("https://x.example/otlp/v1/traces", "https://x.example/otlp/v1/traces"),
        ] {
            assert_eq!(full_endpoint(given), full);
        }
    }
}
