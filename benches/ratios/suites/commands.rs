//! Bash `true` over HTTP: one after the other against a raw spawn of `bash -c true`, under the same floor, without
//! one, and between two rows of a log; many at once, and a program many at once, against a bare handler that spawns the same,
//! without and with a log.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::Plan;
use crate::client::{Client, rate};
use crate::log::Log;
use crate::servers::{Bare, Toolgate};
use crate::table::{Row, median, print};

/// The argument with which the bench measures raw spawns, itself run on the server's floor.
pub(crate) const RAW_SPAWNS: &str = "--raw-spawns";

/// A command that is asked for, and what a handler would spawn for it.
pub(crate) struct Spawned {
    text: &'static str,
    argv: &'static [&'static str],
    /// Where the bare handler runs it.
    pub(crate) path: &'static str,
}

/// What only the shell has to do.
pub(crate) const BUILTIN: Spawned =
    Spawned { text: "true", argv: &["/bin/bash", "--noprofile", "--norc", "-c", "true"], path: "/bash" };
/// What nothing but a program has to do.
pub(crate) const PROGRAM: Spawned =
    Spawned { text: "/usr/bin/true", argv: &["/usr/bin/true"], path: "/program" };

impl Spawned {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(self.argv[0]);
        command.args(&self.argv[1..]).stdin(Stdio::null());
        command
    }
}

pub(crate) fn run(plan: &Plan) {
    one_by_one(plan);
    for spawned in [&BUILTIN, &PROGRAM] {
        for connections in [1, 32] {
            at_once(plan, spawned, connections);
        }
    }
}

fn one_by_one(plan: &Plan) {
    let toolgate = Toolgate::start();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
    let log = Log::create(folder.path());
    let (mut ours, mut floor, mut raw, mut logged) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut client = Client::connect(toolgate.address);
    let mut request = toolgate.command_request("true");
    for _ in 0..plan.rounds {
        let start = Instant::now();
        for _ in 0..plan.commands {
            client.exchange(&request.next(), b"\"exit_code\":0");
        }
        ours.push(start.elapsed().as_secs_f64() / plan.commands as f64);
        floor.push(on_floor(&toolgate, &mut client, plan.commands));
        raw.push(spawns(plan.commands, None));
        logged.push(spawns(plan.commands, Some(&log)));
    }
    let (ours, floor, raw, logged) = (median(ours), median(floor), median(raw), median(logged));
    print(&Row::durations("Bash `true`", ours, ("raw spawn, same floor", floor), "1.3, 10 ms"));
    print(&Row::durations("Bash `true`", ours, ("raw spawn, no floor", raw), "–"));
    print(&Row::durations("Bash `true`", ours, ("raw spawn, no floor, its start synced", logged), "–"));
}

/// Commands a second over some connections.
fn at_once(plan: &Plan, spawned: &Spawned, connections: usize) {
    let toolgate = Toolgate::start();
    let bare = Bare::start(&toolgate.file());
    let logs = Bare::start_with_log(&toolgate.file());
    let (mut ours, mut theirs, mut logged) = (Vec::new(), Vec::new(), Vec::new());
    let count = plan.commands.max(connections);
    let spawns = |bare: &Bare| {
        rate(count, connections, || {
            let mut client = Client::connect(bare.address);
            move || client.exchange(&Bare::spawn_request(spawned), b"\"exit_code\":0")
        })
    };
    for _ in 0..plan.rounds {
        ours.push(rate(count, connections, || {
            let mut client = Client::connect(toolgate.address);
            let mut request = toolgate.command_request(spawned.text);
            move || client.exchange(&request.next(), b"\"exit_code\":0")
        }));
        theirs.push(spawns(&bare));
        logged.push(spawns(&logs));
    }
    let ours = median(ours);
    let what = format!("Bash `{}`, {connections} at once", spawned.text);
    print(&Row::rates(what.as_str(), ours, ("bare handler that spawns it", median(theirs)), "–"));
    print(&Row::rates(what, ours, ("bare handler that spawns it, with a log", median(logged)), "–"));
}

/// Seconds for one raw spawn, measured by this bench run as a command of the server.
fn on_floor(toolgate: &Toolgate, client: &mut Client, count: usize) -> f64 {
    let bench = std::env::current_exe().expect("the bench's path");
    let command = format!("'{}' {RAW_SPAWNS} {count}", bench.display());
    let answer = client.answer(&toolgate.command_request(&command).next()).to_vec();
    let call: serde_json::Value = serde_json::from_slice(&answer).expect("a call");
    let nanoseconds = call["result"]["result"].as_str().expect("a text").trim();
    nanoseconds.parse::<f64>().unwrap_or_else(|_| panic!("no figure in {call}")) / 1e9
}

/// Seconds for one `bash -c true`; with a log its start is on the disk before it, and its end written after it.
fn spawns(count: usize, log: Option<&Log>) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        let mut command = BUILTIN.command();
        if let Some(log) = log {
            log.commit(&[b"start"], true);
        }
        let output = command.output().expect("bash runs");
        assert!(output.status.success());
        if let Some(log) = log {
            log.commit(&[b"end"], false);
        }
    }
    start.elapsed().as_secs_f64() / count as f64
}

pub(crate) fn raw_spawns(count: usize) {
    println!("{}", Duration::from_secs_f64(spawns(count, None)).as_nanos());
}
