//! The config while the server runs: what changes it, what keeps it, who is told.

mod problems;
mod reload;
mod replaced;
mod restart;
mod tearing;
mod tokens;

use serde_json::{Value, json};

use crate::support::TestServer;
use crate::support::sse::{Frame, Stream};

/// A config that allows one shell command.
pub(crate) fn allowing(rule: &str) -> Value {
    json!({"permissions": {"allow": [rule]}})
}

/// The stream of all sessions, from now on.
pub(crate) async fn events(server: &TestServer) -> Stream {
    let page = server.operator().event_page("/v1/events").await;
    server.operator().resume("/v1/events", page["latest_seq"].as_u64().unwrap()).await
}

/// The next event of the config.
pub(crate) async fn next_config_event(stream: &mut Stream) -> Frame {
    loop {
        let frame = stream.next().await.unwrap();
        if frame.event.as_deref().is_some_and(|kind| kind.starts_with("config_")) {
            return frame;
        }
    }
}

/// The next event of the config, which must be of this type.
#[track_caller]
pub(crate) fn expect_event<'s>(stream: &'s mut Stream, kind: &'s str) -> impl Future<Output = Value> + 's {
    let caller = std::panic::Location::caller();
    async move {
        let frame = next_config_event(stream).await;
        assert!(frame.is(kind), "{caller}: {frame:?}");
        let data = frame.data.unwrap();
        assert_eq!(data["seq"].as_u64(), frame.id, "{caller}: it has the cursor of the whole log: {data}");
        assert_eq!(data.get("session_id"), None, "{caller}: {data}");
        data
    }
}

pub(crate) async fn shown(server: &TestServer) -> Value {
    server.operator().get("/v1/config").await.expect(200)
}

pub(crate) async fn reload(server: &TestServer) -> Value {
    server.operator().post("/v1/config/reload", &json!({})).await.expect(200)
}
