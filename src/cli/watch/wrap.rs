//! Breaks text into rows of a terminal's columns; nothing of it is left out.

use ratatui::buffer::CellWidth as _;
use ratatui::style::Style;
use ratatui::text::Span;

/// The text in pieces of at most `width` columns, as they are drawn. A sign that is wider than that stands alone.
pub(in crate::cli) fn wrap(text: &str, width: usize) -> Vec<&str> {
    let width = width.max(1);
    if text.is_ascii() {
        // Escaped ASCII has one column a byte.
        let pieces = (0..text.len()).step_by(width).map(|at| &text[at..text.len().min(at + width)]);
        let pieces: Vec<&str> = pieces.collect();
        return if pieces.is_empty() { vec![""] } else { pieces };
    }
    let (mut pieces, mut rest) = (Vec::new(), text);
    loop {
        let piece = first(rest, width);
        pieces.push(piece);
        rest = &rest[piece.len()..];
        if rest.is_empty() {
            return pieces;
        }
    }
}

/// The longest beginning that fits, and does not leave behind what is to be seen with it only.
fn first(text: &str, width: usize) -> &str {
    let (mut end, mut columns) = (text.len(), 0);
    for (at, c) in text.char_indices() {
        columns += columns_of(c);
        if columns > width && at > 0 {
            end = at;
            break;
        }
    }
    // Signs that are drawn as one can be wider than each by itself.
    while drawn(&text[..end]) > width {
        let shorter = text[..end].char_indices().rev().map(|(at, _)| at);
        let fits = |at: &usize| *at > 0 && text[*at..].chars().next().is_some_and(|c| columns_of(c) > 0);
        let Some(at) = shorter.into_iter().find(fits) else { break };
        end = at;
    }
    &text[..end]
}

fn columns_of(c: char) -> usize {
    usize::from(c.encode_utf8(&mut [0; 4]).cell_width())
}

/// The columns that the text takes.
fn drawn(text: &str) -> usize {
    let span = Span::raw(text);
    span.styled_graphemes(Style::new()).map(|sign| usize::from(sign.symbol.cell_width())).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    use super::*;
    use crate::domain::visible;

    /// What stands in the first row.
    fn read(buffer: &Buffer) -> String {
        let (mut text, mut x) = (String::new(), 0);
        while x < buffer.area.width {
            let cell = &buffer[(x, 0)];
            text.push_str(cell.symbol());
            x += cell.symbol().cell_width().max(1);
        }
        text
    }

    fn drawn_whole(text: &str, width: u16) {
        let shown = visible::one_line(text);
        let mut seen = String::new();
        for piece in wrap(&shown, usize::from(width)) {
            let area = Rect::new(0, 0, width, 1);
            let mut buffer = Buffer::empty(area);
            buffer.set_line(0, 0, &piece.into(), width);
            let row = read(&buffer);
            let blanks = piece.len() - piece.trim_end_matches(' ').len();
            seen += row.trim_end_matches(' ');
            seen += &" ".repeat(blanks);
        }
        assert_eq!(seen, shown, "{text:?} in {width}");
    }

    /// Each letter and sign alone between others, and many of them.
    #[test]
    fn every_sign_is_drawn() {
        for c in ('\u{80}'..=char::MAX).filter(|c| !visible::hides(&c.to_string())) {
            drawn_whole(&format!("x{c}y"), 4);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn every_row_is_drawn_whole(
            parts in prop::collection::vec(
                (
                    prop::sample::select(vec![
                        "a", " ", "漢", "ｶ", "ﾞ", "k", "\u{301}", "\u{1100}", "\u{1161}", "\u{11a8}", "👍", "👍🏽", "🇩", "🇪",
                        "\u{200d}", "ক", "া", "ि", "न", "म", "\u{94d}", "\u{fe0f}", "❤", "☰", "\u{a8fa}", "ﷺ", "⟨",
                    ]),
                    1..30_usize,
                ),
                0..12,
            ),
            any in ".*",
            width in 2..40_u16,
        ) {
            let text: String = parts.iter().map(|(part, count)| part.repeat(*count)).collect();
            drawn_whole(&text, width);
            drawn_whole(&any, width);
        }
    }

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
