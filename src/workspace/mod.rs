//! Files of a workspace: confined paths, opening by descriptor, atomic writing, encodings, pages.
//!
//! A path is judged as [`Located`] (what was asked for and where that really leads). Everything that then
//! touches the disk takes the `Located` and reaches it descriptor by descriptor without following a single
//! symlink, so what was judged is what is opened: a path that changed meanwhile is an error.
//!
//! All calls block; async callers run them on a blocking thread.

mod changeset;
mod error;
mod folder;
mod hash;
mod ledger;
mod list;
mod locate;
mod lock;
mod magic;
mod open;
mod page;
mod replace;
mod text;

pub use changeset::{ChangesetError, FileChange};
pub use error::WorkspaceError;
pub use folder::OpenFolder;
pub use hash::{ContentHash, HashingReader};
pub use ledger::{FILES_REMEMBERED, ReadLedger};
pub use list::{FileFacts, ListEntry, Listing};
pub use locate::{FileKind, Located, Way, Workspace};
pub use lock::{FileGuard, FileLocks};
pub use magic::{media_type, name_of_type};
pub use page::{LineCount, Page, PageBound, PageError, PageLimits, PageLine, read_page};
pub use replace::{Expected, WriteReport};
pub use text::{Encoding, LineEnding, TextError, TextFile, is_binary_sample};
