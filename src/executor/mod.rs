//! The chain of executors: each call finds one exact owner, passes its gate, and only then runs.

mod builtin;
mod chain;
mod client_tool;
mod context;
mod foreign;
mod gated;
mod overlay;
mod registry;
mod resolver;
pub mod schedule;
mod tool_executor;
mod validation;

pub use builtin::BuiltinToolExecutor;
pub use chain::RoutingExecutor;
pub use client_tool::{ClientTool, SessionToolError, check_session_tools};
pub use context::{ToolExecutionContext, ToolExecutionSessionFlags};
pub use foreign::{Gated, McpBackend, McpProxyExecutor};
pub use gated::GatedExecutor;
pub use overlay::OverlayToolExecutor;
pub use registry::ToolRegistry;
pub use resolver::{resolve, resolve_for_judging};
pub use tool_executor::ToolExecutor;
