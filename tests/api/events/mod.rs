//! `/v1/sessions/{sid}/events` and `/v1/events`.

mod all;
mod page;
mod resume;
mod stream;
mod subscribers;
