//! Changing text files: finding what to replace, saying what is nearest, showing the difference, writing it.

mod change;
mod diff;
mod matching;
mod nearest;

pub(super) use change::{
    CHANGE_TIME, Change, EDITABLE_BYTES, Original, change_file, diff_path, preview_change,
};
pub(super) use diff::{unified, unified_move};
pub(super) use matching::{MatchError, named_lines, replace_exact, with_crlf};
pub(super) use nearest::describe_nearest;
