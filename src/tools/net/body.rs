//! The body of an answer, read as a stream of decompressed bytes within bound and deadline.

use bytes::Bytes;

use super::error::{NetError, reason};
use super::watch::Watch;

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) enum BodyEnd {
    /// It is whole.
    Complete,
    /// There was more than was asked for.
    Cut,
    /// Time was up.
    TimedOut,
    /// The connection broke, or what came could not be decompressed.
    Broken(String),
}

/// A body being read. Dropping it closes the connection.
pub(in crate::tools) struct Body<'a> {
    response: reqwest::Response,
    watch: &'a Watch,
    ahead: Option<Bytes>,
    end: Option<BodyEnd>,
}

impl<'a> Body<'a> {
    /// Begins to read.
    pub(in crate::tools) fn new(response: reqwest::Response, watch: &'a Watch) -> Self {
        Self { response, watch, ahead: None, end: None }
    }

    /// The first bytes, which stay to be read.
    pub(in crate::tools) async fn first(&mut self) -> Result<Bytes, NetError> {
        if self.ahead.is_none() {
            self.ahead = self.chunk().await?;
        }
        Ok(self.ahead.clone().unwrap_or_default())
    }

    /// The next bytes; none at the end, whichever it is. A cancelled call is an error.
    pub(in crate::tools) async fn chunk(&mut self) -> Result<Option<Bytes>, NetError> {
        if let Some(ahead) = self.ahead.take() {
            return Ok(Some(ahead));
        }
        if self.end.is_some() {
            return Ok(None);
        }
        self.end = Some(match self.watch.over(self.response.chunk()).await {
            Ok(Ok(Some(chunk))) => return Ok(Some(chunk)),
            Ok(Ok(None)) => BodyEnd::Complete,
            Ok(Err(error)) => BodyEnd::Broken(reason(&error)),
            Err(NetError::TimedOut(_)) => BodyEnd::TimedOut,
            Err(error) => return Err(error),
        });
        Ok(None)
    }

    /// At most so many bytes, and how they ended.
    pub(in crate::tools) async fn collect(&mut self, max: usize) -> Result<(Vec<u8>, BodyEnd), NetError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            let room = max - bytes.len();
            bytes.extend_from_slice(chunk.get(..room).unwrap_or(&chunk));
            if chunk.len() > room {
                return Ok((bytes, BodyEnd::Cut));
            }
        }
        Ok((bytes, self.end()))
    }

    /// How it ended, once [`Self::chunk`] gives no more.
    pub(in crate::tools) fn end(&self) -> BodyEnd {
        self.end.clone().unwrap_or(BodyEnd::Cut)
    }
}
