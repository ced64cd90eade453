//! A pattern looked for in files, with counts of everything and one page of what was found.

use std::io::{self, Read};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::lines::Lines;
use super::walk::{SearchError, Skipped};
use crate::domain::visible;
use crate::tools::blocking::Patience;
use crate::workspace::{Located, Workspace, is_binary_sample};

/// The most bytes held of one file: the longest line that can be searched, and in multiline mode the largest file.
const HEAP_BYTES: usize = 16 * 1024 * 1024;
/// The most characters shown of a line.
const LINE_CHARS: usize = 2000;
/// How many bytes tell a binary file.
const SAMPLE_BYTES: u64 = 8 * 1024;

/// What to look for.
#[derive(Debug, Clone, Default)]
pub(in crate::tools) struct Pattern {
    pub(in crate::tools) regex: String,
    pub(in crate::tools) ignore_case: bool,
    pub(in crate::tools) multiline: bool,
    pub(in crate::tools) before: usize,
    pub(in crate::tools) after: usize,
}

/// The pattern is no regular expression that can be searched for; the text says why.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(in crate::tools) struct PatternError(String);

/// What is wanted of each match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tools) enum Mode {
    /// The paths of files that match.
    Files,
    /// The lines that match, numbered or not.
    Content {
        /// With line numbers.
        numbers: bool,
    },
    /// How many lines match in each file that does.
    Count,
}

/// Everything counted, and the page.
#[derive(Debug)]
pub(in crate::tools) struct Found {
    /// Files with a match.
    pub(in crate::tools) files: u64,
    /// Matching lines; unknown in [`Mode::Files`], where a file is left at its first match.
    pub(in crate::tools) matches: u64,
    lines: Lines,
}

impl Found {
    /// The page's lines.
    pub(in crate::tools) fn page(&self) -> &[String] {
        self.lines.kept()
    }

    /// How many lines all pages have.
    pub(in crate::tools) fn total_lines(&self) -> usize {
        self.lines.total
    }

    /// The page ended because of its size.
    pub(in crate::tools) fn cut_by_bytes(&self) -> bool {
        self.lines.cut_by_bytes
    }
}

/// Searches file after file.
pub(in crate::tools) struct FileSearch {
    matcher: RegexMatcher,
    searcher: Searcher,
    mode: Mode,
    found: Found,
}

impl FileSearch {
    /// For a pattern; of the result's lines, `limit` are kept after the first `offset`.
    pub(in crate::tools) fn new(
        pattern: &Pattern,
        mode: Mode,
        offset: usize,
        limit: usize,
    ) -> Result<Self, PatternError> {
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).case_insensitive(pattern.ignore_case);
        if pattern.multiline {
            builder.dot_matches_new_line(true);
        } else {
            builder.crlf(true);
        }
        let matcher = builder.build(&pattern.regex).map_err(|error| {
            let advice = if pattern.multiline { "" } else { " (to match across lines, set multiline)" };
            PatternError(format!("{error}{advice}"))
        })?;
        let mut searcher = SearcherBuilder::new();
        searcher
            .line_number(true)
            .multi_line(pattern.multiline)
            .before_context(pattern.before)
            .after_context(pattern.after)
            .heap_limit(Some(HEAP_BYTES))
            .binary_detection(BinaryDetection::quit(0));
        if !pattern.multiline {
            searcher.line_terminator(LineTerminator::crlf());
        }
        let found = Found { files: 0, matches: 0, lines: Lines::new(offset, limit) };
        Ok(Self { matcher, searcher: searcher.build(), mode, found })
    }

    /// Searches one file, `shown` in the result.
    pub(in crate::tools) fn file(
        &mut self,
        workspace: &Workspace,
        located: &Located,
        shown: &str,
        patience: &Patience,
        skipped: &mut Skipped,
    ) -> Result<(), SearchError> {
        let Ok(file) = workspace.open_read(located) else {
            skipped.unreadable += 1;
            return Ok(());
        };
        let mut reader = patience.reader(file);
        let mut sample = Vec::new();
        if reader.by_ref().take(SAMPLE_BYTES).read_to_end(&mut sample).is_err() {
            patience.check()?;
            skipped.unreadable += 1;
            return Ok(());
        }
        if is_binary_sample(&sample) {
            skipped.binary += 1;
            return Ok(());
        }
        let mut sink =
            FileSink { mode: self.mode, shown, matches: 0, binary: false, lines: &mut self.found.lines };
        let searched = self.searcher.search_reader(&self.matcher, sample.chain(reader), &mut sink);
        let (matches, binary) = (sink.matches, sink.binary);
        patience.check()?;
        self.count(matches, shown);
        if let Err(error) = searched {
            part(skipped, format!("{shown}: {}", visible::one_line(&error.to_string())));
        } else if binary {
            part(skipped, format!("{shown}: binary content further on"));
        }
        Ok(())
    }

    fn count(&mut self, matches: u64, shown: &str) {
        if matches == 0 {
            return;
        }
        self.found.files += 1;
        self.found.matches += matches;
        match self.mode {
            Mode::Files => self.found.lines.push(|| shown.to_owned()),
            Mode::Count => self.found.lines.push(|| format!("{shown}:{matches}")),
            Mode::Content { .. } => {}
        }
    }

    /// What was found in all files.
    pub(in crate::tools) fn into_found(self) -> Found {
        self.found
    }
}

fn part(skipped: &mut Skipped, reason: String) {
    skipped.partly += 1;
    skipped.partly_reason.get_or_insert(reason);
}

struct FileSink<'a> {
    mode: Mode,
    shown: &'a str,
    matches: u64,
    binary: bool,
    lines: &'a mut Lines,
}

impl FileSink<'_> {
    fn push(&mut self, bytes: &[u8], number: Option<u64>, mark: char) {
        let Mode::Content { numbers } = self.mode else { return };
        let shown = self.shown;
        for (line, index) in String::from_utf8_lossy(bytes).lines().zip(0..) {
            self.lines.push(|| match number.filter(|_| numbers) {
                Some(number) => format!("{shown}{mark}{}{mark}{}", number + index, clipped(line)),
                None => format!("{shown}{mark}{}", clipped(line)),
            });
        }
    }
}

impl Sink for FileSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.matches += found.lines().count() as u64;
        self.push(found.bytes(), found.line_number(), ':');
        Ok(self.mode != Mode::Files)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> Result<bool, io::Error> {
        if *context.kind() != SinkContextKind::Other {
            self.push(context.bytes(), context.line_number(), '-');
        }
        Ok(true)
    }

    fn context_break(&mut self, _: &Searcher) -> Result<bool, io::Error> {
        if matches!(self.mode, Mode::Content { .. }) {
            self.lines.push(|| "--".to_owned());
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, io::Error> {
        self.binary = true;
        Ok(true)
    }
}

fn clipped(line: &str) -> String {
    match line.char_indices().nth(LINE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => format!("{} [… {} more characters]", &line[..end], line[end..].chars().count()),
    }
}
