//! A model's turns, in the form of its API.

pub(in crate::http) mod create;
