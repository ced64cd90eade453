//! What a script of sed does: prints, edits, reads or writes files, or runs commands.
//!
//! Source: GNU sed 4.9 manual, 3 "sed scripts" and 4 "Addresses".

/// What the script does beyond printing and editing the stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::permission::commands) struct Does {
    /// It runs commands (`e`, `s///e`).
    pub(in crate::permission::commands) runs: bool,
    /// It reads or writes files (`r R w W`, `s///w`).
    pub(in crate::permission::commands) files: bool,
}

/// Reads a whole script; `None` for what is not known for sure.
pub(in crate::permission::commands) fn script(text: &str) -> Option<Does> {
    let mut does = Does::default();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
        if rest.is_empty() {
            return Some(does);
        }
        if let Some(comment) = rest.strip_prefix('#') {
            rest = comment.split_once('\n').map_or("", |(_, after)| after);
            continue;
        }
        rest = addresses(rest)?.trim_start_matches([' ', '\t']);
        rest = rest.trim_start_matches('!').trim_start_matches([' ', '\t']);
        rest = command(rest, &mut does)?;
    }
}

/// Skips `1`, `$`, `/x/I`, `0,/x/`, `2~3`, `1,+4`.
fn addresses(text: &str) -> Option<&str> {
    let rest = address(text)?.trim_start_matches([' ', '\t']);
    match rest.strip_prefix(',') {
        Some(second) if rest.len() < text.len() => {
            let second = second.trim_start_matches([' ', '\t']).trim_start_matches(['+', '~']);
            address(second).filter(|behind| behind.len() < second.len())
        }
        _ => Some(rest),
    }
}

/// What follows an address; all of the text when none begins here.
fn address(text: &str) -> Option<&str> {
    match text.chars().next() {
        Some('$') => Some(&text[1..]),
        Some('0'..='9') => {
            let digits =
                |text: &'_ str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let rest = &text[digits(text)..];
            Some(rest.strip_prefix('~').map_or(rest, |step| &step[digits(step)..]))
        }
        Some('/') => Some(delimited(&text[1..], '/')?.trim_start_matches(['I', 'M'])),
        Some('\\') => {
            let delimiter = text[1..].chars().next().filter(|c| *c != '\n' && *c != '\\')?;
            let inside = &text[1 + delimiter.len_utf8()..];
            Some(delimited(inside, delimiter)?.trim_start_matches(['I', 'M']))
        }
        _ => Some(text),
    }
}

/// What follows the next delimiter that no backslash escapes; brackets hide none from GNU sed.
fn delimited(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next()?;
        } else if c == delimiter {
            return Some(&text[at + c.len_utf8()..]);
        }
    }
    None
}

fn command<'t>(text: &'t str, does: &mut Does) -> Option<&'t str> {
    let name = text.chars().next()?;
    let rest = &text[name.len_utf8()..];
    match name {
        '{' | '}' | '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => {
            if name == '{' {
                Some(rest)
            } else {
                end(rest)
            }
        }
        'q' | 'Q' | 'l' => end(rest.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit())),
        'b' | 't' | 'T' | ':' => {
            let label = |c: char| c.is_ascii_alphanumeric() || c == '_';
            end(rest.trim_start_matches([' ', '\t']).trim_start_matches(label))
        }
        's' => flags(two_parts(rest)?, does),
        'y' => end(two_parts(rest)?),
        // To the end of the line, and on where a backslash ends one.
        'a' | 'i' | 'c' => Some(after_text(rest)),
        'r' | 'R' | 'w' | 'W' => {
            does.files = true;
            Some(rest.split_once('\n').map_or("", |(_, after)| after))
        }
        'e' => {
            does.runs = true;
            Some(rest.split_once('\n').map_or("", |(_, after)| after))
        }
        _ => None,
    }
}

/// What follows the two parts of `s` and `y`.
fn two_parts(text: &str) -> Option<&str> {
    let delimiter = text.chars().next().filter(|c| *c != '\n' && *c != '\\')?;
    delimited(delimited(&text[delimiter.len_utf8()..], delimiter)?, delimiter)
}

fn flags<'t>(text: &'t str, does: &mut Does) -> Option<&'t str> {
    let mut rest = text;
    loop {
        let Some(flag) = rest.chars().next() else { return Some(rest) };
        match flag {
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => rest = &rest[1..],
            'e' => {
                does.runs = true;
                rest = &rest[1..];
            }
            'w' => {
                does.files = true;
                return Some(rest.split_once('\n').map_or("", |(_, after)| after));
            }
            _ => return end(rest),
        }
    }
}

/// A command ends at `;`, `}`, a comment or the line's end.
fn end(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches([' ', '\t']);
    (rest.is_empty() || rest.starts_with([';', '\n', '}', '#'])).then_some(rest)
}

fn after_text(text: &str) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == '\n' && !escaped {
            return &text[at + 1..];
        }
        escaped = c == '\\' && !escaped;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_tell_what_they_do() {
        for text in [
            "p",
            "1,80p",
            "$p",
            "10,$p",
            "/x/p",
            "/a\\/b/,/c/p",
            "s/a/b/",
            "s/a/b/g;s|x|y|2",
            "s,a,b,gI",
            "1d;$d",
            "/x/d",
            "/x/!d",
            "1~2p",
            "2,+3p",
            "0,/x/s//y/",
            "\\|x|p",
            "{p;d}",
            "y/abc/xyz/",
            "N;P;D",
            "$!N",
            ":a;N;ba",
            "1i\\\ntext e",
            "/x/a text; e rm",
            "# e rm\np",
            "q",
            "5q",
            "s/[0-9]*//",
            "",
            "s/e/e/",
            "s/a/$(x)/",
        ] {
            assert_eq!(script(text), Some(Does::default()), "{text:?}");
        }
        for (text, runs, files) in [
            ("e", true, false),
            ("1e rm x", true, false),
            ("p;e rm x", true, false),
            ("s/a/b/e", true, false),
            ("s/a/b/ge", true, false),
            ("w f", false, true),
            ("s/a/b/w f", false, true),
            ("r f", false, true),
            ("{e\n}", true, false),
            ("a text\ne rm", true, false),
            ("s/[0-9]\\/x/y/e", true, false),
        ] {
            assert_eq!(script(text), Some(Does { runs, files }), "{text:?}");
        }
    }

    #[test]
    fn what_is_no_script_is_not_known() {
        for text in [
            "s/a/b",
            "s",
            "k",
            "1,",
            "s/a/b/k",
            "p x",
            "v",
            "M",
            "/x",
            "s\na\nb\n",
            "s/[/]/x/e",
            ":a e rm",
            "ba e rm",
        ] {
            assert_eq!(script(text), None, "{text:?}");
        }
    }
}
