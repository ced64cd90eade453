//! What programs do with the words that they get: pure tables, each with the manual that it comes from.

#[cfg(test)]
mod agents_tests;
mod builtins;
pub(crate) mod carriers;
pub(crate) mod descent;
pub(crate) mod git;
pub(crate) mod kind;
mod programs;
pub mod read_only;
#[cfg_attr(not(test), expect(dead_code, reason = "the digest of an approval is what asks for the files"))]
pub(crate) mod workspace_code;
