//! What a call, a result, an event, an approval and a session are: no I/O.

pub mod about;
pub mod approval;
pub mod arguments;
pub mod audit;
pub mod call;
pub mod clock;
pub mod digest;
pub mod event;
pub mod explanation;
pub mod grant;
pub mod hunks;
pub mod identity;
pub mod outcome;
pub mod redact;
pub mod result;
pub mod schema;
pub mod session;
pub mod todo;
pub mod visible;
pub mod web;
pub mod worker;
