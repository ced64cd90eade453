//! Bytes on a socket, for requests that no client library would send.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::within;

/// What came back; a status of 0 when the server closed without an answer.
#[derive(Debug)]
pub(crate) struct RawAnswer {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl RawAnswer {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, text }
    }
}

/// A connection that the test writes to as it likes.
pub(crate) struct RawConnection(pub(crate) TcpStream);

impl RawConnection {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self(TcpStream::connect(address).await.unwrap())
    }

    /// Writes; whether the server still took it.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).await.is_ok()
    }

    /// What the server says up to this.
    pub(crate) async fn part(&mut self, end: &[u8]) -> String {
        let mut bytes = Vec::new();
        while !bytes.ends_with(end) {
            let byte = within("a raw answer", self.0.read_u8()).await.unwrap();
            bytes.push(byte);
        }
        String::from_utf8(bytes).unwrap()
    }

    /// Everything that the server says until it closes.
    pub(crate) async fn answer(mut self) -> RawAnswer {
        let mut bytes = Vec::new();
        let mut chunk = vec![0_u8; 16 * 1024];
        loop {
            match within("a raw answer", self.0.read(&mut chunk)).await {
                // A reset after the answer is a close, too.
                Ok(0) | Err(_) => return RawAnswer::parse(&bytes),
                Ok(count) => bytes.extend_from_slice(&chunk[..count]),
            }
        }
    }
}

/// Sends one request, which should say `Connection: close`, and reads the answer.
pub(crate) async fn exchange(address: SocketAddr, request: &[u8]) -> RawAnswer {
    let mut connection = RawConnection::open(address).await;
    connection.send(request).await;
    connection.answer().await
}
