//! Ratios of the server to what it could at best be, measured in one run; nothing is asserted.
//!
//! `cargo bench --bench ratios` prints them; `-- --quick` takes fewer rounds. Each pair is measured
//! in turns, so that a noisy machine disturbs both sides alike.

#![expect(clippy::print_stdout, reason = "a bench prints its figures")]
#![expect(clippy::expect_used, reason = "a bench that cannot go on ends")]
#![expect(clippy::cast_precision_loss, reason = "counts are small")]
#![expect(clippy::disallowed_methods, reason = "it measures raw spawns against the launcher's")]

#[path = "ratios/client.rs"]
mod client;
#[path = "ratios/servers.rs"]
mod servers;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use client::Client;
use servers::{Bare, Toolgate};

/// The argument with which the bench measures raw spawns, itself run on the server's floor.
const RAW_SPAWNS: &str = "--raw-spawns";

struct Plan {
    rounds: usize,
    reads: usize,
    commands: usize,
    history: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(at) = arguments.iter().position(|argument| argument == RAW_SPAWNS) {
        return raw_spawns(arguments[at + 1].parse().expect("a count"));
    }
    if let Some(at) = arguments.iter().position(|argument| argument == servers::SERVE_BARE) {
        return servers::serve_bare(&arguments[at + 1]);
    }
    let quick = arguments.iter().any(|argument| argument == "--quick");
    let plan = if quick {
        Plan { rounds: 3, reads: 300, commands: 30, history: 1_000 }
    } else {
        Plan { rounds: 9, reads: 2_000, commands: 200, history: 10_000 }
    };
    let toolgate = Toolgate::start();
    let bare = Bare::start(&toolgate.file());
    println!("Read of 4 KiB over HTTP, gate and log on, against a bare handler (higher is better):");
    for connections in [1, 8] {
        reads(&plan, &toolgate, &bare, "fresh", connections);
    }
    println!("Bash `true` over HTTP against a raw spawn of `bash -c true` (lower is better):");
    commands(&plan, &toolgate, "fresh");
    let took = history(&toolgate, plan.history);
    println!("after {} more calls in the session ({:.0} calls/s):", plan.history, plan.history as f64 / took);
    for connections in [1, 8] {
        reads(&plan, &toolgate, &bare, "grown", connections);
    }
    commands(&plan, &toolgate, "grown");
}

fn reads(plan: &Plan, toolgate: &Toolgate, bare: &Bare, what: &str, connections: usize) {
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds {
        ours.push(rate(plan.reads, connections, || {
            let mut client = Client::connect(toolgate.address);
            let mut request = toolgate.read_request();
            move || client.exchange(&request.next(), b"\"status\":\"completed\"")
        }));
        theirs.push(rate(plan.reads, connections, || {
            let mut client = Client::connect(bare.address);
            let request = Bare::request();
            move || client.exchange(&request, b"line")
        }));
    }
    let (ours, theirs) = (median(ours), median(theirs));
    println!(
        "  {what:5} c={connections}: {ours:8.0}/s against {theirs:8.0}/s: ratio {:.2} ({:.0} us against {:.0} us)",
        ours / theirs,
        1e6 * connections as f64 / ours,
        1e6 * connections as f64 / theirs,
    );
}

fn commands(plan: &Plan, toolgate: &Toolgate, what: &str) {
    let (mut ours, mut floor, mut raw) = (Vec::new(), Vec::new(), Vec::new());
    let mut client = Client::connect(toolgate.address);
    let mut request = toolgate.command_request("true");
    for _ in 0..plan.rounds {
        let start = Instant::now();
        for _ in 0..plan.commands {
            client.exchange(&request.next(), b"\"exit_code\":0");
        }
        ours.push(start.elapsed().as_secs_f64() / plan.commands as f64);
        floor.push(toolgate.raw_on_floor(&mut client, plan.commands));
        raw.push(spawns(plan.commands));
    }
    let (ours, floor, raw) = (median(ours), median(floor), median(raw));
    println!(
        "  {what:5}: {:.0} us; raw on the same floor {:.0} us: ratio {:.2}; raw without a floor {:.0} us: ratio {:.2}",
        1e6 * ours,
        1e6 * floor,
        ours / floor,
        1e6 * raw,
        ours / raw,
    );
}

/// Makes earlier calls; how long that took, in seconds.
fn history(toolgate: &Toolgate, calls: usize) -> f64 {
    let start = Instant::now();
    let mut client = Client::connect(toolgate.address);
    let mut request = toolgate.read_request();
    for _ in 0..calls {
        client.exchange(&request.next(), b"\"status\":\"completed\"");
    }
    start.elapsed().as_secs_f64()
}

/// Exchanges per second over some connections at once.
fn rate<F: FnMut() + Send>(count: usize, connections: usize, connect: impl Fn() -> F) -> f64 {
    let mut exchanges: Vec<F> = (0..connections).map(|_| connect()).collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for exchange in &mut exchanges {
            scope.spawn(move || (0..count / connections).for_each(|_| exchange()));
        }
    });
    (count / connections * connections) as f64 / start.elapsed().as_secs_f64()
}

/// Seconds for one `bash -c true`.
fn spawns(count: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        let mut command = Command::new("/bin/bash");
        command.args(["--noprofile", "--norc", "-c", "true"]);
        let output = command.stdin(Stdio::null()).output().expect("bash runs");
        assert!(output.status.success());
    }
    start.elapsed().as_secs_f64() / count as f64
}

fn raw_spawns(count: usize) {
    println!("{}", Duration::from_secs_f64(spawns(count)).as_nanos());
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
