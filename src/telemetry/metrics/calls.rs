//! Numbers of calls, verdicts and approvals.

use std::collections::HashMap;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::histogram::{Histogram, PEOPLE, WORK};
use super::{Labels, OTHER, labels};
use crate::domain::approval::Choice;
use crate::domain::call::{Call, CallStatus};
use crate::domain::event::Resolution;

/// The statuses that a call can end in.
const ENDS: [CallStatus; 6] = [
    CallStatus::Completed,
    CallStatus::Failed,
    CallStatus::Denied,
    CallStatus::Cancelled,
    CallStatus::Interrupted,
    CallStatus::Backgrounded,
];
/// How an approval can come to its end.
const RESOLUTIONS: [Resolution; 5] =
    [Resolution::Allow, Resolution::Deny, Resolution::Cancelled, Resolution::Expired, Resolution::Superseded];

/// Numbers of calls, verdicts and approvals.
#[derive(Debug)]
pub struct CallMetrics {
    tools: HashMap<String, ToolSeries>,
    other: ToolSeries,
    verdicts: Family<Labels<2>, Counter>,
    resolved: Vec<(Resolution, Counter)>,
    waits: [(Choice, Histogram); 2],
}

/// The series of one tool.
#[derive(Debug)]
struct ToolSeries {
    ended: Vec<(CallStatus, Counter)>,
    duration: Histogram,
}

impl CallMetrics {
    /// `tools` are the names that a label may have: those that are built in.
    pub(super) fn register(registry: &mut Registry, tools: &[&str]) -> Self {
        let ended: Family<Labels<2>, Counter> = Family::default();
        let new: fn() -> Histogram = || Histogram::new(WORK);
        let durations: Family<Labels<1>, Histogram, fn() -> Histogram> = Family::new_with_constructor(new);
        let series = |tool: &str| ToolSeries {
            ended: ENDS
                .iter()
                .map(|status| {
                    let labels = labels([("tool", tool), ("status", status.as_str())]);
                    (*status, ended.get_or_create(&labels).clone())
                })
                .collect(),
            duration: durations.get_or_create(&labels([("tool", tool)])).clone(),
        };
        let waited: Family<Labels<1>, Histogram, fn() -> Histogram> =
            Family::new_with_constructor(|| Histogram::new(PEOPLE));
        let waits = [(Choice::Allow, "allow"), (Choice::Deny, "deny")]
            .map(|(choice, name)| (choice, waited.get_or_create(&labels([("decision", name)])).clone()));
        let resolutions: Family<Labels<1>, Counter> = Family::default();
        let resolved = RESOLUTIONS.map(|resolution| {
            let labels = labels([("resolution", resolution.as_str())]);
            (resolution, resolutions.get_or_create(&labels).clone())
        });
        let verdicts = Family::default();
        let metrics = Self {
            tools: tools.iter().map(|tool| ((*tool).to_owned(), series(tool))).collect(),
            other: series(OTHER),
            verdicts: verdicts.clone(),
            resolved: resolved.into(),
            waits,
        };
        registry.register("toolgate_calls", "Calls that have ended, by tool and status", ended);
        registry.register(
            "toolgate_call_duration_seconds",
            "From the start of a call's tool to its end, by tool",
            durations,
        );
        registry.register("toolgate_verdicts", "Verdicts of the gate, each time a call is judged", verdicts);
        registry.register("toolgate_approvals_resolved", "Approvals that no longer wait", resolutions);
        registry.register(
            "toolgate_approval_wait_seconds",
            "From the request of an approval to a person's decision",
            waited,
        );
        metrics
    }

    /// A call has its end on record.
    pub fn ended(&self, call: &Call) {
        let series = self.tools.get(&call.tool_name).unwrap_or(&self.other);
        if let Some((_, count)) = series.ended.iter().find(|(status, _)| *status == call.status) {
            count.inc();
        }
        if let (Some(start), Some(end)) = (call.started_at, call.finished_at) {
            series.duration.observe(between(start, end));
        }
    }

    /// A call was judged: with which decision, and by what.
    pub fn judged(&self, decision: &'static str, by: &'static str) {
        self.verdicts.get_or_create(&labels([("decision", decision), ("by", by)])).inc();
    }

    /// An approval no longer waits.
    pub fn resolved(&self, how: Resolution) {
        if let Some((_, count)) = self.resolved.iter().find(|(resolution, _)| *resolution == how) {
            count.inc();
        }
    }

    /// A person decided on an approval.
    pub fn decided(&self, choice: Choice, waited: Duration) {
        if let Some((_, waits)) = self.waits.iter().find(|(decision, _)| *decision == choice) {
            waits.observe(waited);
        }
    }
}

/// The time between two; none where the clock was set back meanwhile.
pub(crate) fn between(
    start: crate::domain::clock::Timestamp,
    end: crate::domain::clock::Timestamp,
) -> Duration {
    Duration::try_from(end.duration_since(start)).unwrap_or_default()
}
