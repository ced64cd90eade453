//! A histogram of atomics alone: an observation takes no lock, on whatever path it stands.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::{MetricType, TypedMetric};

/// What a histogram counts in: whole units, shown divided by `scale`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buckets {
    /// Upper bounds in whole units, ascending.
    pub(super) bounds: &'static [u64],
    scale: f64,
}

/// Nanoseconds of a millisecond.
const MS: u64 = 1_000_000;

/// From a cached read to a long command: 1 ms to 30 minutes.
pub(super) const WORK: Buckets = seconds(&[
    MS,
    5 * MS,
    10 * MS,
    25 * MS,
    50 * MS,
    100 * MS,
    250 * MS,
    500 * MS,
    1_000 * MS,
    2_500 * MS,
    5_000 * MS,
    10_000 * MS,
    30_000 * MS,
    60_000 * MS,
    300_000 * MS,
    1_800_000 * MS,
]);
/// How long people take: 1 s to a day.
pub(super) const PEOPLE: Buckets = seconds(&[
    1_000 * MS,
    5_000 * MS,
    15_000 * MS,
    60_000 * MS,
    300_000 * MS,
    900_000 * MS,
    3_600_000 * MS,
    14_400_000 * MS,
    86_400_000 * MS,
]);
/// What a disk or a fork takes: 100 µs to 5 s.
pub(super) const DISK: Buckets = seconds(&[
    MS / 10,
    MS / 4,
    MS / 2,
    MS,
    5 * MS / 2,
    5 * MS,
    10 * MS,
    25 * MS,
    50 * MS,
    100 * MS,
    250 * MS,
    1_000 * MS,
    5_000 * MS,
]);
/// Commands of one commit: 1 to the writer's bound.
pub(super) const GROUPS: Buckets = Buckets { bounds: &[1, 2, 4, 8, 16, 32, 64, 128, 256], scale: 1.0 };

const fn seconds(bounds: &'static [u64]) -> Buckets {
    Buckets { bounds, scale: 1e9 }
}

/// Counts observations by size. Cheap to clone; clones count together.
#[derive(Clone)]
pub(super) struct Histogram(Arc<Inner>);

struct Inner {
    buckets: Buckets,
    /// One more than there are bounds: the last has no bound.
    counts: Vec<AtomicU64>,
    sum: AtomicU64,
}

impl Histogram {
    pub(super) fn new(buckets: Buckets) -> Self {
        let counts = (0..=buckets.bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Inner { buckets, counts, sum: AtomicU64::new(0) }))
    }

    /// Takes a time, for buckets of seconds.
    pub(super) fn observe(&self, time: Duration) {
        self.observe_units(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Takes a number of whole units.
    pub(super) fn observe_units(&self, units: u64) {
        let place = self.0.buckets.bounds.partition_point(|bound| *bound < units);
        if let Some(count) = self.0.counts.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        self.0.sum.fetch_add(units, Ordering::Relaxed);
    }
}

impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram").field("counts", &self.0.counts).finish_non_exhaustive()
    }
}

impl EncodeMetric for Histogram {
    #[expect(clippy::cast_precision_loss, reason = "a float is what the format has")]
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        let Inner { buckets, counts, sum } = &*self.0;
        let bounds = buckets.bounds.iter().map(|bound| *bound as f64 / buckets.scale);
        let counted = counts.iter().map(|count| count.load(Ordering::Relaxed));
        let counted: Vec<(f64, u64)> = bounds.chain([f64::INFINITY]).zip(counted).collect();
        // Of what was just read, so that the count is that of the last bucket.
        let count = counted.iter().map(|(_, count)| count).sum();
        let sum = sum.load(Ordering::Relaxed) as f64 / buckets.scale;
        let exemplars: Option<&HashMap<usize, _>> = None;
        encoder.encode_histogram::<NoLabelSet>(sum, count, &counted, exemplars)
    }

    fn metric_type(&self) -> MetricType {
        Self::TYPE
    }
}

impl TypedMetric for Histogram {
    const TYPE: MetricType = MetricType::Histogram;
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::prometheus_text;
    use prometheus_client::registry::Registry;

    use super::*;

    #[test]
    fn observations_fall_into_their_buckets() {
        let histogram = Histogram::new(seconds(&[MS, 10 * MS]));
        for ms in [0, 1, 2, 10, 11, 500] {
            histogram.observe(Duration::from_millis(ms));
        }
        let mut registry = Registry::default();
        registry.register("t", "T", histogram);
        let mut text = String::new();
        prometheus_text::encode(&mut text, &registry).unwrap();
        for line in [
            "t_sum 0.524",
            "t_count 6",
            "t_bucket{le=\"0.001\"} 2",
            "t_bucket{le=\"0.01\"} 4",
            "t_bucket{le=\"+Inf\"} 6",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} in\n{text}");
        }
    }

    #[test]
    fn bounds_ascend() {
        for buckets in [WORK, PEOPLE, DISK, GROUPS] {
            assert!(buckets.bounds.is_sorted_by(|a, b| a < b), "{buckets:?}");
        }
    }
}
