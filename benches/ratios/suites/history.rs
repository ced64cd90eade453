//! Calls in a session with many past calls against calls on a new server, in turns.

use std::time::Instant;

use serde_json::json;

use crate::Plan;
use crate::client::Client;
use crate::servers::{Requests, Toolgate};
use crate::table::{Row, median, print};

/// How many past calls are made with one request.
const BATCH: usize = 100;

pub(crate) fn run(plan: &Plan) {
    // A server of its own: past calls of any session could make all calls slower.
    let (old, new) = (Toolgate::start(), Toolgate::start());
    let mut past = old.requests("Read", &json!({"file_path": "file", "limit": 1}));
    let mut client = Client::connect(old.address);
    for _ in 0..plan.history / BATCH {
        client.exchange(&past.next_batch(BATCH), b"\"calls\"");
    }
    let mut clients = [client, Client::connect(new.address)];
    for (tool, arguments, count, done) in [
        ("Read", json!({"file_path": "file"}), plan.reads, &b"\"status\":\"completed\""[..]),
        ("Bash", json!({"command": "true"}), plan.commands / 5, &b"\"exit_code\":0"[..]),
    ] {
        let mut requests = [&old, &new].map(|server| server.requests(tool, &arguments));
        let mut seconds = [Vec::new(), Vec::new()];
        for _ in 0..plan.rounds {
            for ((client, requests), seconds) in clients.iter_mut().zip(&mut requests).zip(&mut seconds) {
                seconds.push(each(client, requests, count, done));
            }
        }
        let [old, new] = seconds.map(median);
        let what = format!("{tool} in a session with {} past calls", plan.history);
        print(&Row::durations(what, old, ("on a new server", new), "1.0"));
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
