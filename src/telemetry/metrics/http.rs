//! Numbers of the HTTP interface.

use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::histogram::{Histogram, WORK};
use super::{Counted, OTHER};

/// What stands in the place of a status where the client went away before there was one.
const ABORTED: &str = "aborted";
/// The methods that a label may have.
const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/// A route's template and a method.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
    method: &'static str,
}

/// The same with how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AnswerLabels {
    route: String,
    method: &'static str,
    status: String,
}

/// Numbers of the HTTP interface.
#[derive(Debug)]
pub struct HttpMetrics {
    answers: Family<AnswerLabels, Counter>,
    durations: Family<RouteLabels, Histogram, fn() -> Histogram>,
    requests: Gauge,
    streams: Gauge,
    connections: Gauge,
}

impl HttpMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let new: fn() -> Histogram = || Histogram::new(WORK);
        let metrics = Self {
            answers: Family::default(),
            durations: Family::new_with_constructor(new),
            requests: Gauge::default(),
            streams: Gauge::default(),
            connections: Gauge::default(),
        };
        registry.register(
            "toolgate_http_requests",
            "Answered requests, by route template, method and status",
            metrics.answers.clone(),
        );
        registry.register(
            "toolgate_http_request_duration_seconds",
            "From a request's head to its answer's, waits that it asked for included",
            metrics.durations.clone(),
        );
        registry.register("toolgate_http_requests_open", "Requests under way", metrics.requests.clone());
        registry.register(
            "toolgate_http_streams_open",
            "Event streams and long polls under way",
            metrics.streams.clone(),
        );
        registry.register(
            "toolgate_http_connections_open",
            "Connections that were taken",
            metrics.connections.clone(),
        );
        metrics
    }

    /// A request has come. `route` is the router's own template, none where no route fits.
    pub fn request(&self, route: Option<&str>, method: &str) -> RequestInFlight<'_> {
        let method = METHODS.into_iter().find(|known| *known == method).unwrap_or(OTHER);
        let route = route.unwrap_or(OTHER).to_owned();
        let (open, started) = (Counted::new(&self.requests), Instant::now());
        RequestInFlight { metrics: self, route, method, started, status: None, _open: open }
    }

    /// A stream or a long poll is open for as long as this lives.
    pub fn stream(&self) -> Counted {
        Counted::new(&self.streams)
    }

    /// A connection is open for as long as this lives.
    pub fn connection(&self) -> Counted {
        Counted::new(&self.connections)
    }
}

/// A request under way. Dropped without a status it counts as one whose client went away.
#[derive(Debug)]
pub struct RequestInFlight<'a> {
    metrics: &'a HttpMetrics,
    route: String,
    method: &'static str,
    started: Instant,
    status: Option<u16>,
    _open: Counted,
}

impl RequestInFlight<'_> {
    /// It is answered with this status; how long that took.
    pub fn answered(mut self, status: u16) -> Duration {
        self.status = Some(status);
        self.started.elapsed()
    }
}

impl Drop for RequestInFlight<'_> {
    fn drop(&mut self) {
        let (route, method) = (std::mem::take(&mut self.route), self.method);
        let status = self.status.map_or_else(|| ABORTED.to_owned(), |status| status.to_string());
        let labels = RouteLabels { route: route.clone(), method };
        self.metrics.durations.get_or_create(&labels).observe(self.started.elapsed());
        self.metrics.answers.get_or_create(&AnswerLabels { route, method, status }).inc();
    }
}
