//! Calls in a session with many past calls against calls in a new one of the same server, in turns.

use std::time::Instant;

use serde_json::json;

use crate::Plan;
use crate::client::Client;
use crate::servers::{Requests, Toolgate};
use crate::table::{Row, median, print};

/// How many past calls are made with one request.
const BATCH: usize = 100;

pub(crate) fn run(plan: &Plan) {
    let toolgate = Toolgate::start();
    toolgate.open_session("old");
    let mut client = Client::connect(toolgate.address);
    let mut past = toolgate.requests_in("old", "Read", &json!({"file_path": "file", "limit": 1}));
    for _ in 0..plan.history / BATCH {
        client.exchange(&past.next_batch(BATCH), b"\"calls\"");
    }
    for (tool, arguments, count, done) in [
        ("Read", json!({"file_path": "file"}), plan.reads, &b"\"status\":\"completed\""[..]),
        ("Bash", json!({"command": "true"}), plan.commands / 5, &b"\"exit_code\":0"[..]),
    ] {
        let mut requests = ["old", "bench"].map(|session| toolgate.requests_in(session, tool, &arguments));
        let mut seconds = [Vec::new(), Vec::new()];
        for _ in 0..plan.rounds {
            for (requests, seconds) in requests.iter_mut().zip(&mut seconds) {
                seconds.push(each(&mut client, requests, count, done));
            }
        }
        let [old, new] = seconds.map(median);
        let what = format!("{tool} in a session with {} past calls", plan.history);
        print(&Row::durations(what, old, ("in a new one", new), "1.0"));
    }
}

/// Seconds for one call.
fn each(client: &mut Client, requests: &mut Requests, count: usize, done: &[u8]) -> f64 {
    let start = Instant::now();
    for _ in 0..count {
        client.exchange(&requests.next(), done);
    }
    start.elapsed().as_secs_f64() / count as f64
}
