//! Numbers of the server itself: its process, its config, its log.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::registry::Registry;

use super::{Labels, labels};

/// What came of looking at the config file again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reload {
    /// It was put in force.
    Applied,
    /// It says what is in force already.
    Unchanged,
    /// It is wrong; the last good one stays.
    Refused,
}

/// Numbers of the config file.
#[derive(Debug)]
pub struct ConfigMetrics {
    reloads: Family<Labels<1>, Counter>,
    valid: Gauge,
}

impl Reload {
    fn as_str(self) -> &'static str {
        match self {
            Self::Applied => "applied",
            Self::Unchanged => "unchanged",
            Self::Refused => "refused",
        }
    }
}

impl ConfigMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self { reloads: Family::default(), valid: Gauge::default() };
        for outcome in [Reload::Applied, Reload::Unchanged, Reload::Refused] {
            drop(metrics.reloads.get_or_create(&labels([("outcome", outcome.as_str())])));
        }
        // The server does not start with one that is wrong.
        metrics.valid.set(1);
        registry.register(
            "toolgate_config_reloads",
            "How often the config was read again, by what came of it",
            metrics.reloads.clone(),
        );
        registry.register(
            "toolgate_config_valid",
            "0 where the config file is wrong and the last good one is in force",
            metrics.valid.clone(),
        );
        metrics
    }

    /// The config file was read again.
    pub fn reloaded(&self, outcome: Reload) {
        self.reloads.get_or_create(&labels([("outcome", outcome.as_str())])).inc();
        self.valid.set(i64::from(outcome != Reload::Refused));
    }
}

/// Numbers of the log.
#[derive(Debug)]
pub struct LogMetrics {
    lines: Family<Labels<1>, Counter>,
    dropped: Counter,
}

impl LogMetrics {
    pub(super) fn register(registry: &mut Registry) -> Self {
        let metrics = Self { lines: Family::default(), dropped: Counter::default() };
        for level in ["error", "warn", "info", "debug", "trace"] {
            drop(metrics.lines.get_or_create(&labels([("level", level)])));
        }
        registry.register("toolgate_log_lines", "Lines of the log, by level", metrics.lines.clone());
        registry.register(
            "toolgate_log_lines_dropped",
            "Lines that were dropped since nobody read the log",
            metrics.dropped.clone(),
        );
        metrics
    }

    /// The count of lines of a level, to be kept.
    pub(crate) fn lines_of(&self, level: &'static str) -> Counter {
        self.lines.get_or_create(&labels([("level", level)])).clone()
    }

    /// The count of lines that were dropped, to be kept.
    pub(crate) fn dropped(&self) -> Counter {
        self.dropped.clone()
    }
}

/// This process, as the kernel sees it, under the names that every Prometheus client uses.
#[derive(Debug)]
pub(super) struct ServerProcess;

impl Collector for ServerProcess {
    #[expect(clippy::cast_precision_loss, reason = "floats are what the format has")]
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let mut gauge = |name: &str, help: &str, value: Option<f64>| match value {
            Some(value) => {
                let gauge = ConstGauge::new(value);
                gauge.encode(encoder.encode_descriptor(name, help, None, gauge.metric_type())?)
            }
            None => Ok(()),
        };
        let stat = Stat::read();
        let of = |read: fn(&Stat) -> f64| stat.as_ref().map(read);
        gauge("process_resident_memory_bytes", "Memory that is held", of(|stat| stat.resident_bytes))?;
        gauge("process_virtual_memory_bytes", "Memory that is mapped", of(|stat| stat.virtual_bytes))?;
        gauge("process_threads", "Threads", of(|stat| stat.threads))?;
        let started = stat.as_ref().zip(boot_time()).map(|(stat, boot)| boot + stat.started_s);
        gauge("process_start_time_seconds", "When it started, in seconds since 1970", started)?;
        let open = std::fs::read_dir("/proc/self/fd").ok().map(|entries| entries.count() as f64);
        gauge("process_open_fds", "Descriptors that are open", open)?;
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        gauge("process_max_fds", "Descriptors that may be open", limit.map(|limit| limit as f64))?;
        if let Some(stat) = stat {
            let counter = ConstCounter::new(stat.cpu_s);
            let kind = counter.metric_type();
            counter.encode(encoder.encode_descriptor(
                "process_cpu_seconds",
                "Time on processors, in user and kernel mode",
                None,
                kind,
            )?)?;
        }
        Ok(())
    }
}

/// What proc(5) says in `/proc/self/stat`.
struct Stat {
    cpu_s: f64,
    threads: f64,
    started_s: f64,
    virtual_bytes: f64,
    resident_bytes: f64,
}

impl Stat {
    fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/self/stat").ok()?)
    }

    #[expect(clippy::cast_precision_loss, reason = "floats are what the format has")]
    fn parse(text: &str) -> Option<Self> {
        // The name, in parentheses, may hold anything; what follows is numbers from field 3 on.
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        let ticks = rustix::param::clock_ticks_per_second() as f64;
        Some(Self {
            cpu_s: (field(14)? + field(15)?) / ticks,
            threads: field(20)?,
            started_s: field(22)? / ticks,
            virtual_bytes: field(23)?,
            resident_bytes: field(24)? * rustix::param::page_size() as f64,
        })
    }
}

/// When the machine started, in seconds since 1970.
fn boot_time() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_line_is_read_whatever_the_name() {
        let line =
            "7 (a) b) c) S 1 7 7 0 -1 4194560 1 2 3 4 150 50 0 0 20 0 9 0 1000 4096 3 18446744073709551615";
        let stat = Stat::parse(line).unwrap();
        let ticks = rustix::param::clock_ticks_per_second();
        assert!((stat.cpu_s - 200.0 / f64::from(u32::try_from(ticks).unwrap())).abs() < 1e-9);
        assert!((stat.threads - 9.0).abs() < 1e-9 && (stat.virtual_bytes - 4096.0).abs() < 1e-9);
        assert!(Stat::parse("7 (x) S 1").is_none());
        assert!(Stat::read().is_some_and(|stat| stat.resident_bytes > 0.0));
        assert!(boot_time().is_some_and(|time| time > 1e9));
    }
}
