//! From the start of the process until it listens, and what it then holds in memory.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::Plan;
use crate::servers::Toolgate;
use crate::table::{Row, median, print};

pub(crate) fn run(plan: &Plan) {
    let (mut ours, mut theirs, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        let (seconds, toolgate) = Toolgate::timed_start();
        ours.push(seconds);
        memory.push(toolgate.resident_mib());
        let start = Instant::now();
        let status =
            Command::new(env!("CARGO_BIN_EXE_toolgate")).arg("--version").stdout(Stdio::null()).status();
        assert!(status.expect("the program starts").success());
        theirs.push(start.elapsed().as_secs_f64());
    }
    let against = ("`toolgate --version`", median(theirs));
    print(&Row::durations("first start, until it listens", median(ours), against, "100 ms"));
    print(&Row::fact("resident memory, idle", format!("{:.0} MiB", median(memory)), "20 MiB"));
}
