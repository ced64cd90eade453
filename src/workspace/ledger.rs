//! What a session has read: a file may be changed only by someone who has seen its content.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::ContentHash;

/// The most files that are remembered in a session; past that the one seen longest ago is
/// forgotten, and changing it takes another read.
pub const FILES_REMEMBERED: usize = 10_000;

/// The content that a session last saw of each file, by its real path.
#[derive(Debug, Default)]
pub struct ReadLedger {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    files: HashMap<PathBuf, (u64, ContentHash)>,
    count: u64,
}

impl ReadLedger {
    /// Notes what was seen of a file, or written to it.
    pub fn note(&self, real: &Path, hash: ContentHash) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.count += 1;
        let count = seen.count;
        seen.files.insert(real.to_path_buf(), (count, hash));
        if seen.files.len() > FILES_REMEMBERED {
            let oldest = seen.files.iter().min_by_key(|(_, (when, _))| *when).map(|(path, _)| path.clone());
            if let Some(oldest) = oldest {
                seen.files.remove(&oldest);
            }
        }
    }

    /// What was last seen of a file.
    pub fn seen(&self, real: &Path) -> Option<ContentHash> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.files.get(real).map(|(_, hash)| *hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unseen_is_forgotten_first() {
        let ledger = ReadLedger::default();
        let hash = ContentHash::of(b"x");
        for index in 0..=FILES_REMEMBERED {
            ledger.note(Path::new(&format!("/f{index}")), hash);
        }
        assert_eq!(ledger.seen(Path::new("/f0")), None);
        assert_eq!(ledger.seen(Path::new("/f1")), Some(hash));
        assert_eq!(ledger.seen(Path::new(&format!("/f{FILES_REMEMBERED}"))), Some(hash));
    }
}
