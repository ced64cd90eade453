//! What a text may run, as far as it is told apart from the rest of it.

use std::ops::Range;

use foldhash::{HashSet, HashSetExt as _};

use super::super::lexical::{between_blanks, file_name};

/// Words that may be run together, or the target of a redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    pub(super) text: String,
    pub(super) role: Role,
    pub(super) begins: Begins,
    /// Where in the text words lie that have spaces in them, in their order; bytes.
    pub(super) spaced: Vec<Range<usize>>,
    /// For [`Begins::Listed`]: byte offsets, in their order.
    pub(super) listed: Vec<usize>,
    /// One before it says the same: a text is read several times, mostly with the same outcome.
    pub(super) repeats: bool,
}

/// Where in a segment commands begin, and how sure that is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Begins {
    /// At the first word; the program only reads, writes or moves what its arguments name.
    Inert,
    /// At the first word; the arguments are no commands.
    First,
    /// At the first word; what the arguments run is told by segments of its own.
    Told,
    /// At the first word; each later one is a guess.
    Guessed,
    /// At any word: the text could not be read, so all that it may be counts.
    Any,
    /// At any word, each of them a guess.
    AllGuessed,
    /// Nowhere for sure, and what may begin here is told by segments of its own.
    Elsewhere,
    /// Nowhere: it is part of an argument that is no command.
    Nowhere,
    /// At the places that are listed, each of them a guess.
    Listed,
}

/// Which of the places where a command may begin are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Those where one begins, for all that is known.
    Sure,
    /// Those where one might begin.
    Guessed,
}

impl Begins {
    /// What holds for the parts of an argument.
    pub(super) fn within(self) -> Self {
        match self {
            Self::Inert | Self::First | Self::Nowhere | Self::Listed => Self::Nowhere,
            Self::Told | Self::Elsewhere => Self::Elsewhere,
            Self::Guessed | Self::AllGuessed => Self::AllGuessed,
            Self::Any => Self::Any,
        }
    }

    /// How many words are looked at, behind how many that are not.
    fn seen(self, sight: Sight) -> (usize, usize) {
        match (self, sight) {
            (Self::Inert | Self::First | Self::Told | Self::Guessed, Sight::Sure) => (0, 1),
            (Self::Guessed, Sight::Guessed) => (1, usize::MAX),
            (Self::Any, Sight::Sure) | (Self::AllGuessed, Sight::Guessed) => (0, usize::MAX),
            _ => (0, 0),
        }
    }
}

/// What a segment's words are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// A program and its arguments.
    Runs,
    /// A file that is read from.
    Source,
    /// A file that is written to.
    Target,
}

impl Segment {
    /// A program and its arguments.
    pub(crate) fn runs(words: &[String], begins: Begins) -> Self {
        Self::joined(words.iter().map(String::as_str), begins)
    }

    /// The same of borrowed words.
    pub(super) fn joined<'w>(words: impl IntoIterator<Item = &'w str>, begins: Begins) -> Self {
        let (mut text, mut spaced) = (String::new(), Vec::new());
        for (number, word) in words.into_iter().enumerate() {
            if number > 0 {
                text.push(' ');
            }
            if word.contains(' ') {
                spaced.push(text.len()..text.len() + word.len());
            }
            text.push_str(word);
        }
        Self { text, role: Role::Runs, begins, spaced, listed: Vec::new(), repeats: false }
    }

    /// A file that is redirected.
    pub(crate) fn file(path: &str, role: Role) -> Self {
        let spaced = path.contains(' ').then_some(0..path.len()).into_iter().collect();
        Self {
            text: path.to_owned(),
            role,
            begins: Begins::Inert,
            spaced,
            listed: Vec::new(),
            repeats: false,
        }
    }

    /// The words, joined by single spaces.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether no argument of it can be run: its program only reads, writes or moves what is named.
    pub(crate) fn is_inert(&self) -> bool {
        self.begins == Begins::Inert
    }

    /// Whether one before it says the same, so that it matters only to what goes by their order.
    pub(crate) fn repeats(&self) -> bool {
        self.repeats
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// The words (a quoted word with spaces in it counts as several).
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        between_blanks(&self.text).filter(|w| !w.is_empty())
    }

    /// The words that [`Self::words`] takes apart, whole.
    pub(crate) fn spaced(&self) -> impl Iterator<Item = &str> {
        self.spaced.iter().filter_map(|range| self.text.get(range.clone()))
    }

    /// The words as the program gets them: an empty one may be an option's value.
    pub(super) fn whole_words(&self) -> impl Iterator<Item = &str> {
        let (mut at, mut spaced) = (0, self.spaced.iter().peekable());
        std::iter::from_fn(move || {
            let from = at;
            let rest = self.text.get(from..)?;
            let end = match spaced.next_if(|range| range.start == from) {
                Some(range) => range.end,
                None => from + between_blanks(rest).next().unwrap_or_default().len(),
            };
            at = end + 1;
            self.text.get(from..end)
        })
    }

    /// Every byte offset at which the name of a program may begin: at a word, and behind the last slash in it.
    pub(crate) fn starts(&self) -> impl Iterator<Item = usize> + '_ {
        let most = match self.begins {
            Begins::Inert | Begins::First => 1,
            Begins::Nowhere | Begins::Listed => 0,
            _ => usize::MAX,
        };
        self.offsets(0, most)
    }

    /// Those of them that are as sure as that.
    pub(crate) fn starts_in(&self, sight: Sight) -> impl Iterator<Item = usize> + '_ {
        let (skip, most) = self.begins.seen(sight);
        let listed = self.listed.iter().copied().filter(move |_| sight == Sight::Guessed);
        self.offsets(skip, most).chain(listed).chain(self.assigned(sight))
    }

    /// Where the variables stand that are set for what runs for sure.
    fn assigned(&self, sight: Sight) -> impl Iterator<Item = usize> + '_ {
        let is_told = self.role == Role::Runs && self.begins.seen(sight) == (0, 1);
        let mut at = 0;
        let words = between_blanks(&self.text).map_while(move |word| {
            let start = at;
            at += word.len() + 1;
            is_assignment(word).then_some(start)
        });
        words.filter(move |_| is_told)
    }

    fn offsets(&self, skip: usize, most: usize) -> impl Iterator<Item = usize> + '_ {
        let most = if self.role == Role::Runs { most } else { 0 };
        // What is sure is the program, behind what is assigned to it.
        let assigned = most == 1 || skip == 1;
        let mut at = 0;
        between_blanks(&self.text)
            .map(move |word| {
                let start = at;
                at += word.len() + 1;
                (start, word)
            })
            .skip_while(move |(_, word)| assigned && is_assignment(word))
            .skip(skip)
            .take(most)
            .flat_map(|(start, word)| {
                [
                    Some(start),
                    Some(word.len() - file_name(word).len())
                        .filter(|behind| *behind > 0)
                        .map(|behind| start + behind),
                ]
            })
            .flatten()
    }
}

/// Marks those that say what one before them says.
pub(super) fn mark_repeats(segments: &mut [Segment]) {
    const FEW: usize = 2;
    if segments.len() <= FEW {
        return;
    }
    let mut seen = HashSet::with_capacity(segments.len());
    let says = |s: &'_ Segment| (s.role, s.begins, s.spaced.clone(), s.listed.clone());
    let repeated: Vec<bool> = segments.iter().map(|s| !seen.insert((s.text.as_str(), says(s)))).collect();
    segments.iter_mut().zip(repeated).for_each(|(segment, repeats)| segment.repeats = repeats);
}

/// Whether a word sets a variable when it stands in front of a command.
pub(crate) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else { return false };
    let name = name.strip_suffix('+').unwrap_or(name);
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '[' | ']'))
}
