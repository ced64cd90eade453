//! `/v1/permissions`: what may run, and why.

mod explain;
