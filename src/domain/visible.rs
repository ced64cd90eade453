//! Makes outside text safe and honest to look at: nothing in it can hide, move or colour.

use std::fmt::Write as _;

/// A run of more blanks than this is folded: padding pushes what matters out of sight.
const BLANKS_KEPT: usize = 16;

/// The text on one line: control, bidirectional, zero-width and other invisible characters are
/// written as escapes, long padding is folded and its length said.
pub fn one_line(text: &str) -> String {
    show(text, false)
}

/// The same, but line breaks and tabs stay: for diffs and output.
pub fn lines(text: &str) -> String {
    show(text, true)
}

/// [`one_line`], cut after `max` characters with a count of what was left out.
pub fn clipped(text: &str, max: usize) -> String {
    let shown = one_line(text);
    let total = shown.chars().count();
    if total <= max {
        return shown;
    }
    let kept: String = shown.chars().take(max).collect();
    format!("{kept}… ({} more characters)", total - max)
}

fn show(text: &str, keep_breaks: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blanks = 0_usize;
    for c in text.chars() {
        if c == ' ' {
            blanks += 1;
            continue;
        }
        flush_blanks(&mut out, &mut blanks);
        match c {
            '\n' | '\t' if keep_breaks => out.push(c),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_invisible(c) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    flush_blanks(&mut out, &mut blanks);
    out
}

fn flush_blanks(out: &mut String, blanks: &mut usize) {
    if *blanks > BLANKS_KEPT {
        let _ = write!(out, " [{blanks} spaces] ");
    } else {
        out.extend(std::iter::repeat_n(' ', *blanks));
    }
    *blanks = 0;
}

/// Control characters (C0, C1, DEL), and what Unicode calls format characters or blank letters:
/// they change how other text looks without being seen (Unicode UTS 55, UAX 9).
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
        // Blanks other than the plain one look like it, or like nothing.
        || (c.is_whitespace() && c != ' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_hides() {
        for (text, shown) in [
            ("ls -l", "ls -l"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{1b}[31mred", "\\u{1b}[31mred"),
            ("rm \u{202e}txt", "rm \\u{202e}txt"),
            ("a\u{200b}b\u{feff}", "a\\u{200b}b\\u{feff}"),
            ("a\u{a0}b", "a\\u{a0}b"),
            ("grüße 漢字 👍", "grüße 漢字 👍"),
        ] {
            assert_eq!(one_line(text), shown);
        }
        assert_eq!(one_line(&format!("ls{}; rm x", " ".repeat(300))), "ls [300 spaces] ; rm x");
        assert_eq!(lines("a\n\u{1b}b"), "a\n\\u{1b}b");
    }

    #[test]
    fn clipping_counts() {
        assert_eq!(clipped("abcdef", 4), "abcd… (2 more characters)");
        assert_eq!(clipped("abcd", 4), "abcd");
    }
}
