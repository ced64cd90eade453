//! In which session a command makes its calls: one that is named, or a new one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Map, Value, json};

use crate::domain::visible;

use super::client::Client;
use super::error::CliError;
use super::output;

/// Where the calls are made.
#[derive(Debug, Clone, Args)]
pub(super) struct PlaceArgs {
    /// The session to call in; without it a new one is made
    #[arg(long, value_name = "SESSION")]
    pub(super) session: Option<String>,
    /// The new session's workspace; with --session that session is made if it is not there yet
    #[arg(long, value_name = "DIR")]
    pub(super) workspace: Option<PathBuf>,
}

impl PlaceArgs {
    /// The id of the session to call in.
    pub(super) async fn session(&self, client: &Client) -> Result<String, CliError> {
        if let (Some(session), None) = (&self.session, &self.workspace) {
            return Ok(session.clone());
        }
        let mut body = Map::new();
        if let Some(session) = &self.session {
            body.insert("session_id".into(), json!(session));
        }
        if let Some(workspace) = &self.workspace {
            body.insert("workspace".into(), json!(absolute(workspace)?));
        }
        let answer = client.post(&["sessions"], &Vec::new(), &Value::Object(body), Duration::ZERO).await?;
        let Some(session) = answer.value["session_id"].as_str() else {
            return Err(client.strange("a session without an id".into()));
        };
        if self.session.is_none() {
            let workspace = visible::one_line(answer.value["workspace"].as_str().unwrap_or_default());
            output::complain(&format!("session {} in {workspace}", visible::one_line(session)));
        }
        Ok(session.to_owned())
    }
}

/// A path of this machine as it travels to the server.
pub(super) fn absolute(path: &Path) -> Result<String, CliError> {
    let told = |source| CliError::File { path: path.to_owned(), source };
    let absolute = std::path::absolute(path).map_err(told)?;
    absolute.into_os_string().into_string().map_err(|_| {
        CliError::usage("the workspace's path is not UTF-8", "give one that is: it travels as JSON")
    })
}
