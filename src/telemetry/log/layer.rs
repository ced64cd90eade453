//! From events and spans to lines.

use prometheus_client::metrics::counter::Counter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

use super::line::{self, Fields, Format, level_name};
use super::queue::Queue;
use crate::domain::clock::SharedClock;
use crate::telemetry::Metrics;

/// The levels there are.
const LEVELS: [Level; 5] = [Level::ERROR, Level::WARN, Level::INFO, Level::DEBUG, Level::TRACE];

/// Writes each event with the fields of the spans around it.
pub(super) struct LogLayer {
    format: Format,
    clock: SharedClock,
    queue: Queue,
    lines: [(Level, Counter); 5],
}

impl LogLayer {
    pub(super) fn new(format: Format, clock: SharedClock, queue: Queue, metrics: &Metrics) -> Self {
        let lines = LEVELS.map(|level| (level, metrics.log().lines_of(level_name(level))));
        Self { format, clock, queue, lines }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for LogLayer {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        span.extensions_mut().insert(fields);
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        let Some(span) = context.span(id) else { return };
        if let Some(fields) = span.extensions_mut().get_mut::<Fields>() {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let metadata = event.metadata();
        let mut fields = Fields::default();
        event.record(&mut fields);
        // From the inside out: what is nearer to the event wins.
        for span in context.event_scope(event).into_iter().flatten() {
            if let Some(around) = span.extensions().get::<Fields>() {
                fields.inherit(around);
            }
        }
        let level = *metadata.level();
        self.queue.send(line::write(self.format, self.clock.now(), level, metadata.target(), &fields));
        if let Some((_, count)) = self.lines.iter().find(|(known, _)| *known == level) {
            count.inc();
        }
    }
}
