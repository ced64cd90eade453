//! What a script of sed does: prints, edits, reads or writes files, or runs commands.
//!
//! Source: GNU sed 4.9 manual, 3 "sed scripts" and 4 "Addresses"; where busybox, BSD or an older GNU sed read a script
//! otherwise, it is not known.

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
    let mut found = Found::default();
    found.read(text)?;
    Some(found.does)
}

/// The files that the script reads or writes; where it is not known, whatever may be the name of one.
pub(in crate::permission::commands) fn files(text: &str) -> Vec<&str> {
    const MAX: usize = 32;
    let mut found = Found::default();
    if found.read(text).is_none() {
        let letters = text.match_indices(['r', 'R', 'w', 'W']).take(MAX);
        found.files.extend(letters.map(|(at, _)| line(&text[at + 1..]).0.trim_start()));
    }
    found.files
}

/// What was found in a script so far.
#[derive(Default)]
struct Found<'t> {
    does: Does,
    files: Vec<&'t str>,
}

impl<'t> Found<'t> {
    fn read(&mut self, text: &'t str) -> Option<()> {
        let mut rest = text;
        loop {
            rest = rest.trim_start_matches([' ', '\t', '\n', ';']);
            if rest.is_empty() {
                return Some(());
            }
            if let Some(comment) = rest.strip_prefix('#') {
                rest = line(comment).1;
                continue;
            }
            rest = addresses(rest)?.trim_start_matches([' ', '\t']);
            rest = rest.trim_start_matches('!').trim_start_matches([' ', '\t']);
            rest = command(rest, self)?;
        }
    }

    /// A name goes to the end of its line; what follows that.
    fn file(&mut self, text: &'t str) -> &'t str {
        let (name, after) = line(text);
        self.does.files = true;
        self.files.push(name.trim_start_matches([' ', '\t']));
        after
    }
}

/// The first line, and what follows it.
fn line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
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
        Some('/') => Some(regex(&text[1..], '/')?.trim_start_matches(['I', 'M'])),
        Some('\\') => {
            let (delimiter, inside) = delimiter(&text[1..])?;
            Some(regex(inside, delimiter)?.trim_start_matches(['I', 'M']))
        }
        _ => Some(text),
    }
}

/// The character that ends a part, and what follows it. None that opens or closes something elsewhere: rename(1) pairs
/// brackets, and in a regex they have a meaning of their own.
fn delimiter(text: &str) -> Option<(char, &str)> {
    let first = text.chars().next().filter(|c| c.is_ascii_graphic() && !"\\[](){}<>".contains(*c))?;
    Some((first, &text[1..]))
}

/// What follows the delimiter that ends a regex. GNU sed 4.9 looks for none in a bracket expression, POSIX and older ones
/// do, and a backslash means itself in one or not: what could be taken in two ways is not known.
fn regex(text: &str, delimiter: char) -> Option<&str> {
    let mut rest = text;
    loop {
        let c = rest.chars().next()?;
        let behind = &rest[c.len_utf8()..];
        rest = match c {
            '\n' => return None,
            '\\' => behind.strip_prefix(|escaped: char| escaped != '\n')?,
            '[' => bracket(behind, delimiter)?,
            c if c == delimiter => return Some(behind),
            _ => behind,
        };
    }
}

/// What follows a bracket expression that every sed takes for the same: it holds neither the delimiter nor a line's end,
/// no `[` but of a class, and no backslash in front of a bracket.
fn bracket(text: &str, delimiter: char) -> Option<&str> {
    let inside = text.strip_prefix(|c| c == '^' && c != delimiter).unwrap_or(text);
    // The first is a member, not the end.
    let mut rest = inside.strip_prefix(']').unwrap_or(inside);
    let mut members = inside.len() - rest.len();
    loop {
        let c = rest.chars().next()?;
        let behind = &rest[c.len_utf8()..];
        rest = match c {
            ']' => return (members > 0).then_some(behind),
            '\n' => return None,
            '[' => class(behind).filter(|after| !behind[..behind.len() - after.len()].contains(delimiter))?,
            c if c == delimiter => return None,
            // An escaped delimiter ends nothing, whether the backslash is a member or not.
            '\\' => behind.strip_prefix(|escaped: char| !"[]\n".contains(escaped))?,
            _ => behind,
        };
        members += 1;
    }
}

/// What follows `:alpha:]`.
fn class(text: &str) -> Option<&str> {
    const NAMES: &[&str] = &[
        "alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper",
        "xdigit",
    ];
    let (name, behind) = text.strip_prefix(':')?.split_once(":]")?;
    NAMES.contains(&name).then_some(behind)
}

/// What follows the delimiter that ends a replacement, in which brackets mean nothing.
fn replacement(text: &str, delimiter: char) -> Option<&str> {
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            chars.next()?;
        } else if c == delimiter {
            return Some(&text[at + c.len_utf8()..]);
        } else if c == '\n' {
            return None;
        }
    }
    None
}

fn command<'t>(text: &'t str, found: &mut Found<'t>) -> Option<&'t str> {
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
        'b' | 't' | 'T' | ':' => label(name, rest),
        's' => flags(two_parts(rest)?, found),
        'y' => end(two_parts(rest)?),
        // To the end of the line, and on where a backslash ends one.
        'a' | 'i' | 'c' => Some(after_text(rest)),
        'r' | 'R' | 'w' | 'W' => Some(found.file(rest)),
        'e' => {
            found.does.runs = true;
            Some(line(rest).1)
        }
        _ => None,
    }
}

/// What follows the two parts of `s` and `y`. The first of `y` is no regex, but busybox takes it for one here.
fn two_parts(text: &str) -> Option<&str> {
    let (delimiter, inside) = delimiter(text)?;
    replacement(regex(inside, delimiter)?, delimiter)
}

/// What follows a label, which ends at a blank or `;` everywhere, at `}` and `#` only to some. Behind `}` that close blocks
/// all agree again where such an end comes next.
fn label(command: char, text: &str) -> Option<&str> {
    let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let rest = text.trim_start_matches([' ', '\t']).trim_start_matches(name);
    let closed = if command == ':' { rest } else { rest.trim_start_matches('}') };
    let ends = closed.is_empty() || closed.starts_with([';', '\n', ' ', '\t']);
    ends.then_some(rest).and_then(end)
}

fn flags<'t>(text: &'t str, found: &mut Found<'t>) -> Option<&'t str> {
    let mut rest = text;
    loop {
        let Some(flag) = rest.chars().next() else { return Some(rest) };
        match flag {
            'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9' => rest = &rest[1..],
            'e' => {
                found.does.runs = true;
                rest = &rest[1..];
            }
            'w' => return Some(found.file(&rest[1..])),
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
            "s/[^]]*//;s/[]]//;s/[^]a]x[]b]//",
            "s/[[:space:]]*$//",
            "s/[^[:alnum:]_-]//g;/[[:upper:][:digit:]]/d",
            "s/[^\\/]*$//",
            "s/[\\t\\n\\.\\\\]//",
            "s|[/]|[|",
            "s/\\[/[/;s/\\[[a]\\]/]/",
            "$!{N;ba}",
            "/x/{s/a/b/;t};:c",
            "y/abc/[]#/",
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
    fn scripts_tell_their_files() {
        for (text, want) in [
            ("1r.env", &[".env"][..]),
            ("/r/d;1r.env", &[".env"]),
            ("y/r/x/;r .env", &[".env"]),
            ("/rw/!wlocked/zz", &["locked/zz"]),
            ("s/a/b/gw .bashrc\np;W\tx\n$!{R y\n}", &[".bashrc", "x", "y"]),
            ("p;s/r/w/", &[]),
            // Where it is not known, behind any such letter.
            ("s/[/]/r/;r.env", &["/;r.env", ".env"]),
        ] {
            assert_eq!(files(text), want, "{text:?}");
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
            // The delimiter, or what hides the end, in brackets.
            "s/[/]/x/e",
            "s/[/]/x/",
            "/[/p;#]/e id",
            "s/[/]/x/;#/e",
            "/[/p;#]/r f",
            "\\,[,p;#],w f",
            "s/[[:alpha:]/]/p;#/w f",
            "s/[[:x:]/]/p;#/w f",
            "s/[]/]/x/;#/e",
            "s/[^]/]/x/;#/e",
            "s/[[.].]/]/x/;#/e",
            "s/[[=]=]/]/x/;#/e",
            "s/[\\]/x/;#]/e",
            "s/[\\\\/]/x/;#/e",
            "s/[a[/]/x/;#/e",
            "s/[\n/]/x/",
            "s/[]/x/",
            "s/[^]/x/",
            "s/[/x/",
            "s[a[b[",
            "s]a]b]",
            "s^[^^]^x^",
            "s^[^a]#]^x^e",
            "s:[[:alpha:]]:x:",
            "sp[[:alpha:]]p#]pxpe",
            "s{a{b{",
            "y/[/]/;#]/w f",
            "s/a/x\ny/",
            "/a\n/p",
            // What some take for a part of the label.
            ":a#;w f",
            ":a}",
            "b#;w f",
            "{ba}#;w f",
            ":a e rm",
            "ba e rm",
        ] {
            assert_eq!(script(text), None, "{text:?}");
        }
    }

    /// Numbers that look random and are always the same (splitmix64).
    fn below(state: &mut u64, end: usize) -> usize {
        *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = *state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % end as u64).unwrap()
    }

    /// Scripts that are likely to hide a command, as sed itself reads them: with `--sandbox` it refuses those that run
    /// something or name a file.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "sed itself is what is looked at")]
    fn whatever_sed_says_runs_or_touches_files_is_never_taken_for_harmless() {
        const SCRIPTS: usize = 1500;
        const PIECES: &str = concat!(
            r"[ [ ] ] [^ [] [^] [[:alpha:] [: :] [. .] [= =] / / / \ \/ \\ # # ; ; ⏎ \⏎ a s/ s, , y/ p } { b t :a : ␣ ",
            r"! 1 $ i\ \, | s| s: s^ ^ I g & s/[ /[ ]/ x/",
        );
        const ENDS: &str = "e e␣id w␣f r␣f /e /w␣f /x/e ]/e␣id ]/w␣f ;e␣id ;#/e ⏎w␣f /p;#]/e␣id";
        let [pieces, ends] = [PIECES, ENDS].map(|all| all.split(' ').collect::<Vec<_>>());
        let is_gnu = std::process::Command::new("sed").arg("--version").output();
        if !is_gnu.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).contains("GNU sed")) {
            return;
        }
        let (mut state, mut tried) = (7, 0);
        for _ in 0..SCRIPTS {
            let mut text = String::new();
            for _ in 0..=below(&mut state, 7) {
                text += pieces[below(&mut state, pieces.len())];
            }
            text += ends[below(&mut state, ends.len())];
            let text = text.replace('⏎', "\n").replace('␣', " ");
            if script(&text) != Some(Does::default()) {
                continue;
            }
            tried += 1;
            let told = std::process::Command::new("sed")
                .args(["--sandbox", "-e", &text])
                .stdin(std::process::Stdio::null())
                .output()
                .unwrap();
            let complaint = String::from_utf8_lossy(&told.stderr);
            assert!(!complaint.contains("sandbox"), "{text:?}: {complaint}");
        }
        assert!(tried > 20, "no script was taken for harmless, so none was tried");
    }
}
