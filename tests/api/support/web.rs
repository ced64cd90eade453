//! A web server on loopback for tools that go out.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// A server that gives every request the same answer; it ends when this is dropped.
pub(crate) struct Web {
    pub(crate) address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    /// Told at each request.
    pub(crate) asked: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Web {
    /// One with a whole answer.
    pub(crate) async fn answering(status: &str, kind: &str, body: &[u8]) -> Self {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
        Self::saying([head.as_bytes(), body].concat(), true).await
    }

    /// One that never answers.
    pub(crate) async fn silent() -> Self {
        Self::saying(Vec::new(), false).await
    }

    async fn saying(answer: Vec<u8>, closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, asked) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (seen, told) = (Arc::clone(&requests), Arc::clone(&asked));
        let task = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let (answer, seen, told) = (answer.clone(), Arc::clone(&seen), Arc::clone(&told));
                tokio::spawn(async move {
                    let mut buffer = vec![0; 64 * 1024];
                    let mut request = Vec::new();
                    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                        match stream.read(&mut buffer).await {
                            Ok(0) | Err(_) => return,
                            Ok(length) => request.extend_from_slice(&buffer[..length]),
                        }
                    }
                    seen.lock().unwrap().push(String::from_utf8_lossy(&request).into_owned());
                    told.notify_one();
                    let _ = stream.write_all(&answer).await;
                    while !closes && matches!(stream.read(&mut buffer).await, Ok(1..)) {}
                });
            }
        });
        Self { address, requests, asked, task }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of the requests so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.task.abort();
    }
}
