//! Names found by hash: verdicts ask the tables for each word of a command.

use std::sync::{LazyLock, OnceLock};

use foldhash::{HashMap, HashSet};

/// A table of names, separated by white space.
pub(in crate::permission) struct Names {
    lists: &'static [&'static str],
    set: OnceLock<HashSet<&'static str>>,
}

impl Names {
    /// Of these lists.
    pub(in crate::permission) const fn of(lists: &'static [&'static str]) -> Self {
        Self { lists, set: OnceLock::new() }
    }

    /// Whether the table has `name`.
    pub(in crate::permission) fn has(&self, name: &str) -> bool {
        self.set.get_or_init(|| self.all().collect()).contains(name)
    }

    /// Every name.
    pub(in crate::permission) fn all(&self) -> impl Iterator<Item = &'static str> {
        self.lists.iter().flat_map(|names| names.split_ascii_whitespace())
    }
}

/// Whether the word is one of the options: a letter among others behind one dash, or a long one; those can be
/// shortened.
pub(in crate::permission) fn has_option(word: &str, letters: &str, longs: &[&str]) -> bool {
    match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            let name = long[1..].split('=').next().unwrap_or_default();
            !name.is_empty() && longs.iter().any(|long| long.starts_with(name))
        }
        Some(cluster) => cluster.contains(|letter| letters.contains(letter)),
        None => false,
    }
}

/// Where a value may begin in a word of short options, counted in bytes: behind each of the first ones, which may be the name of
/// one option (`-idirafterDIR`), and later behind the first of each kind, since one that takes a value takes all that
/// follows. Programs have digits and signs for flags, too (`curl -#`, `xargs -0`, `less -~`).
pub(crate) fn value_starts(word: &str) -> impl Iterator<Item = usize> {
    const EACH: usize = 24;
    let cluster = word.strip_prefix('-').filter(|cluster| !cluster.starts_with('-')).unwrap_or_default();
    let is_flag = |b: u8| b.is_ascii_graphic() && !b"/=,-_'\"\\{}()<>|;`$&".contains(&b);
    let mut seen = [false; 128];
    let flags =
        cluster.bytes().enumerate().take_while(move |(at, b)| *at == 0 && b.is_ascii() || is_flag(*b));
    let counts = flags.filter(move |(at, b)| {
        let is_first = !std::mem::replace(&mut seen[usize::from(*b)], true);
        is_first || *at < EACH
    });
    let starts = counts.map(|(at, _)| at + 2);
    starts.filter(move |start| word.is_char_boundary(*start) && *start < word.len())
}

/// Options of programs that a table speaks of.
pub(super) struct Options {
    /// The programs, with blanks between them.
    pub(super) names: &'static str,
    /// Long options, without their dashes; one that is shortened counts as well.
    pub(super) long: &'static str,
    /// Letters of short options.
    pub(super) short: &'static str,
}

/// A table whose rows have names.
pub(in crate::permission) type Index<T> = LazyLock<HashMap<&'static str, &'static T>>;

/// Rows by their names; of several with one name the first counts.
pub(in crate::permission) fn index<T, N: IntoIterator<Item = &'static str>>(
    table: &'static [T],
    names: impl Fn(&'static T) -> N,
) -> HashMap<&'static str, &'static T> {
    let rows = table.iter().rev();
    rows.flat_map(|row| names(row).into_iter().map(move |name| (name, row))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_the_first_row_counts() {
        static NAMES: Names = Names::of(&["a b", "  c\n d "]);
        static ROWS: [(&str, u8); 2] = [("x y", 1), ("y z", 2)];
        for (name, there) in [("a", true), ("d", true), ("", false), ("a b", false), ("e", false)] {
            assert_eq!(NAMES.has(name), there, "{name:?}");
        }
        let index = index(&ROWS, |row| row.0.split_ascii_whitespace());
        assert_eq!(["x", "y", "z"].map(|name| index[name].1), [1, 1, 2]);
    }

    #[test]
    fn a_value_stands_behind_the_first_of_each_flag() {
        for (word, want) in [
            ("-o.env", &[".env", "env", "nv", "v"][..]),
            ("-#oJ", &["oJ", "J"]),
            ("-4o/x", &["o/x", "/x"]),
            ("-uuoa", &["uoa", "oa", "a"]),
            ("-irir", &["rir", "ir", "r"]),
            ("-ra", &["a"]),
            ("-r", &[]),
            ("-", &[]),
            ("--rab", &[]),
            ("ab", &[]),
            ("-a=b", &["=b"]),
            ("-Wl,-T", &["l,-T", ",-T"]),
            ("-\u{e9}x", &[]),
            ("-o\u{e9}", &["\u{e9}"]),
        ] {
            let values: Vec<&str> = value_starts(word).map(|at| &word[at..]).collect();
            assert_eq!(values, want, "{word}");
        }
        let long = format!("-{}osec", "v".repeat(9_000));
        assert_eq!(value_starts(&long).last(), Some(long.len() - 1));
        assert!(value_starts(&long).any(|at| &long[at..] == "sec"));
    }
}
