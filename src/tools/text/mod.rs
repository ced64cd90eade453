//! Changing text files: finding what to replace, saying what is nearest, showing the difference, writing it.

mod change;
mod diff;
mod matching;
mod nearest;

pub(super) use change::{Change, EDITABLE_BYTES, Original, change_file, preview_change};
pub(super) use diff::unified;
pub(super) use matching::{MatchError, replace_exact, with_crlf};
pub(super) use nearest::describe_nearest;
