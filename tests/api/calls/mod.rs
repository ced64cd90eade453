//! `/v1/sessions/{sid}/calls` and what lies under a call.

mod answer;
mod arguments;
mod batch;
mod cancel;
mod client_tools;
mod create;
mod output;
mod stream;
