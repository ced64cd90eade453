//! Takes secrets out of shell words: what a name stands before is the rest of its word, or the next word, however they
//! are quoted.

use super::{REDACTED, is_secret_name, is_user_option, summary};

/// How deep texts within quoted words are looked into.
const DEPTH_MAX: usize = 3;
/// So many lines that a word spells out are looked at.
const LINES_MAX: usize = 64;
/// A scheme of an Authorization header is no secret.
const SCHEMES: &[&str] = &["Bearer ", "bearer ", "Basic ", "basic ", "Token ", "token "];

/// A word as it is written and as its program gets it.
#[derive(Debug, Default)]
struct Word {
    /// The characters that the program gets, each with where it begins in the text and the quotes around it.
    chars: Vec<(char, usize, Option<char>)>,
    /// The parts within quotes: from and to, without the quotes, and the quotes.
    quoted: Vec<(usize, usize, char)>,
    end: usize,
}

/// The text without the values that have a secret's name, and without what here-strings say. Linear in its length.
pub(super) fn redacted(text: &str) -> String {
    within(text, 0)
}

fn within(text: &str, depth: usize) -> String {
    let mut out = String::with_capacity(text.len());
    let mut reader = Reader { text, at: 0, unclosed: (false, false) };
    // Whether the word before says that this one is a secret, or a user's name and password.
    let (mut secret, mut user, mut here) = (false, false, false);
    // Whether the word before is `set`, and whether a list of a secret's values begins, or goes on.
    let (mut set, mut list, mut listed) = (false, false, false);
    while let Some(c) = reader.peek() {
        let from = reader.at;
        if reader.skips_blank(c) {
            out.push_str(&text[from..reader.at]);
            continue;
        }
        if text[from..].starts_with("<<<") {
            reader.at += 3;
            out.push_str("<<<");
            (secret, user, here) = (false, false, true);
            continue;
        }
        if is_end(c) {
            reader.at += c.len_utf8();
            out.push(c);
            (secret, user, here, set) = (false, false, false, false);
            listed = c != ')' && (listed || (list && c == '('));
            list = false;
            continue;
        }
        let word = reader.word();
        let value: String = word.chars.iter().map(|(c, ..)| c).collect();
        let kept = if here {
            None
        } else if secret || listed || (user && value.contains(':')) {
            Some(0)
        } else {
            named(&value).or_else(|| behind_line(&value))
        };
        list = kept == Some(word.chars.len()) && value.ends_with('=');
        match kept.filter(|kept| *kept < word.chars.len()) {
            Some(kept) => {
                let (_, at, quote) = word.chars[kept];
                out.push_str(&text[from..at]);
                out.push_str(REDACTED);
                out.extend(quote);
            }
            None if here => out.push_str(&summary(&value)),
            None => inner(&mut out, text, from, &word, depth),
        }
        let name = value.trim_matches(|c| matches!(c, '"' | '\''));
        let option = kept.is_none() && !here && name.starts_with('-') && !name.contains(['=', ':', ' ', '/']);
        secret = option && is_secret_name(name) || set && kept.is_none() && is_set_secret(name);
        user = option && is_user_option(name);
        set = name == "set";
        here = false;
    }
    out
}

/// Whether what is set by this name is a secret: `aws_secret_access_key`, `//host/:_authToken`.
fn is_set_secret(name: &str) -> bool {
    let name: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    ["token", "secret", "password", "accesskey"].iter().any(|ending| name.ends_with(ending))
}

/// The same as [`named`] where a line within the word begins with the name: `user=a\npassword=`.
fn behind_line(value: &str) -> Option<usize> {
    let lines = value.match_indices("\\n").map(|(at, end)| at + end.len());
    lines.take(LINES_MAX).find_map(|at| Some(value[..at].chars().count() + named(&value[at..])?))
}

/// How many characters of a word are in front of a secret that the word itself names: `--password=`, `Cookie: `,
/// `--header=X-Api-Key: `.
fn named(value: &str) -> Option<usize> {
    // `-ume:password`.
    if value.starts_with("-u") || value.starts_with("-U") {
        let (user, password) = value[2..].split_once(':').unwrap_or_default();
        if !user.is_empty() && !password.is_empty() && user.chars().all(|c| super::in_word(c) || c == '@') {
            return Some(2);
        }
    }
    let mut begin = 0;
    // A name may be what an option is given.
    for _ in 0..2 {
        let rest = &value[begin..];
        let sign = rest.find(|c: char| !super::in_word(c))?;
        let (name, behind) = rest.split_at(sign);
        let length = if behind.starts_with("+=") { 2 } else { 1 };
        if !behind.starts_with(['=', ':']) && length == 1 {
            return None;
        }
        let blanks = |text: &str| text.len() - text.trim_start_matches([' ', '\t']).len();
        let mut at = begin + sign + length;
        if is_user_option(name) && value[at..].contains(':') {
            return Some(value[..at].chars().count());
        }
        if !is_secret_name(name) {
            begin = at;
            continue;
        }
        at += blanks(&value[at..]);
        // A list may go on in further words.
        if value[at..].starts_with('[') {
            return None;
        }
        let scheme = SCHEMES.iter().find(|scheme| value[at..].starts_with(**scheme));
        at += scheme.map_or(0, |scheme| scheme.len());
        return Some(value[..at].chars().count());
    }
    None
}

/// A word that names no secret: what is in its quotes may be a command again.
fn inner(out: &mut String, text: &str, from: usize, word: &Word, depth: usize) {
    let mut at = from;
    for (begin, end, quote) in &word.quoted {
        let raw = &text[*begin..*end];
        if depth >= DEPTH_MAX || !raw.contains([' ', '\t', '\n']) {
            continue;
        }
        out.push_str(&text[at..*begin]);
        at = *end;
        let plain = if *quote == '"' { raw.replace("\\\"", "\"") } else { raw.to_owned() };
        let kept = within(&plain, depth + 1);
        match (kept == plain, quote) {
            (true, _) => out.push_str(raw),
            (false, '"') => out.push_str(&kept.replace('"', "\\\"")),
            (false, _) => out.push_str(&kept),
        }
    }
    out.push_str(&text[at..word.end]);
}

fn is_end(c: char) -> bool {
    matches!(c, '\n' | ';' | '|' | '&' | '(' | ')' | '<' | '>' | '`')
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    /// No single quote, or no double one, closes any more: each is a character like others.
    unclosed: (bool, bool),
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// Goes past a blank, or a line that goes on.
    fn skips_blank(&mut self, c: char) -> bool {
        let length = match c {
            ' ' | '\t' | '\r' => 1,
            '\\' if self.text[self.at..].starts_with("\\\n") => 2,
            _ => return false,
        };
        self.at += length;
        true
    }

    fn word(&mut self) -> Word {
        let mut word = Word::default();
        while let Some(c) = self.peek() {
            let rest = &self.text[self.at..];
            if rest.starts_with("\\\n") {
                self.at += 2;
                continue;
            }
            if is_end(c) || matches!(c, ' ' | '\t' | '\r') {
                break;
            }
            let ansi = rest.starts_with("$'");
            let opens = usize::from(ansi || rest.starts_with("$\""));
            let quote = rest[opens..].chars().next().filter(|c| matches!(c, '"' | '\''));
            if let Some(quote) = quote
                && let Some(length) = self.closing(&rest[opens + 1..], quote, ansi)
            {
                let begin = self.at + opens + 1;
                word.quoted.push((begin, begin + length, quote));
                quoted(&mut word, &self.text[begin..begin + length], begin, quote, ansi);
                self.at = begin + length + 1;
                continue;
            }
            if c == '\\' {
                self.at += 1;
            }
            if let Some(c) = self.peek() {
                word.chars.push((c, self.at, None));
                self.at += c.len_utf8();
            }
        }
        word.end = self.at;
        word
    }

    /// How much stands in front of the quote that closes.
    fn closing(&mut self, rest: &str, quote: char, ansi: bool) -> Option<usize> {
        let has_escapes = quote == '"' || ansi;
        let given_up = if has_escapes { &mut self.unclosed.1 } else { &mut self.unclosed.0 };
        if *given_up {
            return None;
        }
        let mut escaped = false;
        for (at, c) in rest.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' if has_escapes => escaped = true,
                c if c == quote => return Some(at),
                _ => {}
            }
        }
        *given_up = true;
        None
    }
}

/// What a program gets of what is in quotes; an escape stays as it is but for its backslash.
fn quoted(word: &mut Word, text: &str, begin: usize, quote: char, ansi: bool) {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == '\\' && !escaped && (ansi || quote == '"') {
            escaped = true;
            continue;
        }
        let start = if escaped { begin + at - 1 } else { begin + at };
        if !(escaped && c == '\n' && quote == '"') {
            word.chars.push((c, start, Some(quote)));
        }
        escaped = false;
    }
}
