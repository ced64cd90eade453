//! The file that keeps a command's full output, up to a bound.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The end of an artifact whose output was longer.
pub const ARTIFACT_END_MARKER: &str = "\n[the output that is kept ends here: its bound is reached]\n";
/// Chunks that wait for the disk; when there are more, the command's output waits in its pipe.
const QUEUE: usize = 8;

/// Writes an artifact on a thread of its own. The file is made with the first byte.
#[derive(Debug)]
pub struct ArtifactWriter {
    path: PathBuf,
    bound: u64,
    chunks: Option<mpsc::Sender<Bytes>>,
    writer: Option<JoinHandle<io::Result<()>>>,
    accepted: u64,
    /// Whether the mark of what was cut is written.
    ended: bool,
}

impl ArtifactWriter {
    /// A writer for a new file at `path`, whose name must be made by the server; it keeps `bound` bytes of
    /// output.
    pub fn new(path: PathBuf, bound: u64) -> Self {
        Self { path, bound, chunks: None, writer: None, accepted: 0, ended: false }
    }

    /// Takes more output. Waits while the disk is behind; what is past the bound is dropped.
    pub async fn write(&mut self, mut chunk: Bytes) {
        if chunk.is_empty() || self.ended || self.bound == 0 {
            return;
        }
        let room = self.bound.saturating_sub(self.accepted);
        let cut = chunk.len() as u64 > room;
        chunk.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        if !chunk.is_empty() {
            self.accepted += chunk.len() as u64;
            self.send(chunk).await;
        }
        if cut {
            self.ended = true;
            self.send(Bytes::from_static(ARTIFACT_END_MARKER.as_bytes())).await;
        }
    }

    async fn send(&mut self, chunk: Bytes) {
        let chunks = self.chunks.get_or_insert_with(|| {
            let (sender, receiver) = mpsc::channel(QUEUE);
            let path = self.path.clone();
            self.writer = Some(tokio::task::spawn_blocking(move || write_all(&path, receiver)));
            sender
        });
        // The receiver goes only when the disk failed, which `finish` reports.
        let _ = chunks.send(chunk).await;
    }

    /// How many bytes of output were taken to be kept.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Waits until all is written. `Ok(false)` where there was nothing to keep.
    pub async fn finish(mut self) -> io::Result<bool> {
        drop(self.chunks.take());
        match self.writer.take() {
            Some(writer) => writer.await.map_err(io::Error::other)?.map(|()| true),
            None => Ok(false),
        }
    }
}

fn write_all(path: &std::path::Path, mut chunks: mpsc::Receiver<Bytes>) -> io::Result<()> {
    let mut file: Option<File> = None;
    while let Some(chunk) = chunks.blocking_recv() {
        let file = match &mut file {
            Some(file) => file,
            None => file.insert(OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?),
        };
        file.write_all(&chunk)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUND: u64 = 64_000_001;

    #[tokio::test]
    async fn everything_up_to_the_bound_is_kept_and_the_cut_is_marked() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        let mut writer = ArtifactWriter::new(path.clone(), BOUND);
        let block = Bytes::from(vec![b'x'; 10_000_000]);
        for _ in 0..8 {
            writer.write(block.clone()).await;
        }
        assert!(writer.finish().await.unwrap());
        let kept = std::fs::read(&path).unwrap();
        assert_eq!(kept.len() as u64, BOUND + ARTIFACT_END_MARKER.len() as u64);
        assert!(kept.ends_with(ARTIFACT_END_MARKER.as_bytes()));
    }

    #[tokio::test]
    async fn a_cut_between_two_chunks_is_marked_and_an_exact_fit_is_not() {
        let directory = tempfile::tempdir().unwrap();
        for (name, chunks, expected) in [
            ("fits", 2, "abcabc".to_owned()),
            ("cut", 3, format!("abcabc{ARTIFACT_END_MARKER}")),
            ("cut-long-ago", 5, format!("abcabc{ARTIFACT_END_MARKER}")),
        ] {
            let path = directory.path().join(name);
            let mut writer = ArtifactWriter::new(path.clone(), 6);
            for _ in 0..chunks {
                writer.write(Bytes::from_static(b"abc")).await;
            }
            assert!(writer.finish().await.unwrap());
            assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "{name}");
        }
    }

    #[tokio::test]
    async fn no_output_makes_no_file_and_an_existing_one_is_never_touched() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("output");
        assert!(!ArtifactWriter::new(path.clone(), BOUND).finish().await.unwrap());
        assert!(!path.exists());
        std::fs::write(&path, "before").unwrap();
        let mut writer = ArtifactWriter::new(path.clone(), BOUND);
        for _ in 0..100 {
            writer.write(Bytes::from_static(b"more")).await;
        }
        assert!(writer.finish().await.is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "before");
    }
}
