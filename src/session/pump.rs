//! From a running tool's channel to the log: tokens and progress of its own call, and no more.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::admission::Admission;
use crate::domain::event::{AgentEvent, CallRef};
use crate::domain::identity::CallKey;
use crate::store::Store;

/// How many events a tool can be ahead of the log; then it waits.
pub(super) const AHEAD_MAX: usize = 64;
/// How many bytes of tokens the log takes of one call, with room for the mark of what was cut.
const TOKEN_BYTES_MAX: usize = 1024 * 1024 + 4096;
/// How many progress events the log takes of one call.
const PROGRESS_MAX: usize = 10_000;

/// Writes a call's events to the log until every sender is gone.
pub(super) async fn pump(
    store: Arc<dyn Store>,
    session_id: String,
    key: CallKey,
    admission: Arc<Admission>,
    mut events: mpsc::Receiver<AgentEvent>,
) {
    let (mut token_bytes, mut progress_count) = (0_usize, 0_usize);
    let mut batch = Vec::new();
    while events.recv_many(&mut batch, AHEAD_MAX).await > 0 {
        let own = batch.drain(..).filter_map(|event| own(&key, event)).filter(|event| {
            if let AgentEvent::ToolToken { content, .. } = event {
                token_bytes = token_bytes.saturating_add(content.len());
                token_bytes <= TOKEN_BYTES_MAX
            } else {
                progress_count += 1;
                progress_count <= PROGRESS_MAX
            }
        });
        let own: Vec<AgentEvent> = own.collect();
        if own.is_empty() || admission.admit().await.is_err() {
            continue;
        }
        if let Err(error) = store.append(Some(&session_id), own).await {
            tracing::error!(%session_id, %error, "output of a call could not be logged");
        }
    }
}

/// What a tool may say, as said by its own call whatever it wrote there.
fn own(key: &CallKey, event: AgentEvent) -> Option<AgentEvent> {
    let call = CallRef::from(key);
    match event {
        AgentEvent::ToolToken { stream, content, .. } => {
            Some(AgentEvent::ToolToken { call, stream, content })
        }
        AgentEvent::ToolProgress { progress, total, message, .. } => {
            Some(AgentEvent::ToolProgress { call, progress, total, message })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_speaks_for_its_own_call_alone() {
        let key = CallKey::new(None, "mine".to_owned()).unwrap();
        let other = CallRef { tool_call_id: "other".to_owned(), turn: None };
        let token = AgentEvent::ToolToken { call: other.clone(), stream: "s".into(), content: "x".into() };
        assert_eq!(own(&key, token).unwrap().call().unwrap(), key);
        let forged = AgentEvent::ToolCancelled { call: other, reason: String::new() };
        assert_eq!(own(&key, forged), None);
        assert_eq!(own(&key, AgentEvent::SessionEnded {}), None);
    }
}
