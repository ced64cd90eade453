//! Many readers of one busy session: what they cost its calls, and how far they are behind.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::Plan;
use crate::client::Client;
use crate::servers::Toolgate;
use crate::table::{Row, duration, print};

/// What a stream has for each call that has ended.
const END: &[u8] = b"event: tool_complete\n";

pub(crate) fn run(plan: &Plan) {
    let files = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: files, maximum: files }).expect("sockets for all readers");
    let toolgate = Toolgate::start();
    // Each event goes to each reader: fewer calls are enough.
    let calls = plan.reads / 10;
    let alone = busy(&toolgate, calls);
    let memory = toolgate.resident_mib();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (open, mut readers) = (Arc::new(AtomicUsize::new(0)), JoinSet::new());
    let request: Arc<[u8]> = toolgate.stream(toolgate.latest_event()).into();
    for _ in 0..plan.readers {
        let reader = reader(toolgate.address, Arc::clone(&request), Arc::clone(&open), calls);
        readers.spawn_on(reader, runtime.handle());
    }
    while open.load(Ordering::Acquire) < plan.readers {
        std::thread::sleep(Duration::from_millis(5));
    }
    let read_by_all = busy(&toolgate, calls);
    let start = Instant::now();
    runtime.block_on(async {
        while readers.join_next().await.transpose().expect("a reader reads").is_some() {}
    });
    let behind = start.elapsed().as_secs_f64();
    let grown = toolgate.resident_mib() - memory;
    let what = format!("Reads while {} readers stream their session", plan.readers);
    print(&Row::rates(what, read_by_all, ("nobody streams", alone), "–"));
    print(&Row::fact("the last reader has all of it, after the last call", duration(behind), "–"));
    print(&Row::fact("memory that the readers cost", format!("{grown:.0} MiB"), "–"));
}

/// Calls a second.
fn busy(toolgate: &Toolgate, calls: usize) -> f64 {
    let mut client = Client::connect(toolgate.address);
    let mut request = toolgate.read_request();
    let start = Instant::now();
    for _ in 0..calls {
        client.exchange(&request.next(), b"\"status\":\"completed\"");
    }
    calls as f64 / start.elapsed().as_secs_f64()
}

/// Reads a stream until so many calls have ended on it.
async fn reader(address: SocketAddr, request: Arc<[u8]>, open: Arc<AtomicUsize>, calls: usize) {
    let mut stream = TcpStream::connect(address).await.expect("the server takes connections");
    stream.write_all(&request).await.expect("the request is sent");
    let (mut ended, mut buffer, mut filled, mut counted) = (0, vec![0; 64 * 1024], 0, false);
    while ended < calls {
        let got = stream.read(&mut buffer[filled..]).await.expect("events");
        assert!(got > 0, "the stream ended early");
        if !counted {
            open.fetch_add(1, Ordering::AcqRel);
            counted = true;
        }
        let text = &buffer[..filled + got];
        ended += text.windows(END.len()).filter(|window| *window == END).count();
        // A mark that was cut in two is found with the next bytes.
        let kept = text.len().min(END.len() - 1);
        let from = text.len() - kept;
        buffer.copy_within(from..from + kept, 0);
        filled = kept;
    }
}
