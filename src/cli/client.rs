//! Speaks HTTP with the server: requests, JSON answers, problem answers, event streams.

use std::time::Duration;

use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::connection::Connection;
use super::error::{CliError, Problem};
use super::progress::while_waiting;

/// How long a connection may take to come about.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// How long an answer may take beyond what the request itself asked the server to wait.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// A stream that is silent for this long is dead: the server sends a heartbeat each 15 s.
const SILENCE_LIMIT: Duration = Duration::from_secs(45);
/// The largest answer that is read, in bytes: calls carry arguments of 8 MiB, escaped, and a diff.
const ANSWER_MAX: usize = 128 * 1024 * 1024;

/// Query parameters.
pub(super) type Query<'a> = Vec<(&'a str, String)>;

/// The API of one server under one token.
#[derive(Debug)]
pub(super) struct Client {
    http: reqwest::Client,
    connection: Connection,
    /// Whether a person is told that an answer takes its time.
    tells: bool,
}

/// A JSON answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// The text as it came, for `--json`.
    pub(super) text: String,
    /// The same, parsed.
    pub(super) value: Value,
}

impl Client {
    /// A client for the connection; nothing is sent yet.
    pub(super) fn new(connection: Connection) -> Result<Self, CliError> {
        // No redirects and no proxy: the token goes to the address that was named, nowhere else.
        let mut http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .no_proxy()
            .connect_timeout(CONNECT_LIMIT)
            .read_timeout(MAX_WAIT + ANSWER_LIMIT)
            .user_agent(concat!("toolgate-cli/", env!("CARGO_PKG_VERSION")));
        if connection.base.scheme() == "http" {
            // Without TLS no certificate is needed: a machine may have none, and reading them takes time.
            http = http.tls_certs_only([]);
        }
        let http = http.build().map_err(|error| CliError::Unreachable {
            url: connection.base.to_string(),
            cause: error.to_string(),
        })?;
        Ok(Self { http, connection, tells: true })
    }

    /// The same for a command that shows by itself what is waited for.
    #[must_use]
    pub(super) fn quiet(self) -> Self {
        Self { tells: false, ..self }
    }

    /// Reads something, waiting up to `wait` more than an answer takes.
    pub(super) async fn get(
        &self,
        path: &[&str],
        query: &Query<'_>,
        wait: Duration,
    ) -> Result<Answer, CliError> {
        let request = self
            .request(Method::GET, path, query)?
            .header(ACCEPT, "application/json")
            .timeout(ANSWER_LIMIT + wait);
        self.answer(request).await
    }

    /// Removes something, or ends it.
    pub(super) async fn delete(&self, path: &[&str]) -> Result<Answer, CliError> {
        let request = self.request(Method::DELETE, path, &Vec::new())?.timeout(ANSWER_LIMIT);
        self.answer(request).await
    }

    /// Sends a JSON body, waiting up to `wait` more than an answer takes.
    pub(super) async fn post(
        &self,
        path: &[&str],
        query: &Query<'_>,
        body: &Value,
        wait: Duration,
    ) -> Result<Answer, CliError> {
        let request = self
            .request(Method::POST, path, query)?
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string())
            .timeout(ANSWER_LIMIT + wait);
        self.answer(request).await
    }

    /// Opens a stream of events, after the event of the id where one is given.
    pub(super) async fn stream(
        &self,
        path: &[&str],
        query: &Query<'_>,
        last_event_id: Option<&str>,
    ) -> Result<Response, CliError> {
        let mut request = self.request(Method::GET, path, query)?.header(ACCEPT, "text/event-stream");
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::from_str(id).ok()) {
            request = request.header("last-event-id", id);
        }
        let opened = tokio::time::timeout(ANSWER_LIMIT, request.send()).await;
        let response = opened.map_err(|_| self.unreachable("no answer in time".into()))?;
        let response = response.map_err(|error| self.transport(&error))?;
        let is_stream = response
            .headers()
            .get(CONTENT_TYPE)
            .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if response.status().is_success() && is_stream {
            return Ok(response);
        }
        let status = response.status().as_u16();
        match self.read(response).await? {
            (_, Some(problem)) => Err(CliError::Problem(Box::new(problem))),
            (_, None) => Err(self.strange(format!("status {status}, no event stream"))),
        }
    }

    /// The next bytes of a stream; none at its end.
    pub(super) async fn next_chunk(&self, response: &mut Response) -> Result<Option<bytes::Bytes>, CliError> {
        match tokio::time::timeout(SILENCE_LIMIT, response.chunk()).await {
            Err(_) => Err(self.unreachable("the stream fell silent".into())),
            Ok(chunk) => chunk.map_err(|error| self.transport(&error)),
        }
    }

    /// The answer as a type of ours.
    pub(super) fn parse<T: DeserializeOwned>(&self, answer: &Answer) -> Result<T, CliError> {
        self.read_as(&answer.value)
    }

    /// A part of an answer as a type of ours.
    pub(super) fn read_as<T: DeserializeOwned>(&self, value: &Value) -> Result<T, CliError> {
        T::deserialize(value).map_err(|error| self.strange(error.to_string()))
    }

    /// The server's address, for a person.
    pub(super) fn address(&self) -> &str {
        self.connection.base.as_str()
    }

    /// An answer that does not make sense.
    pub(super) fn strange(&self, what: String) -> CliError {
        CliError::NotToolgate { url: self.connection.base.to_string(), what }
    }

    fn request(&self, method: Method, path: &[&str], query: &Query<'_>) -> Result<RequestBuilder, CliError> {
        let url = address(&self.connection.base, path, query)?;
        let mut bearer =
            HeaderValue::from_str(&format!("Bearer {}", self.connection.token)).map_err(|_| {
                CliError::usage("the token cannot be sent", "a token is one word of visible ASCII")
            })?;
        bearer.set_sensitive(true);
        Ok(self.http.request(method, url).header(AUTHORIZATION, bearer))
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Answer, CliError> {
        if self.tells {
            while_waiting("waiting for the server", self.answered(request)).await
        } else {
            self.answered(request).await
        }
    }

    async fn answered(&self, request: RequestBuilder) -> Result<Answer, CliError> {
        let response = request.send().await.map_err(|error| self.transport(&error))?;
        let status = response.status();
        let (text, problem) = self.read(response).await?;
        if let Some(problem) = problem {
            return Err(CliError::Problem(Box::new(problem)));
        }
        if !status.is_success() {
            return Err(self.strange(format!("status {status} without a reason")));
        }
        if status == reqwest::StatusCode::NO_CONTENT {
            return Ok(Answer { text, value: Value::Null });
        }
        let value = serde_json::from_str(&text)
            .map_err(|error| self.strange(format!("status {status}, no JSON: {error}")))?;
        Ok(Answer { text, value })
    }

    /// The body, and the problem that it is where the status is an error's.
    async fn read(&self, mut response: Response) -> Result<(String, Option<Problem>), CliError> {
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.transport(&error))? {
            if bytes.len() + chunk.len() > ANSWER_MAX {
                return Err(self.strange(format!("more than {ANSWER_MAX} bytes")));
            }
            bytes.extend_from_slice(&chunk);
        }
        let text = String::from_utf8(bytes).map_err(|_| self.strange("no UTF-8".into()))?;
        if status.is_success() {
            return Ok((text, None));
        }
        let problem = serde_json::from_str::<Problem>(&text).ok().filter(|problem| !problem.title.is_empty());
        Ok((text, problem.map(|problem| Problem { status: status.as_u16(), ..problem })))
    }

    fn transport(&self, error: &reqwest::Error) -> CliError {
        let mut cause = if error.is_timeout() { "no answer in time" } else { "" }.to_owned();
        if cause.is_empty() {
            // The innermost cause is what happened; the outer ones only say that something did.
            let mut inner: &(dyn std::error::Error + 'static) = error;
            while let Some(source) = inner.source() {
                inner = source;
            }
            cause = inner.to_string();
            if is_about_certificate(inner) {
                return CliError::Untrusted { url: self.connection.base.to_string(), cause };
            }
        }
        self.unreachable(cause)
    }

    fn unreachable(&self, cause: String) -> CliError {
        CliError::Unreachable { url: self.connection.base.to_string(), cause }
    }
}

/// Whether TLS refused the server's certificate; an I/O error holds what TLS said, but does not name it as its source.
fn is_about_certificate(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut error = error;
    while let Some(held) = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        error = held;
    }
    matches!(error.downcast_ref(), Some(rustls::Error::InvalidCertificate(_)))
}

/// The longest that the server lets one request wait.
pub(super) const MAX_WAIT: Duration = Duration::from_mins(5);

/// The address of a resource; each segment is percent-encoded.
fn address(base: &Url, path: &[&str], query: &Query<'_>) -> Result<Url, CliError> {
    let mut url = base.clone();
    // URLs (WHATWG) drop such segments however they are written, and an empty one names the list.
    if let Some(bad) = path.iter().find(|segment| matches!(**segment, "" | "." | "..")) {
        return Err(CliError::usage(
            format!("`{bad}` cannot stand in an address"),
            "give another session, call or approval id",
        ));
    }
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().push("v1").extend(path);
    }
    if !query.is_empty() {
        url.query_pairs_mut().extend_pairs(query);
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::super::fake_server::{FakeServer, Reply};
    use super::*;

    async fn got(replies: Vec<Reply>) -> (Result<Answer, CliError>, Vec<String>) {
        let server = FakeServer::start(replies).await;
        let client = Client::new(server.connection()).unwrap();
        let answer = client.get(&["sessions", "s"], &vec![("limit", "1".into())], Duration::ZERO).await;
        (answer, server.finish().await)
    }

    #[test]
    fn segments_are_encoded_and_never_climb() {
        let base = Url::parse("http://h/p/").unwrap();
        let url = |path: &[&str]| address(&base, path, &Vec::new()).map(String::from);
        assert_eq!(
            url(&["sessions", "s", "calls", "a/../b?c#d %é"]).unwrap(),
            "http://h/p/v1/sessions/s/calls/a%2F..%2Fb%3Fc%23d%20%25%C3%A9"
        );
        for bad in ["..", ".", ""] {
            assert!(url(&["sessions", bad]).is_err(), "{bad}");
        }
    }

    #[tokio::test]
    async fn the_token_and_the_query_are_sent() {
        let (answer, requests) = got(vec![Reply::json(200, r#"{"a":1}"#)]).await;
        assert_eq!(answer.unwrap().value["a"], 1);
        assert!(requests[0].starts_with("GET /v1/sessions/s?limit=1 HTTP/1.1\r\n"), "{requests:?}");
        assert!(requests[0].contains("authorization: Bearer test-token\r\n"), "{requests:?}");
    }

    #[tokio::test]
    async fn error_answers_become_problems() {
        let body = r#"{"title":"No such session","status":404,"code":"not_found","request_id":"r1"}"#;
        let Err(CliError::Problem(problem)) = got(vec![Reply::json(404, body)]).await.0 else { panic!() };
        assert_eq!((problem.status, problem.code.as_str()), (404, "not_found"));
    }

    #[tokio::test]
    async fn what_is_no_toolgate_is_said_so() {
        for reply in [Reply::json(502, "<html>"), Reply::json(200, "<html>"), Reply::json(302, "")] {
            let error = got(vec![reply]).await.0.unwrap_err();
            assert!(matches!(error, CliError::NotToolgate { .. }), "{error:?}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_there_is_unreachable() {
        let server = FakeServer::start(vec![]).await;
        let client = Client::new(server.connection()).unwrap();
        server.finish().await;
        let error = client.get(&["info"], &Vec::new(), Duration::ZERO).await.unwrap_err();
        let report = error.report().unwrap();
        assert!(
            report.contains("cannot reach http://127.0.0.1:") && report.contains("toolgate serve"),
            "{report}"
        );
    }
}
