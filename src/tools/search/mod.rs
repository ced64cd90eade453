//! Looking through many files: the walk that Glob and Grep share, what it skips, and how paths are shown.

mod ignored;
mod lines;
mod matches;
mod patient;
mod together;
mod walk;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::domain::visible;

pub(super) use ignored::IgnoreRules;
pub(super) use matches::{FileSearch, Found, Mode, Pattern};
pub(super) use together::{Batch, Looks, together};
pub(super) use walk::{SearchError, Seen, Skipped, UNASKED, Walk};

/// A number with its noun: `1 file`, `2 files`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// A path as a model can use it again: relative to the working directory when it lies beneath, else absolute.
pub(super) fn shown_path(path: &Path, directory: &Path) -> String {
    let path = match path.strip_prefix(directory) {
        Ok(beneath) if !beneath.as_os_str().is_empty() => beneath,
        _ => path,
    };
    visible::one_line(&path.to_string_lossy())
}

/// A name as it can be read safely: control and invisible characters as escapes, bytes that are no UTF-8 as `\xff`.
pub(super) fn shown_name(name: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in name.as_bytes().utf8_chunks() {
        shown.push_str(&visible::one_line(chunk.valid()));
        for byte in chunk.invalid() {
            let _ = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}

/// A size for people: `17 B`, `1.5 KiB`, `20.0 MiB`.
#[expect(clippy::cast_precision_loss, reason = "one decimal is shown")]
pub(super) fn bytes_said(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let (mut size, mut unit) = (bytes as f64 / 1024.0, "KiB");
    for larger in ["MiB", "GiB", "TiB", "PiB", "EiB"] {
        if size < 1024.0 {
            break;
        }
        (size, unit) = (size / 1024.0, larger);
    }
    format!("{size:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_names_for_people() {
        for (bytes, said) in [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.0 KiB"),
            (1536, "1.5 KiB"),
            (20 * 1024 * 1024, "20.0 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes_said(bytes), said);
        }
        assert_eq!(shown_name(OsStr::from_bytes(b"a\x1b[31m\nb\xff\xc3\xa9")), "a\\u{1b}[31m\\nb\\xff\u{e9}");
    }
}
