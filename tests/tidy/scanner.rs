//! Tells code from comments, strings and tests, by reading the source as text.

/// The source with comments, strings and characters blanked, line for line.
pub(crate) fn blank(source: &str) -> String {
    blank_where(source, |_| true)
}

/// The same, but comments stay.
pub(crate) fn blank_strings(source: &str) -> String {
    blank_where(source, |start| start != '/')
}

fn blank_where(source: &str, hidden: impl Fn(char) -> bool) -> String {
    let chars: Vec<char> = source.chars().collect();
    let mut out = String::with_capacity(source.len());
    let mut i = 0;
    while i < chars.len() {
        let end = skip_at(&chars, i).unwrap_or(i);
        if end > i {
            let shown = |c: char| if c == '\n' || !hidden(chars[i]) { c } else { ' ' };
            out.extend(chars[i..end].iter().map(|&c| shown(c)));
            i = end;
        } else {
            out.push(chars[i]);
            i += 1;
        }
    }
    out
}

/// Where the comment, string or character that begins here ends.
fn skip_at(chars: &[char], i: usize) -> Option<usize> {
    let at = |k: usize| chars.get(k).copied().unwrap_or('\0');
    let after_word = i > 0 && (chars[i - 1].is_alphanumeric() || chars[i - 1] == '_');
    match at(i) {
        '/' if at(i + 1) == '/' => Some(find(chars, i, |k| at(k) == '\n')),
        '/' if at(i + 1) == '*' => Some(block_comment(chars, i)),
        '"' => Some(quoted(chars, i, '"')),
        'r' | 'b' | 'c' if !after_word => prefixed(chars, i),
        '\'' if at(i + 1) == '\\' || (at(i + 2) == '\'' && at(i + 1) != '\'') => Some(quoted(chars, i, '\'')),
        _ => None,
    }
}

fn prefixed(chars: &[char], start: usize) -> Option<usize> {
    let mut i = start;
    while matches!(chars.get(i), Some('r' | 'b' | 'c')) && i < start + 2 {
        i += 1;
    }
    let raw = chars[start..i].contains(&'r');
    let hashes = chars[i..].iter().take_while(|&&c| c == '#').count();
    match chars.get(i + hashes) {
        Some('"') if raw => {
            let close = |k: usize| {
                chars[k] == '"' && chars[k + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
            };
            Some((find(chars, i + hashes + 1, close) + 1 + hashes).min(chars.len()))
        }
        Some('"') if hashes == 0 => Some(quoted(chars, i, '"')),
        Some('\'') if hashes == 0 && chars[start] == 'b' => Some(quoted(chars, i, '\'')),
        _ => None,
    }
}

fn quoted(chars: &[char], start: usize, quote: char) -> usize {
    let mut i = start + 1;
    while i < chars.len() && chars[i] != quote {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

fn block_comment(chars: &[char], start: usize) -> usize {
    let (mut depth, mut i) = (0_usize, start);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => (depth, i) = (depth + 1, i + 2),
            ('*', '/') if depth == 1 => return i + 2,
            ('*', '/') => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
    }
    chars.len()
}

fn find(chars: &[char], from: usize, found: impl Fn(usize) -> bool) -> usize {
    (from..chars.len()).find(|&k| found(k)).unwrap_or(chars.len())
}

/// Divides blanked source into what ships and what is only for tests, line for line.
pub(crate) fn divide(blanked: &str) -> (String, String) {
    const MARK: &str = "#[cfg(test)]";
    let hide = |text: &str| text.chars().map(|c| if c == '\n' { '\n' } else { ' ' }).collect::<String>();
    let (mut code, mut tests, mut rest) = (String::new(), String::new(), blanked);
    while let Some(start) = rest.find(MARK) {
        let length = MARK.len() + item_length(&rest[start + MARK.len()..]);
        code.push_str(&rest[..start]);
        tests.push_str(&hide(&rest[..start]));
        code.push_str(&hide(&rest[start..start + length]));
        tests.push_str(&rest[start..start + length]);
        rest = &rest[start + length..];
    }
    code.push_str(rest);
    tests.push_str(&hide(rest));
    (code, tests)
}

/// The length of the item that begins here: to its `;`, or to the brace that closes it.
pub(crate) fn item_length(text: &str) -> usize {
    let (mut braces, mut others) = (0_i32, 0_i32);
    for (at, c) in text.char_indices() {
        match c {
            '{' => braces += 1,
            '}' => braces -= 1,
            '(' | '[' => others += 1,
            ')' | ']' => others -= 1,
            _ => {}
        }
        if (c == '}' && braces == 0) || (c == ';' && braces == 0 && others == 0) {
            return at + 1;
        }
    }
    text.len()
}

/// Each place where the word stands on its own, as a byte offset.
pub(crate) fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        !text[..at].ends_with(part_of_word) && !text[at + word.len()..].starts_with(part_of_word)
    })
}

pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text[..at].matches('\n').count() + 1
}

#[test]
fn the_scanner_sees_only_code() {
    let source =
        "a // x { \"\n/* { /* } */ { */ b \"{\\\"{\" c r#\"{\"{\"# d '{' e '\\'' f<'g> b'{' b\"{\" h";
    let blanked = blank(source);
    assert_eq!(blanked.split_whitespace().collect::<Vec<_>>(), ["a", "b", "c", "d", "e", "f<'g>", "h"]);
    assert_eq!(blanked.matches('\n').count(), 1);
    let kept = blank_strings(source);
    assert!(kept.contains("// x {") && kept.contains("*/ { */") && !kept.contains("{\"{"), "{kept}");
    let (code, tests) =
        divide("a;\n#[cfg(test)]\nmod x;\nb;\n#[cfg(test)]\nmod t {\n fn f() { [0; 3]; }\n}\nc;");
    assert_eq!(code.split_whitespace().collect::<Vec<_>>(), ["a;", "b;", "c;"]);
    assert!(tests.contains("mod x;") && tests.contains("fn f()") && !tests.contains("c;"), "{tests}");
    assert_eq!(code.lines().count(), 9);
}
