//! Names of files that the words of a command hold in a language of their own: URLs, scripts of sed, beginnings and
//! endings.

use super::super::shell::scan::Segment;
use super::carriers::sed;
use super::kind::base_name;
use super::open_ended::{self, OpenEnded};
use super::{suffixes, urls};

/// The names that count as words of the command do.
pub(in crate::permission) fn names(segment: &Segment) -> Vec<String> {
    let words: Vec<&str> = segment.words().collect();
    let mut names = suffixes::made(&words);
    names.extend(words.iter().copied().chain(segment.spaced()).flat_map(urls::files));
    names.extend(urls::saved(&words));
    names.extend(open_ended::samples(&open_ended(segment)));
    names.extend(of_sed(segment));
    names
}

/// Names of which the words tell only how they begin and end.
pub(in crate::permission) fn open_ended(segment: &Segment) -> Vec<OpenEnded> {
    let words: Vec<&str> = segment.words().collect();
    let mut made = open_ended::of(&words);
    made.extend(urls::open_ended(&words));
    made
}

/// The files that scripts of sed read or write: whatever may be a script counts as one.
fn of_sed(segment: &Segment) -> Vec<String> {
    const MAX: usize = 256;
    let Some(at) = segment.words().position(|word| matches!(base_name(word), "sed" | "gsed")) else {
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
    scripts
        .flat_map(|text| sed::files(&text).into_iter().map(str::to_owned).collect::<Vec<_>>())
        .take(MAX)
        .collect()
}
