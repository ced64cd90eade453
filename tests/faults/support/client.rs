//! A client with one token: requests, and the few that every test makes.

use std::time::Duration;

use serde_json::{Value, json};

use super::{FAILSAFE, Stream};

/// The server's answer.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Answer {
    /// The body, where the status is this one.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }
}

#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    token: String,
}

/// One segment of a path.
pub(crate) fn segment(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

impl Client {
    pub(super) fn new(url: &str, token: &str) -> Self {
        let http = reqwest::Client::builder().timeout(2 * FAILSAFE).no_proxy().build().unwrap();
        Self { http, url: url.to_owned(), token: token.to_owned() }
    }

    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token)
    }

    /// Sends a request; none where the server went away meanwhile.
    async fn try_send(request: reqwest::RequestBuilder) -> Option<Answer> {
        let response = request.send().await.ok()?;
        let status = response.status().as_u16();
        let text = response.bytes().await.ok()?;
        let body = serde_json::from_slice(&text)
            .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(&text).into_owned()));
        Some(Answer { status, body })
    }

    async fn send(request: reqwest::RequestBuilder) -> Answer {
        Self::try_send(request).await.expect("the server answers")
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = self.request(reqwest::Method::GET, path).header("accept", "application/json");
        Self::send(request).await
    }

    /// The bytes of a file that is served.
    pub(crate) async fn bytes(&self, path: &str) -> Vec<u8> {
        let response = self.request(reqwest::Method::GET, path).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.bytes().await.unwrap().to_vec()
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        Self::send(self.request(reqwest::Method::POST, path).json(body)).await
    }

    /// Posts; none where the server went away meanwhile.
    pub(crate) async fn try_post(&self, path: &str, body: &Value) -> Option<Answer> {
        Self::try_send(self.request(reqwest::Method::POST, path).json(body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: &Value) -> Answer {
        Self::send(self.request(reqwest::Method::PATCH, path).json(body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        Self::send(self.request(reqwest::Method::DELETE, path)).await
    }

    pub(crate) async fn session(&self, id: &str) {
        self.post("/v1/sessions", &json!({"session_id": id})).await.expect(201);
    }

    /// Posts a call and waits for it.
    pub(crate) async fn call(&self, session: &str, id: &str, tool: &str, arguments: &Value) -> Answer {
        self.try_call(session, id, tool, arguments).await.expect("the server answers")
    }

    /// The same; none where the server went away meanwhile.
    pub(crate) async fn try_call(
        &self,
        session: &str,
        id: &str,
        tool: &str,
        arguments: &Value,
    ) -> Option<Answer> {
        let path = format!("/v1/sessions/{session}/calls?wait_ms={}", FAILSAFE.as_millis());
        Self::try_send(self.request(reqwest::Method::POST, &path).json(&call_of(id, tool, arguments))).await
    }

    /// Runs a command to its end: the Call.
    pub(crate) async fn bash(&self, session: &str, id: &str, command: &str) -> Value {
        self.call(session, id, "Bash", &json!({"command": command})).await.expect(200)
    }

    /// Starts a command and does not wait.
    pub(crate) async fn start_bash(&self, session: &str, id: &str, command: &str) -> Value {
        let path = format!("/v1/sessions/{session}/calls?wait_ms=0");
        self.post(&path, &call_of(id, "Bash", &json!({"command": command}))).await.expect(202)
    }

    /// The recorded Call, once it has ended.
    pub(crate) async fn ended(&self, session: &str, id: &str) -> Value {
        let wait = FAILSAFE.as_millis();
        let path = format!("/v1/sessions/{session}/calls/{}?wait_ms={wait}", segment(id));
        self.get(&path).await.expect(200)
    }

    pub(crate) async fn recorded(&self, session: &str, id: &str) -> Answer {
        self.get(&format!("/v1/sessions/{session}/calls/{}", segment(id))).await
    }

    pub(crate) async fn cancel(&self, session: &str, id: &str) -> Answer {
        let path = format!("/v1/sessions/{session}/calls/{}/cancel", segment(id));
        self.post(&path, &json!({})).await
    }

    pub(crate) async fn decide(&self, approval: &str, decision: &str) -> Answer {
        self.post(&format!("/v1/approvals/{approval}/decision"), &json!({"decision": decision})).await
    }

    /// Everything in a session's log, which must be numbered from 1 without a gap.
    pub(crate) async fn events(&self, session: &str) -> Vec<Value> {
        let mut events: Vec<Value> = Vec::new();
        loop {
            let after = events.len();
            let page = self.get(&format!("/v1/sessions/{session}/events?after={after}")).await.expect(200);
            let items = page["events"].as_array().unwrap();
            if items.is_empty() {
                break;
            }
            events.extend(items.iter().cloned());
        }
        for (index, event) in events.iter().enumerate() {
            assert_eq!(event["seq"], json!(index + 1), "a gap in the log of {session}");
        }
        events
    }

    /// Follows a session's events from after a number on.
    pub(crate) async fn stream(&self, session: &str, after: u64) -> Stream {
        let request = self
            .request(reqwest::Method::GET, &format!("/v1/sessions/{session}/events"))
            .header("accept", "text/event-stream")
            .header("last-event-id", after)
            .timeout(Duration::from_mins(10));
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        Stream::new(response)
    }
}

/// A tool call as a model makes it.
pub(crate) fn call_of(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}})
}
