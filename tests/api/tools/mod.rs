//! Tools, each as a model and a reviewer meet it.

mod exit_plan_mode;
mod request_permissions;
mod sleep;
mod todo_write;
