//! Exact replacement in a text, whatever its line endings.

use std::fmt::Write as _;

/// How many line numbers of matches are named.
const LINES_NAMED: usize = 20;

/// A text after its replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) struct Replaced {
    /// The new text.
    pub(in crate::tools) text: String,
    /// The line (from 1) in the old text where each replaced piece began.
    pub(in crate::tools) lines: Vec<usize>,
}

/// Why nothing was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tools) enum MatchError {
    /// The piece does not occur.
    NotFound,
    /// It occurs more than once and only one was meant: the lines (from 1) where it begins.
    Ambiguous(Vec<usize>),
}

/// Replaces `old` by `new`: the one occurrence, or `all` of them.
///
/// An `old` without a carriage return matches a CR LF line end by its LF alone, and `new` then gets the line
/// end of the place it comes to. Nothing else is loose.
pub(in crate::tools) fn replace_exact(
    text: &str,
    old: &str,
    new: &str,
    all: bool,
) -> Result<Replaced, MatchError> {
    let loose = !old.contains('\r') && text.contains("\r\n");
    let found = if loose { LfView::of(text).find(old) } else { find(text, old) };
    let lines = line_numbers(text, &found);
    match found.len() {
        0 => return Err(MatchError::NotFound),
        1 if all || !overlaps_itself(text, old, &found, loose) => {}
        1 => return Err(MatchError::Ambiguous(lines)),
        _ if all => {}
        _ => return Err(MatchError::Ambiguous(lines)),
    }
    let mut out = String::with_capacity(text.len() + new.len());
    let mut done = 0;
    for &(start, end) in &found {
        out.push_str(&text[done..start]);
        if loose && ends_by_crlf(text, start, end) {
            push_crlf(&mut out, new);
        } else {
            out.push_str(new);
        }
        done = end;
    }
    out.push_str(&text[done..]);
    Ok(Replaced { text: out, lines })
}

fn find(text: &str, old: &str) -> Vec<(usize, usize)> {
    text.match_indices(old).map(|(at, piece)| (at, at + piece.len())).collect()
}

/// `aa` occurs once in `aaa` when taken off one by one, yet which one was meant is open.
fn overlaps_itself(text: &str, old: &str, found: &[(usize, usize)], loose: bool) -> bool {
    let Some(&(start, end)) = found.first() else { return false };
    let step = match &text[start..] {
        // Seen as one LF: to begin between the two is no other place.
        crlf if loose && crlf.starts_with("\r\n") => 2,
        other => other.chars().next().map_or(1, char::len_utf8),
    };
    // Another occurrence that begins within this one ends before this much more text.
    let until = end + (end - start).min(text.len() - end);
    let until = (until..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let rest = &text[start + step..until];
    if loose { !LfView::of(rest).find(old).is_empty() } else { rest.contains(old) }
}

/// Line numbers in words: `1, 4, 9 and 3 more`.
pub(in crate::tools) fn named_lines(lines: &[usize]) -> String {
    let mut text = lines.iter().take(LINES_NAMED).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > LINES_NAMED {
        let _ = write!(text, " and {} more", lines.len() - LINES_NAMED);
    }
    text
}

fn line_numbers(text: &str, found: &[(usize, usize)]) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    let mut numbers = Vec::with_capacity(found.len());
    for &(start, _) in found {
        line += text[at..start].bytes().filter(|byte| *byte == b'\n').count();
        at = start;
        numbers.push(line);
    }
    numbers
}

/// How lines end at a place: by the first line end in it, else the next after it, else the last before it.
fn ends_by_crlf(text: &str, start: usize, end: usize) -> bool {
    let newline = text[start..end]
        .find('\n')
        .map(|at| start + at)
        .or_else(|| text[end..].find('\n').map(|at| end + at))
        .or_else(|| text[..start].rfind('\n'));
    newline.is_some_and(|at| text[..at].ends_with('\r'))
}

/// The text with every bare LF made CR LF.
pub(in crate::tools) fn with_crlf(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_crlf(&mut out, text);
    out
}

fn push_crlf(out: &mut String, text: &str) {
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push_str(if out.ends_with('\r') { "\n" } else { "\r\n" });
        }
        out.push_str(line);
    }
}

/// A text with CR LF seen as LF, and the way back to places in the text itself.
struct LfView {
    text: String,
    /// Where in `text` each LF stands whose CR was left out.
    shortened: Vec<usize>,
}

impl LfView {
    fn of(text: &str) -> Self {
        let mut view = Self { text: String::with_capacity(text.len()), shortened: Vec::new() };
        let mut pieces = text.split("\r\n");
        view.text.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            view.shortened.push(view.text.len());
            view.text.push('\n');
            view.text.push_str(piece);
        }
        view
    }

    fn find(&self, old: &str) -> Vec<(usize, usize)> {
        find(&self.text, old).into_iter().map(|(start, end)| (self.back(start), self.back(end))).collect()
    }

    /// Just before a shortened LF means before its CR.
    fn back(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|lf| *lf < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replaced(text: &str, old: &str, new: &str, all: bool) -> String {
        replace_exact(text, old, new, all).unwrap().text
    }

    #[test]
    fn one_occurrence_is_replaced_exactly() {
        assert_eq!(replaced("let a = 1;\n", "a = 1", "b = 2", false), "let b = 2;\n");
        assert_eq!(replaced("äöü", "ö", "", false), "äü");
        assert_eq!(replace_exact("a\nb\n", "B", "x", false), Err(MatchError::NotFound));
        assert_eq!(replace_exact("a  b", "a b", "x", false), Err(MatchError::NotFound));
    }

    #[test]
    fn several_are_counted_with_their_lines() {
        let text = "x\ny x\n\nx\n";
        assert_eq!(replace_exact(text, "x", "z", false), Err(MatchError::Ambiguous(vec![1, 2, 4])));
        let all = replace_exact(text, "x", "z", true).unwrap();
        assert_eq!((all.text.as_str(), all.lines), ("z\ny z\n\nz\n", vec![1, 2, 4]));
    }

    #[test]
    fn an_occurrence_that_overlaps_itself_is_ambiguous() {
        assert_eq!(replace_exact("aaa", "aa", "b", false), Err(MatchError::Ambiguous(vec![1])));
        assert_eq!(replaced("aaa", "aa", "b", true), "ba");
        assert_eq!(replaced("aab", "aa", "c", false), "cb");
        assert_eq!(replaced("äbä", "äb", "c", false), "cä");
        assert!(replace_exact("}\r\n}\r\n}\r\n", "}\n}\n", "", false).is_err());
    }

    #[test]
    fn lf_matches_crlf_and_the_line_ends_stay() {
        let text = "a\r\nb\r\nc\r\n";
        assert_eq!(replaced(text, "a\nb", "x\ny\nz", false), "x\r\ny\r\nz\r\nc\r\n");
        assert_eq!(replaced(text, "b\n", "", false), "a\r\nc\r\n");
        assert_eq!(replaced(text, "\nb", "\nB", false), "a\r\nB\r\nc\r\n");
        assert_eq!(replaced(text, "b", "b\nb2", false), "a\r\nb\r\nb2\r\nc\r\n");
        assert_eq!(replaced(text, "b\r\n", "b\r\nx\n", false), "a\r\nb\r\nx\nc\r\n");
        assert_eq!(replaced("a\r\nb", "b", "c\nd", false), "a\r\nc\r\nd");
    }

    #[test]
    fn a_file_with_both_line_ends_keeps_each_where_it_is() {
        let text = "a\nb\r\nc\n";
        assert_eq!(replaced(text, "b\nc\n", "B\nC\n", false), "a\nB\r\nC\r\n");
        assert_eq!(replaced(text, "a\n", "A\nA2\n", false), "A\nA2\nb\r\nc\n");
        assert_eq!(replace_exact("a\nb\n", "a\r\nb", "x", false), Err(MatchError::NotFound));
    }

    proptest::proptest! {
        /// A CR LF file is changed as the same file with LF would be, and has no bare LF after it.
        #[test]
        fn line_ends_make_no_difference(text in "[ab\n]{0,40}", old in "[ab\n]{1,4}", new in "[abc\n]{0,5}") {
            let crlf = text.replace('\n', "\r\n");
            for all in [false, true] {
                match (replace_exact(&text, &old, &new, all), replace_exact(&crlf, &old, &new, all)) {
                    (Ok(lf), Ok(other)) => {
                        assert_eq!(other.text.replace("\r\n", "\n"), lf.text);
                        assert_eq!(other.lines, lf.lines);
                        let bare = other.text.replace("\r\n", "");
                        assert!(!crlf.contains('\n') || !bare.contains('\n'), "{:?}", other.text);
                        if all { assert_eq!(lf.text, text.replace(&old, &new)); }
                    }
                    (lf, other) => assert_eq!(lf, other),
                }
            }
        }
    }
}
