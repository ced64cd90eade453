//! Every command that a shell text might run, found by over-approximation: for deny and ask, never for allow.
//!
//! This is no parser. The text is read several times, each time with another idea of what quotes do, and cut at
//! everything that could end a command. Where a carrier such as `env` or `xargs` could run its arguments, any
//! word may start a command; so carriers need no list here.

use super::super::commands::kind;
use super::super::lexical::file_name;
use super::script;
use super::segment::mark_repeats;
pub(crate) use super::segment::{Begins, Role, Segment, Sight, is_assignment};
use crate::permission::commands::names::value_starts;

/// What one reading takes quotes for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quotes {
    /// As the shell does: what they hold is part of a word.
    Honoured,
    /// They are not there.
    Dropped,
    /// They end a command, so that what they hold is one.
    Breaks,
}

/// What the text would run as it is most likely meant, for people to read: quotes taken as the shell takes them.
pub(crate) fn leaves(text: &str) -> Vec<String> {
    let mut reading = Reading::new(text, Quotes::Honoured);
    reading.leaves = Some(Vec::new());
    reading.all(false);
    reading.leaves.unwrap_or_default()
}

/// A word of a text that is not understood: in quotes where it would not be one word else.
fn quoted(word: &str) -> String {
    let apart = |c: char| c.is_whitespace() || c.is_control() || "'\"`\\;&|<>()#".contains(c);
    if word.is_empty() || word.contains(apart) { script::quoted(word) } else { word.to_owned() }
}

/// All segments of a text. Time and memory are linear in its length.
pub(crate) fn scan(text: &str) -> Vec<Segment> {
    let mut segments = Reading::of(text, Quotes::Honoured, false);
    if is_plain(text) && segments.iter().all(is_inert) {
        for segment in &mut segments {
            segment.begins = Begins::Inert;
        }
        return segments;
    }
    // Of a text without quotes it is mostly the same once more.
    let dropped = Reading::of(text, Quotes::Dropped, false);
    if dropped != segments {
        segments.extend(dropped);
    }
    if text.contains(['\'', '"']) {
        segments.extend(Reading::of(text, Quotes::Breaks, false));
    }
    if text.contains('{') && text.contains(',') {
        segments.extend(Reading::of(text, Quotes::Dropped, true));
    }
    let bare: Vec<Segment> = segments.iter().filter_map(without_git_options).collect();
    segments.extend(bare);
    mark_repeats(&mut segments);
    segments
}

/// The segments of a command whose words are known. Where its arguments are not inert, each of them is looked into
/// as a text of its own.
pub(crate) fn of_words(words: &[String], begins: Begins) -> Vec<Segment> {
    let exact = Segment::runs(words, begins);
    let mut segments: Vec<Segment> = without_git_options(&exact).into_iter().collect();
    if begins != Begins::Inert && exact.text.contains(|c: char| c != ' ' && !is_usual(c)) {
        let of_text = segments.len();
        segments.extend(Reading::of(&exact.text, Quotes::Dropped, false));
        for word in words.iter().skip(1).filter(|word| word.contains(|c: char| !is_usual(c))) {
            segments.extend(scan(word));
        }
        for segment in &mut segments[of_text..] {
            segment.begins = begins.within();
        }
        mark_repeats(&mut segments);
    }
    segments.insert(0, exact);
    segments
}

/// The command again with the variables that are set for it, in front of it or among its words (`env A=1 x`): a rule may begin
/// with one of them.
pub(crate) fn with_assignments(assigned: &[String], words: &[String], begins: Begins) -> Option<Segment> {
    if !assigned.is_empty() {
        let all = assigned.iter().chain(words).map(String::as_str);
        return Some(Segment::joined(all, if begins == Begins::Inert { begins } else { Begins::First }));
    }
    if begins == Begins::Inert {
        return None;
    }
    let (mut at, mut listed) = (0, Vec::new());
    for (number, word) in words.iter().enumerate() {
        listed.extend(Some(at).filter(|_| number > 0 && is_assignment(word)));
        at += word.len() + 1;
    }
    let all = || Segment::joined(words.iter().map(String::as_str), Begins::Listed);
    (!listed.is_empty()).then(|| Segment { listed, ..all() })
}

/// Commands that may stand within words: behind `=`, between commas, behind the letters of an option, as in
/// `--exec=rm`, `-wrapper rm,x`, `-rrm`.
pub(crate) fn tails(words: &[String]) -> Option<Segment> {
    let (mut text, mut listed) = (String::new(), Vec::new());
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        let from = text.len();
        if word.contains(',') && !word.starts_with('-') {
            listed.push(from);
        }
        listed.extend(value_starts(word).map(|at| from + at));
        let parts = word.contains(['=', ',']) || word.starts_with('-');
        for c in word.chars().filter(|c| !matches!(c, '\'' | '"')) {
            match c {
                '=' | ',' => {
                    text.push(' ');
                    listed.push(text.len());
                }
                '/' if parts => {
                    text.push('/');
                    listed.push(text.len());
                }
                c => text.push(c),
            }
        }
    }
    listed.retain(|at| text.is_char_boundary(*at) && *at < text.len());
    listed.sort_unstable();
    listed.dedup();
    let begins = Begins::Listed;
    (!listed.is_empty()).then(|| Segment {
        text,
        role: Role::Runs,
        begins,
        spaced: Vec::new(),
        listed,
        repeats: false,
    })
}

/// The command `words` under another name of its program.
pub(crate) fn renamed(name: &str, rest: &[String], sure: bool) -> Segment {
    const MAX_WORDS: usize = 256;
    let words: Vec<String> =
        std::iter::once(name).map(str::to_owned).chain(rest.iter().take(MAX_WORDS).cloned()).collect();
    let begins = if sure { Begins::First } else { Begins::Listed };
    Segment { listed: if sure { Vec::new() } else { vec![0] }, ..Segment::runs(&words, begins) }
}

/// The command `words` with what stands at one place of them called otherwise.
pub(crate) fn called(words: &[String], at: usize, name: &str, sure: bool) -> Segment {
    let (before, behind) = words.split_at(at);
    let rest: Vec<String> = before
        .iter()
        .map(String::as_str)
        .chain([name])
        .chain(behind.iter().skip(1).map(String::as_str))
        .skip(1)
        .map(str::to_owned)
        .collect();
    renamed(before.first().map_or(name, String::as_str), &rest, sure)
}

/// Characters that no shell takes for anything else than themselves.
fn is_usual(c: char) -> bool {
    c.is_alphanumeric() || "_-./:=@%+,".contains(c)
}

/// Whether the quote-honouring reading is exact: nothing in the text that it does not know.
fn is_plain(text: &str) -> bool {
    let odd = |c: char| {
        matches!(c, '$' | '`' | '\\' | '(' | ')' | '{' | '}' | '#')
            || (c.is_control() && c != '\n' && c != '\t')
    };
    let balanced = |quote: char, other: char| {
        // Quotes inside of the other kind make the count useless: then the text is not plain.
        text.matches(quote).count().is_multiple_of(2) && (!text.contains(quote) || !text.contains(other))
    };
    !text.contains(odd) && !text.contains("<<") && balanced('\'', '"') && balanced('"', '\'')
}

fn is_inert(segment: &Segment) -> bool {
    if segment.role != Role::Runs {
        return true;
    }
    let words: Vec<String> = segment.words().map(str::to_owned).collect();
    let skip = words.iter().take_while(|w| is_assignment(w)).count();
    kind::is_inert(&words[skip..])
}

/// Options of git's in front of its subcommand whose value is the next word (git(1)).
const WITH_VALUE: &str =
    "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source";

/// `git -C dir -c x=y push …` and `git-push …` again as `git push …`, so that a rule for `git push` sees it.
fn without_git_options(segment: &Segment) -> Option<Segment> {
    let words: Vec<&str> = segment.whole_words().collect();
    let of_git = |word: &&str| {
        file_name(word).strip_prefix("git").is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let git = words.iter().position(of_git)?;
    let begins = match segment.begins {
        Begins::Inert if git == 0 => Begins::First,
        begins if git == 0 => begins,
        begins => begins.within(),
    };
    let mut rest = &words[git + 1..];
    if let Some((_, sub)) = words[git].rsplit_once("git-") {
        // Git's own programs, by their names.
        return Some(Segment::joined(["git", sub].into_iter().chain(rest.iter().copied()), begins));
    }
    if !rest.first()?.starts_with('-') {
        return None;
    }
    while let [option, after @ ..] = rest
        && option.starts_with('-')
    {
        let takes_value = WITH_VALUE.split(' ').any(|name| name == *option);
        rest = if takes_value { after.get(1..).unwrap_or_default() } else { after };
    }
    Some(Segment::joined(std::iter::once("git").chain(rest.iter().copied()), begins))
}

/// One way of reading a text.
struct Reading<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    quotes: Quotes,
    out: Vec<Segment>,
    words: Vec<String>,
    word: String,
    /// A word is being read, perhaps an empty quoted one.
    open: bool,
    redirect: Option<Role>,
    /// What is to be shown to people, where that is asked for: then words stay as they are to the last character.
    leaves: Option<Vec<String>>,
    /// The redirections of the command so far, and how the next one is written.
    redirections: Vec<String>,
    operator: String,
}

impl<'t> Reading<'t> {
    fn of(text: &'t str, quotes: Quotes, split_braces: bool) -> Vec<Segment> {
        let mut reading = Self::new(text, quotes);
        reading.all(split_braces);
        reading.out
    }

    fn new(text: &'t str, quotes: Quotes) -> Self {
        Self {
            rest: text.chars().peekable(),
            quotes,
            out: Vec::new(),
            words: Vec::new(),
            word: String::new(),
            open: false,
            redirect: None,
            leaves: None,
            redirections: Vec::new(),
            operator: String::new(),
        }
    }

    fn all(&mut self, split_braces: bool) {
        while let Some(c) = self.rest.next() {
            match c {
                '{' | '}' | ',' if split_braces => self.end_word(),
                _ => self.step(c),
            }
        }
        self.end_command();
    }

    fn step(&mut self, c: char) {
        match c {
            // To bash it is a letter like others.
            '\r' if self.leaves.is_some() => self.push(c),
            ' ' | '\t' | '\r' => self.end_word(),
            '|' | '&' if self.redirect.is_some() && !self.open => self.operator.push(c),
            '&' if self.rest.peek() == Some(&'>') => {
                self.end_word();
                self.operator.push(c);
            }
            // It may be a pattern of extglob's, which stands for any name.
            '(' if self.leaves.is_none() && self.word.ends_with(['@', '+', '!', '?', '*']) => {
                self.word.pop();
                self.word.push('*');
                self.end_command();
            }
            '\n' | ';' | '&' | '|' | '(' | ')' | '`' => self.end_command(),
            '<' | '>' => self.start_redirect(c),
            '\\' => self.backslash(),
            '$' => self.dollar(),
            '#' if self.quotes == Quotes::Honoured && !self.open => {
                while self.rest.next_if(|c| *c != '\n').is_some() {}
            }
            '\'' | '"' => match self.quotes {
                Quotes::Dropped => {}
                Quotes::Breaks => self.end_command(),
                Quotes::Honoured if c == '\'' => self.single(),
                Quotes::Honoured => self.double(),
            },
            _ => self.push(c),
        }
    }

    fn push(&mut self, c: char) {
        self.open = true;
        self.word.push(c);
    }

    fn backslash(&mut self) {
        match self.rest.next_if(|_| self.quotes == Quotes::Honoured) {
            Some('\n') => {}
            Some(escaped) => self.push(escaped),
            // Elsewhere the backslash and a line end behind it vanish, whatever else follows is read as usual.
            None => {
                self.rest.next_if_eq(&'\n');
            }
        }
    }

    fn dollar(&mut self) {
        match self.rest.peek() {
            Some('(') => self.end_command(),
            Some('\'') if self.quotes == Quotes::Honoured => {
                self.rest.next();
                self.ansi_c();
            }
            Some('"' | '\'') => {}
            _ => {
                let ahead: String = self.rest.clone().take(5).collect();
                let separator = ["{IFS}", "IFS"].into_iter().find(|s| ahead.starts_with(s));
                match separator {
                    Some(name) => {
                        self.rest.nth(name.len() - 1);
                        self.end_word();
                    }
                    None => self.push('$'),
                }
            }
        }
    }

    fn single(&mut self) {
        self.open = true;
        for c in self.rest.by_ref().take_while(|c| *c != '\'') {
            self.word.push(c);
        }
    }

    fn double(&mut self) {
        self.open = true;
        while let Some(c) = self.rest.next_if(|c| *c != '"') {
            match c {
                '\\' => match self.rest.next() {
                    Some('\n') | None => {}
                    Some(escaped) => {
                        if !matches!(escaped, '$' | '`' | '"' | '\\') {
                            self.word.push('\\');
                        }
                        self.word.push(escaped);
                    }
                },
                _ => self.word.push(c),
            }
        }
        self.rest.next();
    }

    /// The inside of `$'…'`, with its escapes decoded.
    fn ansi_c(&mut self) {
        self.open = true;
        while let Some(c) = self.rest.next() {
            match c {
                '\'' => return,
                '\\' => {
                    let decoded = match self.rest.next() {
                        Some('x') => self.number(16, 2),
                        Some('u') => self.number(16, 4),
                        Some('U') => self.number(16, 8),
                        Some(digit @ '0'..='7') => {
                            let first = digit.to_digit(8).unwrap_or_default();
                            self.digits(8, 2, first)
                        }
                        Some(name) if self.leaves.is_some() && "ntrvfabeE".contains(name) => control(name),
                        Some('n' | 't' | 'r' | 'v' | 'f') => Some(' '),
                        Some('a' | 'b' | 'e' | 'E') => None,
                        other => other,
                    };
                    self.word.extend(decoded);
                }
                _ => self.word.push(c),
            }
        }
    }

    fn number(&mut self, radix: u32, most: usize) -> Option<char> {
        self.digits(radix, most, 0)
    }

    fn digits(&mut self, radix: u32, most: usize, mut value: u32) -> Option<char> {
        for _ in 0..most {
            let Some(digit) = self.rest.peek().and_then(|c| c.to_digit(radix)) else { break };
            self.rest.next();
            value = value.wrapping_mul(radix).wrapping_add(digit);
        }
        char::from_u32(value)
    }

    fn start_redirect(&mut self, c: char) {
        // `2>` names a descriptor, not an argument.
        if self.word.bytes().all(|b| b.is_ascii_digit()) {
            self.operator.push_str(&self.word);
            self.word.clear();
            self.open = false;
        }
        self.end_word();
        self.operator.push(c);
        self.redirect = Some(if c == '>' { Role::Target } else { Role::Source });
    }

    fn end_word(&mut self) {
        if !self.open {
            return;
        }
        self.open = false;
        let word = std::mem::take(&mut self.word);
        let operator = std::mem::take(&mut self.operator);
        match self.redirect.take() {
            Some(role) => {
                if self.leaves.is_some() {
                    let blank = if operator.ends_with('&') { "" } else { " " };
                    self.redirections.push(format!("{operator}{blank}{}", quoted(&word)));
                }
                self.out.push(Segment::file(&word, role));
            }
            None => self.words.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.redirect = None;
        self.operator.clear();
        if let Some(leaves) = &mut self.leaves {
            let words = self.words.iter().map(|word| quoted(word));
            let leaf: Vec<String> = words.chain(self.redirections.drain(..)).collect();
            leaves.extend((!leaf.is_empty()).then(|| leaf.join(" ")));
        }
        if !self.words.is_empty() {
            self.out.push(Segment::runs(&std::mem::take(&mut self.words), Begins::Any));
        }
    }
}

/// What a letter behind a backslash means in `$'…'`.
fn control(name: char) -> Option<char> {
    Some(match name {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'a' => '\u{7}',
        'b' => '\u{8}',
        'e' | 'E' => '\u{1b}',
        _ => return None,
    })
}

#[cfg(test)]
#[path = "../../../tests/shell/hiding.rs"]
mod hiding;

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        scan(text).into_iter().filter(|s| s.role == Role::Runs).map(|s| s.text).collect()
    }

    #[track_caller]
    fn finds(text: &str, command: &str) {
        let found = scan(text).iter().any(|s| s.starts().any(|at| s.text[at..] == *command));
        assert!(found, "{command:?} in {text:?}: {:?}", texts(text));
    }

    #[test]
    fn every_place_where_a_command_can_hide_is_seen() {
        for text in hiding::RM {
            finds(text, "rm x");
        }
        finds("git -C sub -c a=b --no-pager push x", "git push x");
        finds("git push >/dev/null 2>&1", "git push");
        finds("git push # done", "git push");
    }

    #[test]
    fn arguments_of_harmless_programs_are_no_commands() {
        for text in
            ["grep -n rm src", "echo rm x", "cd a && git commit -m 'rm x'", "cat a | grep \"rm x\" | wc -l"]
        {
            let seen = scan(text);
            assert!(
                !seen.iter().any(|s| s.starts().any(|at| s.text[at..].starts_with("rm"))),
                "{text}: {seen:?}"
            );
        }
        finds("echo rm x | sh", "rm x");
        finds("echo rm x > y; sh y", "rm x");
    }

    #[test]
    fn people_see_words_apart_and_where_they_lead() {
        for (text, shown) in [
            ("touch $'a\\rb' $x", &["touch 'a\rb' $x"][..]),
            ("touch a\rb \"c d\" ''", &["touch 'a\rb' 'c d' ''"]),
            ("echo $x > .bashrc 2>&1; ls &>> 'a b'", &["echo $x > .bashrc 2>&1", "ls &>> 'a b'"]),
            ("(ls $x) > out", &["ls $x", "> out"]),
            ("cat <<< $x >| y", &["cat <<< $x >| y"]),
        ] {
            assert_eq!(leaves(text), shown, "{text}");
        }
    }

    #[test]
    fn redirections_are_files() {
        let seen = scan("cat < in > out 2>> log");
        let files: Vec<_> =
            seen.iter().filter(|s| s.role != Role::Runs).map(|s| (s.role, s.text.as_str())).collect();
        assert_eq!(files, [(Role::Source, "in"), (Role::Target, "out"), (Role::Target, "log")]);
    }
}
