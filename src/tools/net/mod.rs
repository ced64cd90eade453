//! Requests to other hosts: the one way out that http_request and WebFetch share.
//!
//! A request is resolved, every address is checked, and the connection goes to the checked addresses and
//! nowhere else; each redirect begins from the start. What comes back is bounded and has one deadline.

mod address;
mod body;
mod client;
mod content;
mod error;
mod exchange;
mod outbound;
mod own;
mod reach;
mod redirect;
mod request;
mod resolve;
#[cfg(test)]
pub(super) mod testing;
mod tls;
mod watch;

pub(super) use body::{Body, BodyEnd};
pub(super) use content::{Content, Form, Text};
pub(super) use error::NetError;
pub(super) use exchange::Answer;
pub(super) use outbound::Outbound;
pub use own::OwnListener;
pub(super) use redirect::Redirect;
pub(super) use request::{HEADERS_MAX, Request};
pub(super) use watch::Watch;
