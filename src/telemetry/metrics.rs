//! The numbers behind `/metrics`: one handle, passed down to where things happen.
//!
//! A label is one of a set that is fixed when the server starts (names of built-in tools, statuses,
//! route templates): a text from outside never is one, so that no client makes series. Counting takes
//! atomics, at most an uncontended lock to find the series; what is cheaper to look at than to count
//! is [`Sampled`] when someone asks.

mod calls;
mod histogram;
mod http;
mod process;
mod sampled;
mod server;
mod store;

use std::borrow::Cow;
use std::sync::Arc;

use prometheus_client::encoding::{prometheus_text, text};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

pub use calls::CallMetrics;
pub(crate) use calls::between;
pub use http::{HttpMetrics, RequestInFlight};
pub use process::{CommandMeter, CommandMetrics, Starting};
pub use sampled::{Places, Sampled, SessionLoad, StoreLoad};
pub use server::{ConfigMetrics, LogMetrics, Reload};
pub use store::StoreMetrics;

use sampled::SampledGauges;
use server::ServerProcess;

/// What stands for everything that has no label of its own.
const OTHER: &str = "other";

/// `N` names with their values.
type Labels<const N: usize> = [(&'static str, Cow<'static, str>); N];

fn labels<const N: usize>(pairs: [(&'static str, &str); N]) -> Labels<N> {
    pairs.map(|(name, value)| (name, Cow::Owned(value.to_owned())))
}

/// The text formats of an exposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposition {
    /// The Prometheus text format, version 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Exposition {
    /// Its media type.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Prometheus => prometheus_text::CONTENT_TYPE,
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// All numbers. Cheap to clone; clones count together.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    registry: Registry,
    calls: CallMetrics,
    http: HttpMetrics,
    store: StoreMetrics,
    commands: CommandMetrics,
    config: ConfigMetrics,
    log: LogMetrics,
    sampled: SampledGauges,
}

impl Default for Metrics {
    /// Numbers that nobody reads, for what is used without a server around it.
    fn default() -> Self {
        Self::new(&[])
    }
}

impl Metrics {
    /// New numbers; `tools` are the names of the built-in tools, which alone become labels.
    pub fn new(tools: &[&str]) -> Self {
        let mut registry = Registry::default();
        let version = Info::new(labels([("version", env!("CARGO_PKG_VERSION"))]));
        registry.register("toolgate_build", "What runs", version);
        let calls = CallMetrics::register(&mut registry, tools);
        let http = HttpMetrics::register(&mut registry);
        let store = StoreMetrics::register(&mut registry);
        let commands = CommandMetrics::register(&mut registry);
        let config = ConfigMetrics::register(&mut registry);
        let log = LogMetrics::register(&mut registry);
        let sampled = SampledGauges::register(&mut registry);
        registry.register_collector(Box::new(ServerProcess));
        Self(Arc::new(Inner { registry, calls, http, store, commands, config, log, sampled }))
    }

    /// Of calls, verdicts and approvals.
    pub fn calls(&self) -> &CallMetrics {
        &self.0.calls
    }

    /// Of the HTTP interface.
    pub fn http(&self) -> &HttpMetrics {
        &self.0.http
    }

    /// Of the store.
    pub fn store(&self) -> &StoreMetrics {
        &self.0.store
    }

    /// Of commands and their process trees.
    pub fn commands(&self) -> &CommandMetrics {
        &self.0.commands
    }

    /// Of the config file.
    pub fn config(&self) -> &ConfigMetrics {
        &self.0.config
    }

    /// Of the log itself.
    pub fn log(&self) -> &LogMetrics {
        &self.0.log
    }

    /// Writes everything out, with what was found just now. Reads `/proc`: for a blocking thread.
    pub fn render(&self, now: &Sampled, exposition: Exposition) -> String {
        self.0.sampled.set(now);
        let mut text = String::new();
        let registry = &self.0.registry;
        let written = match exposition {
            Exposition::Prometheus => prometheus_text::encode(&mut text, registry),
            Exposition::OpenMetrics => text::encode(&mut text, registry),
        };
        if written.is_err() {
            // A string takes everything: what is there is whole.
            tracing::error!("the numbers could not be written out");
        }
        text
    }
}

/// One up for as long as it lives.
#[derive(Debug)]
pub struct Counted(Gauge);

impl Counted {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}

#[cfg(test)]
mod tests;
