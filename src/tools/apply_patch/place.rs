//! Puts a file's hunks where they belong: exactly, in order, and only where no other place is possible.

use std::ops::Range;

use super::patch::{Hunk, Kind};
use crate::domain::visible;
use crate::tools::text::{describe_nearest, named_lines};

/// The longest anchor that an error repeats, in characters.
const ANCHOR_CHARS: usize = 200;
/// The most lines compared for one file's hunks.
const COMPARISONS_MAX: usize = 30_000_000;

/// Why a hunk has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hunk {number} of {of} (line {line} of the patch): {what}")]
pub(super) struct PlaceError {
    number: usize,
    of: usize,
    line: usize,
    what: String,
}

/// The text with all hunks in it.
///
/// A hunk's old lines must be in the text exactly, after those of the hunk before, and once: unless its header's
/// number says which place is meant, or a line named after `@@` comes before it. With `changed`, the text is not
/// what the patch was made for: then they must be in it once, whatever else says where.
pub(super) fn place(text: &str, hunks: &[Hunk], changed: bool) -> Result<String, PlaceError> {
    place_within(text, hunks, changed, COMPARISONS_MAX)
}

fn place_within(text: &str, hunks: &[Hunk], changed: bool, comparisons: usize) -> Result<String, PlaceError> {
    let file = File::of(text);
    let mut search = Search { file: &file, changed, left: comparisons };
    let mut built = Built::new(&file);
    for (index, hunk) in hunks.iter().enumerate() {
        let found = search.find(hunk, built.from).and_then(|at| built.take(hunk, at).map_err(str::to_owned));
        found.map_err(|what| PlaceError { number: index + 1, of: hunks.len(), line: hunk.line, what })?;
    }
    Ok(built.finish())
}

/// A line and its end, as they are in the file; the last may have no end.
#[derive(Clone, Copy)]
struct Line<'a> {
    body: &'a str,
    end: &'a str,
}

/// A text by its lines.
struct File<'a> {
    text: &'a str,
    /// Where each line begins, and where the last one ends.
    starts: Vec<usize>,
}

impl<'a> File<'a> {
    fn of(text: &'a str) -> Self {
        let mut starts = vec![0];
        starts.extend(text.split_inclusive('\n').scan(0, |at, line| {
            *at += line.len();
            Some(*at)
        }));
        Self { text, starts }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn piece(&self, lines: Range<usize>) -> &'a str {
        &self.text[self.starts[lines.start]..self.starts[lines.end]]
    }

    fn line(&self, at: usize) -> Line<'a> {
        let line = self.piece(at..at + 1);
        let body = match line.strip_suffix('\n') {
            Some(body) => body.strip_suffix('\r').unwrap_or(body),
            None => line,
        };
        Line { body, end: &line[body.len()..] }
    }

    /// Whether the last line has no end.
    fn is_unterminated(&self) -> bool {
        !self.text.is_empty() && !self.text.ends_with('\n')
    }

    /// How a line that comes to this place ends: as the line before it does, else as the next.
    fn end_near(&self, at: usize) -> &'a str {
        let before = (at.saturating_sub(2)..at).rev();
        let ends = before.chain(at..(at + 2).min(self.len())).map(|line| self.line(line).end);
        ends.into_iter().find(|end| !end.is_empty()).unwrap_or("\n")
    }
}

/// Whether a line of the file is the one that a patch has. A patch may have the CR of a CR LF or not.
fn same(line: Line<'_>, wanted: &str) -> bool {
    line.body == wanted || (line.end == "\r\n" && wanted.strip_suffix('\r') == Some(line.body))
}

struct Search<'a> {
    file: &'a File<'a>,
    changed: bool,
    left: usize,
}

impl Search<'_> {
    /// The index of the line where the hunk's old lines begin.
    fn find(&mut self, hunk: &Hunk, from: usize) -> Result<usize, String> {
        let old: Vec<&str> = hunk.old().collect();
        if old.is_empty() {
            return self.insertion(hunk, from);
        }
        if self.changed {
            return self.only(&old, hunk, from);
        }
        if let Some(start) = hunk.start
            && start > from
            && self.matches(start - 1, &old)?
            && self.fits_end(hunk, start - 1 + old.len())
        {
            return Ok(start - 1);
        }
        let anchored = self.anchors(hunk, from)?;
        let places = self.places(&old, hunk, anchored.unwrap_or(from).max(from))?;
        match places.as_slice() {
            [] => Err(self.missing(&old, hunk, from)?),
            [one] => Ok(*one),
            [first, ..] if anchored.is_some() => Ok(*first),
            several => Err(ambiguous(several)),
        }
    }

    /// The only place in all of a text that is not the one that was read.
    fn only(&mut self, old: &[&str], hunk: &Hunk, from: usize) -> Result<usize, String> {
        let since = " The file has changed since it was read: Read it again.";
        match self.places(old, hunk, 0)?.as_slice() {
            [] => Err(self.missing(old, hunk, from)? + since),
            [one] if *one >= from => Ok(*one),
            [_] => Err(format!("its lines come before those of the hunk before it.{since}")),
            several => Err(ambiguous(several) + since),
        }
    }

    /// Where lines are put in that replace none and have nothing around them.
    fn insertion(&self, hunk: &Hunk, from: usize) -> Result<usize, String> {
        let lines = self.file.len();
        if lines == 0 {
            return Ok(0);
        }
        if self.changed {
            let text = "it only adds lines, without a line of context, and the file has changed since it was \
                        read: Read it again.";
            return Err(text.to_owned());
        }
        match hunk.start {
            _ if hunk.at_end => Ok(lines),
            Some(start) if (from..=lines).contains(&start) => Ok(start),
            Some(start) => Err(format!("it adds lines after line {start}; the file has {lines} lines.")),
            None => {
                Err("it only adds lines: give the lines before or after them too, so that their place is \
                         known (or `*** End of File` after them)."
                    .to_owned())
            }
        }
    }

    /// The line that the hunk's anchors lead to; the first must be clear, each next one is the first after it.
    fn anchors(&mut self, hunk: &Hunk, from: usize) -> Result<Option<usize>, String> {
        let mut at: Option<usize> = None;
        for anchor in &hunk.anchors {
            let found = self.lines_like(anchor)?;
            let next = match at {
                Some(above) => found.into_iter().find(|line| *line > above),
                None => clear_one(&found, from).map_err(|several| {
                    let (shown, lines) = (visible::clipped_again(anchor, ANCHOR_CHARS), named_from_1(&several));
                    let times = several.len();
                    format!(
                        "`@@ {shown}` is in the file {times} times, at lines {lines}: name an outer line in an \
                         `@@` line before it."
                    )
                })?,
            };
            at = Some(next.ok_or_else(|| {
                let below = if at.is_some() { " after the one named before it" } else { "" };
                format!(
                    "`@@ {}` is no line of the file{below}.",
                    visible::clipped_again(anchor, ANCHOR_CHARS)
                )
            })?);
        }
        Ok(at)
    }

    /// Lines equal to an anchor; where none is, lines equal but for the blanks around them. An anchor changes
    /// nothing and models leave its indentation out.
    fn lines_like(&mut self, anchor: &str) -> Result<Vec<usize>, String> {
        self.spend(self.file.len())?;
        let all = |equal: &dyn Fn(Line<'_>) -> bool| -> Vec<usize> {
            (0..self.file.len()).filter(|at| equal(self.file.line(*at))).collect()
        };
        let exact = all(&|line| same(line, anchor));
        Ok(if exact.is_empty() { all(&|line| line.body.trim() == anchor.trim()) } else { exact })
    }

    /// All places from a line on where the old lines are.
    fn places(&mut self, old: &[&str], hunk: &Hunk, from: usize) -> Result<Vec<usize>, String> {
        let mut places = Vec::new();
        let Some(last) = self.file.len().checked_sub(old.len()) else { return Ok(places) };
        self.spend((last + 1).saturating_sub(from))?;
        for at in from..=last {
            if self.matches(at, old)? && self.fits_end(hunk, at + old.len()) {
                places.push(at);
            }
        }
        Ok(places)
    }

    fn matches(&mut self, at: usize, old: &[&str]) -> Result<bool, String> {
        if at + old.len() > self.file.len() {
            return Ok(false);
        }
        let equal = (at..).zip(old).take_while(|(at, wanted)| same(self.file.line(*at), wanted)).count();
        self.spend(equal)?;
        Ok(equal == old.len())
    }

    /// What the hunk says of the file's end holds where its old lines end before line `end`.
    fn fits_end(&self, hunk: &Hunk, end: usize) -> bool {
        let at_end = end == self.file.len();
        let unterminated = self.file.is_unterminated();
        (!hunk.at_end || at_end) && (!hunk.old_unterminated || (at_end && unterminated))
    }

    fn spend(&mut self, comparisons: usize) -> Result<(), String> {
        self.left = self.left.checked_sub(comparisons).ok_or_else(|| {
            "finding its place takes too long: the file has too many lines that are alike. Use fewer hunks, or \
             give line numbers."
                .to_owned()
        })?;
        Ok(())
    }

    /// Why there is no place after line `from`.
    fn missing(&mut self, old: &[&str], hunk: &Hunk, from: usize) -> Result<String, String> {
        let anywhere = Hunk { at_end: false, old_unterminated: false, ..hunk.clone() };
        let elsewhere = self.places(old, &anywhere, 0)?;
        if elsewhere.is_empty() {
            let wanted = old.join("\n");
            let nearest = describe_nearest(self.file.text, &wanted, "the hunk");
            return Ok(format!("its lines are not in the file. {nearest}"));
        }
        let lines = named_from_1(&elsewhere);
        let why = if elsewhere.iter().all(|at| *at < from) {
            "before the end of the hunk before it: hunks come in the file's order, and do not overlap"
        } else if hunk.at_end {
            "not at the end of the file"
        } else if hunk.old_unterminated {
            "where the file's last line does not lack its line end"
        } else {
            "above the line named after `@@`"
        };
        Ok(format!("its lines are in the file only {why} (line {lines})."))
    }
}

/// The one line from `from` on, or else the last one before; the several that it could be.
fn clear_one(found: &[usize], from: usize) -> Result<Option<usize>, Vec<usize>> {
    let after: Vec<usize> = found.iter().copied().filter(|line| *line >= from).collect();
    match after.as_slice() {
        [] => Ok(found.last().copied()),
        [one] => Ok(Some(*one)),
        _ => Err(after),
    }
}

/// Line numbers in words, of indices.
fn named_from_1(lines: &[usize]) -> String {
    named_lines(&lines.iter().map(|line| line + 1).collect::<Vec<_>>())
}

fn ambiguous(places: &[usize]) -> String {
    format!(
        "its lines are in the file {} times, at lines {}: give more lines around them, or name a line above \
         them after `@@`.",
        places.len(),
        named_from_1(places)
    )
}

/// The new text as it grows.
struct Built<'a> {
    file: &'a File<'a>,
    out: String,
    /// The file's next line that is not in it yet.
    from: usize,
    terminated: bool,
}

impl<'a> Built<'a> {
    fn new(file: &'a File<'a>) -> Self {
        let out = String::with_capacity(file.text.len());
        Self { file, out, from: 0, terminated: !file.is_unterminated() }
    }

    fn keep(&mut self, until: usize) {
        self.out.push_str(self.file.piece(self.from..until));
        self.from = until;
    }

    /// The last line gets an end if it has none: it is not the last any more.
    fn end_line(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push_str(self.file.end_near(self.file.len()));
        }
    }

    /// Takes a hunk whose old lines begin at line `at`, which is not before those taken.
    fn take(&mut self, hunk: &Hunk, at: usize) -> Result<(), &'static str> {
        self.keep(at);
        for line in &hunk.lines {
            match line.kind {
                Kind::Context => self.keep(self.from + 1),
                Kind::Remove => self.from += 1,
                Kind::Add => {
                    self.end_line();
                    let end = self.file.end_near(self.from);
                    let crlf = line.text.strip_suffix('\r').filter(|_| end == "\r\n");
                    self.out.push_str(crlf.unwrap_or(&line.text));
                    self.out.push_str(end);
                }
            }
        }
        let at_end = self.from == self.file.len();
        if hunk.new_unterminated && !at_end {
            return Err(
                "it says that there is no line end at the end of the file, but it is not at the end.",
            );
        }
        if at_end && (hunk.old_unterminated || hunk.new_unterminated) {
            self.terminated = !hunk.new_unterminated;
        }
        Ok(())
    }

    /// The text; its last line has an end where the file's had, unless a hunk said otherwise.
    fn finish(mut self) -> String {
        self.keep(self.file.len());
        if self.terminated {
            self.end_line();
        } else if self.out.ends_with('\n') {
            self.out.pop();
            if self.out.ends_with('\r') {
                self.out.pop();
            }
        }
        self.out
    }
}

#[cfg(test)]
#[path = "place_tests.rs"]
mod tests;
