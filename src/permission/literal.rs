//! The one shape of shell text that can be understood here: a single command whose words are all literal.

/// Longest text that is understood, in characters.
const MAX_CHARS: usize = 10_000;

/// First words that bash takes for something else than the name of a command.
const RESERVED: [&str; 23] = [
    "if", "then", "elif", "else", "fi", "time", "for", "in", "until", "while", "do", "done", "case", "esac",
    "coproc", "select", "function", "{", "}", "[[", "]]", "!", "[",
];

/// The words that bash passes on for `text`, when it is one simple command without expansions, assignments or
/// redirections (but for discarding output and joining it). Anything else, and anything odd: `None`.
pub(crate) fn simple_command(text: &str) -> Option<Vec<String>> {
    if text.chars().nth(MAX_CHARS).is_some() || text.chars().any(is_odd) {
        return None;
    }
    let text = text.trim_matches([' ', '\t', '\n']);
    let mut words = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        if rest.is_empty() {
            break;
        }
        if let Some(after) = harmless_redirection(rest) {
            rest = after;
            continue;
        }
        let (word, after) = literal_word(rest)?;
        words.push(word);
        rest = after;
    }
    is_program(text, words.first()?).then_some(words)
}

/// Control, invisible and direction-changing characters: what a person reads is not what runs.
fn is_odd(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether the first word is taken as the name of a program or builtin, and nothing else.
fn is_program(text: &str, word: &str) -> bool {
    // An assignment, a job (`%1`), a history reference or a disguise in non-ASCII letters.
    !word.is_empty()
        && word.bytes().all(|b| b.is_ascii_graphic())
        && !word.contains(['=', '%', '^', '!', '\'', '"', '\\'])
        && !RESERVED.contains(&word)
        // `r\m` and `"rm"` are literal, but nobody who means well writes them.
        && (text.starts_with(word) || text.starts_with(['>', '<', '&', '1', '2']))
}

/// `2>&1`, `>/dev/null` and the like at the beginning of `rest`; what follows them.
fn harmless_redirection(rest: &str) -> Option<&str> {
    let (body, reads, both) = match rest.as_bytes() {
        [b'&', b'>', ..] => (&rest[2..], false, true),
        [b'1' | b'2', b'>', ..] => (&rest[2..], false, false),
        [b'0', b'<', ..] => (&rest[2..], true, false),
        [b'>', ..] => (&rest[1..], false, false),
        [b'<', ..] => (&rest[1..], true, false),
        _ => return None,
    };
    let after = if let (Some(descriptor), false, false) = (body.strip_prefix('&'), reads, both) {
        descriptor.strip_prefix(['1', '2'])?
    } else {
        let body = if reads { body } else { body.strip_prefix('>').unwrap_or(body) };
        body.trim_start_matches([' ', '\t']).strip_prefix("/dev/null")?
    };
    (after.is_empty() || after.starts_with([' ', '\t'])).then_some(after)
}

/// One word from the beginning of `rest`, quotes removed, and what follows it.
fn literal_word(rest: &str) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut chars = rest.char_indices().peekable();
    let mut previous = None;
    while let Some((at, c)) = chars.next() {
        match c {
            ' ' | '\t' => return Some((word, &rest[at..])),
            '\'' => loop {
                match chars.next()?.1 {
                    '\'' => break,
                    inner => word.push(inner),
                }
            },
            '"' => loop {
                match chars.next()?.1 {
                    '"' => break,
                    '$' | '`' => return None,
                    '\\' => match chars.next()?.1 {
                        '\n' => return None,
                        escaped @ ('$' | '`' | '"' | '\\') => word.push(escaped),
                        other => word.extend(['\\', other]),
                    },
                    inner => word.push(inner),
                }
            },
            '\\' => match chars.next()?.1 {
                '\n' => return None,
                escaped => word.push(escaped),
            },
            '~' | '#' if at == 0 => return None,
            '~' if matches!(previous, Some('=' | ':')) => return None,
            '$' | '`' | '*' | '?' | '[' | ']' | '{' | '}' | '(' | ')' | '<' | '>' | '&' | '|' | ';'
            | '\n' => {
                return None;
            }
            _ => word.push(c),
        }
        previous = Some(c);
    }
    Some((word, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_commands_are_read_as_bash_reads_them() {
        for (text, want) in [
            ("ls", &["ls"][..]),
            ("  ls   -la\t x \n", &["ls", "-la", "x"]),
            ("sed -n '1,80p' f", &["sed", "-n", "1,80p", "f"]),
            ("echo \"a b\"'c d'e", &["echo", "a bc de"]),
            ("echo \"\\\"x\\\" \\n\"", &["echo", "\"x\" \\n"]),
            ("echo ''", &["echo", ""]),
            ("rg \\--pre=sh", &["rg", "--pre=sh"]),
            ("git log HEAD~1", &["git", "log", "HEAD~1"]),
            ("echo a#b", &["echo", "a#b"]),
            ("ls x 2>&1", &["ls", "x"]),
            ("ls 2>/dev/null x", &["ls", "x"]),
            ("ls > /dev/null 2>&1", &["ls"]),
            ("ls &>/dev/null", &["ls"]),
            ("cat </dev/null", &["cat"]),
            ("echo 'a\nb'", &["echo", "a\nb"]),
            ("find . -name '*.rs'", &["find", ".", "-name", "*.rs"]),
        ] {
            assert_eq!(simple_command(text).as_deref(), Some(&want.map_owned()[..]), "{text:?}");
        }
    }

    trait MapOwned {
        fn map_owned(&self) -> Vec<String>;
    }
    impl MapOwned for &[&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|s| (*s).to_owned()).collect()
        }
    }

    #[test]
    fn everything_else_is_not_understood() {
        for text in [
            "",
            "  ",
            "cat <<E && touch x\nhi\nE",
            "x='$(touch x)'; echo ${x@P}",
            "$(echo touch x)",
            "echo $x",
            "echo \"$x\"",
            "echo `x`",
            "echo \"`x`\"",
            "echo $'a'",
            "echo $\"a\"",
            "ls *.rs",
            "ls a?",
            "ls [ab]",
            "ls {a,b}",
            "ls ~",
            "ls ~/x",
            "dd if=~/x",
            "PATH=./b ls",
            "LD_PRELOAD=./x.so ls",
            "A+=1 ls",
            "ls; rm",
            "ls && rm",
            "ls | rm",
            "ls & rm",
            "ls\nrm",
            "(ls)",
            "! ls",
            "[ -f x ]",
            "[[ -f x ]]",
            "if",
            "time ls",
            "coproc ls",
            "%1",
            "ls > out",
            "ls >/dev/nullx",
            "ls >/dev/null/../x",
            "ls 3>/dev/null",
            "ls >&x",
            "ls 2>&1x",
            "ls <in",
            "ls # x",
            "ls \\\nx",
            "ls \"a\\\nb\"",
            "ls 'x",
            "ls \"x",
            "ls \\",
            "ls \u{0}",
            "ls \u{1b}[2J",
            "ls\r",
            "ls \u{202e}x",
            "ls \u{200b}x",
            "l\u{455} x",
            "r\\m x",
            "'rm' x",
            "r''m x",
            "\"\" x",
        ] {
            assert_eq!(simple_command(text), None, "{text:?}");
        }
        assert!(simple_command(&format!("echo {}", "a".repeat(9_995))).is_some());
        assert!(simple_command(&format!("echo {}", "a".repeat(9_996))).is_none());
    }
}
