//! Refusals of heads that never become a request: hyper answers those itself, with a bare status.
//!
//! A bare answer is replaced by a problem, like every other refusal. What hyper says for itself is told
//! from what the service says by where the connection stands: all was answered and sent, and no request
//! has come since, so what is written then is nobody's answer. (Where a client pipelines, what it sent
//! before may be unsent still; then the bare answer stays.)

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use bytes::{Buf as _, Bytes};
use hyper::body::{Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::error::ApiError;
use super::guard;

/// Where a connection stands.
#[derive(Debug, Default)]
pub(super) struct Exchange {
    /// Requests whose answer is not whole yet.
    open: AtomicUsize,
    /// Whether part of an answer may not be sent yet.
    unsent: AtomicBool,
}

impl Exchange {
    /// A request came: what is written from now on is its answer.
    pub(super) fn begin(self: &Arc<Self>) -> Answering {
        self.open.fetch_add(1, Ordering::Relaxed);
        self.unsent.store(true, Ordering::Relaxed);
        Answering(Arc::clone(self))
    }

    fn is_idle(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0 && !self.unsent.load(Ordering::Relaxed)
    }

    fn sent(&self) {
        if self.open.load(Ordering::Relaxed) == 0 {
            self.unsent.store(false, Ordering::Relaxed);
        }
    }
}

/// Lasts until the answer is whole, or given up.
pub(super) struct Answering(Arc<Exchange>);

impl Answering {
    /// The answer, which carries this to its end.
    pub(super) fn with(self, response: Response) -> hyper::Response<Answer> {
        response.map(|body| Answer { body, _until_it_ends: self })
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer.
pub(super) struct Answer {
    body: Body,
    _until_it_ends: Answering,
}

impl hyper::body::Body for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A connection on which bare refusals become problems.
pub(super) struct Wire<S> {
    stream: S,
    exchange: Arc<Exchange>,
    /// What is still to be sent in the place of a bare refusal.
    problem: Option<Bytes>,
}

impl<S> Wire<S> {
    pub(super) fn new(stream: S, exchange: Arc<Exchange>) -> Self {
        Self { stream, exchange, problem: None }
    }
}

impl<S: AsyncWrite + Unpin> Wire<S> {
    /// Sends the problem in the place of `bare`; none where this is no bare refusal.
    fn replace(&mut self, cx: &mut Context<'_>, bare: &[u8]) -> Option<Poll<io::Result<()>>> {
        if self.problem.is_none() {
            if !self.exchange.is_idle() {
                return None;
            }
            self.problem = problem(bare);
        }
        let problem = self.problem.as_mut()?;
        while problem.has_remaining() {
            match Pin::new(&mut self.stream).poll_write(cx, problem) {
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into()))),
                Poll::Ready(Ok(count)) => problem.advance(count),
                Poll::Ready(Err(error)) => return Some(Poll::Ready(Err(error))),
                Poll::Pending => return Some(Poll::Pending),
            }
        }
        self.problem = None;
        Some(Poll::Ready(Ok(())))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Wire<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Wire<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, text: &[u8]) -> Poll<io::Result<usize>> {
        match self.replace(cx, text) {
            Some(replaced) => replaced.map_ok(|()| text.len()),
            None => Pin::new(&mut self.stream).poll_write(cx, text),
        }
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        texts: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        // A refusal is a head alone: one piece.
        if let [text] = texts
            && let Some(replaced) = self.replace(cx, text)
        {
            return replaced.map_ok(|()| text.len());
        }
        Pin::new(&mut self.stream).poll_write_vectored(cx, texts)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(Pin::new(&mut self.stream).poll_flush(cx))?;
        self.exchange.sent();
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// The problem that says what a bare refusal means, written out.
fn problem(bare: &[u8]) -> Option<Bytes> {
    let status = bare.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let (status, code, detail) = match status {
        b"400" => (StatusCode::BAD_REQUEST, "malformed_request", "the request's head is no HTTP/1.1"),
        b"414" => (StatusCode::URI_TOO_LONG, "uri_too_long", "the request's target is too long"),
        b"431" => {
            let detail = "the request's head has more fields or bytes than the server takes";
            (StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "head_too_large", detail)
        }
        _ => return None,
    };
    let request_id = guard::new_request_id();
    tracing::debug!(%request_id, code, "a head was refused");
    let body = ApiError::new(status, code, detail).body(&request_id);
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/problem+json\r\nx-request-id: {request_id}\r\n\
         x-content-type-options: nosniff\r\ncache-control: no-store\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n",
        body.len()
    );
    Some(Bytes::from(head + &body))
}
