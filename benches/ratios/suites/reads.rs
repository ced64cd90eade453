//! Read of 4 KiB over HTTP, gate and log on, against a bare handler, and against one that keeps a log.

use crate::Plan;
use crate::client::{Client, rate};
use crate::servers::{Bare, Toolgate};
use crate::table::{Row, median, print};

pub(crate) fn run(plan: &Plan) {
    let toolgate = Toolgate::start();
    let bare = Bare::start(&toolgate.file());
    let logs = Bare::start_with_log(&toolgate.file());
    for connections in [1, 8, 32] {
        against(
            plan,
            &toolgate,
            connections,
            &[("bare handler", &bare, "0.5"), ("bare handler with a log", &logs, "–")],
        );
    }
}

fn against(plan: &Plan, toolgate: &Toolgate, connections: usize, others: &[(&str, &Bare, &'static str)]) {
    let mut ours = Vec::new();
    let mut theirs = vec![Vec::new(); others.len()];
    for _ in 0..plan.rounds {
        ours.push(rate(plan.reads, connections, || {
            let mut client = Client::connect(toolgate.address);
            let mut request = toolgate.read_request();
            move || client.exchange(&request.next(), b"\"status\":\"completed\"")
        }));
        for ((_, bare, _), rates) in others.iter().zip(&mut theirs) {
            rates.push(rate(plan.reads, connections, || {
                let mut client = Client::connect(bare.address);
                let request = Bare::read_request();
                move || client.exchange(&request, b"line")
            }));
        }
    }
    let ours = median(ours);
    for ((name, _, aim), rates) in others.iter().zip(theirs) {
        let what = format!("Read 4 KiB, {connections} at once");
        print(&Row::rates(what, ours, (name, median(rates)), aim));
    }
}
