//! A pattern that is no longer looked for once patience has ended.

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures, NoError};
use grep_regex::RegexMatcher;

use crate::tools::blocking::{GivenUp, Patience};

/// Fails once patience has ended. Across lines the searcher takes each match's whole line anew, asking neither its reader
/// nor its sink meanwhile: where all of a file is one line, that is the file for each match in it.
pub(super) struct PatientMatcher<'a> {
    pub(super) inner: &'a RegexMatcher,
    pub(super) patience: &'a Patience,
}

/// The pattern itself has no errors.
fn never<T>(done: Result<T, NoError>) -> Result<T, GivenUp> {
    done.map_err(|_| GivenUp::Cancelled)
}

impl Matcher for PatientMatcher<'_> {
    type Captures = NoCaptures;
    type Error = GivenUp;

    fn find_at(&self, haystack: &[u8], at: usize) -> Result<Option<Match>, GivenUp> {
        self.patience.check()?;
        never(self.inner.find_at(haystack, at))
    }

    fn new_captures(&self) -> Result<NoCaptures, GivenUp> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(&self, haystack: &[u8], at: usize) -> Result<Option<usize>, GivenUp> {
        self.patience.check()?;
        never(self.inner.shortest_match_at(haystack, at))
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        self.inner.non_matching_bytes()
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.inner.line_terminator()
    }

    fn find_candidate_line(&self, haystack: &[u8]) -> Result<Option<LineMatchKind>, GivenUp> {
        self.patience.check()?;
        never(self.inner.find_candidate_line(haystack))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio_util::sync::CancellationToken;

    use super::*;

    #[test]
    fn nothing_is_found_once_patience_has_ended() {
        let cancel = CancellationToken::new();
        let patience = Patience::new(cancel.clone(), Duration::from_hours(1));
        let inner = RegexMatcher::new("b").unwrap();
        let matcher = PatientMatcher { inner: &inner, patience: &patience };
        assert_eq!(matcher.find(b"ab").unwrap(), Some(Match::new(1, 2)));
        assert_eq!(matcher.shortest_match(b"ab").unwrap(), Some(2));
        cancel.cancel();
        assert_eq!(matcher.find(b"ab"), Err(GivenUp::Cancelled));
        assert_eq!(matcher.shortest_match(b"ab"), Err(GivenUp::Cancelled));
        assert_eq!(matcher.find_candidate_line(b"ab").err(), Some(GivenUp::Cancelled));
    }
}
