//! Paths as diffs write them: with a time after a tab, or in quotes with escapes.

/// One path that is all of the text; none when it is empty, or a quote does not end.
pub(super) fn one(text: &str) -> Option<String> {
    let text = text.trim_end_matches(['\r', ' ']);
    if text.starts_with('"') {
        return quoted(text)
            .filter(|(_, rest)| rest.trim().is_empty() || rest.starts_with('\t'))
            .map(|(path, _)| path);
    }
    let path = text.split('\t').next().unwrap_or_default();
    (!path.is_empty()).then(|| path.to_owned())
}

/// The two paths after `diff --git `. Unquoted ones with blanks in them can only be told apart where both are
/// the same but for their prefix.
pub(super) fn both(text: &str) -> Option<(String, String)> {
    let text = text.trim_end_matches('\r');
    if text.starts_with('"') {
        let (old, rest) = quoted(text)?;
        return Some((old, one(rest.strip_prefix(' ')?)?));
    }
    if let Some((old, new)) = text.split_once(" \"") {
        return Some((old.to_owned(), one(&format!("\"{new}"))?));
    }
    let half = text.len().checked_sub(1)? / 2;
    if text.is_char_boundary(half) && text[half..].starts_with(' ') {
        let (old, new) = (&text[..half], &text[half + 1..]);
        if old.split_once('/').map(|(_, path)| path) == new.split_once('/').map(|(_, path)| path)
            || old == new
        {
            return Some((old.to_owned(), new.to_owned()));
        }
    }
    let (old, new) = text.split_once(' ')?;
    (!old.is_empty() && !new.is_empty() && !new.contains(' ')).then(|| (old.to_owned(), new.to_owned()))
}

/// A path in double quotes, with C's escapes, and what follows it. It must be UTF-8.
fn quoted(text: &str) -> Option<(String, &str)> {
    let inner = text.strip_prefix('"')?;
    let mut bytes = Vec::new();
    let mut rest = inner.as_bytes();
    loop {
        let (first, after) = rest.split_first()?;
        rest = after;
        match first {
            b'"' => break,
            b'\\' => {
                let (escape, after) = rest.split_first()?;
                rest = after;
                bytes.push(match escape {
                    b'a' => 7,
                    b'b' => 8,
                    b't' => b'\t',
                    b'n' => b'\n',
                    b'v' => 11,
                    b'f' => 12,
                    b'r' => b'\r',
                    b'"' | b'\\' => *escape,
                    b'0'..=b'3' => {
                        let (octal, after) = rest.split_at_checked(2)?;
                        rest = after;
                        let digit = |byte: u8| (b'0'..=b'7').contains(&byte).then(|| byte - b'0');
                        (escape - b'0') * 64 + digit(octal[0])? * 8 + digit(octal[1])?
                    }
                    _ => return None,
                });
            }
            other => bytes.push(*other),
        }
    }
    let rest = &inner[inner.len() - rest.len()..];
    Some((String::from_utf8(bytes).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_diffs_write_them() {
        for (text, path) in [
            ("a/x", Some("a/x")),
            ("a/with blank.c", Some("a/with blank.c")),
            ("x.c\t2024-01-01 10:00:00.000000000 +0100", Some("x.c")),
            ("\"a/caf\\303\\251 \\\"q\\\"\\\\\\t\"", Some("a/café \"q\"\\\t")),
            ("", None),
            ("\"a/unfinished", None),
            ("\"a/\\377\"", None),
            ("\"a/\\9\"", None),
            ("\"a/\\3", None),
        ] {
            assert_eq!(one(text).as_deref(), path, "{text}");
        }
        for (text, paths) in [
            ("a/x b/x", Some(("a/x", "b/x"))),
            ("a/x y b/x y", Some(("a/x y", "b/x y"))),
            ("a/x b/y", Some(("a/x", "b/y"))),
            ("x x", Some(("x", "x"))),
            ("\"a/\\303\\251\" b/e", Some(("a/é", "b/e"))),
            ("a/e \"b/\\303\\251\"", Some(("a/e", "b/é"))),
            ("a/x y b/z", None),
            ("a/x", None),
            ("", None),
            ("é", None),
        ] {
            let expected = paths.map(|(old, new)| (old.to_owned(), new.to_owned()));
            assert_eq!(both(text), expected, "{text}");
        }
    }
}
