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

    /// The lines kept.
    pub(super) fn kept(&self) -> &[String] {
        &self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
