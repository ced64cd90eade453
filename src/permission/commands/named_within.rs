//! Names of files that the words of a command hold in a language of their own: URLs, scripts of sed, beginnings and
//! endings.

use std::sync::LazyLock;

use foldhash::HashSet;

use super::super::lexical::file_name;
use super::super::shell::scan::Segment;
use super::carriers::sed;
use super::kind::{self, base_name};
use super::open_ended::{self, OpenEnded};
use super::{suffixes, urls};

/// Longest command whose words are looked within, in characters: no text that is understood has more.
const MAX_CHARS: usize = 10_000;
/// Most names of one command, of a text, and most bytes that those of a text have.
const MAX_OF_COMMAND: usize = 256;
const MAX_NAMES: usize = 1024;
const MAX_BYTES: usize = 128 * 1024;

/// The names that the words of a text hold, as far as there is room for them.
#[derive(Debug, Default)]
pub(in crate::permission) struct Made {
    names: usize,
    bytes: usize,
    /// There may be more.
    cut: bool,
}

impl Made {
    /// Whether there may be more names than were given.
    pub(in crate::permission) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The names that count as words of the command do.
    pub(in crate::permission) fn names(&mut self, segment: &Segment) -> Vec<String> {
        let is_long = segment.text().len() > MAX_CHARS && segment.text().chars().nth(MAX_CHARS).is_some();
        if is_long || self.names >= MAX_NAMES || self.bytes >= MAX_BYTES {
            self.cut = true;
            return Vec::new();
        }
        let mut names = names(segment);
        let of_text = MAX_NAMES - self.names;
        self.cut |= names.len() >= MAX_OF_COMMAND.min(of_text);
        names.truncate(of_text);
        let fits = |name: &String| {
            let fits = self.bytes < MAX_BYTES;
            self.bytes += name.len();
            fits
        };
        let all = names.len();
        let names: Vec<String> = names.into_iter().take_while(fits).collect();
        self.cut |= names.len() < all;
        self.names += names.len();
        names
    }
}

/// Every program that any of the tables speaks of, by its name.
static SPEAKERS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let tables = suffixes::programs().chain(urls::programs()).chain(open_ended::PROGRAMS.iter().copied());
    tables.chain(SEDS.iter().copied()).chain(kind::unpackers()).collect()
});

const SEDS: &[&str] = &["sed", "gsed"];

/// Whether one of the words is a program that makes names of its words: most commands are told from those by this.
fn speaks(segment: &Segment) -> bool {
    segment.words().any(|word| {
        let name = file_name(word);
        SPEAKERS.contains(name) || {
            let base = base_name(name);
            base.len() != name.len() && SPEAKERS.contains(base)
        }
    })
}

fn names(segment: &Segment) -> Vec<String> {
    let of_urls = || segment.words().chain(segment.spaced()).flat_map(urls::files);
    if !speaks(segment) {
        return of_urls().collect();
    }
    let words: Vec<&str> = segment.words().collect();
    let mut names = suffixes::made(&words);
    names.extend(of_urls());
    names.extend(urls::saved(&words));
    names.extend(open_ended::samples(&open_ended(segment)));
    names.extend(of_sed(segment));
    names
}

/// Names of which the words tell only how they begin and end.
pub(in crate::permission) fn open_ended(segment: &Segment) -> Vec<OpenEnded> {
    if !speaks(segment) {
        return Vec::new();
    }
    let words: Vec<&str> = segment.words().collect();
    let mut made = open_ended::of(&words);
    made.extend(urls::open_ended(&words));
    made
}

/// The files that scripts of sed read or write: whatever may be a script counts as one.
fn of_sed(segment: &Segment) -> Vec<String> {
    const MAX: usize = 256;
    // Behind each letter of a script that is not known there may be a name that goes on to the end of the line.
    const MAX_BYTES: usize = 32 * 1024;
    let Some(at) = segment.words().position(|word| SEDS.contains(&base_name(word))) else {
        return Vec::new();
    };
    let script = |word: &'_ str| match word.strip_prefix("--") {
        Some(option) => option.split_once('=').map(|(_, value)| value.to_owned()),
        None => match word.strip_prefix('-') {
            Some(cluster) => cluster.split_once('e').map(|(_, value)| value.to_owned()),
            None => Some(word.to_owned()),
        },
    };
    let words = segment.words().skip(at + 1).chain(segment.spaced());
    let scripts = words.filter_map(script);
    let mut bytes = 0;
    scripts
        .flat_map(|text| sed::files(&text).into_iter().map(str::to_owned).collect::<Vec<_>>())
        .take_while(|file| {
            let fits = bytes <= MAX_BYTES;
            bytes += file.len();
            fits
        })
        .take(MAX)
        .collect()
}
