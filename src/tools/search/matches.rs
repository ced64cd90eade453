//! A pattern looked for in files, with counts of everything and one page of what was found.

use std::cell::LazyCell;
use std::fs::File;
use std::io::{self, Read};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};

use super::lines::Lines;
use super::patient::PatientMatcher;
use super::walk::{SearchError, Skipped};
use crate::domain::visible;
use crate::tools::blocking::Patience;
use crate::workspace::{WorkspaceError, is_binary_sample};

/// Most memory that a pattern may take once it is made ready, for which `\w{100}` needs more than a quarter of it.
const PATTERN_BYTES: usize = 16 * 1024 * 1024;
/// The most bytes held of one file: the longest line that can be searched, and in multiline mode the largest file.
const HEAP_BYTES: usize = 16 * 1024 * 1024;
/// The most characters shown of a line.
const LINE_CHARS: usize = 2000;
/// How many bytes tell a binary file.
const SAMPLE_BYTES: usize = 8 * 1024;
/// How much of a file is read at first: most are not longer.
const START_BYTES: usize = 32 * 1024;

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

/// How files are searched: what the threads of one search share.
#[derive(Debug, Clone)]
pub(in crate::tools) struct Recipe {
    matcher: RegexMatcher,
    searcher: SearcherBuilder,
    mode: Mode,
    /// How many lines a part of the search may have to give to the page.
    part_lines: usize,
}

/// Searches file after file.
pub(in crate::tools) struct FileSearch {
    recipe: Recipe,
    searcher: Searcher,
    found: Found,
    /// A file's first bytes: one buffer for all of them.
    start: Vec<u8>,
}

/// What was found in a part of the files.
pub(in crate::tools) struct FoundPart(Found);

impl Recipe {
    /// A search that finds parts.
    pub(in crate::tools) fn for_parts(&self) -> FileSearch {
        self.clone().search(Lines::new(0, self.part_lines))
    }

    fn search(self, lines: Lines) -> FileSearch {
        let found = Found { files: 0, matches: 0, lines };
        FileSearch { searcher: self.searcher.build(), recipe: self, found, start: Vec::new() }
    }
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
        builder.multi_line(true).case_insensitive(pattern.ignore_case).size_limit(PATTERN_BYTES);
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
        let recipe = Recipe { matcher, searcher, mode, part_lines: offset.saturating_add(limit) };
        Ok(recipe.search(Lines::new(offset, limit)))
    }

    /// For other threads, which find parts.
    pub(in crate::tools) fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// What was found since the last part. With `counting`, the next one keeps no lines.
    pub(in crate::tools) fn take_part(&mut self, counting: bool) -> FoundPart {
        let limit = if counting { 0 } else { self.recipe.part_lines };
        let next = Found { files: 0, matches: 0, lines: Lines::new(0, limit) };
        FoundPart(std::mem::replace(&mut self.found, next))
    }

    /// Adds a part that comes next in order. False, with nothing added, where it has not kept what the page needs:
    /// its files have to be searched again, by this search itself.
    pub(in crate::tools) fn absorb(&mut self, part: FoundPart) -> bool {
        let FoundPart(part) = part;
        let absorbed = self.found.lines.absorb(part.lines);
        if absorbed {
            self.found.files += part.files;
            self.found.matches += part.matches;
        }
        absorbed
    }

    /// Whether all lines of the page are there: what follows is only counted.
    pub(in crate::tools) fn page_is_full(&self) -> bool {
        self.found.lines.is_full()
    }

    /// Searches one file as it was opened; its name in the result is asked for only when it is needed.
    pub(in crate::tools) fn file(
        &mut self,
        opened: Result<File, WorkspaceError>,
        shown: &dyn Fn() -> String,
        patience: &Patience,
        skipped: &mut Skipped,
    ) -> Result<(), SearchError> {
        let Ok(file) = opened else {
            skipped.unreadable += 1;
            return Ok(());
        };
        let mut reader = patience.reader(&file);
        let Ok((filled, ended)) = fill(&mut self.start, &mut reader, &file) else {
            patience.check()?;
            skipped.unreadable += 1;
            return Ok(());
        };
        let start = &self.start[..filled];
        if is_binary_sample(&start[..filled.min(SAMPLE_BYTES)]) {
            skipped.binary += 1;
            return Ok(());
        }
        let shown = LazyCell::new(shown);
        let mut sink = FileSink {
            mode: self.recipe.mode,
            shown: &shown,
            matches: 0,
            binary: false,
            lines: &mut self.found.lines,
        };
        let pattern = PatientMatcher { inner: &self.recipe.matcher, patience };
        let searched = if ended {
            self.searcher.search_reader(pattern, start, &mut sink)
        } else {
            self.searcher.search_reader(pattern, start.chain(reader), &mut sink)
        };
        let (matches, binary) = (sink.matches, sink.binary);
        patience.check()?;
        self.count(matches, &shown);
        if let Err(error) = searched {
            part(skipped, format!("{}: {}", *shown, visible::one_line(&error.to_string())));
        } else if binary {
            part(skipped, format!("{}: binary content further on", *shown));
        }
        Ok(())
    }

    fn count(&mut self, matches: u64, shown: &Shown<'_>) {
        if matches == 0 {
            return;
        }
        self.found.files += 1;
        self.found.matches += matches;
        match self.recipe.mode {
            Mode::Files => self.found.lines.push(|| String::clone(shown)),
            Mode::Count => self.found.lines.push(|| format!("{}:{matches}", **shown)),
            Mode::Content { .. } => {}
        }
    }

    /// What was found in all files.
    pub(in crate::tools) fn into_found(self) -> Found {
        self.found
    }
}

/// Reads a file's beginning: how many bytes that is, and whether that is all of it.
fn fill(start: &mut Vec<u8>, reader: &mut impl Read, file: &File) -> io::Result<(usize, bool)> {
    // Once: what a file leaves in it is written over by the next.
    start.resize(START_BYTES, 0);
    let mut filled = reader.read(start)?;
    // A file that is as long as what came needs no second read to tell that it has ended.
    let mut ended = filled == 0 || (filled < START_BYTES && file.metadata()?.len() == filled as u64);
    while !ended && filled < START_BYTES {
        let more = reader.read(&mut start[filled..])?;
        ended = more == 0;
        filled += more;
    }
    Ok((filled, ended))
}

fn part(skipped: &mut Skipped, reason: String) {
    skipped.partly += 1;
    skipped.partly_reason.get_or_insert(reason);
}

/// A file's name in the result, made when it is first needed.
type Shown<'s> = LazyCell<String, &'s dyn Fn() -> String>;

struct FileSink<'a, 's> {
    mode: Mode,
    shown: &'a Shown<'s>,
    matches: u64,
    binary: bool,
    lines: &'a mut Lines,
}

impl FileSink<'_, '_> {
    fn push(&mut self, bytes: &[u8], number: Option<u64>, mark: char) {
        let Mode::Content { numbers } = self.mode else { return };
        let shown = &**self.shown;
        for (line, index) in String::from_utf8_lossy(bytes).lines().zip(0..) {
            self.lines.push(|| match number.filter(|_| numbers) {
                Some(number) => format!("{shown}{mark}{}{mark}{}", number + index, clipped(line)),
                None => format!("{shown}{mark}{}", clipped(line)),
            });
        }
    }
}

impl Sink for FileSink<'_, '_> {
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
