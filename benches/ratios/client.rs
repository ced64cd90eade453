//! A client that costs as little as possible: one connection, requests made beforehand.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

/// One connection.
pub(crate) struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("the server takes connections");
        stream.set_nodelay(true).expect("a socket option");
        Self { stream, buffer: vec![0; 256 * 1024] }
    }

    /// Sends a request and takes its answer, which must hold a text.
    pub(crate) fn exchange(&mut self, request: &[u8], expected: &[u8]) {
        let body = self.answer(request);
        let holds = body.windows(expected.len()).any(|window| window == expected);
        assert!(holds, "unexpected answer: {}", String::from_utf8_lossy(body));
    }

    /// Sends a request; the answer's body.
    pub(crate) fn answer(&mut self, request: &[u8]) -> &[u8] {
        self.stream.write_all(request).expect("the request is sent");
        let mut filled = 0;
        loop {
            let got = self.stream.read(&mut self.buffer[filled..]).expect("an answer");
            assert!(got > 0, "the server closed the connection");
            filled += got;
            let Some(head) = find(&self.buffer[..filled], b"\r\n\r\n") else { continue };
            let length = content_length(&self.buffer[..head]);
            if filled >= head + 4 + length {
                return &self.buffer[head + 4..head + 4 + length];
            }
        }
    }
}

/// Exchanges per second over some connections at once.
pub(crate) fn rate<F: FnMut() + Send>(count: usize, connections: usize, connect: impl Fn() -> F) -> f64 {
    let mut exchanges: Vec<F> = (0..connections).map(|_| connect()).collect();
    let start = Instant::now();
    std::thread::scope(|scope| {
        for exchange in &mut exchanges {
            scope.spawn(move || (0..count / connections).for_each(|_| exchange()));
        }
    });
    (count / connections * connections) as f64 / start.elapsed().as_secs_f64()
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}

fn content_length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let line = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    line.expect("an answer of known length").trim().parse().expect("a length")
}
