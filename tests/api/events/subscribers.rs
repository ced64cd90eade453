//! Many subscribers, and one that never reads.

use crate::support::TestServer;
use crate::support::raw::RawConnection;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn h6_one_subscriber_that_never_reads_holds_up_nobody() {
    let server = TestServer::start();
    let session = server.bypass_session().await;
    let mut deaf = RawConnection::open(server.address).await;
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\r\n",
        session.path("/events"),
        server.address,
        session.token
    );
    assert!(deaf.send(request.as_bytes()).await);
    let mut subscribers = Vec::new();
    for _ in 0..199 {
        let stream = server.agent().stream(&session.path("/events")).await;
        subscribers.push(tokio::spawn(stream.ids()));
    }
    // More than sockets hold, so that the deaf one really stops its stream.
    for id in ["1", "2", "3", "4"] {
        let call = session.bash(id, "yes | head -c 900000").await.expect(200);
        assert_eq!(call["details"]["total_bytes"], 900_000);
    }
    let count = session.events().await.len() as u64 + 1;
    session.end().await.expect(200);
    for subscriber in subscribers {
        assert_eq!(subscriber.await.unwrap(), (1..=count).collect::<Vec<_>>(), "gapless, to the end");
    }
    let peak = server.peak_memory();
    assert!(peak < 512 * 1024 * 1024, "the server held {peak} bytes");
    server.assert_alive().await;
    drop(deaf);
}
