//! SHA-256 digests: of file content, of a call's request, of what an approval covers.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

/// A SHA-256 digest (FIPS 180-4), written as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
#[schema(pattern = "^[0-9a-f]{64}$")]
pub struct Digest(String);

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hasher(Sha256::new_with_prefix(bytes))
    }

    /// The digest of several fields, each preceded by its length so that no two lists of fields
    /// have the same digest.
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update((field.len() as u64).to_le_bytes());
            hasher.update(field);
        }
        Self::from_hasher(hasher)
    }

    /// The 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it has the form of one: it may have come from outside.
    pub fn is_well_formed(&self) -> bool {
        self.0.len() == 64 && self.0.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    }

    fn from_hasher(hasher: Sha256) -> Self {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(64);
        for byte in hasher.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        Self(text)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answer() {
        assert_eq!(
            Digest::of(b"abc").as_str(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn fields_do_not_run_together() {
        let one = Digest::of_fields([b"ab".as_slice(), b"c"]);
        let other = Digest::of_fields([b"a".as_slice(), b"bc"]);
        assert_ne!(one, other);
    }
}
