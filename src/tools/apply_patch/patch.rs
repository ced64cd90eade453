//! What a patch says, however it was written: sections of hunks. Reading it is pure and bounded.

use super::{envelope, unified};

/// The most files that one patch may name, both sides of a move counted.
pub(super) const PATHS_MAX: usize = 100;
/// The most hunks of one patch.
pub(super) const HUNKS_MAX: usize = 5_000;

/// A patch, in its own order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) sections: Vec<Section>,
    /// It asks for file modes, which are not changed.
    pub(super) has_modes: bool,
}

/// What becomes of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Section {
    /// The file as the patch names it.
    pub(super) path: String,
    pub(super) action: Action,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Action {
    /// A new file with this content.
    Add(String),
    /// The file goes. The hunks, where the patch has them, must take away all that is in it.
    Delete(Vec<Hunk>),
    /// The file changes by its hunks, and may move.
    Update { move_to: Option<String>, hunks: Vec<Hunk> },
}

/// Lines of a file, and what becomes of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Hunk {
    /// Where it begins in the patch, in lines from 1.
    pub(super) line: usize,
    /// Lines that come before it in the file (`@@ class A`), outer ones first.
    pub(super) anchors: Vec<String>,
    /// The stated number of its first old line; of the line before it, when it has no old lines.
    pub(super) start: Option<usize>,
    pub(super) lines: Vec<HunkLine>,
    /// Its old lines end where the file ends.
    pub(super) at_end: bool,
    /// The last old line is said to have no line end.
    pub(super) old_unterminated: bool,
    /// The last new line is said to have none.
    pub(super) new_unterminated: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HunkLine {
    pub(super) kind: Kind,
    /// Without the sign and the line end.
    pub(super) text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Context,
    Remove,
    Add,
}

/// Why a text is no patch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the patch: {what}")]
pub(super) struct PatchError {
    /// From 1.
    pub(super) line: usize,
    pub(super) what: String,
}

impl PatchError {
    pub(super) fn new(line: usize, what: impl Into<String>) -> Self {
        Self { line, what: what.into() }
    }
}

impl Patch {
    /// Reads a patch in either form.
    pub(super) fn parse(text: &str) -> Result<Self, PatchError> {
        let lines = Lines::of(text);
        let patch = match lines.peek() {
            Some(first) if first.trim_end() == envelope::BEGIN => envelope::parse(lines)?,
            _ => unified::parse(lines)?,
        };
        let nothing = || {
            PatchError::new(
                1,
                "there is nothing to change in it. It begins with `*** Begin Patch`, or is a unified diff \
                 whose files begin with `--- a/path` and `+++ b/path`",
            )
        };
        if patch.sections.is_empty() {
            return Err(nothing());
        }
        let paths = patch.paths().len();
        let hunks: usize = patch.sections.iter().map(|section| section.action.hunks().len()).sum();
        for (count, max, what) in [(paths, PATHS_MAX, "files"), (hunks, HUNKS_MAX, "hunks")] {
            if count > max {
                let text = format!("it has {count} {what}; at most {max} are taken. Send it in parts");
                return Err(PatchError::new(1, text));
            }
        }
        Ok(patch)
    }

    /// Every path that the patch names, in its order; a move's new one after its old one.
    pub(super) fn paths(&self) -> Vec<&str> {
        let mut paths = Vec::new();
        for section in &self.sections {
            paths.push(section.path.as_str());
            if let Action::Update { move_to: Some(to), .. } = &section.action {
                paths.push(to);
            }
        }
        paths
    }
}

impl Action {
    pub(super) fn hunks(&self) -> &[Hunk] {
        match self {
            Self::Add(_) => &[],
            Self::Delete(hunks) | Self::Update { hunks, .. } => hunks,
        }
    }
}

impl Hunk {
    pub(super) fn at(line: usize) -> Self {
        Self { line, ..Self::default() }
    }

    /// The lines that the file has.
    pub(super) fn old(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(|line| line.kind != Kind::Add).map(|line| line.text.as_str())
    }

    pub(super) fn changes_something(&self) -> bool {
        self.lines.iter().any(|line| line.kind != Kind::Context)
    }

    /// Takes a line of the hunk with its sign; false when it is none. An empty line is an empty line of
    /// context that lost its space.
    pub(super) fn take(&mut self, line: &str) -> bool {
        let (kind, text) = match line.as_bytes().first() {
            None => (Kind::Context, line),
            Some(b' ') => (Kind::Context, &line[1..]),
            Some(b'-') => (Kind::Remove, &line[1..]),
            Some(b'+') => (Kind::Add, &line[1..]),
            Some(b'\\') => {
                match self.lines.last().map(|line| line.kind) {
                    Some(Kind::Remove) => self.old_unterminated = true,
                    Some(Kind::Add) => self.new_unterminated = true,
                    Some(Kind::Context) => {
                        self.old_unterminated = true;
                        self.new_unterminated = true;
                    }
                    None => return false,
                }
                return true;
            }
            Some(_) => return false,
        };
        // A mark before was not on the last line of its side.
        self.old_unterminated &= kind == Kind::Add;
        self.new_unterminated &= kind == Kind::Remove;
        self.lines.push(HunkLine { kind, text: text.to_owned() });
        true
    }

    /// Takes the last lines away while they are empty lines of context that had no sign: they are there to
    /// part the hunk from what follows.
    pub(super) fn drop_trailing(&mut self, unsigned: usize) {
        let keep = self.lines.len().saturating_sub(unsigned);
        self.lines.truncate(keep);
    }
}

/// The lines of a patch, one after the other, each with its number.
#[derive(Clone)]
pub(super) struct Lines<'a> {
    lines: Vec<&'a str>,
    /// The index of the next one.
    at: usize,
}

impl<'a> Lines<'a> {
    /// The lines without blank ones at both ends. Where the patch itself is written with CR LF, which its first
    /// line shows, the CRs are no part of it.
    fn of(text: &'a str) -> Self {
        let mut lines: Vec<&str> = text.split('\n').collect();
        let first = lines.iter().position(|line| !line.trim().is_empty()).unwrap_or(lines.len());
        if lines.get(first).is_some_and(|line| line.ends_with('\r')) {
            for line in &mut lines {
                *line = line.strip_suffix('\r').unwrap_or(line);
            }
        }
        // An empty last line is no line: it is what follows the last line end.
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        Self { lines, at: first }
    }

    /// The number of the next line, from 1.
    pub(super) fn number(&self) -> usize {
        self.at + 1
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.at).copied()
    }

    /// A line further on; the next one is 0.
    pub(super) fn ahead(&self, by: usize) -> Option<&'a str> {
        self.lines.get(self.at + by).copied()
    }

    pub(super) fn next(&mut self) -> Option<&'a str> {
        let line = self.peek()?;
        self.at += 1;
        Some(line)
    }
}

/// What a hunk's header says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Header {
    pub(super) start: Option<usize>,
    /// How many old and new lines follow.
    pub(super) counts: Option<(usize, usize)>,
    pub(super) anchor: Option<String>,
}

/// Reads `@@`, `@@ text`, `@@ -1,2 +1,3 @@ text`; none for another line. What stands after the numbers is a part
/// of a line, cut off, and says nothing.
pub(super) fn header(line: &str) -> Option<Header> {
    let rest = line.strip_prefix("@@")?;
    if rest.starts_with('@') {
        return None;
    }
    if let Some((start, old, new)) = ranges(rest) {
        return Some(Header { start: Some(start), counts: Some((old, new)), anchor: None });
    }
    let text = rest.trim_end();
    let text = text.strip_suffix("@@").map_or(text, str::trim_end);
    let text = text.strip_prefix(' ').unwrap_or(text);
    let says_nothing = text.trim().chars().all(|c| matches!(c, '.' | '…' | '@'));
    Some(Header { anchor: (!says_nothing).then(|| text.to_owned()), ..Header::default() })
}

fn ranges(rest: &str) -> Option<(usize, usize, usize)> {
    let mut words = rest.split_whitespace();
    let (start, old) = range(words.next()?.strip_prefix('-')?)?;
    let (_, new) = range(words.next()?.strip_prefix('+')?)?;
    words.next()?.starts_with("@@").then_some((start, old, new))
}

fn range(text: &str) -> Option<(usize, usize)> {
    match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

#[cfg(test)]
#[path = "patch_tests.rs"]
mod tests;
