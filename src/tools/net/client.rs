//! An HTTP client for one request, which can connect to the checked addresses and nowhere else.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Proxy, redirect};

use super::error::{NetError, reason};
use super::resolve::Resolver;
use super::tls::Tls;
use crate::config::ProxyConfig;
use crate::domain::web::Host;

/// How long connecting may take, over all addresses, so that one that is silent leaves time for the next.
const CONNECT_TIME: Duration = Duration::from_secs(20);
/// The most header fields of an answer; their bytes are bounded by the client, 400 KiB.
const HEADERS_MAX: usize = 128;
/// The longest password of a proxy, in bytes.
const PASSWORD_BYTES_MAX: u64 = 4 * 1024;

/// The way that a request takes.
pub(super) enum Route {
    /// Straight to one of these addresses.
    Direct(Vec<SocketAddr>),
    /// Through a proxy, whose own name is resolved as the config's.
    Proxied(Box<Proxy>, Arc<dyn Resolver>, String),
}

/// A client that takes this route. It keeps no connections and no cookies, follows no redirects, and reads no
/// proxy from the environment. Brotli is not taken: its decoder would give a gigabyte to a window that a few
/// bytes ask for.
pub(super) fn build(route: Route, tls: &Tls) -> Result<Client, NetError> {
    let mut builder = Client::builder()
        .no_proxy()
        .redirect(redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .pool_max_idle_per_host(0)
        .connect_timeout(CONNECT_TIME)
        .http1_max_headers(HEADERS_MAX)
        .tls_backend_preconfigured(tls.config.clone());
    builder = match route {
        Route::Direct(addresses) => builder.dns_resolver(Pinned(addresses)),
        Route::Proxied(proxy, resolver, name) => {
            builder.proxy(*proxy).dns_resolver(OfProxy { resolver, name: name.into() })
        }
    };
    builder.build().map_err(|error| NetError::Setup(format!("no HTTP client: {}", reason(&error))))
}

/// Answers with what was checked, whatever is asked: there is no second lookup.
struct Pinned(Vec<SocketAddr>);

impl Resolve for Pinned {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// Resolves the proxy's name and no other.
struct OfProxy {
    resolver: Arc<dyn Resolver>,
    name: Arc<str>,
}

impl Resolve for OfProxy {
    fn resolve(&self, name: Name) -> Resolving {
        let (resolver, own) = (Arc::clone(&self.resolver), Arc::clone(&self.name));
        Box::pin(async move {
            if name.as_str().trim_end_matches('.') != &*own {
                return Err("only the proxy is connected to".into());
            }
            let found: Vec<IpAddr> = resolver.lookup(name.as_str()).await?;
            let addresses: Addrs = Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0)));
            Ok(addresses)
        })
    }
}

/// The route through the proxy of the config.
pub(super) async fn through(config: &ProxyConfig, resolver: &Arc<dyn Resolver>) -> Result<Route, NetError> {
    let url = config.url.url();
    let setup = |reason: String| NetError::Setup(format!("network.proxy: {reason}"));
    let mut proxy = Proxy::all(url.url().clone()).map_err(|error| setup(reason(&error)))?;
    if let Some(username) = &config.username {
        proxy = proxy.basic_auth(username, &password(config).await.map_err(setup)?);
    }
    let name = match url.host() {
        Host::Name(name) => name.clone(),
        Host::Address(address) => address.to_string(),
    };
    Ok(Route::Proxied(Box::new(proxy), Arc::clone(resolver), name))
}

async fn password(config: &ProxyConfig) -> Result<String, String> {
    use tokio::io::AsyncReadExt as _;
    if let Some(path) = &config.password_file {
        let unread = |error: std::io::Error| format!("password_file {}: {error}", path.display());
        let file = tokio::fs::File::open(path).await.map_err(unread)?;
        let mut text = String::new();
        file.take(PASSWORD_BYTES_MAX).read_to_string(&mut text).await.map_err(unread)?;
        return Ok(text.trim_end_matches(['\r', '\n']).to_owned());
    }
    let name = config.password_env.as_deref().unwrap_or_default();
    std::env::var(name).map_err(|_| format!("the environment variable {name} is not set"))
}
