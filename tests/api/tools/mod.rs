//! Tools, each as a model and a reviewer meet it.

mod apply_patch;
mod bash;
mod exit_plan_mode;
mod http_request;
mod images;
mod listing;
mod request_permissions;
mod sleep;
mod todo_write;
mod web_fetch;
