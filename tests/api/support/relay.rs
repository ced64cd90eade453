//! An address that stays while the server behind it goes and comes: connections are passed on as bytes.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A relay; it ends when this is dropped.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    target: Arc<Mutex<SocketAddr>>,
    task: JoinHandle<()>,
}

impl Relay {
    pub(crate) async fn to(target: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = Arc::new(Mutex::new(target));
        let current = Arc::clone(&target);
        let task = tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let target = *current.lock().unwrap();
                tokio::spawn(async move {
                    // Where nothing listens the connection is closed: that is what its client is to see.
                    if let Ok(mut far) = TcpStream::connect(target).await {
                        let _ = copy_bidirectional(&mut near, &mut far).await;
                    }
                });
            }
        });
        Self { address, target, task }
    }

    pub(crate) fn turn_to(&self, target: SocketAddr) {
        *self.target.lock().unwrap() = target;
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}
