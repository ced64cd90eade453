//! Removes terminal control from text that a model reads.

/// The text without escape sequences and control characters. Of a line that was overprinted with carriage
/// returns the last version stays, as a terminal would show it where each version is as long as the last.
pub(super) fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut line_start = 0;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => skip_sequence(&mut characters),
            '\u{9b}' => skip_control_sequence(&mut characters),
            '\r' => {
                while characters.peek() == Some(&'\r') {
                    characters.next();
                }
                // Before a newline, or at the end, it hides nothing.
                if characters.peek().is_some_and(|next| *next != '\n') {
                    out.truncate(line_start);
                }
            }
            '\n' => {
                out.push('\n');
                line_start = out.len();
            }
            '\x08' => {
                if out.len() > line_start {
                    out.pop();
                }
            }
            '\t' => out.push('\t'),
            control if control.is_control() => {}
            plain => out.push(plain),
        }
    }
    out
}

type Characters<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// After ESC (ECMA-48): CSI, a string that ends in ST or BEL, or a short sequence.
fn skip_sequence(characters: &mut Characters<'_>) {
    match characters.peek() {
        Some('[') => {
            characters.next();
            skip_control_sequence(characters);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => skip_string(characters),
        Some(' '..='/') => {
            while characters.next_if(|c| (' '..='/').contains(c)).is_some() {}
            characters.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => {
            characters.next();
        }
        _ => {}
    }
}

/// Parameters, intermediates, one final byte. Anything else ends it and stays.
fn skip_control_sequence(characters: &mut Characters<'_>) {
    while characters.next_if(|c| (' '..='?').contains(c)).is_some() {}
    characters.next_if(|c| ('@'..='~').contains(c));
}

/// A string without its end is no string: only its opening goes, so that nothing after it is swallowed.
fn skip_string(characters: &mut Characters<'_>) {
    characters.next();
    let mut ahead = characters.clone();
    while let Some(character) = ahead.next() {
        let ends = match character {
            '\x07' | '\u{9c}' => true,
            '\x1b' => ahead.next_if_eq(&'\\').is_some(),
            '\n' => return,
            _ => false,
        };
        if ends {
            *characters = ahead;
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::strip;

    #[test]
    fn sequences_go_and_text_stays() {
        for (input, expected) in [
            ("\x1b[1;31mred\x1b[0m plain", "red plain"),
            ("\x1b[38:2::1:2:3mx\x1b[?25l\x1b[2K", "x"),
            ("\x1b]0;title\x07text", "text"),
            ("\x1b]8;;http://a\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("\x1bP1$r\x1b\\a", "a"),
            ("\x1b(Bb\x1b7c\x1b=d", "bcd"),
            ("\x1b]0;never ended\nnext line", "0;never ended\nnext line"),
            ("cut\x1b[", "cut"),
            ("cut\x1b", "cut"),
            ("\x1b[31", ""),
            ("a\x1b[\nb", "a\nb"),
            ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
            ("last\r", "last"),
            ("a\rb", "b"),
            ("x\r\r\n", "x\n"),
            ("ab\x08c\n\x08d", "ac\nd"),
            ("bell\x07 nul\0 tab\t.", "bell nul tab\t."),
            ("ünïcödé 🦀", "ünïcödé 🦀"),
            ("\u{9b}31mred", "red"),
        ] {
            assert_eq!(strip(input), expected, "{input:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_escape_is_ever_left(input in "\\PC*(\x1b[\\[\\]P()0-9;m\x07\\\\]*|\r|\n|\\PC){0,40}") {
            let out = strip(&input);
            proptest::prop_assert!(!out.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        }
    }
}
