//! The config that a tool goes by: the one that its call was judged under.

use std::sync::{Arc, PoisonError, RwLock};

use super::ToolCtx;
use crate::config::Config;

/// Where a tool finds its config. A call of a session carries the revision that it was judged under;
/// any other call goes by the executor's own config as it is then.
#[derive(Debug, Clone, Default)]
pub struct ToolConfig(Arc<RwLock<Config>>);

impl ToolConfig {
    /// Over the executor's own config.
    pub fn new(own: Arc<RwLock<Config>>) -> Self {
        Self(own)
    }

    /// The config of a call.
    pub fn of(&self, ctx: &ToolCtx) -> Arc<Config> {
        match ctx.scope.as_ref().and_then(|scope| scope.revision.as_ref()) {
            Some(revision) => Arc::clone(&revision.config),
            None => Arc::new(self.0.read().unwrap_or_else(PoisonError::into_inner).clone()),
        }
    }
}
