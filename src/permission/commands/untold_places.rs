//! Programs that act on what lies in the working directory when they are told no place, or by patterns of their own.
//!
//! Sources: findutils 4.9 find(1); zip(1) `-R`; git's stand in its folder.

use super::super::lexical::{between_blanks, file_name};
use super::super::shell::scan::{Role, Segment};
use super::git::pathspec::{self, Untold};

/// Where the segment's program takes what its words do not spell.
pub(in crate::permission) fn of(segment: &Segment) -> Vec<Untold> {
    let mut found = pathspec::untold(segment);
    if segment.role() == Role::Runs && (finds_here(segment) || zips_here(segment)) {
        found.push(Untold::Beneath(".".to_owned()));
    }
    found
}

/// Whether a `find` is told no place to start from.
fn finds_here(segment: &Segment) -> bool {
    if !is_run(segment, "find") {
        return false;
    }
    let mut words = behind(segment, "find")
        .skip_while(|word| matches!(*word, "-H" | "-L" | "-P") || word.starts_with("-O"));
    words.next().is_none_or(|word| word.starts_with(['-', '(', '!', '\\']))
}

/// Whether a `zip` matches patterns with the names of files beneath the directory.
fn zips_here(segment: &Segment) -> bool {
    let asks = |word: &str| match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.starts_with("-recurse-p"),
        Some(cluster) => cluster.contains('R'),
        None => false,
    };
    is_run(segment, "zip") && behind(segment, "zip").any(asks)
}

fn is_run(segment: &Segment, program: &str) -> bool {
    segment.text().contains(program)
        && segment.starts().any(|at| between_blanks(&segment.text()[at..]).next() == Some(program))
}

fn behind<'s>(segment: &'s Segment, program: &'s str) -> impl Iterator<Item = &'s str> {
    segment.words().skip_while(move |word| file_name(word) != program).skip(1)
}

#[cfg(test)]
mod tests {
    use super::super::super::shell::scan::scan;
    use super::*;

    #[test]
    fn programs_without_a_place_take_the_working_directory() {
        for (command, want) in [
            ("find -name f -delete", true),
            ("find", true),
            ("/usr/bin/find -L -type f -delete", true),
            ("find -O3 -delete", true),
            ("find '(' -name f ')' -delete", true),
            ("find . -delete", false),
            ("find -H sub -delete", false),
            ("zip -R o.zip '*.env'", true),
            ("zip -qR o.zip '*.env'", true),
            ("zip -r o.zip sub", false),
            ("git clean -fdx", true),
            ("echo find", false),
            ("ls", false),
        ] {
            assert_eq!(scan(command).iter().any(|segment| !of(segment).is_empty()), want, "{command}");
        }
    }
}
