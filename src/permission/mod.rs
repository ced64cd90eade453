//! Permission: rules in, call in, verdict out; people asked; and the only way to a tool.

mod approvals;
mod audit;
mod beneath;
mod binding;
mod breaker;
mod call;
mod changed;
mod checker;
mod command_pattern;
pub mod commands;
mod configured;
mod copies;
mod desk;
mod display;
mod edits;
pub mod example;
pub mod explain;
mod gate;
mod grant;
mod held;
pub mod host;
mod lexical;
mod located;
mod name_pattern;
mod narrowing;
pub mod offer;
mod path_pattern;
mod petition;
mod places;
pub mod policy;
mod protected;
mod proxy;
mod repository;
mod revision;
pub mod rule;
mod rule_list;
mod scope;
pub mod shell;
mod shims;
pub mod subject;
pub mod verdict;

pub use approvals::StoreDesk;
pub use audit::Told;
pub use call::{NothingToPreview, Preview, Previewer, ResolvedCall, Touch};
pub use checker::{
    AllowAll, Confirmation, Flags, Hidden, JudgedPath, PermissionChecker, PermissionError, PermissionRequest,
    ReadOnlyInside, Veil,
};
pub(crate) use commands::names::value_starts;
pub use configured::{OwnPlaces, PolicyChecker, RuleProblem, compile};
pub use desk::{
    ApprovalDesk, ApprovalProxy, Ask, Opened, ProxyDecision, ProxyError, Standing, Start, Withdrawn,
};
pub use edits::Edits;
pub use explain::{Paper, PaperCall};
pub use gate::{Circumstances, Clearance, Gate, PermittedCall, Review, Reviewed};
pub use grant::{Grant, granted_in};
pub(crate) use path_pattern::escape as escape_path;
pub use petition::Petition;
pub use proxy::{HostProxy, HostSecret};
pub use revision::{ConfigStatus, InForce, Problem, Revision};
pub use scope::{Admission, Artifact, Scope, TodoList, WorkingDirectory};
