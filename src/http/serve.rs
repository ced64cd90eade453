//! The listener: connections in bounds of number, head size and time, and a clean stop.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::unheard::{Exchange, Wire};

use crate::config::Capacity;
use crate::telemetry::Metrics;

/// The most bytes of a request's head; more are answered with 431.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The most header fields of a request.
const HEADERS_MAX: usize = 100;

/// A bound listener.
pub struct Listening {
    listener: TcpListener,
    metrics: Metrics,
    /// Where it listens.
    pub address: SocketAddr,
}

/// Bounds on connections.
#[derive(Clone)]
pub struct ServeLimits {
    /// Connections at once; further ones wait in the kernel's queue.
    pub connections: Capacity,
    /// How long a request's head may take: asked for each connection when it comes.
    pub head_timeout: Arc<dyn Fn() -> Duration + Send + Sync>,
}

impl Listening {
    /// Binds an address.
    pub async fn bind(address: SocketAddr) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, metrics: Metrics::default(), address })
    }

    /// Counting its connections there.
    #[must_use]
    pub fn counting(mut self, metrics: Metrics) -> Self {
        self.metrics = metrics;
        self
    }
}

/// Serves until `stop`, then lets requests that have begun end, until `abort`.
pub async fn serve(
    listening: Listening,
    router: Router,
    limits: ServeLimits,
    stop: CancellationToken,
    abort: CancellationToken,
) {
    let tasks = TaskTracker::new();
    loop {
        let place = tokio::select! {
            () = stop.cancelled() => break,
            place = limits.connections.enter() => place,
        };
        let stream = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listening.listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    // Out of descriptors, most likely: give connections time to end.
                    tracing::warn!(%error, "a connection could not be taken");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let connection =
            connection(stream, router.clone(), (limits.head_timeout)(), stop.clone(), abort.clone());
        let open = listening.metrics.http().connection();
        tasks.spawn(async move {
            connection.await;
            drop((place, open));
        });
    }
    drop(listening);
    tasks.close();
    tasks.wait().await;
}

async fn connection(
    stream: TcpStream,
    router: Router,
    head_timeout: Duration,
    stop: CancellationToken,
    abort: CancellationToken,
) {
    // Answers are written whole: waiting for more to send only delays them.
    let _ = stream.set_nodelay(true);
    let mut builder = hyper::server::conn::http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(head_timeout)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .max_headers(HEADERS_MAX)
        .half_close(false);
    let exchange = Arc::new(Exchange::default());
    let wire = Wire::new(stream, Arc::clone(&exchange));
    let service = service_fn(move |request| {
        let answering = exchange.begin();
        let answer = router.clone().oneshot(request);
        async move { answer.await.map(|response| answering.with(response)) }
    });
    let serving = builder.serve_connection(TokioIo::new(wire), service);
    tokio::pin!(serving);
    let mut stopping = false;
    loop {
        tokio::select! {
            ended = &mut serving => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "a connection ended early");
                }
                return;
            }
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                serving.as_mut().graceful_shutdown();
            }
            () = abort.cancelled() => return,
        }
    }
}
