//! Command patterns of rules (`git push *`): matched narrowly for allow, widely for deny and ask.

use foldhash::HashMap;

use super::commands::carriers::is_harmless_variable;
use super::commands::kind::{self, ProgramKind};
use super::commands::leading_out;
use super::lexical::{between_blanks, file_name};
use super::shell;
use super::shell::scan::{Segment, Sight, is_assignment};
use super::shell::subcommand::{self, Found, MAX_NAMES, Rules, STAR};

/// The text between the parentheses of a `Bash(…)` rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommandPattern {
    tokens: Vec<Token>,
    /// Ended in ` *` or `:*`: any further words, or none.
    open: bool,
    text: String,
    /// The words, where the pattern has no star and quotes or escapes in it as a shell would take them.
    quoted: Option<Vec<String>>,
}

/// One word of a pattern, cut at its stars.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    parts: Vec<String>,
}

/// Which words of a command a pattern names, and which its stars swallowed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Coverage {
    /// For each word whether the pattern spells it out.
    pub(crate) spelled: Vec<bool>,
    /// The pattern has no star at all: it names this one command.
    pub(crate) exact: bool,
    /// How many directories beneath the workspace the command starts.
    pub(crate) depth: usize,
}

impl Coverage {
    /// All words are spelled out.
    pub(crate) fn whole(words: &[String]) -> Self {
        Self { spelled: vec![true; words.len()], exact: true, depth: 0 }
    }

    /// The same of the words from one of them on.
    pub(crate) fn behind(&self, at: usize) -> Self {
        Self { spelled: self.spelled.get(at..).unwrap_or_default().to_vec(), ..*self }
    }
}

impl Token {
    /// Cuts a word at its stars; `\*` is a star that means itself.
    fn parse(word: &str) -> Self {
        let mut parts = vec![String::new()];
        let mut chars = word.chars().peekable();
        while let Some(c) = chars.next() {
            let literal = match c {
                '\\' if chars.peek() == Some(&'*') => chars.next(),
                '*' => None,
                other => Some(other),
            };
            match (literal, parts.last_mut()) {
                (Some(c), Some(part)) => part.push(c),
                _ => parts.push(String::new()),
            }
        }
        Self { parts }
    }

    /// The word, each star by the mark for it.
    fn marked(&self) -> String {
        self.parts.join(STAR.encode_utf8(&mut [0; 4]))
    }

    fn of_marked(word: &str) -> Self {
        Self { parts: word.split(STAR).map(str::to_owned).collect() }
    }

    fn is_star(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().all(String::is_empty)
    }

    fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    fn ends_in_star(&self) -> bool {
        self.parts.len() > 1 && self.parts.last().is_some_and(String::is_empty)
    }

    /// Whether a star stands within a path.
    fn is_in_path(&self) -> bool {
        self.parts.len() > 1 && self.parts.iter().any(|part| part.contains('/'))
    }

    /// A star within a path goes down from there: it stands for no `..`, and for no other path's beginning.
    fn matches_word(&self, word: &str) -> bool {
        let stays = || !self.is_in_path() || ways_out(word) <= ways_out(&self.parts.join("*"));
        glob(&self.parts, word) && stays()
    }
}

/// How many names in a word lead up, and how many of its pieces begin at a root.
fn ways_out(word: &str) -> usize {
    let is_url = word.contains("://");
    let up = |name: &&str| *name == ".." || is_url && name.to_ascii_lowercase().replace("%2e", ".") == "..";
    word.split(leading_out::BETWEEN)
        .map(|piece| {
            let rooted = !is_url && leading_out::is_rooted(piece);
            usize::from(rooted) + piece.split(['/', '\\', '?', '#']).filter(up).count()
        })
        .sum()
}

/// Whether the words behind the one at `at` may be what the star at the end of the last token stands for as well: where
/// that is a path, none that lead elsewhere. What follows a program or a script is for that.
fn may_follow(last: &Token, words: &[String], at: usize) -> bool {
    let of_script = |program: &String| kind::kind(program) == ProgramKind::Interpreter;
    !last.is_in_path()
        || at == 0
        || words.first().is_some_and(of_script)
        || !words.iter().skip(at + 1).any(|word| leading_out::word_leads_out(word))
}

/// Whether `text` is the parts in order, with anything between them.
fn glob(parts: &[String], text: &str) -> bool {
    match parts {
        [] => text.is_empty(),
        [only] => text == only,
        [first, middle @ .., last] => {
            let Some(mut rest) = text.strip_prefix(first.as_str()) else { return false };
            for part in middle {
                let Some(at) = rest.find(part.as_str()) else { return false };
                rest = &rest[at + part.len()..];
            }
            rest.ends_with(last.as_str())
        }
    }
}

impl CommandPattern {
    /// Reads the pattern; `None` when no word is left in it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (body, mut open) = match text.strip_suffix(":*") {
            Some(body) => (body, true),
            None => (text, false),
        };
        let mut tokens: Vec<Token> = body.split_whitespace().map(Token::parse).collect();
        if !open && tokens.len() > 1 && tokens.last().is_some_and(Token::is_star) {
            tokens.pop();
            open = true;
        }
        let starless = !open && tokens.iter().all(|t| t.literal().is_some());
        let quoted =
            (starless && text.contains(['\'', '"', '\\'])).then(|| shell::one_command(text)).flatten();
        (!tokens.is_empty()).then(|| Self { tokens, open, text: text.trim().to_owned(), quoted })
    }

    /// The first word, when the pattern spells it out.
    pub(crate) fn program(&self) -> Option<&str> {
        self.tokens.first().and_then(Token::literal)
    }

    /// How many variables it sets in front of the command.
    fn assigned(&self) -> usize {
        self.tokens.iter().map_while(Token::literal).take_while(|word| is_assignment(word)).count()
    }

    /// The program that the command behind those variables runs, when the pattern spells it out.
    pub(crate) fn program_behind(&self) -> Option<&str> {
        self.tokens.get(self.assigned()).and_then(Token::literal)
    }

    /// Whether a star of it stands within a path.
    pub(crate) fn has_star_in_path(&self) -> bool {
        self.tokens.iter().any(Token::is_in_path)
    }

    /// Whether any star is in it.
    pub(crate) fn has_star(&self) -> bool {
        self.open || self.tokens.iter().any(|t| t.literal().is_none())
    }

    /// Whether it is the text as it is written, with stars as they are or behind a backslash.
    pub(crate) fn is_text(&self, raw: &str) -> bool {
        self.text == raw.trim() || (!self.has_star() && self.text.replace("\\*", "*") == raw.trim())
    }

    /// Why a text that is spelt like this is asked about all the same, although the pattern stands in `allow`.
    pub(crate) fn never_allows(&self) -> Option<String> {
        let text = self.text.replace("\\*", "*");
        if !self.has_star() {
            // A word with an escaped star is one to the shell, too.
            let why = shell::analyse(&self.text).not_understood()?;
            let read = |text: &str| {
                shell::one_literal(text).is_some() || shell::analyse(text).understood().is_some()
            };
            return (!read(&self.text) && !read(&text)).then(|| format!("asks all the same: {}", why.0));
        }
        let (set, command) = self.tokens.split_at(self.assigned());
        let mut assignments = set.iter().filter_map(Token::literal).filter_map(|word| word.split_once('='));
        if let Some((name, _)) = assignments.find(|(name, value)| !is_harmless_variable(name, value)) {
            return Some(format!("can never match: what a command does with {name} set is not told"));
        }
        if command.is_empty() {
            return Some("can never match: it names no program".to_owned());
        }
        let program = command.first().and_then(Token::literal)?;
        if kind::never_by_prefix(program) {
            return Some(format!(
                "can never match: {program} runs what its arguments say, name the whole command"
            ));
        }
        let separates = |token: &Token| matches!(token.literal(), Some("&&" | "||" | ";" | "|" | "&" | "|&"));
        if self.tokens.iter().any(separates) && shell::analyse(&text).understood().is_none() {
            return Some("can never match: a rule with a star covers one command".to_owned());
        }
        let mut words: Vec<String> = command.iter().map(|t| t.literal().unwrap_or("x").to_owned()).collect();
        let mut spelled: Vec<bool> = command.iter().map(|t| t.literal().is_some()).collect();
        if self.open {
            words.push("x".to_owned());
            spelled.push(false);
        }
        let coverage = Coverage { spelled, ..Coverage::default() };
        let brings_code =
            kind::kind(program) == ProgramKind::Interpreter && !kind::may_allow(&words, &coverage, true);
        // Stars in quotes may be meant as they are: then it spells out one text.
        let one_text = || shell::one_literal(&self.text).is_some();
        (brings_code && !one_text()).then(|| {
            format!("can never match: code for {program} is never covered by a star, name the whole command")
        })
    }

    /// The words of the one command that a pattern without a star names.
    pub(crate) fn exact_words(&self) -> Option<Vec<String>> {
        if self.open {
            return None;
        }
        self.quoted
            .clone()
            .or_else(|| self.tokens.iter().map(|t| t.literal().map(str::to_owned)).collect::<Option<_>>())
    }

    /// The same, where a shell would take the pattern as one command without redirections, too.
    pub(crate) fn one_command(&self) -> Option<Vec<String>> {
        let words = self.exact_words()?;
        (shell::one_command(&self.text).as_ref() == Some(&words)).then_some(words)
    }

    /// Narrow matching, word by word. A star inside a word stays in it (one at the very end goes on), a star
    /// that stands alone is one word or more, the last one none or more; in the program's place it is that alone, so
    /// that `* --help` is no `rm -r x -- --help`, and no path, so that it is no `./x --help`.
    pub(crate) fn allows(&self, words: &[String], assigned: &[String]) -> Option<Coverage> {
        let exact = !self.has_star();
        let set = self.assigned();
        let is_set = |token: &Token| assigned.iter().any(|word| token.matches_word(word));
        // `CI=1 *` names no program.
        if set == self.tokens.len() || !self.tokens[..set].iter().all(is_set) {
            return None;
        }
        if let Some(quoted) = &self.quoted {
            return (quoted == words).then(|| Coverage::whole(words));
        }
        if !self.may_begin_with(words.first()?) {
            return None;
        }
        let mut spelled = vec![false; words.len()];
        let (mut token, mut word) = (set, 0);
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let goes_on = match self.tokens.get(token) {
                None if self.open || word == words.len() => {
                    return Some(Coverage { spelled, exact, depth: 0 });
                }
                Some(last) if token + 1 == self.tokens.len() && last.ends_in_star() && word < words.len() => {
                    // `ls*`: no boundary, so whatever follows is covered too.
                    if last.matches_word(&words[word]) && may_follow(last, words, word) {
                        return Some(Coverage { spelled, exact, depth: 0 });
                    }
                    false
                }
                Some(star) if star.is_star() && word < words.len() => {
                    if token > set {
                        retry = Some((token, word));
                    }
                    (token, word) = (token + 1, word + 1);
                    true
                }
                Some(t) if word < words.len() && t.matches_word(&words[word]) => {
                    spelled[word] = t.literal().is_some();
                    (token, word) = (token + 1, word + 1);
                    true
                }
                None | Some(_) => false,
            };
            if !goes_on {
                let (star, from) = retry?;
                if from + 1 >= words.len() {
                    return None;
                }
                retry = Some((star, from + 1));
                spelled[from..].fill(false);
                (token, word) = (star + 1, from + 2);
            }
        }
    }

    /// Whether the first token, where a star is in it, may stand for this program: a path is named by a slash of its
    /// own, or by a pattern that is nothing but a star.
    fn may_begin_with(&self, program: &str) -> bool {
        let slash = |token: &Token| token.parts.iter().any(|part| part.contains('/'));
        let tokens = &self.tokens[self.assigned()..];
        let anything = tokens.len() == 1 && tokens.iter().all(Token::is_star);
        let named = tokens.first().is_none_or(|token| token.literal().is_some() || slash(token));
        named || anything || !program.contains('/')
    }

    /// The two or three words that it begins with, where it tells them.
    fn told(&self) -> Option<String> {
        let bare = |token: &Token| token.literal().map(|word| word.replace(['\'', '"'], ""));
        let words: Vec<String> = self.tokens.iter().map_while(bare).take(Beginning::WORDS).collect();
        let whole = words.iter().all(|word| !word.is_empty());
        (words.len() > 1 && whole).then(|| words.join(" "))
    }

    fn wide(&self) -> Wide {
        let mut parts = vec![String::new()];
        for (number, token) in self.tokens.iter().enumerate() {
            for (cut, part) in token.parts.iter().enumerate() {
                if cut > 0 {
                    parts.push(String::new());
                }
                if let Some(last) = parts.last_mut() {
                    if cut == 0 && number > 0 {
                        last.push(' ');
                    }
                    // The readings that deny and ask look at have no quotes left.
                    last.extend(part.chars().filter(|c| !matches!(c, '\'' | '"')));
                }
            }
        }
        Wide { parts, open: self.open, first: self.program().map(|p| p.replace(['\'', '"'], "")) }
    }
}

/// A pattern for matching on the text of a segment.
#[derive(Debug, Clone)]
struct Wide {
    parts: Vec<String>,
    open: bool,
    first: Option<String>,
}

impl Wide {
    /// Whether the pattern matches `text` from its beginning to its end.
    fn matches(&self, text: &str) -> bool {
        let [first, rest @ ..] = self.parts.as_slice() else { return false };
        let Some(mut tail) = text.strip_prefix(first.as_str()) else { return false };
        let Some((last, middle)) = rest.split_last() else {
            return if self.open { tail.is_empty() || tail.starts_with(' ') } else { tail.is_empty() };
        };
        for part in middle {
            let Some(at) = tail.find(part.as_str()) else { return false };
            tail = &tail[at + part.len()..];
        }
        if !self.open {
            return tail.ends_with(last.as_str());
        }
        // Looked for from the ends of words: places where the part stands may overlap.
        let ends = tail.match_indices(' ').map(|(at, _)| at).chain([tail.len()]);
        ends.into_iter().any(|end| tail[..end].ends_with(last.as_str()))
    }

    fn begins(&self, text: &str) -> bool {
        self.parts.first().is_some_and(|first| text.starts_with(first.as_str()))
    }
}

/// Many patterns for deny or ask, found by the first word of what they name.
#[derive(Debug, Clone, Default)]
pub(crate) struct CommandSet {
    patterns: Vec<(usize, Wide)>,
    by_word: HashMap<String, Beginning>,
    /// Patterns that begin with a star or with part of a word.
    loose: Vec<usize>,
    /// Those that speak of a subcommand or a script.
    otherwise: Rules<OfSubcommand>,
}

/// Patterns that begin with the same word.
#[derive(Debug, Clone, Default)]
struct Beginning {
    /// Those of which no more is told.
    short: Vec<usize>,
    /// Those that go on with two or three words in all, by these.
    longer: HashMap<String, Vec<usize>>,
}

impl Beginning {
    /// The words by which one is found at most.
    const WORDS: usize = 3;

    /// Those that may match a text that begins with this word, each with as much of the text as is told.
    fn of<'t>(&self, word: &'t str, text: &'t str) -> impl Iterator<Item = (&'t str, &Vec<usize>)> {
        let mut end = word.len();
        let words =
            between_blanks(text).skip(1).take(if self.longer.is_empty() { 0 } else { Self::WORDS - 1 });
        let longer = words.filter_map(move |next| {
            end += 1 + next.len();
            let told = text.get(..end)?;
            Some((told, self.longer.get(told)?))
        });
        std::iter::once((word, &self.short)).chain(longer)
    }
}

/// What stands in a pattern behind the names of a subcommand, or a script and what it is told.
#[derive(Debug, Clone)]
struct OfSubcommand {
    number: usize,
    /// Variables that it says in front, all of which have to be set.
    assigned: Vec<String>,
    rest: Vec<Token>,
    open: bool,
}

impl OfSubcommand {
    /// Puts a pattern among those of what it speaks of, if there is a program with subcommands or a script in it.
    fn put(number: usize, pattern: &CommandPattern, into: &mut Rules<Self>) {
        let told = pattern.tokens.iter().take_while(|token| !token.is_star());
        let marked: Vec<String> = told.map(Token::marked).collect();
        let set = marked.iter().take_while(|word| is_assignment(word) && !word.contains(STAR)).count();
        let assigned = marked[..set].to_vec();
        let words: Vec<&str> = marked[set..].iter().map(String::as_str).collect();
        let words = subcommand::apart(&words).unwrap_or(words);
        // `ls*`: whatever follows is meant, too.
        let open = pattern.open || pattern.tokens.last().is_some_and(Token::ends_in_star);
        for (meant, behind) in subcommand::readings(&words) {
            let names = words.get(behind..).unwrap_or_default();
            let names = names.iter().copied().take(MAX_NAMES).take_while(|name| !name.starts_with('-'));
            let mut names: Vec<&str> = names.collect();
            let rest = words.iter().skip(behind + names.len()).map(|word| Token::of_marked(word));
            let rest: Vec<Token> = rest.chain(pattern.tokens.iter().skip(marked.len()).cloned()).collect();
            let of_it = Self { number, assigned: assigned.clone(), rest, open };
            into.add(meant, names.iter().copied(), of_it.clone());
            // What the last one may be itself has other names.
            if let Some(last) = names.last_mut()
                && let Some(itself) = last.strip_suffix(STAR)
                && !itself.is_empty()
                && !itself.ends_with('/')
                && !itself.contains(STAR)
            {
                *last = itself;
                into.add(meant, names.into_iter(), of_it);
            }
        }
    }

    /// Whether the words behind the names may be what the pattern says of them.
    fn may_follow(&self, words: &[&str], at_end: bool) -> bool {
        let Some(last) = self.rest.last() else { return self.open || at_end };
        let mut words_left = words.iter();
        let in_order = self.rest.iter().all(|token| words_left.any(|word| token.matches_word(word)));
        in_order && (self.open || words.last().is_some_and(|word| last.matches_word(word)))
    }
}

impl CommandSet {
    /// Compiles patterns, each under the number that `first_match` gives back.
    pub(crate) fn compile<'p>(patterns: impl Iterator<Item = (usize, &'p CommandPattern)>) -> Self {
        let mut set = Self::default();
        for (number, pattern) in patterns {
            let wide = pattern.wide();
            let index = set.patterns.len();
            OfSubcommand::put(number, pattern, &mut set.otherwise);
            match &wide.first {
                Some(word) => {
                    let beginning = set.by_word.entry(word.clone()).or_default();
                    match pattern.told() {
                        Some(told) => beginning.longer.entry(told).or_default().push(index),
                        None => beginning.short.push(index),
                    }
                }
                None => set.loose.push(index),
            }
            set.patterns.push((number, wide));
        }
        set
    }

    /// Whether no pattern is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether a pattern speaks of a program, so that more words than are known could make it match.
    pub(crate) fn speaks_of(&self, program: &str) -> bool {
        let name = file_name(program);
        // One that begins with part of a word may be of a script, which an interpreter may get.
        let loose = |index: &usize| {
            let wide = &self.patterns[*index].1;
            let begins = |name: &str| wide.parts.first().is_none_or(|first| name.starts_with(first.as_str()));
            program.contains('/') || begins(name) || subcommand::runs_scripts(name)
        };
        self.by_word.contains_key(program) || self.by_word.contains_key(name) || self.loose.iter().any(loose)
    }

    /// The number of a pattern that matches one of the segments, from any word that may start a command and is as
    /// sure as that; and that word.
    ///
    /// Time is linear in the text for each pattern: a pattern with stars in its middle is tried only at the
    /// first place where it can begin, since a later place leaves it only less room.
    pub(crate) fn first_match<'s>(&self, segments: &'s [Segment], sight: Sight) -> Option<(usize, &'s str)> {
        if self.is_empty() {
            return None;
        }
        let mut best: Option<(usize, &str)> = None;
        for segment in segments.iter().filter(|segment| !segment.repeats()) {
            let mut loose = self.loose.clone();
            let mut named: HashMap<&str, Vec<usize>> = HashMap::default();
            for start in segment.starts_in(sight) {
                let text = &segment.text()[start..];
                let word = between_blanks(text).next().unwrap_or_default();
                self.try_here(&mut loose, text, &mut best);
                for (told, patterns) in self.by_word.get(word).into_iter().flat_map(|b| b.of(word, text)) {
                    let open = named.entry(told).or_insert_with(|| patterns.clone());
                    self.try_here(open, text, &mut best);
                }
            }
            if sight == Sight::Guessed {
                self.otherwise.each(segment, |Found { rule, program, words, at_end }| {
                    let is_set = |variable: &String| segment.words().any(|word| word == variable);
                    if best.is_none_or(|(b, _)| b > rule.number)
                        && rule.may_follow(words, at_end)
                        && rule.assigned.iter().all(is_set)
                    {
                        best = Some((rule.number, program));
                    }
                });
            }
        }
        best
    }

    /// Tries patterns at one place, and drops those that no later place can make match.
    fn try_here<'s>(&self, open: &mut Vec<usize>, text: &'s str, best: &mut Option<(usize, &'s str)>) {
        open.retain(|index| {
            let Some((number, wide)) = self.patterns.get(*index) else { return false };
            if best.is_some_and(|(b, _)| b <= *number) {
                return false;
            }
            if !wide.begins(text) {
                return true;
            }
            if wide.matches(text) {
                *best = Some((*number, text.split(' ').next().unwrap_or_default()));
                return false;
            }
            wide.parts.len() == 1
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::scan::Begins;
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn allows(pattern: &str, command: &str) -> bool {
        CommandPattern::parse(pattern).unwrap().allows(&words(command), &[]).is_some()
    }

    fn denies(pattern: &str, command: &str) -> bool {
        let pattern = CommandPattern::parse(pattern).unwrap();
        let set = CommandSet::compile([(3, &pattern)].into_iter());
        let segments = [Segment::runs(&words(command), Begins::Any)];
        set.first_match(&segments, Sight::Sure).is_some_and(|(number, _)| number == 3)
    }

    #[test]
    fn both_ways_of_matching_agree_on_plain_words() {
        for (pattern, command, want) in [
            ("ls *", "ls -la", true),
            ("rm *00 *", "rm 000", true),
            ("rm *00 *", "rm x00 y", true),
            ("rm *00 *", "rm x000 y", true),
            ("rm *00 *", "rm 001 y", false),
            ("ls *", "ls", true),
            ("ls *", "lsof", false),
            ("ls*", "lsof", true),
            ("ls*", "ls -la", true),
            ("ls:*", "ls -la", true),
            ("ls:*", "ls", true),
            ("ls:*", "lsof", false),
            ("git push *", "git push", true),
            ("git push *", "git push origin main", true),
            ("git push *", "git pushx", false),
            ("git push", "git push origin", false),
            ("git * main", "git push main", true),
            ("git * main", "git push origin main", true),
            ("git * main", "git main", false),
            ("git * main", "git push main x", false),
            ("git * main *", "git push main x", true),
            ("npm run test:*", "npm run test", true),
            ("*", "anything at all", true),
            ("git log --since=* HEAD", "git log --since=1d HEAD", true),
            ("echo \\*", "echo *", true),
            ("echo \\*", "echo x", false),
            ("a * b * c", "a b b c c", true),
            ("a * a b", "a a a a b", true),
        ] {
            assert_eq!(allows(pattern, command), want, "allow {pattern:?} {command:?}");
            assert_eq!(denies(pattern, command), want, "deny {pattern:?} {command:?}");
        }
    }

    #[test]
    fn an_allow_rule_may_set_harmless_variables_in_front() {
        let set = ["CI=1".to_owned()];
        for (pattern, command, want) in [
            ("CI=1 npm test", "npm test", true),
            ("CI=1 npm *", "npm test", true),
            ("npm *", "npm test", true),
            ("CI=2 npm *", "npm test", false),
            ("CI=1 A=b npm *", "npm test", false),
            ("CI=1 npm *", "yarn test", false),
            ("CI=1 *", "npm test", false),
            ("CI=1 * --version", "npm --version", true),
            ("CI=1 * --version", "./npm --version", false),
        ] {
            let found = CommandPattern::parse(pattern).unwrap().allows(&words(command), &set);
            assert_eq!(found.is_some(), want, "{pattern}: {command}");
        }
        for (pattern, why) in
            [("CI=1 *", "names no program"), ("FOO=1 npm *", "FOO"), ("CI=1 xargs *", "xargs runs")]
        {
            let said = CommandPattern::parse(pattern).unwrap().never_allows().unwrap_or_default();
            assert!(said.contains(why), "{pattern}: {said}");
        }
    }

    #[test]
    fn a_star_in_the_programs_place_is_one_word_for_allow() {
        for (command, want) in [
            ("rm --help", true),
            ("rm -r x -- --help", false),
            ("rm x --help", false),
            ("--help", false),
            ("./gradlew --help", false),
            ("a/b --help", false),
            ("/usr/bin/rm --help", false),
        ] {
            assert_eq!(allows("* --help", command), want, "{command}");
        }
        for (pattern, command, want) in [
            ("gradle* build", "gradle/evil build", false),
            ("gradle*", "gradle/evil", false),
            ("./gradle* build", "./gradlew build", true),
            ("*/gradlew build", "./gradlew build", true),
            ("*", "./gradlew build", true),
        ] {
            assert_eq!(allows(pattern, command), want, "{pattern}: {command}");
        }
        assert!(denies("* --force", "git push --force"), "for deny it is any");
        assert!(denies("* --force", "./x --force"), "for deny a path, too");
        assert!(allows("*", "rm -r x") && allows("* *", "rm -r x"));
    }

    #[test]
    fn a_star_in_a_path_goes_down_from_there() {
        for (pattern, command, want) in [
            ("./scripts/*", "./scripts/a.sh ../x /y", true),
            ("./scripts/*", "./scripts/sub/a.sh", true),
            ("./scripts/*", "./scripts/../../usr/bin/touch /x", false),
            ("./scripts/*", "./scripts/..", false),
            ("./scripts/.*", "./scripts/../x", false),
            ("./scripts/*./x", "./scripts/../x", false),
            ("./scripts/*", "./scripts/a..b/...", true),
            (".venv/bin/*", ".venv/bin/../../x", false),
            ("node_modules/.bin/*", "node_modules/.bin/tsc -p ../x", true),
            ("../tools/*", "../tools/a", true),
            ("../tools/*", "../tools/../a", false),
            ("*/gradlew build", "/tmp/gradlew build", false),
            ("python3 scripts/*", "python3 scripts/a.py /data/x", true),
            ("python3 scripts/*", "python3 scripts/../x.py", false),
            ("bash scripts/*", "bash scripts/../x", false),
            ("rm -rf build/*", "rm -rf build/a build/b", true),
            ("rm -rf build/*", "rm -rf build/../src", false),
            ("rm -rf build/*", "rm -rf build/a build/../src", false),
            ("rm -rf build/*", "rm -rf build/a /src", false),
            ("cp src/* dist/*", "cp src/a b dist/a", false),
            ("cp src/* dist/*", "cp src/a dist/../../x", false),
            ("cp src/* dist/*", "cp src/../a dist/x", false),
            ("cp src/* dist/*", "cp src/a dist/b", true),
            ("cp src/* dist/*", "cp src/a dist/b -t/w/out", false),
            ("cp src/* dist/*", "cp src/a dist/b -t../sib", false),
            ("cp src/* dist/*", "cp src/a dist/b -bvufpt~/x", false),
            ("cp src/* dist/*", "cp src/a dist/b -tsub/../../x", false),
            ("cp src/* dist/*", "cp src/a dist/b -t./x -tx -v", true),
            ("tar czf dist/*", "tar czf dist/o.tgz -g/out/snar src", false),
            ("install src/*", "install src/a -Dt/x", false),
            ("touch dist/*", "touch dist/a -r/etc/passwd", false),
            ("tool --out=src/*", "tool --out=src/../x", false),
            ("tool --out=src/*", "tool --out=src/x:/etc", false),
            ("tool --map=*/x", "tool --map=/etc/x", false),
            ("tool --map=*/x", "tool --map=a:../x", false),
            ("gh api repos/*", "gh api repos/o/r/compare/a...b", true),
            ("gh api repos/*", "gh api repos/../user", false),
            ("curl https://a.example/b/*", "curl https://a.example/b/c?to=/d", true),
            ("curl https://a.example/b/*", "curl https://a.example/b/../c", false),
            ("curl https://a.example/b/*", "curl https://a.example/b/%2e%2E?c", false),
            ("ls *", "ls ../x", true),
            ("npm run *", "npm run build", true),
        ] {
            assert_eq!(allows(pattern, command), want, "{pattern}: {command}");
        }
    }

    #[test]
    fn deny_looks_at_every_word_that_may_start_a_command() {
        for command in ["env rm x", "/bin/rm x", "FOO=1 rm x", "timeout -k1 5 /usr/bin/rm x", "xargs rm"] {
            assert!(denies("rm *", command), "{command}");
            assert!(!allows("rm *", command), "{command}");
        }
        assert!(!denies("rm *", "echo farm x"));
        assert!(denies("git commit -m \"wip *", "git commit -m wip all"), "quotes in a pattern mean nothing");
    }

    #[test]
    fn coverage_tells_spelled_words_from_swallowed_ones() {
        let pattern = CommandPattern::parse("find . -name * -print").unwrap();
        let found = pattern.allows(&words("find . -name -exec x -print"), &[]).unwrap();
        assert_eq!(found.spelled, [true, true, true, false, false, true]);
        let spaced = ["git push".to_owned(), "x".to_owned()];
        assert!(CommandPattern::parse("git push *").unwrap().allows(&spaced, &[]).is_none());
    }

    /// A pattern is found by its first words, however many it tells.
    #[test]
    fn patterns_among_many_are_found_as_each_alone() {
        let patterns = [
            "a",
            "a *",
            "a b",
            "a b *",
            "a b c",
            "a b c *",
            "a b c d *",
            "a* c",
            "a b* d",
            "* d",
            "a \"b\" c *",
        ];
        let commands =
            ["a", "a b", "a b c", "a b c d", "a bx d", "ax c", "x d", "a  b c", "env a b c d", "/bin/a b"];
        let parsed: Vec<CommandPattern> =
            patterns.iter().map(|pattern| CommandPattern::parse(pattern).unwrap()).collect();
        for command in commands {
            let segments = [Segment::runs(&words(command), Begins::Any)];
            let matches = |number: &usize| {
                let wide = parsed[*number].wide();
                segments[0].starts_in(Sight::Sure).any(|start| wide.matches(&segments[0].text()[start..]))
            };
            let alone: Vec<usize> = (0..patterns.len()).filter(matches).collect();
            let mut found = Vec::new();
            let mut left: Vec<usize> = (0..patterns.len()).collect();
            loop {
                let set = CommandSet::compile(left.iter().map(|number| (*number, &parsed[*number])));
                let Some((number, _)) = set.first_match(&segments, Sight::Sure) else { break };
                found.push(number);
                left.retain(|other| *other != number);
            }
            assert_eq!(found, alone, "{command}");
        }
    }

    #[test]
    fn names_without_end_are_held_against_the_text_all_the_same() {
        let names = "a ".repeat(20_000);
        let (pattern, command) = (format!("npm {names}"), format!("npm -s {names}"));
        let pattern = CommandPattern::parse(&pattern).unwrap();
        let set = CommandSet::compile([(3, &pattern)].into_iter());
        let finds = |command: &str| {
            let segment = Segment::runs(&words(command.trim()), Begins::Any);
            set.first_match(&[segment], Sight::Guessed).is_some()
        };
        assert!(finds(&command));
        assert!(!finds(&command.replacen("a ", "b ", 2)));
    }

    #[test]
    fn a_star_within_a_word_hides_no_other_writing() {
        let may_be = |pattern: &str, command: &str| {
            let pattern = CommandPattern::parse(pattern).unwrap();
            let set = CommandSet::compile([(3, &pattern)].into_iter());
            set.first_match(&[Segment::runs(&words(command), Begins::Told)], Sight::Guessed).is_some()
        };
        for (pattern, command, want) in [
            ("scripts/*", "./scripts/deploy.sh", true),
            ("scripts/*", "/ws/scripts/deploy.sh prod", true),
            ("scripts/*", "a/../scripts/sub/deploy.sh", true),
            ("scripts/*", "bash -x scripts/x.sh", true),
            ("scripts/*/deploy.sh", "bash deploy.sh", true),
            ("scripts/*/deploy.sh", "bash a/deploy.sh", true),
            ("scripts/*/deploy.sh", "bash test.sh", false),
            ("scripts/*/*.sh", "bash a/test.sh", false),
            ("scripts/*", "cat scripts/x", false),
            ("scripts/*", "git add scripts/x", false),
            ("scripts/*", "./other/x.sh", false),
            ("scripts/*", "./myscripts/x.sh", false),
            ("scripts/*", "bash x.sh", false),
            ("scripts/*", "bash other/scripts", false),
            ("./scripts/*", "scripts/x.sh", true),
            ("./scripts/*", "bash scripts/x.sh", true),
            ("./scripts/*.sh", "bash scripts/x.sh", true),
            ("./scripts/*.sh", "python3 scripts/x.py", false),
            ("./scripts/* --prod", "bash scripts/x.sh --prod", true),
            ("./scripts/* --prod", "bash scripts/x.sh --dry", false),
            ("scripts/deploy*", "./scripts/deploy.sh", true),
            ("scripts/deploy*", "bash deploy.sh", true),
            ("scripts/deploy*", "bash scripts/build.sh", false),
            ("./deploy*", "sh deploy.sh", true),
            ("./deploy*", "sh build.sh", false),
            ("./*.sh", "sh build.sh", true),
            ("./*", "sh build.sh", false),
            ("*/gradlew build", "sh tools/gradlew build", true),
            ("bash scripts/*", "bash ./scripts/deploy.sh", true),
            ("bash scripts/*", "sh scripts/x.sh", true),
            ("bash scripts/*", "./scripts/x.sh", true),
            ("python scripts/*", "python3 ./scripts/x.py", true),
            ("node tools/*.js", "node tools/x", true),
            ("kubectl delete*", "kubectl -n x delete pod y", true),
            ("kubectl delete*", "kubectl -n x get pod y", false),
            ("pip install*", "pip -q install x", true),
            ("pip install*", "python3 -m pip install x", true),
            ("pip install*", "pip3 list", false),
            ("npm publish*", "npm -s pub", true),
            ("npm run deploy*", "npm run -s deploy:prod x", true),
            ("npm run deploy*", "npm run -s build", false),
            ("yarn dep*", "yarn run deploy", true),
            ("git push origin ma*", "git push -f origin main x", true),
            ("git push origin ma*", "git push -f origin dev", false),
            ("mvn deploy*", "mvn clean deploy:deploy-file", true),
            ("gradle publish*", "gradle :a:publishToX", true),
            ("gradle publish*", "gradle build", false),
        ] {
            assert_eq!(may_be(pattern, command), want, "{pattern}: {command}");
        }
    }

    #[test]
    fn many_starts_cost_linear_time() {
        let command = "git ".repeat(60_000) + "x";
        assert!(!denies("git * nowhere", &command));
        assert!(denies("git * x", &command));
    }
}
