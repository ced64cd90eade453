//! Requests to an approval host: one address, no redirects, answers bounded; failures that may pass told from
//! those that do not.

use std::error::Error as StdError;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Certificate, Client, Method, RequestBuilder, Response, StatusCode, Url};

use crate::config::{ForwardConfig, read_secret};
use crate::domain::worker::WorkerStanding;

/// The largest answer that is read, in bytes: a message of 16 KiB, each byte escaped, and the rest.
const ANSWER_MAX: usize = 256 * 1024;
/// The longest text of an error, in characters.
const WHY_MAX: usize = 300;
/// The largest file of certificates, in bytes.
const CA_BYTES_MAX: u64 = 1024 * 1024;

/// Where the token is kept that a worker has of its host.
pub enum HostSecret {
    /// In a file, read for each request.
    File(PathBuf),
    /// It was in the environment.
    Value(String),
}

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    /// It may be another time.
    Passing(String),
    /// It will not be.
    Final(String),
    /// The host has no such ask.
    Unknown(String),
    /// The host does not take an ask of this form.
    Unfit(String),
}

/// One host.
pub(super) struct Host {
    client: Client,
    base: Url,
    secret: HostSecret,
    timeout: Duration,
}

impl Host {
    pub(super) fn new(config: &ForwardConfig, secret: HostSecret) -> Result<Self, String> {
        let url = config.url.url();
        let timeout = Duration::from_millis(config.timeout_ms);
        // No redirects and no proxy: the token goes to the address that was named, nowhere else.
        let mut client = Client::builder()
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .no_gzip()
            .no_deflate()
            .connect_timeout(timeout)
            .user_agent(concat!("toolgate-worker/", env!("CARGO_PKG_VERSION")));
        if !url.is_https() {
            client = client.tls_certs_only([]);
        } else if let Some(path) = &config.ca_file {
            client = client.tls_certs_merge(certificates(path)?);
        }
        let client = client.build().map_err(|error| format!("no HTTP client: {}", why(&error)))?;
        Ok(Self { client, base: url.url().clone(), secret, timeout })
    }

    /// Asks, or finds what was asked by this id.
    pub(super) async fn ask(&self, id: &str, body: String) -> Result<WorkerStanding, Failure> {
        let request = self.request(Method::PUT, id, Duration::ZERO).await?;
        self.send(request.header(CONTENT_TYPE, "application/json").body(body)).await
    }

    /// How an ask stands, waited for as long as `wait`.
    pub(super) async fn standing(&self, id: &str, wait: Duration) -> Result<WorkerStanding, Failure> {
        let request = self.request(Method::GET, id, wait).await?;
        self.send(request.query(&[("wait_ms", wait.as_millis().to_string())])).await
    }

    /// Takes an ask back.
    pub(super) async fn withdraw(&self, id: &str) -> Result<WorkerStanding, Failure> {
        let request = self.request(Method::DELETE, id, Duration::ZERO).await?;
        self.send(request).await
    }

    async fn request(&self, method: Method, id: &str, wait: Duration) -> Result<RequestBuilder, Failure> {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["v1", "worker", "approvals", id]);
        }
        let token = match &self.secret {
            HostSecret::Value(token) => token.clone(),
            HostSecret::File(path) => {
                let path = path.clone();
                let read = tokio::task::spawn_blocking(move || read_secret(&path)).await;
                let read = read.unwrap_or_else(|error| Err(error.to_string()));
                read.map_err(|reason| Failure::Final(format!("there is no token for it: {reason}")))?
            }
        };
        let request = self.client.request(method, url).bearer_auth(token).header(ACCEPT, "application/json");
        Ok(request.timeout(self.timeout + wait))
    }

    async fn send(&self, request: RequestBuilder) -> Result<WorkerStanding, Failure> {
        let mut response = request.send().await.map_err(|error| failure(&error))?;
        let status = response.status();
        let body = read(&mut response).await?;
        if matches!(status, StatusCode::OK | StatusCode::CREATED) {
            return serde_json::from_slice(&body)
                .map_err(|_| Failure::Final("its answer is not one of a Toolgate host".to_owned()));
        }
        let code = code(&body);
        let said = format!("it answered {}{code}", status.as_u16());
        if status == StatusCode::NOT_FOUND && code == " (not_found)" {
            return Err(Failure::Unknown(said));
        }
        if status == StatusCode::BAD_REQUEST && code == " (invalid_request)" {
            return Err(Failure::Unfit(said));
        }
        let passing = status.is_server_error()
            || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        Err(if passing { Failure::Passing(said) } else { Failure::Final(said) })
    }
}

/// The certificates of a PEM file.
fn certificates(path: &PathBuf) -> Result<Vec<Certificate>, String> {
    let at = |reason: String| format!("approvals.forward_to.ca_file: {}: {reason}", path.display());
    let size = std::fs::metadata(path).map_err(|error| at(error.to_string()))?.len();
    if size > CA_BYTES_MAX {
        return Err(at(format!("it has more than {CA_BYTES_MAX} bytes")));
    }
    let text = std::fs::read(path).map_err(|error| at(error.to_string()))?;
    let found = Certificate::from_pem_bundle(&text).map_err(|error| at(why(&error)))?;
    if found.is_empty() { Err(at("there is no certificate in it".to_owned())) } else { Ok(found) }
}

/// A whole body within its bound.
async fn read(response: &mut Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
        if body.len() + chunk.len() > ANSWER_MAX {
            return Err(Failure::Final(format!("its answer has more than {ANSWER_MAX} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The code of a problem, where it looks like one.
fn code(body: &[u8]) -> String {
    let problem: Option<serde_json::Value> = serde_json::from_slice(body).ok();
    let code = problem.as_ref().and_then(|problem| problem["code"].as_str()).unwrap_or_default();
    let plain = (1..=64).contains(&code.len()) && code.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    if plain { format!(" ({code})") } else { String::new() }
}

/// Connections fail and come back. What does not speak HTTP, or shows a wrong certificate, does not.
fn failure(error: &reqwest::Error) -> Failure {
    let garbled = |cause: &(dyn StdError + 'static)| {
        cause.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse)
    };
    let lasting = causes(error).any(|cause| cause.is::<rustls::Error>() || garbled(cause));
    let text = why(error);
    if lasting || error.is_builder() || error.is_redirect() {
        Failure::Final(text)
    } else {
        Failure::Passing(text)
    }
}

/// An error and all that lies beneath it.
fn causes<'e>(error: &'e (dyn StdError + 'static)) -> impl Iterator<Item = &'e (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |now| beneath(*now))
}

/// What caused an error. What an input or output error is made of is no source of it, so that is looked into by
/// itself.
fn beneath<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    match error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(inner) => Some(inner),
        None => error.source(),
    }
}

/// The innermost cause: it is what happened.
fn why(error: &reqwest::Error) -> String {
    let innermost = causes(error).last().map(ToString::to_string);
    crate::domain::visible::clipped(&innermost.unwrap_or_default(), WHY_MAX)
}
