//! A server for tests that gives prepared answers, one a connection, and keeps what was asked.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::connection::Connection;

/// A prepared answer.
#[derive(Debug, Clone)]
pub(super) struct Reply(String);

impl Reply {
    pub(super) fn json(status: u16, body: &str) -> Self {
        let kind = if status < 400 { "application/json" } else { "application/problem+json" };
        let length = body.len();
        Self(format!(
            "HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\
             connection: close\r\n\r\n{body}"
        ))
    }

    /// A stream that ends, properly or not, after this text.
    pub(super) fn events(text: &str) -> Self {
        Self(format!("HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n{text}"))
    }

    /// A stream that breaks off in the middle: it promises more than it sends.
    pub(super) fn broken_events(text: &str) -> Self {
        Self(format!(
            "HTTP/1.1 200 X\r\ncontent-type: text/event-stream\r\ncontent-length: 1000000\r\n\r\n{text}"
        ))
    }
}

/// A running fake server.
#[derive(Debug)]
pub(super) struct FakeServer {
    address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Vec<String>>,
}

impl FakeServer {
    pub(super) async fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, mut stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let mut requests = Vec::new();
            let mut replies = replies.into_iter();
            loop {
                let (mut socket, _) = tokio::select! {
                    accepted = listener.accept() => accepted.unwrap(),
                    _ = &mut stopped => return requests,
                };
                requests.push(read_request(&mut socket).await);
                if let Some(Reply(text)) = replies.next() {
                    socket.write_all(text.as_bytes()).await.unwrap();
                    let _ = socket.shutdown().await;
                }
            }
        });
        Self { address, stop, task }
    }

    pub(super) fn connection(&self) -> Connection {
        Connection {
            base: reqwest::Url::parse(&format!("http://{}/", self.address)).unwrap(),
            token: "test-token".into(),
        }
    }

    /// Stops listening and returns the requests, head and body.
    pub(super) async fn finish(self) -> Vec<String> {
        let _ = self.stop.send(());
        self.task.await.unwrap()
    }
}

async fn read_request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.map_or(0, |length| length.parse().unwrap()) {
                return text;
            }
        }
        let mut buffer = [0_u8; 4096];
        let read = socket.read(&mut buffer).await.unwrap();
        assert_ne!(read, 0, "the client went away within its request: {text}");
        bytes.extend_from_slice(&buffer[..read]);
    }
}
