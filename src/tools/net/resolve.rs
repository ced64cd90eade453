//! From a URL to the addresses that its request may connect to: resolved once, every one checked.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::Semaphore;

use super::error::NetError;
use super::reach::Reach;
use crate::domain::web::{Host, WebUrl};

/// Lookups at once. One that hangs keeps its place until the system gives it up, whoever waits for it; further
/// ones wait.
const LOOKUPS_MAX: usize = 32;

/// Turns names into addresses.
#[async_trait]
pub(in crate::tools) trait Resolver: Send + Sync {
    /// All addresses of a name.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver.
#[derive(Debug, Clone)]
pub(super) struct SystemResolver {
    places: Arc<Semaphore>,
}

impl SystemResolver {
    pub(super) fn new() -> Self {
        Self { places: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }
}

#[async_trait]
impl Resolver for SystemResolver {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
        let name = name.to_owned();
        // A task of its own: the system's call blocks a thread, and ends only by itself.
        let lookup = tokio::spawn(async move {
            let _place = place;
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        });
        lookup.await.map_err(io::Error::other)?
    }
}

/// The addresses to connect to for a URL. One that may not be reached refuses them all: a name that leads to a
/// public and a private address is an attack, or a mistake.
pub(super) async fn addresses(
    resolver: &dyn Resolver,
    reach: &Reach<'_>,
    url: &WebUrl,
) -> Result<Vec<SocketAddr>, NetError> {
    let found = match url.host() {
        Host::Address(address) => vec![*address],
        Host::Name(name) => {
            let unresolved = |reason: String| NetError::Unresolved { host: name.clone(), reason };
            // As it is spelt: with a dot at its end the system's search domains are left out.
            let spelt = url.url().host_str().unwrap_or(name);
            let found = resolver.lookup(spelt).await.map_err(|error| unresolved(error.to_string()))?;
            if found.is_empty() {
                return Err(unresolved("it has no address".to_owned()));
            }
            found
        }
    };
    for address in &found {
        reach.check(url, *address)?;
    }
    Ok(found.into_iter().map(|address| SocketAddr::new(address, url.port())).collect())
}
