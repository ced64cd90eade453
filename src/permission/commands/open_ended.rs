//! Names that a program makes of a beginning and an ending that it is given, with parts of its own between them.
//!
//! Sources: coreutils 9.1, split(1), csplit(1); curl(1), `-o`.

use super::super::lexical::file_name;
use super::super::protected;
use super::kind::base_name;

/// A name of which a beginning and an ending are told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::permission) struct OpenEnded {
    /// With the directories in front of it.
    pub(super) head: String,
    /// Directories may be in it.
    pub(super) tail: String,
    /// Anything may stand between them; else letters and digits.
    pub(super) anything: bool,
}

impl OpenEnded {
    fn ends(&self) -> (&str, &str) {
        let head = file_name(&self.head);
        (head, self.tail.split('/').next().unwrap_or_default())
    }

    /// The directory that its names lie in, as it is spelt; none where there are further ones behind the beginning.
    pub(in crate::permission) fn directory(&self) -> Option<&str> {
        (!self.tail.contains('/')).then(|| self.head.rfind('/').map_or("", |at| &self.head[..=at]))
    }

    /// Letters of suffixes are small, but for those of numbers.
    fn fills(&self, between: &str) -> bool {
        let told = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'A'..=b'F');
        self.anything || between.bytes().all(told)
    }

    /// Whether a file that it makes may be called so. What is told of it matches in either case.
    pub(in crate::permission) fn may_be(&self, name: &str) -> bool {
        let (head, tail) = self.ends();
        self.is_one(head, tail, name)
    }

    fn is_one(&self, head: &str, tail: &str, name: &str) -> bool {
        let Some(behind) = name.len().checked_sub(tail.len()).filter(|behind| *behind >= head.len()) else {
            return false;
        };
        let parts = name
            .split_at_checked(behind)
            .and_then(|(front, end)| Some((front.split_at_checked(head.len())?, end)));
        parts.is_some_and(|((begin, between), end)| {
            begin.eq_ignore_ascii_case(head) && end.eq_ignore_ascii_case(tail) && self.fills(between)
        })
    }

    /// The same for the last part of a rule's pattern. A star alone is for the names in [`samples`] to meet.
    pub(in crate::permission) fn may_match(&self, pattern: &str) -> bool {
        let special = ['*', '?', '[', '{', '\\'];
        if !pattern.contains(special) {
            return self.may_be(pattern);
        }
        if pattern.bytes().all(|byte| byte == b'*') {
            return false;
        }
        let (head, tail) = self.ends();
        let (head, tail) = (head.to_ascii_lowercase(), tail.to_ascii_lowercase());
        let pattern = pattern.to_ascii_lowercase();
        let begins = pattern.split(special).next().unwrap_or_default();
        let ends = if pattern.contains(['?', '[', '{', '\\']) {
            ""
        } else {
            pattern.rsplit('*').next().unwrap_or_default()
        };
        let fits_head = head.starts_with(begins)
            || begins.strip_prefix(head.as_str()).is_some_and(|between| self.fills(between));
        let fits_tail = tail.ends_with(ends)
            || ends.strip_suffix(tail.as_str()).is_some_and(|between| self.fills(between));
        fits_head && fits_tail
    }

    /// Names that stand for all of them where only the directory counts, and those that are protected.
    fn samples(&self) -> impl Iterator<Item = String> {
        let directory = self.head.rfind('/').map_or("", |at| &self.head[..=at]);
        let further = self.tail.find('/').map_or("", |at| &self.tail[at..]);
        let (head, tail) = self.ends();
        let protected = protected::parts().filter(move |name| self.is_one(head, tail, name));
        let protected = protected.map(move |name| format!("{directory}{name}{further}"));
        std::iter::once(format!("{}aa{}", self.head, self.tail)).chain(protected)
    }
}

/// The names among those that the command makes that count as any word does.
pub(super) fn samples(made: &[OpenEnded]) -> impl Iterator<Item = String> {
    made.iter().flat_map(OpenEnded::samples)
}

/// The programs that make such names of their words; what curl makes is its own.
pub(super) const PROGRAMS: &[&str] = &["split", "csplit"];

/// What split and csplit make of their words.
pub(super) fn of(words: &[&str]) -> Vec<OpenEnded> {
    const MAX: usize = 64;
    let is_it = |word: &&str| PROGRAMS.contains(&base_name(word));
    let Some(at) = words.iter().position(is_it) else { return Vec::new() };
    let rest = &words[at + 1..];
    let valued = |letter: char, long: &str, least: usize| value(rest, letter, long, least);
    if base_name(words[at]) == "split" {
        let tail = valued('\0', "additional-suffix", 2).unwrap_or_default();
        // Which of them is the prefix the options say; `x` where there is none.
        let mut heads = rest.iter().copied().filter(|word| !word.starts_with('-'));
        let told: Vec<&str> = heads.by_ref().take(MAX).chain(["x"]).collect();
        let made = |head: &str| OpenEnded { head: head.to_owned(), tail: tail.to_owned(), anything: false };
        // More than it ever gets: any name.
        let any = || OpenEnded { head: String::new(), tail: String::new(), anything: true };
        return told.into_iter().map(made).chain(heads.next().map(|_| any())).collect();
    }
    let prefix = valued('f', "prefix", 2).unwrap_or("xx");
    let format = valued('b', "suffix-format", 3).unwrap_or("%02d");
    let (before, behind) = format.split_once('%').unwrap_or((format, ""));
    // Flags, width and precision, and the letter of a conversion.
    let conversion = behind.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #0.'".contains(c));
    let mut rest = conversion.chars();
    let told = rest.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && !format.contains("%%");
    let (head, tail) =
        if told { (format!("{prefix}{before}"), rest.as_str()) } else { (prefix.to_owned(), "") };
    vec![OpenEnded { head, tail: tail.to_owned(), anything: !told }]
}

fn value<'w>(words: &[&'w str], letter: char, long: &str, least: usize) -> Option<&'w str> {
    words.iter().enumerate().rev().find_map(|(at, word)| {
        let next = words.get(at + 1).copied();
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) = option.split_once('=').map_or((option, None), |(n, v)| (n, Some(v)));
            return (name.len() >= least && long.starts_with(name)).then_some(value.or(next)).flatten();
        }
        let (_, attached) = word.strip_prefix('-')?.split_once(letter)?;
        if attached.is_empty() { next } else { Some(attached) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginnings_meet_names_and_patterns() {
        for (command, name, want) in [
            ("split -a1 -n3 x .bashr", ".bashrc", true),
            ("split --additional-suffix=rc x .bas", ".bashrc", true),
            ("split --additional-suffix=ploy.yml x d", "deploy.yml", true),
            ("csplit -f .bashr -b c%.0d x 2", ".bashrc", true),
            ("csplit -f depl -b oy.ym%.0dl x 2", "deploy.yml", true),
            ("csplit --prefix=deploy --suffix-format=.yml%.0d x 2", "deploy.yml", true),
            ("nice split x lock", "lockf", true),
            ("split -l 100 x part_", "deploy.yml", false),
            ("split x part_", "part_.yml", false),
            ("csplit x 2", ".bashrc", false),
        ] {
            let made = of(&command.split(' ').collect::<Vec<_>>());
            assert_eq!(made.iter().any(|made| made.may_be(name)), want, "{command}: {made:?}");
        }
        let part = OpenEnded { head: "d/part_".to_owned(), tail: String::new(), anything: false };
        for (pattern, want) in [
            ("part_*", true),
            ("p*", true),
            ("part_?b", true),
            ("{a,b}", true),
            ("*.yml", false),
            ("*", false),
        ] {
            assert_eq!(part.may_match(pattern), want, "{pattern}");
        }
    }
}
