//! One session as its agent sees it.

use std::path::{Path, PathBuf};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::client::{Answer, Client};

/// A session and the client that made it.
#[derive(Clone)]
pub(crate) struct TestSession {
    pub(crate) client: Client,
    pub(crate) id: String,
    pub(crate) workspace: PathBuf,
    pub(crate) token: String,
}

/// A call as a model makes it.
pub(crate) fn tool_call(id: &str, tool: &str, arguments: &Value) -> Value {
    json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments.to_string()}})
}

/// A command that ends when the test makes this file, so that nothing depends on time.
pub(crate) fn until_there(file: &str) -> String {
    format!("until [ -e {file} ]; do sleep 0.02; done")
}

/// An id as one segment of a path.
pub(crate) fn segment(id: &str) -> String {
    utf8_percent_encode(id, NON_ALPHANUMERIC).to_string()
}

impl TestSession {
    pub(crate) async fn create(client: &Client, body: &Value) -> Self {
        let made = client.post("/v1/sessions", body).await.expect(201);
        Self {
            client: client.clone(),
            id: made["session_id"].as_str().unwrap().to_owned(),
            workspace: made["workspace"].as_str().unwrap().into(),
            token: made["session_token"].as_str().unwrap().to_owned(),
        }
    }

    /// The same session by another client: after a restart the server is at another address.
    pub(crate) fn with(&self, client: Client) -> Self {
        Self { client, ..self.clone() }
    }

    /// A path below the session's.
    pub(crate) fn path(&self, rest: &str) -> String {
        format!("/v1/sessions/{}{rest}", self.id)
    }

    /// A path below a call's.
    pub(crate) fn call_path(&self, call_id: &str, rest: &str) -> String {
        self.path(&format!("/calls/{}{rest}", segment(call_id)))
    }

    pub(crate) fn file(&self, name: impl AsRef<Path>) -> PathBuf {
        self.workspace.join(name)
    }

    pub(crate) fn write_file(&self, name: &str, content: &str) {
        std::fs::write(self.file(name), content).unwrap();
    }

    pub(crate) fn read_file(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap()
    }

    /// Posts a call and waits for its end or a pause.
    pub(crate) async fn call(&self, id: &str, tool: &str, arguments: Value) -> Answer {
        self.client.post(&self.path("/calls"), &tool_call(id, tool, &arguments)).await
    }

    /// Posts a call without waiting.
    pub(crate) async fn begin(&self, id: &str, tool: &str, arguments: Value) -> Answer {
        self.client.post(&self.path("/calls?wait_ms=0"), &tool_call(id, tool, &arguments)).await
    }

    pub(crate) async fn bash(&self, id: &str, command: &str) -> Answer {
        self.call(id, "Bash", json!({"command": command})).await
    }

    /// A call that must pause for a person; its approval's id.
    #[track_caller]
    pub(crate) fn asks(&self, id: &str, tool: &str, arguments: Value) -> impl Future<Output = String> {
        let caller = std::panic::Location::caller();
        let (session, id, tool) = (self.clone(), id.to_owned(), tool.to_owned());
        async move {
            let answer = session.call(&id, &tool, arguments).await;
            let call = answer.expect(202);
            assert_eq!(call["status"], "awaiting_approval", "{caller}: {call}");
            call["approval_id"].as_str().unwrap().to_owned()
        }
    }

    /// The call as it stands.
    pub(crate) async fn current(&self, id: &str) -> Value {
        self.client.get(&self.call_path(id, "")).await.expect(200)
    }

    /// The call once it has ended.
    pub(crate) async fn ended(&self, id: &str) -> Value {
        let call = self.client.get(&self.call_path(id, "?wait_ms=50000")).await.expect(200);
        assert!(call["result"].is_object(), "it has not ended: {call}");
        call
    }

    pub(crate) async fn cancel(&self, id: &str) -> Answer {
        self.client.post(&self.call_path(id, "/cancel"), &json!({})).await
    }

    pub(crate) async fn end(&self) -> Answer {
        self.client.delete(&self.path("")).await
    }

    /// All events so far.
    pub(crate) async fn events(&self) -> Vec<Value> {
        let (mut after, mut events) = (0, Vec::new());
        loop {
            let page = self.client.event_page(&self.path(&format!("/events?after={after}"))).await;
            events.extend(page["events"].as_array().unwrap().iter().cloned());
            after = page["next_after"].as_u64().unwrap();
            if after >= page["latest_seq"].as_u64().unwrap() {
                return events;
            }
        }
    }

    /// The types of a call's events so far.
    pub(crate) async fn event_types(&self, id: &str) -> Vec<String> {
        let path = self.path(&format!("/events?call_id={}", segment(id)));
        let page = self.client.event_page(&path).await;
        let events = page["events"].as_array().unwrap();
        events.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
    }

    /// The first event of a call that is of one type, waited for.
    pub(crate) async fn event(&self, id: &str, kind: &str) -> Value {
        let path = self.path(&format!("/events?call_id={}&types={kind}&wait_ms=50000", segment(id)));
        let page = self.client.event_page(&path).await;
        let first = page["events"].get(0).unwrap_or_else(|| panic!("no {kind} of {id}: {page}"));
        first.clone()
    }
}
