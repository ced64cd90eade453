//! Why a request could not be made or answered; the texts are for the model that asked for it.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::json;

use crate::domain::result::{ToolError, ToolResult};
use crate::domain::visible;
use crate::domain::web::WebUrl;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(in crate::tools) enum NetError {
    /// The address is this server's own.
    #[error("{0} is Toolgate's own listener, which no tool may call")]
    Own(String),
    /// The address hands out credentials.
    #[error(
        "{host} is at {address}, a cloud's metadata service, and was not called; an operator would have to name \
         that address in network.allowed_private_hosts"
    )]
    Metadata { host: String, address: IpAddr },
    /// The address is not on the internet.
    #[error(
        "{host} is at {address}, which is {kind}, and was not called; an operator can name the host in \
         network.allowed_private_hosts"
    )]
    Private { host: String, address: IpAddr, kind: &'static str },
    /// The name leads nowhere.
    #[error("{host} could not be resolved: {reason}")]
    Unresolved { host: String, reason: String },
    /// No connection, or it broke before the answer.
    #[error("{host} did not answer: {reason}")]
    Failed { host: String, reason: String },
    /// The server's own set-up is wrong.
    #[error("{0}")]
    Setup(String),
    /// The redirects do not end.
    #[error("gave up after {0} redirects, the last one to {1}")]
    Redirects(usize, String),
    /// It took longer than it may.
    #[error("timed out after {} ms without an answer", .0.as_millis())]
    TimedOut(Duration),
    /// The call was cancelled.
    #[error("Cancelled before the answer was complete.")]
    Cancelled,
}

impl NetError {
    /// The result of a call whose time was up before there was an answer.
    pub(in crate::tools) fn timed_out(&self, asked: &WebUrl) -> ToolResult {
        let details = json!({"url": asked.to_string(), "timed_out": true});
        ToolResult::unsuccessful(format!("{asked}: {self}")).with_details(details)
    }
}

impl From<NetError> for ToolError {
    fn from(error: NetError) -> Self {
        let message = visible::clipped(&error.to_string(), 2_000);
        match error {
            NetError::Cancelled => Self::Cancelled { message },
            _ => Self::Execution(message),
        }
    }
}

/// The innermost reason of an error of the client, which wraps what happened in several layers.
pub(super) fn reason(error: &reqwest::Error) -> String {
    let mut source: &dyn std::error::Error = error;
    let mut said = Vec::new();
    while let Some(inner) = source.source() {
        source = inner;
        said.push(source.to_string());
    }
    let last = said.pop().unwrap_or_else(|| error.to_string());
    match said.pop() {
        // Layers often repeat what is inside them.
        Some(outer) if !outer.contains(&last) => format!("{outer}: {last}"),
        Some(outer) => outer,
        None => last,
    }
}
