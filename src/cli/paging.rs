//! Reads a list of the server's page by page, to its end.

use std::time::Duration;

use serde_json::Value;

use super::client::{Client, Query};
use super::error::CliError;

/// Items asked for at once; the server's own bound.
const PAGE: u32 = 1000;

/// A list that is being read.
#[derive(Debug)]
pub(super) struct Paging<'a> {
    client: &'a Client,
    path: Vec<&'a str>,
    query: Query<'a>,
    cursor: Option<String>,
    done: bool,
}

impl<'a> Paging<'a> {
    /// From the beginning; nothing is sent yet.
    pub(super) fn new(client: &'a Client, path: &[&'a str], query: Query<'a>) -> Self {
        Self { client, path: path.to_vec(), query, cursor: None, done: false }
    }

    /// The next items, oldest first; none at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<Value>>, CliError> {
        if self.done {
            return Ok(None);
        }
        let mut query = vec![("limit", PAGE.to_string())];
        query.extend(self.query.iter().cloned());
        query.extend(self.cursor.clone().map(|cursor| ("cursor", cursor)));
        let mut answer = self.client.get(&self.path, &query, Duration::ZERO).await?;
        let next = answer.value["next_cursor"].as_str().map(ToOwned::to_owned);
        let Value::Array(items) = answer.value["items"].take() else {
            return Err(self.client.strange("no list".into()));
        };
        if next.is_some() && next == self.cursor {
            return Err(self.client.strange("a list that never ends".into()));
        }
        self.done = next.is_none();
        self.cursor = next;
        Ok(Some(items))
    }
}
