//! HTTP clients that hold one token, and answers that say what is wrong with them.

use std::net::SocketAddr;

use reqwest::{Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use super::sse::Stream;
use super::{FAILSAFE, contract};

/// A client with one token, or none.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
    token: Option<String>,
}

impl Client {
    pub(crate) fn new(address: SocketAddr, token: Option<&str>) -> Self {
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        Self { http, base: format!("http://{address}"), token: token.map(str::to_owned) }
    }

    /// A request with the token, to be completed by the test.
    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        Answer::of(self.request(Method::GET, path).timeout(FAILSAFE)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Answer::of(self.request(Method::DELETE, path).timeout(FAILSAFE)).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Answer::of(self.request(Method::POST, path).json(body).timeout(FAILSAFE)).await
    }

    pub(crate) async fn put(&self, path: &str, body: &Value) -> Answer {
        Answer::of(self.request(Method::PUT, path).json(body).timeout(FAILSAFE)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        Answer::of(self.request(Method::PATCH, path).json(body).timeout(FAILSAFE)).await
    }

    /// An event stream from the server.
    pub(crate) async fn stream(&self, path: &str) -> Stream {
        Stream::open(self.request(Method::GET, path)).await
    }

    /// An event stream that goes on after an event.
    pub(crate) async fn resume(&self, path: &str, last_event_id: u64) -> Stream {
        let request = self.request(Method::GET, path).header("Last-Event-ID", last_event_id.to_string());
        Stream::open(request).await
    }

    /// A page of events.
    pub(crate) async fn event_page(&self, path: &str) -> Value {
        let request = self.request(Method::GET, path).header("Accept", "application/json");
        Answer::of(request.timeout(FAILSAFE)).await.expect(200)
    }

    /// The approvals that wait in a session, oldest first.
    pub(crate) async fn pending(&self, session_id: &str) -> Vec<Value> {
        let path = format!("/v1/approvals?status=pending&session_id={session_id}");
        self.get(&path).await.expect(200)["items"].as_array().unwrap().clone()
    }

    pub(crate) async fn approval(&self, approval_id: &str) -> Value {
        self.get(&format!("/v1/approvals/{approval_id}")).await.expect(200)
    }

    /// Decides an approval.
    pub(crate) async fn decide(&self, approval_id: &str, decision: &Value) -> Answer {
        self.post(&format!("/v1/approvals/{approval_id}/decision"), decision).await
    }

    pub(crate) async fn allow(&self, approval_id: &str) -> Value {
        self.decide(approval_id, &json!({"decision": "allow"})).await.expect(200)
    }
}

/// An answer that was read whole, and is what the interface's description says of it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) async fn of(request: RequestBuilder) -> Self {
        let (client, request) = request.build_split();
        let request = request.unwrap();
        let (method, path) = (request.method().clone(), request.url().path().to_owned());
        let response = client.execute(request).await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.unwrap().to_vec();
        contract::hold(&method, &path, status.as_u16(), &headers, Some(&bytes));
        Self { status, headers, bytes }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The JSON body of an answer with this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        if self.bytes.is_empty() {
            return Value::Null;
        }
        assert!(self.header("content-type").contains("json"), "{:?}", self.headers);
        serde_json::from_slice(&self.bytes).unwrap()
    }

    /// The problem of a refusal: its shape is RFC 9457's, with a code and the request's id.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, code: &str) -> Value {
        let problem = self.expect(status);
        assert_eq!(self.header("content-type"), "application/problem+json");
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        for key in ["type", "title", "detail", "request_id"] {
            assert!(problem[key].as_str().is_some_and(|text| !text.is_empty()), "{key}: {problem}");
        }
        assert_eq!(self.header("x-request-id"), problem["request_id"].as_str().unwrap());
        if status == 401 {
            assert!(self.header("www-authenticate").starts_with("Bearer"), "{:?}", self.headers);
        }
        problem
    }
}
