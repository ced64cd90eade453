//! Sessions and their calls: accepted once, in order, paused, cancelled, recovered.

mod accept;
mod admission;
mod batch;
mod create;
mod decide;
mod detach;
mod end;
mod error;
mod explain;
mod finish;
mod forward;
mod live;
mod petition;
mod principal;
mod pump;
mod recover;
mod reply;
mod run;
mod runtime;
mod service;
mod sweep;
mod todos;
mod withdraw;
mod worker_asks;

pub use batch::{BATCH_MAX, Batch, KnownPauses};
pub use create::{NewSession, RuntimePatch};
pub use error::SessionError;
pub use explain::{ExplainRequest, Explained};
pub use live::Waiting;
pub use principal::{Principal, Role};
pub use reply::ReportedResult;
pub use runtime::RuntimeFile;
pub use service::{Parts, Sessions};
