//! One suite a file: it starts what it needs, measures, and prints its rows.

mod approvals;
mod batch;
pub(crate) mod commands;
mod grep;
mod history;
mod reads;
mod start;
mod streams;
mod verdicts;

use super::Plan;

/// A suite and the name that `--only` takes.
type Suite = (&'static str, fn(&Plan));

/// All of them.
pub(crate) const ALL: &[Suite] = &[
    ("start", start::run),
    ("reads", reads::run),
    ("commands", commands::run),
    ("batch", batch::run),
    ("grep", grep::run),
    ("approvals", approvals::run),
    ("streams", streams::run),
    ("verdicts", verdicts::run),
    ("history", history::run),
];
