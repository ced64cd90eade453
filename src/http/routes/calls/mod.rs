//! Operations on calls.

pub(in crate::http) mod answer;
pub(in crate::http) mod batch;
pub(in crate::http) mod cancel;
pub(in crate::http) mod create;
pub(in crate::http) mod get;
pub(in crate::http) mod list;
pub(in crate::http) mod output;
pub(in crate::http) mod result;
