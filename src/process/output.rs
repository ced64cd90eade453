//! A command's output on its way: live chunks, head and tail for the result.
//!
//! Memory stays bounded for any amount: head, tail, one pending chunk.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::ansi::strip;

/// Bytes kept of the beginning for the result's text.
pub const HEAD_BYTES: usize = 16 * 1024;
/// Bytes kept of the end for the result's text.
pub const TAIL_BYTES: usize = 16 * 1024;
/// A live chunk leaves when it has this many bytes,
pub const CHUNK_BYTES: usize = 32 * 1024;
/// or when its first byte is this old.
pub const CHUNK_AGE: Duration = Duration::from_millis(50);
/// Live bytes of one call; the rest is in the artifact only.
pub const LIVE_BYTES: usize = 1024 * 1024;
/// The last live chunk of a call that wrote more.
pub const LIVE_END_MARKER: &str = "\n[live output ends here: the bound of 1 MiB is reached]\n";
/// The longest character that can be unfinished at a cut is one byte short.
const MAX_UNFINISHED: usize = 3;

/// Takes a command's bytes as they come.
#[derive(Debug, Default)]
pub struct OutputCollector {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    total: u64,
    pending: Vec<u8>,
    pending_since: Option<Instant>,
    live: usize,
    live_ended: bool,
}

/// What is left when a command has ended.
#[derive(Debug)]
pub struct Collected {
    /// Head, marker, tail; ANSI sequences stripped, valid UTF-8.
    pub text: String,
    /// Bytes that the command wrote.
    pub total_bytes: u64,
    /// Bytes of them that `text` leaves out.
    pub omitted_bytes: u64,
}

impl OutputCollector {
    /// Takes bytes that came at `now`; gives the live chunk that is due, if one is.
    pub fn push(&mut self, bytes: &[u8], now: Instant) -> Option<String> {
        self.total += bytes.len() as u64;
        self.keep(bytes);
        if self.live_ended || bytes.is_empty() {
            return None;
        }
        let room = LIVE_BYTES.saturating_sub(self.live + self.pending.len());
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.pending.extend_from_slice(taken);
        if taken.len() < bytes.len() {
            self.live_ended = true;
            self.pending_since = None;
            self.pending.truncate(self.pending.len() - unfinished(&self.pending));
            let mut last = self.take_pending(0);
            last.push_str(LIVE_END_MARKER);
            return Some(last);
        }
        self.pending_since.get_or_insert(now);
        if self.pending.len() >= CHUNK_BYTES || self.due_at().is_some_and(|due| due <= now) {
            return self.chunk(now);
        }
        None
    }

    /// When the pending bytes are to leave; `None` while there are none.
    pub fn due_at(&self) -> Option<Instant> {
        self.pending_since.map(|since| since + CHUNK_AGE)
    }

    /// The pending bytes as a live chunk. A character whose rest has not come yet stays behind.
    pub fn chunk(&mut self, now: Instant) -> Option<String> {
        let unfinished = unfinished(&self.pending);
        let text = self.take_pending(unfinished);
        // The rest of a character is waited for, not timed: it leaves with what comes next.
        self.pending_since = (self.pending.len() > MAX_UNFINISHED).then_some(now);
        (!text.is_empty()).then_some(text)
    }

    /// The end: the last live chunk, and what the result needs.
    pub fn finish(mut self) -> (Option<String>, Collected) {
        let last = self.take_pending(0);
        let (text, omitted_bytes) = self.text();
        ((!last.is_empty()).then_some(last), Collected { text, total_bytes: self.total, omitted_bytes })
    }

    fn take_pending(&mut self, keep: usize) -> String {
        let rest = self.pending.split_off(self.pending.len() - keep);
        let bytes = std::mem::replace(&mut self.pending, rest);
        self.live += bytes.len();
        match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES - self.head.len();
        let (to_head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(to_head);
        // One character more than the tail, so that a cut can move to a boundary.
        let bound = TAIL_BYTES + MAX_UNFINISHED;
        let rest = rest.get(rest.len().saturating_sub(bound)..).unwrap_or_default();
        let excess = (self.tail.len() + rest.len()).saturating_sub(bound);
        self.tail.drain(..excess);
        self.tail.extend(rest);
    }

    /// Head, marker and tail, and how many bytes the marker stands for.
    fn text(&mut self) -> (String, u64) {
        let after_head = self.total - self.head.len() as u64;
        let tail: &[u8] = self.tail.make_contiguous();
        if after_head <= TAIL_BYTES as u64 {
            let whole = [self.head.as_slice(), tail].concat();
            return (strip(&String::from_utf8_lossy(&whole)), 0);
        }
        let head = self.head.get(..self.head.len() - unfinished(&self.head)).unwrap_or_default();
        let start = tail.len() - TAIL_BYTES.min(tail.len());
        let tail =
            tail.get(start + continuation(tail.get(start..).unwrap_or_default())..).unwrap_or_default();
        let omitted = self.total - head.len() as u64 - tail.len() as u64;
        let text = format!(
            "{}\n[... {omitted} bytes omitted ...]\n{}",
            strip(&String::from_utf8_lossy(head)),
            strip(&String::from_utf8_lossy(tail))
        );
        (text, omitted)
    }
}

/// How many bytes at the end are the beginning of a character that may yet be finished.
fn unfinished(bytes: &[u8]) -> usize {
    for back in 1..=MAX_UNFINISHED.min(bytes.len()) {
        let from = bytes.len() - back;
        let last = bytes.get(from..).unwrap_or_default();
        if last.first().is_some_and(|byte| byte & 0xC0 == 0x80) {
            continue;
        }
        return match std::str::from_utf8(last) {
            Err(error) if error.error_len().is_none() => back,
            _ => 0,
        };
    }
    0
}

/// How many bytes at the beginning are the rest of a character that began before.
fn continuation(bytes: &[u8]) -> usize {
    bytes.iter().take(MAX_UNFINISHED).take_while(|byte| **byte & 0xC0 == 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds `input` in pieces of `piece` bytes; all chunks, and the end.
    fn feed(input: &[u8], piece: usize) -> (Vec<String>, Collected) {
        let start = Instant::now();
        let mut collector = OutputCollector::default();
        let mut chunks = Vec::new();
        for (count, bytes) in input.chunks(piece).enumerate() {
            // Time passes, so that a chunk is due with every few pieces.
            let now = start + Duration::from_millis(20) * u32::try_from(count).unwrap();
            chunks.extend(collector.push(bytes, now));
        }
        let (last, collected) = collector.finish();
        chunks.extend(last);
        (chunks, collected)
    }

    #[test]
    fn characters_survive_every_cut() {
        let text = "aä€🦀\u{10FFFF}zß".repeat(40);
        for piece in 1..9 {
            let (chunks, collected) = feed(text.as_bytes(), piece);
            assert_eq!(chunks.concat(), text, "pieces of {piece}");
            assert!(chunks.len() > 1);
            assert_eq!((collected.text, collected.omitted_bytes), (text.clone(), 0));
        }
    }

    #[test]
    fn invalid_bytes_are_replaced_where_they_are_and_only_there() {
        for (input, expected) in [
            (&b"a\xffb"[..], "a\u{FFFD}b"),
            (b"\xe2\x82", "\u{FFFD}"),
            (b"\xe2\x82x", "\u{FFFD}x"),
            (b"\x80\x80\x80\x80", "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
            (b"\xf0\x9f\xa6\x80ok", "🦀ok"),
        ] {
            for piece in 1..4 {
                let (chunks, collected) = feed(input, piece);
                assert_eq!(chunks.concat(), expected, "{input:?} by {piece}");
                assert_eq!(collected.text, expected);
            }
        }
    }

    #[test]
    fn head_and_tail_are_kept_and_the_rest_is_counted() {
        let lines: String =
            (0..200_000).flat_map(|n| ["line ".to_owned(), n.to_string(), "\n".to_owned()]).collect();
        let (_, collected) = feed(lines.as_bytes(), 8192);
        assert_eq!(collected.total_bytes, lines.len() as u64);
        let (head, rest) = collected.text.split_once("\n[... ").unwrap();
        let (count, tail) = rest.split_once(" bytes omitted ...]\n").unwrap();
        assert!(lines.starts_with(head) && lines.ends_with(tail));
        assert_eq!(count.parse::<u64>().unwrap(), collected.omitted_bytes);
        assert_eq!((head.len() + tail.len()) as u64 + collected.omitted_bytes, collected.total_bytes);
        assert!(collected.text.len() < HEAD_BYTES + TAIL_BYTES + 100);
    }

    #[test]
    fn cuts_of_head_and_tail_fall_between_characters() {
        for shift in 0..4 {
            let text = "x".repeat(shift) + &"€🦀".repeat(10_000);
            let (_, collected) = feed(text.as_bytes(), 777);
            assert!(!collected.text.contains('\u{FFFD}'), "shift {shift}");
            let kept: usize = collected.text.split("\n[... ").map(str::len).sum();
            assert!(kept > HEAD_BYTES + TAIL_BYTES - 10);
        }
    }

    #[test]
    fn just_what_fits_is_left_whole() {
        let fits = "y".repeat(HEAD_BYTES + TAIL_BYTES);
        assert_eq!(feed(fits.as_bytes(), 1000).1.text, fits);
        let (_, collected) = feed((fits + "z").as_bytes(), 1000);
        assert_eq!((collected.omitted_bytes, collected.text.ends_with('z')), (1, true));
    }

    #[test]
    fn six_hundred_megabytes_without_a_newline_stay_bounded() {
        let block = vec![b'x'; 1024 * 1024];
        let now = Instant::now();
        let mut collector = OutputCollector::default();
        let mut live = 0;
        for _ in 0..600 {
            live += collector.push(&block, now).map_or(0, |chunk| chunk.len());
        }
        assert!(collector.pending.capacity() + collector.tail.capacity() < 4 * 1024 * 1024);
        let (last, collected) = collector.finish();
        assert_eq!((last, live), (None, LIVE_BYTES + LIVE_END_MARKER.len()));
        assert_eq!(collected.total_bytes, 600 * 1024 * 1024);
    }

    #[test]
    fn live_output_stops_once_with_its_marker() {
        let text = "€".repeat(LIVE_BYTES);
        let (chunks, _) = feed(text.as_bytes(), 10_000);
        let live = chunks.concat();
        let before = live.strip_suffix(LIVE_END_MARKER).unwrap();
        assert!(before.len() <= LIVE_BYTES && before.len() > LIVE_BYTES - 4);
        assert!(before.chars().all(|c| c == '€'));
    }

    #[test]
    fn a_chunk_leaves_when_it_is_old_or_full() {
        let start = Instant::now();
        let mut collector = OutputCollector::default();
        assert_eq!(collector.due_at(), None);
        assert_eq!(collector.push(b"a", start), None);
        assert_eq!(collector.due_at(), Some(start + CHUNK_AGE));
        assert_eq!(collector.push(b"b", start + CHUNK_AGE / 2), None);
        assert_eq!(collector.chunk(start + CHUNK_AGE).as_deref(), Some("ab"));
        assert_eq!(collector.due_at(), None);
        assert!(collector.push(&vec![b'c'; CHUNK_BYTES], start).is_some());
    }
}
