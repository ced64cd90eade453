//! What all requests of the server share: the live config, the resolver, certificates, places.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::NetError;
use super::exchange::{self, Answer};
use super::own::OwnListener;
use super::request::Request;
use super::resolve::{Resolver, SystemResolver};
use super::tls::TlsCache;
use super::watch::Watch;
use crate::config::{Config, NetworkConfig};
use crate::tools::{ToolConfig, ToolCtx};

/// The way out.
pub(in crate::tools) struct Outbound {
    config: ToolConfig,
    places: Mutex<Places>,
    pub(super) own: OwnListener,
    pub(super) resolver: Arc<dyn Resolver>,
    pub(super) tls: TlsCache,
}

/// Places for requests at once: made anew when the config gives another number.
struct Places {
    number: usize,
    free: Arc<Semaphore>,
}

impl Outbound {
    /// A way out under the config in force, which never leads to the own listener.
    pub(in crate::tools) fn new(config: ToolConfig, own: OwnListener) -> Self {
        Self::resolving_by(config, own, Arc::new(SystemResolver::new()))
    }

    /// The same with another resolver.
    pub(super) fn resolving_by(config: ToolConfig, own: OwnListener, resolver: Arc<dyn Resolver>) -> Self {
        let places = Mutex::new(Places { number: 0, free: Arc::new(Semaphore::new(0)) });
        Self { config, places, own, resolver, tls: TlsCache::default() }
    }

    /// The config that a call goes by.
    pub(in crate::tools) fn config(&self, ctx: &ToolCtx) -> Arc<Config> {
        self.config.of(ctx)
    }

    /// Sends a request and follows where it may. With all places taken it waits, within the call's time.
    pub(in crate::tools) async fn send(
        &self,
        request: Request,
        config: &NetworkConfig,
        watch: &Watch,
    ) -> Result<Answer, NetError> {
        watch
            .over(async {
                let place = self.place(config.concurrent).await?;
                exchange::send(self, request, config, place).await
            })
            .await?
    }

    async fn place(&self, number: usize) -> Result<OwnedSemaphorePermit, NetError> {
        let free = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            if places.number != number {
                *places = Places { number, free: Arc::new(Semaphore::new(number)) };
            }
            Arc::clone(&places.free)
        };
        free.acquire_owned().await.map_err(|error| NetError::Setup(error.to_string()))
    }
}
