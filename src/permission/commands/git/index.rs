//! Whether an index names only files of the working tree: nothing elsewhere, which git would print, and no repository within, of which it
//! would ask what changed in it.
//!
//! Source: git 2.47, gitformat-index(5).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

/// The mode of an entry that is a repository of its own.
const GITLINK: u32 = 0o160_000;
const TYPE_OF_MODE: u32 = 0o170_000;

/// Whether `bytes` (a repository's `index`) is understood to its last entry and names no repository within. A split
/// index is not understood. `hash`: the length of object names in bytes.
#[cfg(test)]
pub(crate) fn index_is_plain(bytes: &[u8], hash: usize) -> bool {
    directories_of(bytes, hash).is_some()
}

/// The directories of the files that a plain index names, each once, counted from the working tree. Where a symlink has taken the
/// place of one, git reads through it: what `grep` and `blame` look for, conflicts that `diff` prints, attributes.
pub(crate) fn directories_of(bytes: &[u8], hash: usize) -> Option<BTreeSet<PathBuf>> {
    let mut directories = BTreeSet::new();
    let mut last = Vec::new();
    let plain = entries_are_plain(bytes, hash, &mut |name| {
        let directory = name.iter().rposition(|byte| *byte == b'/').map_or(&[][..], |at| &name[..at]);
        if directory != last {
            directory.clone_into(&mut last);
            directories.insert(PathBuf::from(OsStr::from_bytes(directory)));
        }
    });
    plain.filter(|plain| *plain).map(|_| directories)
}

/// Tells each file that a plain index names, counted from the working tree; none where it is not understood.
pub(crate) fn names_of(bytes: &[u8], hash: usize, each: &mut dyn FnMut(&[u8])) -> Option<()> {
    entries_are_plain(bytes, hash, each).filter(|plain| *plain).map(|_| ())
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn entries_are_plain(bytes: &[u8], hash: usize, each: &mut dyn FnMut(&[u8])) -> Option<bool> {
    const HEAD: usize = 12;
    // Two times of 8 bytes, device, inode, mode, user, group, size.
    const STAT: usize = 40;
    const MODE: usize = 24;
    const EXTENDED: u16 = 0x4000;
    // As far as it fits.
    const LENGTH: u16 = 0x0fff;
    if bytes.get(..4)? != b"DIRC" {
        return None;
    }
    let version = u32::from_be_bytes(number(bytes, 4)?);
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = u32::from_be_bytes(number(bytes, 8)?);
    let mut at = HEAD;
    let mut full: Vec<u8> = Vec::new();
    for _ in 0..count {
        let mode = u32::from_be_bytes(number(bytes, at + MODE)?);
        if mode & TYPE_OF_MODE == GITLINK {
            return Some(false);
        }
        let flags = u16::from_be_bytes(number(bytes, at + STAT + hash)?);
        // Git takes the flag at its word in each version.
        if version == 2 && flags & EXTENDED != 0 {
            return None;
        }
        let fixed = STAT + hash + 2 + if flags & EXTENDED != 0 { 2 } else { 0 };
        let mut name = at + fixed;
        let mut dropped = full.len();
        if version == 4 {
            // How much of the end of the name before is left out: a number of variable length.
            let mut byte = *bytes.get(name)?;
            dropped = usize::from(byte & 0x7f);
            while byte & 0x80 != 0 {
                name += 1;
                byte = *bytes.get(name)?;
                dropped = dropped.checked_add(1)?.checked_mul(0x80)?.checked_add(usize::from(byte & 0x7f))?;
            }
            name += 1;
        }
        let length = bytes.get(name..)?.iter().position(|byte| *byte == 0)?;
        full.truncate(full.len().checked_sub(dropped)?);
        full.extend_from_slice(bytes.get(name..name + length)?);
        // By this git counts where the name ends, and the entry.
        if usize::from(flags & LENGTH) != full.len().min(usize::from(LENGTH)) {
            return None;
        }
        if !is_within(&full) {
            return Some(false);
        }
        each(&full);
        at = if version == 4 {
            name + length + 1
        } else {
            // One to eight zeros, to a multiple of eight.
            at + (fixed + length + 8) / 8 * 8
        };
    }
    extensions_are_plain(bytes, at, hash)
}

/// Whether the name is one within the working tree and in no repository: git checks that before it writes an index, not when it
/// reads one.
fn is_within(name: &[u8]) -> bool {
    let is_name = |part: &[u8]| !matches!(part, b"" | b"." | b"..") && !part.eq_ignore_ascii_case(b".git");
    name.split(|byte| *byte == b'/').all(is_name)
}

/// Whether there are only extensions that name no file beside the entries, or that git does not go by in the safe environment
/// (`UNTR`: what lay untracked). Among the others `link` shares entries with another file, `sdir` has directories for
/// entries, `EOIE` and `IEOT` say where entries begin and end; git does not write these two unless it is told to.
fn extensions_are_plain(bytes: &[u8], mut at: usize, hash: usize) -> Option<bool> {
    const KNOWN: &[&[u8; 4]] = &[b"TREE", b"REUC", b"FSMN", b"UNTR"];
    let end = bytes.len().checked_sub(hash)?;
    while at < end {
        let name: [u8; 4] = number(bytes, at)?;
        if !KNOWN.contains(&&name) {
            return Some(false);
        }
        let size = u32::from_be_bytes(number(bytes, at + 4)?);
        at = at.checked_add(8)?.checked_add(usize::try_from(size).ok()?)?;
    }
    Some(at == end)
}
