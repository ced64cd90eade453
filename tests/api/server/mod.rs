//! The server itself: probes, info, config, what every request passes, how it starts.

mod guards;
mod hostile;
mod info;
mod logs;
mod malformed;
mod metrics;
mod openapi;
mod start;
