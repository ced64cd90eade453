//! The page of a result that is kept while everything is counted.

/// The most bytes of a page.
const PAGE_BYTES: usize = 256 * 1024;

/// Lines in the order they come, of which one page is kept.
#[derive(Debug)]
pub(super) struct Lines {
    first: usize,
    limit: usize,
    bytes: usize,
    kept: Vec<String>,
    /// The page was full in bytes before it was full in lines.
    pub(super) cut_by_bytes: bool,
    /// How many lines there were.
    pub(super) total: usize,
}

impl Lines {
    /// A page of at most `limit` lines after the first `first`.
    pub(super) fn new(first: usize, limit: usize) -> Self {
        Self { first, limit, bytes: 0, kept: Vec::new(), cut_by_bytes: false, total: 0 }
    }

    /// Counts a line, and keeps it if it is of the page.
    pub(super) fn push(&mut self, line: impl FnOnce() -> String) {
        let of_page = self.total >= self.first && self.kept.len() < self.limit && !self.cut_by_bytes;
        self.total += 1;
        if !of_page {
            return;
        }
        let line = line();
        self.cut_by_bytes = self.bytes + line.len() > PAGE_BYTES;
        if !self.cut_by_bytes {
            self.bytes += line.len() + 1;
            self.kept.push(line);
        }
    }

    /// Whether no further line can be of the page.
    pub(super) fn is_full(&self) -> bool {
        self.kept.len() >= self.limit || self.cut_by_bytes
    }

    /// Adds the lines of a part, counted from its own beginning. False, with nothing added, where the part has not
    /// kept a line that is of this page.
    pub(super) fn absorb(&mut self, part: Lines) -> bool {
        let passed = self.first.saturating_sub(self.total).min(part.total);
        let room = if self.is_full() { 0 } else { self.limit - self.kept.len() };
        let wanted = (part.total - passed).min(room);
        if wanted > 0 && part.kept.len() < passed + wanted {
            return false;
        }
        let total = self.total + part.total;
        self.total += passed;
        part.kept.into_iter().skip(passed).take(wanted).for_each(|line| self.push(|| line));
        self.total = total;
        true
    }

    /// The lines kept.
    pub(super) fn kept(&self) -> &[String] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_page_that_the_whole_would_have_made() {
        let line = |n: usize| if n == 17 { "y".repeat(PAGE_BYTES - 10) } else { n.to_string() };
        for first in 0..45 {
            for limit in [1, 3, 15, 50] {
                let (mut whole, mut page) = (Lines::new(first, limit), Lines::new(first, limit));
                (0..40).for_each(|n| whole.push(|| line(n)));
                for part in (0..40).collect::<Vec<_>>().chunks(7) {
                    let mut lines = Lines::new(0, limit);
                    for n in part {
                        lines.push(|| line(*n));
                    }
                    if !page.absorb(lines) {
                        for n in part {
                            page.push(|| line(*n));
                        }
                    }
                }
                let facts = |lines: &Lines| (lines.kept.clone(), lines.total, lines.cut_by_bytes);
                assert_eq!(facts(&page), facts(&whole), "{first} {limit}");
            }
        }
    }

    #[test]
    fn one_page_is_kept_and_all_is_counted() {
        let mut lines = Lines::new(2, 3);
        for n in 0..10 {
            lines.push(|| n.to_string());
        }
        assert_eq!((lines.kept(), lines.total), (["2", "3", "4"].map(String::from).as_slice(), 10));
        let mut fat = Lines::new(0, 100);
        for _ in 0..10 {
            fat.push(|| "x".repeat(100_000));
        }
        assert_eq!((fat.kept().len(), fat.total, fat.cut_by_bytes), (2, 10, true));
    }
}
