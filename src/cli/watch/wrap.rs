//! Breaks text into rows of a terminal's columns; nothing of it is left out.

use ratatui::text::Span;

/// The text in pieces of at most `width` columns. A sign that is wider than that stands alone.
pub(in crate::cli) fn wrap(text: &str, width: usize) -> Vec<&str> {
    let width = width.max(1);
    if text.is_ascii() {
        // Escaped ASCII has one column a byte.
        let pieces = (0..text.len()).step_by(width).map(|at| &text[at..text.len().min(at + width)]);
        let pieces: Vec<&str> = pieces.collect();
        return if pieces.is_empty() { vec![""] } else { pieces };
    }
    let (mut pieces, mut start, mut columns) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        let mut buffer = [0; 4];
        let wide = Span::raw(&*c.encode_utf8(&mut buffer)).width();
        if columns + wide > width && at > start {
            pieces.push(&text[start..at]);
            (start, columns) = (at, 0);
        }
        columns += wide;
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        for (text, width, rows) in [
            ("", 5, &[""][..]),
            ("abcdef", 3, &["abc", "def"]),
            ("abcd", 3, &["abc", "d"]),
            ("漢字漢", 4, &["漢字", "漢"]),
            ("a漢字", 2, &["a", "漢", "字"]),
            ("漢", 1, &["漢"]),
            ("ab", 0, &["a", "b"]),
        ] {
            assert_eq!(wrap(text, width), rows, "{text} in {width}");
        }
    }
}
