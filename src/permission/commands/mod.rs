//! What programs do with the words that they get: pure tables, each with the manual that it comes from.

#[cfg(test)]
mod agents_tests;
pub(in crate::permission) mod builtins;
pub(crate) mod carriers;
pub(in crate::permission) mod changes;
pub(crate) mod compilers;
pub(in crate::permission) mod copies;
pub(crate) mod descent;
pub(super) mod first_words;
pub(crate) mod git;
pub(crate) mod kind;
pub(in crate::permission) mod leading_out;
pub(in crate::permission) mod named_elsewhere;
pub(in crate::permission) mod named_within;
pub(crate) mod names;
pub(in crate::permission) mod open_ended;
pub(crate) mod operands;
mod programs;
pub mod read_only;
mod setting_up;
mod suffixes;
pub(in crate::permission) mod told_by_file;
pub(in crate::permission) mod untold_places;
mod urls;
