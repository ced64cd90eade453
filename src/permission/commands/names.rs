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
pub(super) type Index<T> = LazyLock<HashMap<&'static str, &'static T>>;

/// Rows by their names; of several with one name the first counts.
pub(super) fn index<T, N: IntoIterator<Item = &'static str>>(
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
}
