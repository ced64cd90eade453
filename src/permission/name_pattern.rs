//! Patterns of names whose star reaches over slashes, as git takes them (gitglossary(7), "pathspec"; wildmatch).

/// Most stars of one name that are told apart; with more it may be any.
const MAX_STARS: usize = 8;

/// What stands between two slashes of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamePattern {
    /// The letters between stars, none for any one letter.
    runs: Vec<Vec<Option<char>>>,
    /// Upper and lower case are the same.
    folds: bool,
}

impl NamePattern {
    pub(crate) fn read(part: &str, folds: bool) -> Self {
        let mut runs = vec![Vec::new()];
        let mut rest = part.chars();
        while let Some(c) = rest.next() {
            let letter = match c {
                '*' => {
                    runs.push(Vec::new());
                    continue;
                }
                '?' => None,
                '[' => {
                    let text = rest.as_str();
                    let skipped = text.chars().take_while(|c| matches!(c, '!' | '^')).count() + 1;
                    let end = text.char_indices().skip(skipped).find(|(_, c)| *c == ']').map(|(at, _)| at);
                    let Some(end) = end.filter(|end| !text[..*end].contains('[')) else {
                        // Classes, or a bracket that is not closed: whatever follows.
                        runs.push(Vec::new());
                        break;
                    };
                    rest = text[end + 1..].chars();
                    None
                }
                '\\' => Some(rest.next().unwrap_or('\\')),
                c => Some(c),
            };
            if let Some(run) = runs.last_mut() {
                run.push(letter.map(|c| if folds { c.to_ascii_lowercase() } else { c }));
            }
        }
        Self { runs, folds }
    }

    /// Whether a star is in it.
    pub(crate) fn has_star(&self) -> bool {
        self.runs.len() > 1
    }

    /// Whether what it stands for begins so, by its letters in front of the first star.
    pub(crate) fn begins_with(&self, beginning: &str) -> bool {
        let fold = |c: char| if self.folds { c.to_ascii_lowercase() } else { c };
        let run = self.runs.first().map_or(&[][..], Vec::as_slice);
        run.len() >= beginning.chars().count()
            && beginning.chars().zip(run).all(|(want, is)| is.is_none_or(|is| is == fold(want)))
    }

    /// Whether a path that it stands for may have `name` between its slashes. `all`: a star that
    /// it begins with may be all of it.
    pub(crate) fn may_be(&self, name: &str, all: bool) -> bool {
        let last = self.runs.len() - 1;
        if last > MAX_STARS {
            return true;
        }
        let fold = |c: char| if self.folds { c.to_ascii_lowercase() } else { c };
        let name: Vec<char> = name.chars().map(fold).collect();
        if all && self.has_star() && self.runs[0].is_empty() {
            return true;
        }
        // Each star may be where a slash is.
        (0..=last).any(|from| {
            (from..=last).any(|to| {
                let runs = &self.runs[from..=to];
                !runs.iter().all(Vec::is_empty) && matches(runs, from > 0, to < last, &name)
            })
        })
    }
}

/// `before`, `behind`: a star stands there.
fn matches(runs: &[Vec<Option<char>>], before: bool, behind: bool, name: &[char]) -> bool {
    let is_at = |run: &[Option<char>], at: usize| {
        name.get(at..at + run.len())
            .is_some_and(|part| run.iter().zip(part).all(|(want, is)| want.is_none_or(|want| want == *is)))
    };
    let mut at = 0;
    for (number, run) in runs.iter().enumerate() {
        let ends = number + 1 == runs.len() && !behind;
        let starts = number == 0 && !before;
        let last = name.len().checked_sub(run.len());
        let found = match last {
            None => None,
            Some(last) if ends => Some(last).filter(|last| *last >= at && (!starts || *last == 0)),
            Some(_) if starts => Some(0),
            Some(last) => (at..=last).find(|at| is_at(run, *at)),
        };
        match found.filter(|found| is_at(run, *found)) {
            Some(found) => at = found + run.len(),
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_reaches_over_slashes() {
        for (pattern, name, want) in [
            (".husky", ".husky", true),
            (".husky", ".husk", false),
            (".husk*", ".husky", true),
            (".hus*commit", ".husky", true),
            ("a*.husky", ".husky", true),
            ("a*.husk?*x", ".husky", true),
            (".h[a-z]sky", ".husky", true),
            (".h[!]]sky", ".husky", true),
            (".husk[[:alpha:]]", ".husky", true),
            ("[.]husky", ".husky", true),
            (".husk\\y", ".husky", true),
            (".*", ".husky", true),
            ("*.yml", "lefthook.yml", true),
            ("?*", ".husky", true),
            ("*.rs", ".husky", false),
            ("src*", ".husky", false),
            ("*", ".husky", false),
            ("**", ".husky", false),
            (".HUSKY", ".husky", false),
            (".husk", ".husky", false),
            ("[a", ".husky", false),
        ] {
            assert_eq!(NamePattern::read(pattern, false).may_be(name, false), want, "{pattern} {name}");
        }
        assert!(NamePattern::read(".HUSKY", true).may_be(".husky", false));
        assert!(NamePattern::read("*", false).may_be("config", true));
        assert!(NamePattern::read("*.toml", false).may_be("config", true));
        assert!(!NamePattern::read("x*", false).may_be("config", true));
    }

    proptest::proptest! {
        #[test]
        fn any_pattern_is_read(pattern in "[a-z\\[\\]*?!^\\\\é.]{0,24}", name in "[a-zé.]{0,8}", folds: bool) {
            let read = NamePattern::read(&pattern, folds);
            read.may_be(&name, false);
            let star = NamePattern::read(&format!("{name}*"), folds);
            proptest::prop_assert!(name.is_empty() || star.may_be(&name, false));
        }
    }
}
