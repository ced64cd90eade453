//! The second reading of a text with nothing in it but plain words, what stands between commands, and the usual redirections.
//!
//! No character of such a word is an operator's or has another meaning to any shell, so that it ends at a blank (POSIX.1-2024,
//! shell command language, 2.3), and no word of it is reserved (2.4) or the name of a builtin with a syntax of its own.
//! That leaves one reading, which takes no parser: most texts of daily work are so.

use super::second::Atom;

/// Reserved words of bash (5.2 manual, 3.2), builtins that take assignments for arguments (its 4.2), and what the parser reads
/// as one of these; a dash alone it leaves out in places.
const OWN_SYNTAX: &[&str] = &[
    "if", "then", "elif", "else", "fi", "time", "for", "in", "until", "while", "do", "done", "case", "esac",
    "coproc", "select", "function", "declare", "typeset", "export", "readonly", "local", "unset", "unsetenv",
    "-",
];

/// The words of all commands, in the order of the text; `None` where it takes a parser to tell.
pub(super) fn atoms(text: &str) -> Option<Vec<Atom<'_>>> {
    let mut atoms = Vec::new();
    let mut starts = true;
    for raw in text.split(' ').filter(|piece| !piece.is_empty()) {
        if matches!(raw, "&&" | "||" | "|" | ";") {
            if starts {
                return None;
            }
            starts = true;
        } else if let Some(target) = target(raw).filter(|_| !starts) {
            atoms.push(Atom { starts, raw: target });
        } else if is_plain(raw) && !(starts && (raw.contains('=') || raw.starts_with('-'))) {
            atoms.push(Atom { starts, raw });
            starts = false;
        } else {
            return None;
        }
    }
    // A list may end with `;`, but not with the others, and the parser knows which.
    (!starts).then_some(atoms)
}

/// Where one of the usual redirections leads: a number in front of its operator is a descriptor, and nothing else (2.7).
fn target(raw: &str) -> Option<&str> {
    let behind = raw.strip_prefix(['1', '2']).unwrap_or(raw).strip_prefix('>')?;
    match behind.strip_prefix('&') {
        Some(descriptor) => matches!(descriptor, "1" | "2").then_some(descriptor),
        None => (behind == "/dev/null").then_some(behind),
    }
}

fn is_plain(word: &str) -> bool {
    let begins = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'/');
    let goes_on = |b: u8| begins(b) || matches!(b, b'_' | b'@' | b'%' | b'+' | b',' | b':' | b'=' | b'~');
    word.bytes().next().is_some_and(begins) && word.bytes().all(goes_on) && !OWN_SYNTAX.contains(&word)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::permission::shell::second;

    fn piece() -> impl Strategy<Value = String> {
        let own = prop::sample::select(OWN_SYNTAX.to_vec()).prop_map(str::to_owned);
        let known = [
            "test", "let", "eval", "alias", "source", ".", "a=b", "-f", "2", "~", "~/x", "HEAD~1", "a:~",
            "{", "!", "[",
        ];
        let known = prop::sample::select(known.to_vec()).prop_map(str::to_owned);
        let operator = prop::sample::select(vec!["&&", "||", "|", ";", "|&", "&"]).prop_map(str::to_owned);
        let redirection =
            ["2>&1", ">&2", "1>&2", "2>/dev/null", ">/dev/null", "1>/dev/null", "3>&1", "2>&3", ">x"];
        let redirection = prop::sample::select(redirection.to_vec()).prop_map(str::to_owned);
        prop_oneof![2 => redirection, 6 => "[a-c0-2_./@%+,:=~-]{1,6}", 2 => known, 1 => own, 4 => operator]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        /// What is read without the parser is what the parser reads, where that can (some odd names are too much for it).
        #[test]
        fn plain_words_are_read_as_the_parser_reads_them(pieces in prop::collection::vec(piece(), 1..9)) {
            let text = pieces.join(" ");
            if let Some((atoms, parsed)) = atoms(&text).zip(second::parsed(&text)) {
                prop_assert_eq!(atoms, parsed, "{:?}", text);
            }
        }
    }

    #[test]
    fn texts_of_daily_work_are_plain_and_others_are_not() {
        for text in [
            "ls",
            "cd src && git diff --stat HEAD~1 | head -n 40",
            " make  -j4 ; ls || true ",
            "ls 2>&1 | tail -n 3",
            "ls x >/dev/null 2>&1 y",
        ] {
            assert!(atoms(text).is_some(), "{text:?}");
        }
        for text in [
            "",
            "ls;",
            "ls ;",
            "ls | ",
            "&& ls",
            "ls && ; id",
            "A=b ls",
            "ls 'x'",
            "ls $x",
            "ls *.c",
            "ls\nid",
            "ls > x",
            "ls &",
            "ls # x",
            "! ls",
            "time ls",
            "if a",
            "export A",
            "echo do",
            "ls {}",
            "ls \tx",
            "ls a\\b",
            "ls é",
        ] {
            assert!(atoms(text).is_none(), "{text:?}");
        }
    }
}
