//! Rules by the names that they say.

use std::collections::BTreeMap;
use std::ops::Bound;

use foldhash::HashMap;

use super::names::{Name, STAR, is_starred};

/// Rules by the names that they say, one behind the other.
#[derive(Debug, Clone)]
pub(super) struct Named<R> {
    pub(super) says: Name,
    /// Those that say no further name.
    pub(super) rules: Vec<R>,
    /// Those that do, with that name.
    pub(super) children: Vec<Named<R>>,
    spelt: Vec<String>,
    numbers: BTreeMap<String, usize>,
    /// The same by each name that may stand for that one.
    called: HashMap<String, Vec<usize>>,
    starred: Starred,
    shortened: Shortened,
}

/// Names of which each part may be shortened.
#[derive(Debug, Clone, Default)]
struct Shortened {
    /// Each by what its first part may be shortened to.
    by_first: HashMap<String, Vec<usize>>,
    /// Of those without a star.
    parts: HashMap<usize, Vec<String>>,
}

/// Names with a star in them.
#[derive(Debug, Clone, Default)]
struct Starred {
    /// Each by what a word begins with that it may stand for.
    by_beginning: HashMap<String, Vec<usize>>,
    /// How long those are: few, however many names there are.
    lengths: Vec<usize>,
}

impl<R> Named<R> {
    pub(super) fn new(says: Name) -> Self {
        Self {
            says,
            rules: Vec::new(),
            children: Vec::new(),
            spelt: Vec::new(),
            numbers: BTreeMap::default(),
            called: HashMap::default(),
            starred: Starred::default(),
            shortened: Shortened::default(),
        }
    }

    pub(super) fn child<'t>(&'t mut self, name: &str) -> &'t mut Self {
        let next = self.children.len();
        let number = *self.numbers.entry(name.to_owned()).or_insert(next);
        if number == next {
            self.children.push(Self::new(self.says.next(name)));
            self.spelt.push(name.to_owned());
            match self.says.beginning(name).filter(|_| is_starred(name)) {
                Some(beginning) => {
                    self.starred.add(beginning, number);
                    if let Some(parts) = name.split(STAR).next().and_then(|told| self.says.parts(told)) {
                        self.shortened.add(&parts, number);
                    }
                    // From within its folder a script has its last name alone.
                    for key in self.says.told_last(name).into_iter().flat_map(|last| self.says.keys(last)) {
                        self.called.entry(key.into_owned()).or_default().push(number);
                    }
                }
                None if let Some(parts) = self.says.parts(name) => {
                    self.shortened.add(&parts, number);
                    self.shortened.parts.insert(number, parts);
                }
                None => {
                    for key in self.says.keys(name) {
                        self.called.entry(key.into_owned()).or_default().push(number);
                    }
                }
            }
        }
        &mut self.children[number]
    }

    /// Whether any says a further name.
    pub(super) fn goes_on(&self) -> bool {
        !self.children.is_empty()
    }

    /// The one with just this name.
    pub(super) fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// Those that the word may name; one may be told of several times.
    pub(super) fn called(&self, word: &str, mut each: impl FnMut(usize)) {
        let fits = |number: &usize| self.spelt.get(*number).is_some_and(|name| self.says.fits(name, word));
        for key in self.says.keys(word) {
            self.called.get(key.as_ref()).into_iter().flatten().filter(|n| fits(n)).for_each(|n| each(*n));
            self.starred.may_be(&key).filter(|n| fits(n)).for_each(&mut each);
        }
        for key in self.says.includes(word) {
            self.called.get(*key).into_iter().flatten().for_each(|n| each(*n));
        }
        if !self.starred.lengths.is_empty() {
            for folder in self.says.folders(word) {
                self.starred.may_be(&folder).filter(|n| fits(n)).for_each(&mut each);
            }
        }
    }

    /// Those that a word with these parts may be short for.
    pub(super) fn short_for(&self, parts: &[String], mut each: impl FnMut(usize)) {
        let fits = |number: &usize| {
            let whole = self.shortened.parts.get(number);
            whole.is_none_or(|whole| self.says.are_short_for(parts, whole))
        };
        self.shortened.may_be(parts).filter(fits).for_each(&mut each);
        let text = parts.join("-");
        let is_like =
            |number: &usize| self.spelt.get(*number).is_some_and(|name| self.says.is_like(name, &text));
        self.starred.may_be(&text).filter(is_like).for_each(each);
    }

    /// Those that begin so, or may.
    pub(super) fn beginning_with(&self, start: &str, mut each: impl FnMut(usize)) {
        let from = (Bound::Included(start), Bound::Unbounded);
        let begin = self.numbers.range::<str, _>(from).take_while(|(name, _)| name.starts_with(start));
        begin.for_each(|(_, number)| each(*number));
        self.starred.may_be(start).for_each(each);
    }
}

impl Starred {
    fn add(&mut self, beginning: String, number: usize) {
        if !self.lengths.contains(&beginning.len()) {
            self.lengths.push(beginning.len());
        }
        self.by_beginning.entry(beginning).or_default().push(number);
    }

    /// Those that may stand for what begins like the text.
    fn may_be(&self, text: &str) -> impl Iterator<Item = usize> {
        let beginnings = self.lengths.iter().filter_map(|length| text.get(..*length));
        beginnings.filter_map(|beginning| self.by_beginning.get(beginning)).flatten().copied()
    }
}

impl Shortened {
    /// By how many letters of its first part a name is found.
    const TOLD: usize = 32;

    fn add(&mut self, parts: &[String], number: usize) {
        let first = parts.first().map(String::as_str).unwrap_or_default();
        let ends = first.char_indices().map(|(at, c)| at + c.len_utf8()).take(Self::TOLD);
        for end in ends {
            self.by_first.entry(first[..end].to_owned()).or_default().push(number);
        }
    }

    fn may_be(&self, parts: &[String]) -> impl Iterator<Item = usize> {
        let told = |first: &'_ String| first.chars().take(Self::TOLD).collect::<String>();
        let first = parts.first().and_then(|first| self.by_first.get(&told(first)));
        first.into_iter().flatten().copied()
    }
}
