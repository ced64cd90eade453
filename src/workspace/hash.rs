//! The hash of a file's content, whole or while it is being read.

use std::fmt;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

/// SHA-256 of a file's bytes as they lie on disk (before any decoding).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Hashes everything that `reader` still gives, in constant memory.
    pub fn of_reader(reader: impl Read) -> io::Result<Self> {
        HashingReader::new(reader).finish(u64::MAX).map(|hash| hash.unwrap_or(Self([0; 32])))
    }

    /// The 32 bytes of the hash.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// Hashes what passes through it, so that the hash is of the very bytes that were shown.
pub struct HashingReader<R> {
    inner: R,
    hasher: Sha256,
    seen: u64,
}

impl<R: Read> HashingReader<R> {
    /// Wraps a reader that stands at the beginning of the content.
    pub fn new(inner: R) -> Self {
        Self { inner, hasher: Sha256::new(), seen: 0 }
    }

    /// Reads on to the end and gives the hash; `None` when the content has more than `limit` bytes.
    pub fn finish(mut self, limit: u64) -> io::Result<Option<ContentHash>> {
        // Mostly the end is reached already, so room is made only where there is more.
        let mut buffer = vec![0; 64];
        loop {
            if self.seen > limit {
                return Ok(None);
            }
            let count = self.read(&mut buffer)?;
            if count == buffer.len() {
                buffer.resize(64 * 1024, 0);
            }
            if count == 0 {
                return Ok(Some(ContentHash(self.hasher.finalize().into())));
            }
        }
    }
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = loop {
            match self.inner.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.hasher.update(&buffer[..count]);
        self.seen += count as u64;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_is_the_known_sha256() {
        assert_eq!(
            ContentHash::of(b"abc").to_string(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    #[test]
    fn a_partly_read_content_has_the_hash_of_the_whole() {
        let content = vec![7_u8; 200_000];
        let mut reader = HashingReader::new(content.as_slice());
        let mut first = [0; 10];
        reader.read_exact(&mut first).unwrap();
        assert_eq!(reader.finish(200_000).unwrap(), Some(ContentHash::of(&content)));
        assert_eq!(HashingReader::new(content.as_slice()).finish(199_999).unwrap(), None);
        assert_eq!(ContentHash::of_reader(content.as_slice()).unwrap(), ContentHash::of(&content));
    }
}
