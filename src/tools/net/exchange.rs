//! One request to its answer: checked, sent, redirected, checked again.

use reqwest::header::{ACCEPT, USER_AGENT};
use tokio::sync::OwnedSemaphorePermit;

use super::client::{self, Route};
use super::error::{NetError, reason};
use super::outbound::Outbound;
use super::reach::Reach;
use super::redirect::{Redirect, Step, step};
use super::request::Request;
use super::resolve;
use super::tls::Tls;
use crate::config::NetworkConfig;
use crate::domain::web::WebUrl;

/// How many redirects are followed.
const REDIRECTS_MAX: usize = 10;
/// How long a name is looked up that a proxy will look up again.
const PROXIED_LOOKUP_TIME: std::time::Duration = std::time::Duration::from_secs(5);

/// An answer whose body is still to be read.
pub(in crate::tools) struct Answer {
    /// Status, headers, and the body to come.
    pub(in crate::tools) response: reqwest::Response,
    /// Where it came from in the end.
    pub(in crate::tools) url: WebUrl,
    /// How many redirects were followed.
    pub(in crate::tools) redirects: usize,
    /// The headers of the caller were not sent to where it came from.
    pub(in crate::tools) headers_left_behind: bool,
    /// It is a redirect that was not followed.
    pub(in crate::tools) elsewhere: Option<Redirect>,
    /// The place among the requests at once, until the body is read.
    pub(super) place: OwnedSemaphorePermit,
}

impl Answer {
    /// What is left to read, and the place to keep while reading it.
    pub(in crate::tools) fn into_parts(self) -> (reqwest::Response, OwnedSemaphorePermit) {
        (self.response, self.place)
    }
}

/// Sends a request, and follows where it may.
pub(super) async fn send(
    outbound: &Outbound,
    mut request: Request,
    config: &NetworkConfig,
    place: OwnedSemaphorePermit,
) -> Result<Answer, NetError> {
    let tls = outbound.tls.get(&config.ca_files).await?;
    let mut headers_left_behind = false;
    for redirects in 0..=REDIRECTS_MAX {
        let response = hop(outbound, &request, config, &tls).await?;
        let elsewhere = match step(&request, response.status(), response.headers()) {
            Step::Follow(next, left_behind) => {
                request = *next;
                headers_left_behind |= left_behind;
                continue;
            }
            Step::Stay => None,
            Step::Tell(redirect) => Some(redirect),
        };
        let url = request.url;
        return Ok(Answer { response, url, redirects, headers_left_behind, elsewhere, place });
    }
    Err(NetError::Redirects(REDIRECTS_MAX, request.url.to_string()))
}

/// One request to one server.
async fn hop(
    outbound: &Outbound,
    request: &Request,
    config: &NetworkConfig,
    tls: &Tls,
) -> Result<reqwest::Response, NetError> {
    let encrypts =
        request.url.is_https() || config.proxy.as_ref().is_some_and(|proxy| proxy.url.url().is_https());
    if let (true, Some(missing)) = (encrypts, &tls.missing) {
        return Err(NetError::Setup(missing.clone()));
    }
    let client = client::build(route(outbound, &request.url, config).await?, tls)?;
    let mut sending = client
        .request(request.method.clone(), request.url.url().clone())
        .header(USER_AGENT, &config.user_agent)
        .header(ACCEPT, request.accept)
        .headers(request.headers.clone());
    if let Some(body) = &request.body {
        sending = sending.body(body.clone());
    }
    sending
        .send()
        .await
        .map_err(|error| NetError::Failed { host: request.url.host().to_string(), reason: reason(&error) })
}

async fn route(outbound: &Outbound, url: &WebUrl, config: &NetworkConfig) -> Result<Route, NetError> {
    let reach = Reach { allowed: &config.allowed_private_hosts, own: &outbound.own };
    let found = resolve::addresses(&*outbound.resolver, &reach, url);
    let Some(proxy) = &config.proxy else { return found.await.map(Route::Direct) };
    // The proxy resolves by itself, perhaps names that are known to it alone; what is known here is checked.
    match tokio::time::timeout(PROXIED_LOOKUP_TIME, found).await {
        Err(_) | Ok(Ok(_) | Err(NetError::Unresolved { .. })) => {}
        Ok(Err(refused)) => return Err(refused),
    }
    client::through(proxy, &outbound.resolver).await
}
