//! Read of 4 KiB over HTTP, gate and log on, against a bare handler.

use std::time::Instant;

use crate::Plan;
use crate::client::Client;
use crate::servers::{Bare, Toolgate};
use crate::table::{Row, median, print};

pub(crate) fn run(plan: &Plan) {
    let toolgate = Toolgate::start();
    let bare = Bare::start(&toolgate.file());
    for connections in [1, 8] {
        pair(plan, &toolgate, &bare, connections);
    }
}

fn pair(plan: &Plan, toolgate: &Toolgate, bare: &Bare, connections: usize) {
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
    let what = format!("Read 4 KiB, {connections} at once");
    print(&Row::rates(what, ours, ("bare handler", theirs), "0.5"));
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
