//! Path patterns of rules: gitignore spelling, anchored at the workspace, home or the root.

use std::path::{Path, PathBuf};

use globset::{Candidate, Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use thiserror::Error;

use super::lexical::file_name;
use super::subject::Place;

/// Why a path pattern does not parse.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PathPatternError {
    /// `!pattern`: a rule cannot take back part of another one.
    #[error("a pattern cannot start with `!`: write the opposite rule instead")]
    Negated,
    /// Not a glob.
    #[error("not a path pattern: {0}")]
    Glob(String),
    /// All patterns together are too large to compile.
    #[error("the path patterns are too large together: {0}")]
    TooLarge(String),
}

/// What a pattern is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    Root,
    Home,
    Workspace,
}

/// How far a pattern reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Denials and questions: the directory before `/**` too, and unanchored patterns outside of the workspace
    /// too.
    Wide,
    /// Allow rules: what gitignore would match, within the base.
    Plain,
    /// Grants: only the very path that the pattern spells.
    Exact,
}

/// One pattern of a rule such as `Read(**/.env)`.
#[derive(Debug, Clone)]
pub(crate) struct PathPattern {
    base: Base,
    /// Glob relative to the base, never empty.
    body: String,
    /// Ended with a slash: what lies in the directory.
    directory: bool,
    exact: Glob,
}

impl PathPattern {
    /// Reads the text between the parentheses of a path rule.
    pub(crate) fn parse(text: &str) -> Result<Self, PathPatternError> {
        if text.starts_with('!') {
            return Err(PathPatternError::Negated);
        }
        let (base, rest) = if text.starts_with('/') {
            (Base::Root, text.trim_start_matches('/'))
        } else if text == "~" {
            (Base::Home, "")
        } else if let Some(rest) = text.strip_prefix("~/") {
            (Base::Home, rest.trim_start_matches('/'))
        } else {
            (Base::Workspace, text)
        };
        let dotted = rest == "." || rest.starts_with("./");
        let rest = rest.strip_prefix("./").unwrap_or(if rest == "." { "" } else { rest });
        let trimmed = rest.trim_end_matches('/');
        let directory = trimmed.len() < rest.len() || trimmed.is_empty();
        let floating = base == Base::Workspace && !dotted && !trimmed.contains('/');
        let body = match (trimmed, floating) {
            ("", _) => "**".to_owned(),
            ("**", _) | (_, false) => trimmed.to_owned(),
            (_, true) => format!("**/{trimmed}"),
        };
        let exact = glob(&body)?;
        Ok(Self { base, body, directory, exact })
    }

    /// Whether no path can ever match, because of a `.`, a `..` or nothing between slashes.
    pub(crate) fn is_impossible(&self) -> bool {
        self.body.split('/').any(|part| matches!(part, "" | "." | ".."))
    }

    /// Whether the pattern names one path, without wildcards.
    pub(crate) fn is_literal(&self) -> bool {
        !self.directory && !has_wildcard(&self.body)
    }

    /// Whether `path` (absolute, without dots) is the very path that the pattern spells.
    pub(crate) fn matches_exactly(&self, path: &Path, place: &Place) -> bool {
        !self.directory
            && relative(self.base, path, place)
                .is_some_and(|rel| self.exact.compile_matcher().is_match_candidate(&Candidate::new(rel)))
    }

    /// The part behind the last slash.
    pub(crate) fn last_part(&self) -> &str {
        file_name(&self.body)
    }

    /// The one path that a pattern without wildcards spells, absolute and without dots.
    pub(crate) fn spelt(&self, place: &Place) -> Option<PathBuf> {
        if !self.is_literal() || self.is_impossible() {
            return None;
        }
        let mut text = String::with_capacity(self.body.len());
        let mut chars = self.body.chars();
        while let Some(c) = chars.next() {
            text.extend(if c == '\\' { chars.next() } else { Some(c) });
        }
        let base = match self.base {
            Base::Root => Path::new("/"),
            Base::Home => place.home.as_deref()?,
            Base::Workspace => &place.workspace,
        };
        Some(base.join(text))
    }

    /// The directory beneath which the pattern matches, as far as that is spelt out; `None`: anywhere.
    fn anchor(&self) -> Option<(Base, PathBuf)> {
        if self.base == Base::Workspace && self.body.starts_with("**") {
            return None;
        }
        let fixed = self.body.split('/').take_while(|part| !has_wildcard(part));
        Some((self.base, fixed.map(|part| part.replace('\\', "")).collect()))
    }

    fn globs(&self, reach: Reach) -> Result<Vec<(Base, Glob)>, PathPatternError> {
        let mut bodies = Vec::new();
        let everything = self.body == "**";
        if !self.directory || reach == Reach::Wide || everything {
            bodies.push(self.body.clone());
        }
        if reach != Reach::Exact && !everything {
            bodies.push(format!("{}/**", self.body));
            if reach == Reach::Wide
                && let Some(parent) = self.body.strip_suffix("/**").filter(|p| !p.is_empty() && *p != "**")
            {
                bodies.push(parent.to_owned());
            }
        }
        let floats = self.base == Base::Workspace && self.body.starts_with("**");
        let base = if floats && reach == Reach::Wide { Base::Root } else { self.base };
        bodies.iter().map(|body| Ok((base, glob(body)?))).collect()
    }
}

fn has_wildcard(body: &str) -> bool {
    let mut chars = body.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                chars.next();
            }
            '*' | '?' | '[' | '{' => return true,
            _ => {}
        }
    }
    false
}

/// `text` with every character that a pattern gives a meaning to escaped.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '?' | '[' | ']' | '{' | '}' | '!') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn glob(body: &str) -> Result<Glob, PathPatternError> {
    GlobBuilder::new(body)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|e| PathPatternError::Glob(e.kind().to_string()))
}

fn relative<'p>(base: Base, path: &'p Path, place: &Place) -> Option<&'p Path> {
    match base {
        Base::Root => path.strip_prefix("/").ok(),
        Base::Home => path.strip_prefix(place.home.as_deref()?).ok(),
        Base::Workspace => path.strip_prefix(&place.workspace).ok(),
    }
}

/// Many patterns, matched together.
#[derive(Debug, Clone)]
pub(crate) struct PathSet {
    /// For each base its globs, and for each glob the number that its pattern was added with.
    sets: Vec<(Base, GlobSet, Vec<usize>)>,
    /// Where the patterns match at all; `None`: anywhere.
    anchors: Vec<Option<(Base, PathBuf)>>,
}

impl PathSet {
    /// Compiles patterns, each under the number that `matches` gives back.
    pub(crate) fn compile<'p>(
        patterns: impl Iterator<Item = (usize, &'p PathPattern)>,
        reach: Reach,
    ) -> Result<Self, PathPatternError> {
        let mut builders: Vec<(Base, GlobSetBuilder, Vec<usize>)> = [Base::Root, Base::Home, Base::Workspace]
            .map(|base| (base, GlobSetBuilder::new(), Vec::new()))
            .into();
        let mut anchors = Vec::new();
        for (number, pattern) in patterns {
            anchors.push(pattern.anchor());
            for (base, glob) in pattern.globs(reach)? {
                for (_, builder, numbers) in builders.iter_mut().filter(|(b, ..)| *b == base) {
                    builder.add(glob.clone());
                    numbers.push(number);
                }
            }
        }
        let mut sets = Vec::new();
        for (base, builder, numbers) in builders.into_iter().filter(|(.., numbers)| !numbers.is_empty()) {
            let set = builder.build().map_err(|e| PathPatternError::TooLarge(e.to_string()))?;
            sets.push((base, set, numbers));
        }
        Ok(Self { sets, anchors })
    }

    /// Whether no pattern is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.sets.is_empty()
    }

    /// Whether a pattern may match something beneath `directory` (absolute, without dots). `strict`: those that
    /// are relative to the workspace may match anywhere, since a link may lead there.
    pub(crate) fn may_match_beneath(&self, directory: &Path, place: &Place, strict: bool) -> bool {
        self.anchors.iter().any(|anchor| match anchor {
            None => true,
            Some((Base::Workspace, _)) if strict => true,
            Some(anchor) => reaches_beneath(anchor, directory, place),
        })
    }

    /// The same for those that match in one place only.
    pub(crate) fn may_match_in_its_place(&self, directory: &Path, place: &Place) -> bool {
        self.anchors.iter().flatten().any(|anchor| reaches_beneath(anchor, directory, place))
    }

    /// The lowest number of a pattern that matches `path` (absolute, without dots).
    pub(crate) fn first_match(&self, path: &Path, place: &Place) -> Option<usize> {
        let mut best: Option<usize> = None;
        for (base, set, numbers) in &self.sets {
            let Some(rel) = relative(*base, path, place) else { continue };
            let candidate = Candidate::new(rel);
            if !set.is_match_candidate(&candidate) {
                continue;
            }
            for hit in set.matches_candidate(&candidate) {
                let number = numbers.get(hit).copied();
                best = match (best, number) {
                    (Some(a), Some(b)) => Some(a.min(b)),
                    (a, b) => a.or(b),
                };
            }
        }
        best
    }
}

/// Whether what a pattern begins with lies on the way to the directory, or beneath it.
fn reaches_beneath((base, fixed): &(Base, PathBuf), directory: &Path, place: &Place) -> bool {
    let start = match base {
        Base::Root => Path::new("/"),
        Base::Home => match &place.home {
            Some(home) => home.as_path(),
            None => return false,
        },
        Base::Workspace => place.workspace.as_path(),
    };
    let from = start.join(fixed);
    from.starts_with(directory) || directory.starts_with(&from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place { workspace: "/ws".into(), home: Some("/home/u".into()), cwd: "/ws".into() }
    }

    fn hit(pattern: &str, path: &str, reach: Reach) -> bool {
        let pattern = PathPattern::parse(pattern).unwrap();
        let set = PathSet::compile([(7, &pattern)].into_iter(), reach).unwrap();
        set.first_match(Path::new(path), &place()) == Some(7)
    }

    #[test]
    fn patterns_match_as_gitignore_does() {
        for (pattern, path, want) in [
            ("**/.env", "/ws/.env", true),
            ("**/.env", "/ws/a/b/.env", true),
            ("**/.env", "/ws/a/.env.bak", false),
            ("*.env", "/ws/a/b/.env", true),
            ("*.env", "/ws/a/b/prod.env", true),
            ("*.env", "/ws/a/b/prod.env/inner", true),
            (".env", "/ws/x/.env", true),
            ("secret/**", "/ws/secret/a/b", true),
            ("secret/**", "/ws/x/secret/a", false),
            ("secret/", "/ws/x/secret/a", true),
            ("src/*.rs", "/ws/src/a.rs", true),
            ("src/*.rs", "/ws/src/deep/a.rs", false),
            ("./a.rs", "/ws/a.rs", true),
            ("./a.rs", "/ws/x/a.rs", false),
            ("/etc/**", "/etc/ssl/x", true),
            ("//etc/**", "/etc/ssl/x", true),
            ("/etc", "/etc/ssl/x", true),
            ("~/.ssh/**", "/home/u/.ssh/id", true),
            ("~/.ssh/**", "/ws/.ssh/id", false),
            ("~", "/home/u/x", true),
            ("**", "/ws", true),
            ("**", "/ws/x", true),
            ("/", "/any/thing", true),
            ("a/**/b", "/ws/a/b", true),
            ("A.txt", "/ws/a.txt", false),
            ("x\\*y", "/ws/x*y", true),
            ("x\\*y", "/ws/xzy", false),
        ] {
            assert_eq!(hit(pattern, path, Reach::Plain), want, "{pattern} {path}");
        }
    }

    #[test]
    fn a_sibling_with_the_same_beginning_is_outside() {
        assert!(!hit("**", "/ws-evil/x", Reach::Plain));
        assert!(!hit("**", "/other/x", Reach::Plain));
    }

    #[test]
    fn denials_reach_further() {
        assert!(hit("secret/**", "/ws/secret", Reach::Wide), "the directory itself");
        assert!(hit("secret/", "/ws/x/secret", Reach::Wide));
        assert!(hit("**/.env", "/other/.env", Reach::Wide), "outside of the workspace too");
        assert!(!hit("secret/**", "/other/secret/x", Reach::Wide), "an anchored pattern stays where it is");
    }

    #[test]
    fn grants_reach_only_the_path_they_spell() {
        let granted = |pattern: &str, path: &str| {
            PathPattern::parse(pattern).unwrap().matches_exactly(Path::new(path), &place())
        };
        assert!(granted("./a.rs", "/ws/a.rs"));
        assert!(!granted("./a.rs", "/ws/a.rs/inner"));
        assert!(granted("/etc/x", "/etc/x"));
        assert!(!granted("~/", "/home/u/x"));
    }

    #[test]
    fn escaped_names_match_themselves_only() {
        for name in ["a[b].rs", "{x,y}", "q?.md", "*", "!bang", "back\\slash"] {
            let pattern = PathPattern::parse(&format!("./{}", escape(name))).unwrap();
            assert!(pattern.is_literal(), "{name}");
            assert!(pattern.matches_exactly(&Path::new("/ws").join(name), &place()), "{name}");
        }
    }

    #[test]
    fn impossible_and_broken_patterns_are_told() {
        assert_eq!(PathPattern::parse("!x").unwrap_err(), PathPatternError::Negated);
        assert!(PathPattern::parse("a[").is_err());
        assert!(PathPattern::parse("../x").unwrap().is_impossible());
        assert!(PathPattern::parse("a/./b").unwrap().is_impossible());
        assert!(PathPattern::parse("a//b").unwrap().is_impossible());
        assert!(!PathPattern::parse("//a/b//").unwrap().is_impossible());
        assert!(!PathPattern::parse("./b").unwrap().is_impossible());
    }
}
