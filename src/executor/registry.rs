//! The tools that an executor owns, by exact name.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

use super::validation::ArgumentValidator;
use crate::domain::result::ToolError;
use crate::domain::schema::ToolSchema;
use crate::tools::{Tool, ToolGuide};

/// The longest tool name: what model APIs take.
pub(super) const TOOL_NAME_MAX: usize = 64;

/// Tools by exact name, each with its compiled schema and its guide.
#[derive(Default)]
pub struct ToolRegistry {
    tools: RwLock<BTreeMap<String, Arc<Registered>>>,
}

pub(super) struct Registered {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) guide: Option<Arc<dyn ToolGuide>>,
    pub(super) schema: ToolSchema,
    pub(super) validator: ArgumentValidator,
}

impl ToolRegistry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool. Fails for a name that is taken or no model could call, and for a schema that
    /// does not stand on its own.
    pub fn register(&self, tool: Arc<dyn Tool>, guide: Option<Arc<dyn ToolGuide>>) -> Result<(), ToolError> {
        let name = tool.name().to_owned();
        check_name(&name).map_err(ToolError::InvalidArguments)?;
        let schema = tool.schema();
        let validator = ArgumentValidator::new(&schema.function.parameters)
            .map_err(|error| ToolError::InvalidArguments(format!("tool {name:?}: {error}")))?;
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        if tools.contains_key(&name) {
            return Err(ToolError::InvalidArguments(format!("there is a tool named {name:?} already")));
        }
        tools.insert(name, Arc::new(Registered { tool, guide, schema, validator }));
        Ok(())
    }

    /// The tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.registered(name).map(|entry| Arc::clone(&entry.tool))
    }

    /// Whether there is one.
    pub fn contains(&self, name: &str) -> bool {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).contains_key(name)
    }

    /// The guide of a tool.
    pub fn guide(&self, name: &str) -> Option<Arc<dyn ToolGuide>> {
        self.registered(name).and_then(|entry| entry.guide.clone())
    }

    /// All schemas, sorted by name.
    pub fn schemas(&self) -> Vec<ToolSchema> {
        self.all().iter().map(|entry| entry.schema.clone()).collect()
    }

    /// All names, sorted.
    pub fn names(&self) -> Vec<String> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect()
    }

    pub(super) fn registered(&self, name: &str) -> Option<Arc<Registered>> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Registered>> {
        self.tools.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// The exact name behind a legacy name.
    pub(super) fn legacy(&self, reference: &str) -> Option<String> {
        let named = |entry: &&Arc<Registered>| entry.tool.legacy_names().contains(&reference);
        self.all().iter().find(named).map(|entry| entry.tool.name().to_owned())
    }
}

/// Checks that a model could call a tool of this name.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let fits = name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if fits && !name.is_empty() && name.len() <= TOOL_NAME_MAX {
        return Ok(());
    }
    Err(format!(
        "a tool's name must have 1 to {TOOL_NAME_MAX} of A-Z a-z 0-9 _ -, not {:?}",
        crate::domain::visible::clipped(name, 100)
    ))
}
