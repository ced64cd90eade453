//! What tells an operator how the server does: numbers, the log, traces. Each is a handle that is
//! passed down; nothing here knows who uses it.

pub mod log;
pub mod metrics;
pub mod trace;

use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

pub use log::{Log, LogControl, LogOptions};
pub use metrics::Metrics;

use crate::config::TelemetryConfig;

/// The log and traces that run. Dropping it writes and sends what waits, each within 300 ms.
pub struct Telemetry {
    /// First: that traces could not be sent is logged.
    #[cfg(feature = "otel")]
    _traces: Option<trace::Traces>,
    log: Log,
}

/// Why the log or traces do not start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// The environment's directives.
    #[error(transparent)]
    Directives(#[from] log::BadDirectives),
    /// The exporter.
    #[cfg(feature = "otel")]
    #[error(transparent)]
    Traces(#[from] trace::TraceError),
}

impl Telemetry {
    /// Starts the log, into standard error, and traces where they are configured, for the whole process. Must not
    /// be called within a runtime.
    #[cfg_attr(not(feature = "otel"), expect(unused_variables, reason = "it says where traces go"))]
    pub fn start(
        config: &TelemetryConfig,
        options: LogOptions,
        metrics: &Metrics,
    ) -> Result<Self, TelemetryError> {
        let (log, layer) = Log::start(options, std::io::stderr(), metrics)?;
        #[cfg_attr(not(feature = "otel"), expect(unused_mut, reason = "there is one layer"))]
        let mut layers = vec![layer];
        #[cfg(feature = "otel")]
        let traces = trace::Traces::start(config)?.map(|(traces, layer)| {
            layers.push(layer);
            traces
        });
        // A second start, as in a test process, keeps the first log.
        let _ = Registry::default().with(layers).try_init();
        Ok(Self {
            #[cfg(feature = "otel")]
            _traces: traces,
            log,
        })
    }

    /// What changes the log's level.
    pub fn log_control(&self) -> LogControl {
        self.log.control()
    }
}
