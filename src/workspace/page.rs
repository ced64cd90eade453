//! One page of a text file's lines, in bounded time and memory whatever the file is.

use std::io::{self, Read};
use std::ops::Range;

use super::magic::name_of_type;
use super::text::{Decoder, Encoding, SAMPLE_BYTES, TextError, is_binary_sample};

/// Bytes read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The bounds of a page.
#[derive(Debug, Clone, Copy)]
pub struct PageLimits {
    /// Most lines on a page.
    pub lines: usize,
    /// Most characters shown of a line.
    pub line_chars: usize,
    /// Most bytes (as UTF-8) of all lines of a page.
    pub page_bytes: usize,
    /// Most bytes read without anything to show for it once the page has begun: the rest of a long line, and
    /// counting what follows the page.
    pub count_bytes: u64,
    /// Most bytes skipped to reach the first line of the page.
    pub skip_bytes: u64,
}

impl Default for PageLimits {
    fn default() -> Self {
        Self {
            lines: 2000,
            line_chars: 2000,
            page_bytes: 256 * 1024,
            count_bytes: 16 * 1024 * 1024,
            skip_bytes: 256 * 1024 * 1024,
        }
    }
}

/// A line, without its ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageLine {
    /// From 1.
    pub number: u64,
    /// Where its text, as far as shown, lies in the page's.
    pub text: Range<usize>,
    /// How many more characters it has.
    pub omitted_chars: u64,
    /// The line's end was not looked for: it has more characters than `omitted_chars` says.
    pub endless: bool,
}

/// How many lines a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineCount {
    /// Counted to the end.
    Exactly(u64),
    /// Counting stopped at its bound: there are at least this many.
    AtLeast(u64),
}

/// Which bound ended a page before the file's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageBound {
    /// `PageLimits::lines`.
    Lines,
    /// `PageLimits::page_bytes`.
    Bytes,
}

/// Some consecutive lines of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// What is shown of the lines, one behind the other, with nothing between them.
    pub text: String,
    /// The lines, in order; none when the file is empty or the first line asked for lies past its end.
    pub lines: Vec<PageLine>,
    /// How many lines the file has. A last line without an ending counts; nothing after a last ending does.
    pub total: LineCount,
    /// What ended the page, when the file goes on after it.
    pub cut: Option<PageBound>,
    /// How the file is encoded.
    pub encoding: Encoding,
    /// Whether a line of the page ended in CR LF (the CR is not in its text).
    pub crlf: bool,
}

impl Page {
    /// What is shown of a line of this page.
    pub fn text_of(&self, line: &PageLine) -> &str {
        self.text.get(line.text.clone()).unwrap_or_default()
    }
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The content is not text that can be decoded.
    #[error(transparent)]
    Text(#[from] TextError),
    /// The first line lies too far into the file to be looked for.
    #[error("line {line} lies beyond the first {bytes} bytes, which is as far as lines are looked for")]
    TooFar {
        /// The first line asked for.
        line: u64,
        /// The bound in bytes.
        bytes: u64,
    },
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Reads the lines from number `first` (from 1) on, as many as the limits let on a page. `reader` stands at the
/// beginning of the file; it is read no further than needed.
pub fn read_page(mut reader: impl Read, first: u64, limits: &PageLimits) -> Result<Page, PageError> {
    let mut chunk = vec![0; SAMPLE_BYTES];
    let sampled = fill(&mut reader, &mut chunk)?;
    let sample = &chunk[..sampled];
    if is_binary_sample(sample) {
        return Err(TextError::Binary { kind: name_of_type(sample) }.into());
    }
    let (encoding, mark) = Encoding::detect(sample);
    let mut decoder = Decoder::new(encoding, mark);
    let mut builder = Builder::new(first, limits, encoding);
    let mut text = String::new();
    let (mut from, mut to) = (mark, sampled);
    loop {
        text.clear();
        let result = decoder.decode(&chunk[from..to], to == 0, &mut text);
        builder.take(&text);
        match result {
            // The page itself is good; what follows it is only counted.
            Err(_) if builder.cut.is_some() => return Ok(builder.finish(false)),
            other => other?,
        }
        if to == 0 {
            return Ok(builder.finish(true));
        }
        if builder.idle_bound_passed(to as u64)? {
            return Ok(builder.finish(false));
        }
        if to == SAMPLE_BYTES {
            // Most files end before; those that do not are read in larger pieces.
            chunk.resize(CHUNK_BYTES, 0);
        }
        from = 0;
        to = read_some(&mut reader, &mut chunk)?;
    }
}

fn read_some(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match read_some(reader, &mut buffer[filled..])? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(filled)
}

/// Takes decoded text piece by piece and keeps the lines of the page.
struct Builder<'a> {
    first: u64,
    limits: &'a PageLimits,
    /// What is shown of the lines so far, and of the one being read from `begins` on.
    text: String,
    begins: usize,
    lines: Vec<PageLine>,
    page_bytes: usize,
    cut: Option<PageBound>,
    encoding: Encoding,
    crlf: bool,
    /// Lines that have ended.
    ended: u64,
    /// The line being read has something in it.
    begun: bool,
    current_chars: usize,
    omitted: u64,
    last_is_cr: bool,
    /// Bytes read since something was last kept.
    idle: u64,
    kept: bool,
}

impl<'a> Builder<'a> {
    fn new(first: u64, limits: &'a PageLimits, encoding: Encoding) -> Self {
        Self {
            first: first.max(1),
            limits,
            text: String::new(),
            begins: 0,
            lines: Vec::new(),
            page_bytes: 0,
            cut: None,
            encoding,
            crlf: false,
            ended: 0,
            begun: false,
            current_chars: 0,
            omitted: 0,
            last_is_cr: false,
            idle: 0,
            kept: false,
        }
    }

    /// The current line belongs to the page as far as is known.
    fn on_page(&self) -> bool {
        self.cut.is_none() && self.ended + 1 >= self.first
    }

    fn take(&mut self, text: &str) {
        self.kept = false;
        let mut rest = text;
        while !rest.is_empty() {
            if self.cut.is_some() {
                self.count(rest);
                return;
            }
            let (part, after, ends) = match rest.split_once('\n') {
                Some((part, after)) => (part, after, true),
                None => (rest, "", false),
            };
            self.begun = true;
            if self.on_page() {
                self.keep(part);
            }
            if ends {
                self.end_line();
            }
            rest = after;
        }
    }

    fn count(&mut self, rest: &str) {
        self.ended += rest.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.begun = !rest.ends_with('\n');
    }

    fn keep(&mut self, part: &str) {
        if self.lines.len() >= self.limits.lines {
            self.cut = Some(PageBound::Lines);
            return;
        }
        if part.is_empty() {
            return;
        }
        self.last_is_cr = part.ends_with('\r');
        let room = self.limits.line_chars - self.current_chars;
        // A text has no more characters than bytes: a short one fits without being counted out.
        let end = if part.len() <= room {
            part.len()
        } else {
            part.char_indices().nth(room).map_or(part.len(), |(at, _)| at)
        };
        let (shown, hidden) = part.split_at(end);
        if !shown.is_empty() {
            self.kept = true;
            self.current_chars += if shown.is_ascii() { shown.len() } else { shown.chars().count() };
            self.text.push_str(shown);
        }
        if !hidden.is_empty() {
            self.omitted += hidden.chars().count() as u64;
        }
    }

    fn end_line(&mut self) {
        if self.on_page() {
            self.push_line(true, false);
        }
        self.ended += 1;
        self.begun = false;
        self.begins = self.text.len();
        self.current_chars = 0;
        self.omitted = 0;
        self.last_is_cr = false;
    }

    fn push_line(&mut self, by_newline: bool, endless: bool) {
        if by_newline && self.last_is_cr {
            self.crlf = true;
            if self.omitted > 0 {
                self.omitted -= 1;
            } else {
                self.text.pop();
            }
        }
        let text = self.begins..self.text.len();
        if self.page_bytes + text.len() > self.limits.page_bytes {
            self.cut = Some(PageBound::Bytes);
            return;
        }
        self.page_bytes += text.len() + 1;
        self.kept = true;
        self.lines.push(PageLine { number: self.ended + 1, text, omitted_chars: self.omitted, endless });
    }

    /// Counts bytes that gave nothing to show; says when there were too many.
    fn idle_bound_passed(&mut self, bytes: u64) -> Result<bool, PageError> {
        self.idle = if self.kept { 0 } else { self.idle + bytes };
        let skipping = self.cut.is_none() && self.ended + 1 < self.first;
        if skipping && self.idle > self.limits.skip_bytes {
            return Err(PageError::TooFar { line: self.first, bytes: self.limits.skip_bytes });
        }
        Ok(!skipping && self.idle > self.limits.count_bytes)
    }

    fn finish(mut self, at_end: bool) -> Page {
        let lines = self.ended + u64::from(self.begun);
        if self.begun && self.on_page() && self.lines.len() < self.limits.lines {
            self.push_line(false, !at_end);
        }
        let total = if at_end { LineCount::Exactly(lines) } else { LineCount::AtLeast(lines) };
        Page {
            text: self.text,
            lines: self.lines,
            total,
            cut: self.cut,
            encoding: self.encoding,
            crlf: self.crlf,
        }
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
