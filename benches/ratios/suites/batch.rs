//! A batch of 32 Reads against 32 POSTs of one Read each.

use std::time::Instant;

use crate::Plan;
use crate::client::Client;
use crate::servers::Toolgate;
use crate::table::{Row, median, print};

const CALLS: usize = 32;

pub(crate) fn run(plan: &Plan) {
    let toolgate = Toolgate::start();
    let mut client = Client::connect(toolgate.address);
    let mut request = toolgate.read_request();
    let (mut batched, mut single) = (Vec::new(), Vec::new());
    for _ in 0..plan.rounds * 5 {
        let batch = request.next_batch(CALLS);
        let start = Instant::now();
        client.exchange(&batch, b"\"calls\"");
        batched.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        for _ in 0..CALLS {
            client.exchange(&request.next(), b"\"status\":\"completed\"");
        }
        single.push(start.elapsed().as_secs_f64());
    }
    let (batched, single) = (median(batched), median(single));
    print(&Row::durations("batch of 32 Reads", batched, ("32 POSTs", single), "0.5"));
}
