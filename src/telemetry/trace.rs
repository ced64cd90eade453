//! Traces: the caller's context (W3C Trace Context) is taken up, put on the log and handed to commands; with
//! the feature `otel` the spans of requests, calls, verdicts, tools and processes are exported too.

mod context;
#[cfg(feature = "otel")]
mod otel;

use std::ffi::OsString;

use tracing::Span;
use tracing_subscriber::Registry;
use tracing_subscriber::registry::LookupSpan as _;

pub use context::TraceContext;

#[cfg(feature = "otel")]
pub use otel::{TraceError, Traces};

/// The target of spans that are of use to traces alone: without them they cost a comparison.
pub const DETAIL: &str = "toolgate::trace";

/// Continues the caller's trace in a span that has the field `trace_id`. Before anything else happens
/// in the span.
pub fn adopt(span: &Span, context: Option<TraceContext>) {
    #[cfg(feature = "otel")]
    let own = otel::adopt(span, context.as_ref());
    #[cfg(not(feature = "otel"))]
    let own: Option<TraceContext> = None;
    let Some(trace_id) = own.as_ref().or(context.as_ref()).map(TraceContext::trace_id) else { return };
    span.record("trace_id", trace_id);
    let Some(context) = context else { return };
    span.with_subscriber(|(id, dispatch)| {
        if let Some(found) = dispatch.downcast_ref::<Registry>().and_then(|registry| registry.span(id)) {
            found.extensions_mut().insert(context);
        }
    });
}

/// What a request that is made now, or a command that is started now, is a part of.
pub fn current() -> Option<TraceContext> {
    let span = Span::current();
    #[cfg(feature = "otel")]
    if let Some(own) = otel::context_of(&span) {
        return Some(own);
    }
    span.with_subscriber(|(id, dispatch)| {
        let found = dispatch.downcast_ref::<Registry>()?.span(id)?;
        found.scope().find_map(|span| span.extensions().get::<TraceContext>().cloned())
    })?
}

/// Hands the trace to a command, in the way that OpenTelemetry's instrumentations read it.
pub fn carry(environment: &mut Vec<(OsString, OsString)>) {
    let Some(context) = current() else { return };
    environment.retain(|(name, _)| name != "TRACEPARENT" && name != "TRACESTATE");
    environment.push(("TRACEPARENT".into(), context.traceparent().into()));
    if let Some(state) = context.tracestate() {
        environment.push(("TRACESTATE".into(), state.into()));
    }
}

/// Names a span in traces.
#[cfg_attr(not(feature = "otel"), expect(unused_variables, reason = "without traces nothing is named"))]
pub fn name(span: &Span, name: impl FnOnce() -> String) {
    #[cfg(feature = "otel")]
    span.record("otel.name", name());
}

/// Ends a span in its trace now, although what it began goes on within it: a call outlives its request.
#[cfg_attr(not(feature = "otel"), expect(unused_variables, reason = "without traces nothing is ended"))]
pub fn end(span: &Span) {
    #[cfg(feature = "otel")]
    otel::end(span);
}

#[cfg(test)]
mod tests {
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    fn carried() -> Vec<(OsString, OsString)> {
        let mut environment = vec![("A".into(), "b".into()), ("TRACEPARENT".into(), "the server's".into())];
        carry(&mut environment);
        environment
    }

    #[test]
    fn a_command_gets_the_trace_of_its_request() {
        let subscriber = Registry::default().with(tracing_subscriber::filter::LevelFilter::ERROR);
        tracing::subscriber::with_default(subscriber, || {
            let request = tracing::error_span!("request", trace_id = tracing::field::Empty);
            adopt(&request, TraceContext::parse(PARENT, Some("vendor=1")));
            let _request = request.enter();
            let _call = tracing::error_span!("call").entered();
            let expected = [("A", "b"), ("TRACEPARENT", PARENT), ("TRACESTATE", "vendor=1")];
            assert_eq!(carried(), expected.map(|(name, value)| (name.into(), value.into())));
        });
        assert_eq!(current(), None);
        assert_eq!(carried().len(), 2, "what there is stays where there is no trace");
    }
}
