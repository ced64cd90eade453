//! Rules by the names that they say.

use foldhash::HashMap;

use super::names::{Name, are_short_for, is_starred};

/// Rules by the names that they say, one behind the other.
#[derive(Debug, Clone)]
pub(super) struct Named<R> {
    pub(super) says: Name,
    /// Those that say no further name.
    pub(super) rules: Vec<R>,
    /// Those that do, with that name.
    pub(super) children: Vec<Named<R>>,
    spelt: Vec<String>,
    numbers: HashMap<String, usize>,
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
            numbers: HashMap::default(),
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
                    // From within its folder a script has its last name alone.
                    for key in self.says.told_last(name).into_iter().flat_map(|last| self.says.keys(last)) {
                        self.called.entry(key.into_owned()).or_default().push(number);
                    }
                }
                None if let Some(parts) = self.says.parts(name) => self.shortened.add(parts, number),
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
        if let Some(parts) = self.says.parts(word) {
            self.shortened.may_be(&parts).for_each(&mut each);
            return self.starred.may_be(&parts.join("-")).filter(|n| fits(n)).for_each(each);
        }
        if self.says.may_be_any(word) {
            return (0..self.spelt.len()).filter(fits).for_each(each);
        }
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

    fn add(&mut self, parts: Vec<String>, number: usize) {
        let first = parts.first().map(String::as_str).unwrap_or_default();
        let ends = first.char_indices().map(|(at, c)| at + c.len_utf8()).take(Self::TOLD);
        for end in ends {
            self.by_first.entry(first[..end].to_owned()).or_default().push(number);
        }
        self.parts.insert(number, parts);
    }

    fn may_be(&self, parts: &[String]) -> impl Iterator<Item = usize> {
        let told = |first: &'_ String| first.chars().take(Self::TOLD).collect::<String>();
        let first = parts.first().and_then(|first| self.by_first.get(&told(first)));
        let fits = |number: &usize| self.parts.get(number).is_some_and(|whole| are_short_for(parts, whole));
        first.into_iter().flatten().copied().filter(fits)
    }
}
