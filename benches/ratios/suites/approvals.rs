//! A call that waits for a person: how long until it waits, until it is decided, and until it has run.

use std::time::Instant;

use serde_json::{Value, json};

use crate::Plan;
use crate::client::Client;
use crate::servers::{Bare, Toolgate};
use crate::table::{Row, median, print};

pub(crate) fn run(plan: &Plan) {
    let toolgate = Toolgate::start();
    let bare = Bare::start(&toolgate.file());
    let mut agent = Client::connect(toolgate.address);
    let mut operator = Client::connect(toolgate.address);
    let mut unguarded = Client::connect(bare.address);
    let (mut asks, mut decides, mut ends, mut exchanges) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for number in 0..plan.commands {
        let path = format!("new{number}");
        let mut request = toolgate.requests("Write", &json!({"file_path": path, "content": "x"}));
        let start = Instant::now();
        let call: Value = serde_json::from_slice(agent.answer(&request.next())).expect("a call");
        asks.push(start.elapsed().as_secs_f64());
        let approval = call["approval_id"].as_str().expect("it waits");
        let start = Instant::now();
        operator.exchange(&toolgate.decision(approval), b"\"allowed\"");
        decides.push(start.elapsed().as_secs_f64());
        let call_id = call["call_id"].as_str().expect("an id");
        agent.exchange(&toolgate.waited_for(call_id), b"\"completed\"");
        ends.push(start.elapsed().as_secs_f64());
        let start = Instant::now();
        unguarded.exchange(&Bare::read_request(), b"line");
        exchanges.push(start.elapsed().as_secs_f64());
    }
    let bare = ("bare handler", median(exchanges));
    let (ask, decide) = (median(asks), median(decides));
    print(&Row::durations("a Write asks", ask, bare, "–"));
    print(&Row::durations("its decision is taken", decide, bare, "–"));
    print(&Row::durations("asked and decided", ask + decide, bare, "5 ms"));
    print(&Row::durations("from the decision to its end", median(ends), bare, "–"));
}
