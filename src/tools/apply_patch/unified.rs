//! Reads unified diffs, plain ones and git's.

use super::git_path;
use super::patch::{Action, Header, Hunk, Kind, Lines, Patch, PatchError, Section, header};

const NO_FILE: &str = "/dev/null";
/// What git writes at the end of a mailed patch, above its version.
const SIGNATURE: &str = "-- ";

/// Reads all files of a diff. What stands before the first is a message and skipped; after it, every line must
/// be understood, so that no part of a hunk gets lost.
pub(super) fn parse(mut lines: Lines<'_>) -> Result<Patch, PatchError> {
    while lines.peek().is_some() && !begins_file(&lines) {
        lines.next();
    }
    let (mut sections, mut has_modes) = (Vec::new(), false);
    while let Some(line) = lines.peek() {
        if begins_file(&lines) {
            let about = About::read(&mut lines)?;
            has_modes |= about.modes;
            sections.push(section(&about, &mut lines)?);
        } else if line.trim().is_empty() || is_between(line) {
            lines.next();
        } else if line == SIGNATURE && lines.ahead(2).is_none() {
            break;
        } else {
            let text = "not understood. A line of a hunk begins with a space, `-` or `+`; a file begins with \
                        `--- a/path`";
            return Err(PatchError::new(lines.number(), text));
        }
    }
    Ok(Patch { sections, has_modes })
}

fn begins_file(lines: &Lines<'_>) -> bool {
    lines.peek().is_some_and(|line| line.starts_with("diff --git ")) || begins_names(lines)
}

fn begins_names(lines: &Lines<'_>) -> bool {
    lines.peek().is_some_and(|line| line.starts_with("--- "))
        && lines.ahead(1).is_some_and(|line| line.starts_with("+++ "))
}

/// What other tools write between files.
fn is_between(line: &str) -> bool {
    ["Index: ", "====", "diff ", "Only in "].iter().any(|start| line.starts_with(start))
}

/// What the lines before a file's hunks say of it.
#[derive(Default)]
struct About {
    /// Where it begins in the patch.
    line: usize,
    /// Both sides of `diff --git`, with their prefixes.
    git: Option<(String, String)>,
    /// `---` and `+++`, with their prefixes.
    names: Option<(String, String)>,
    renamed: (Option<String>, Option<String>),
    is_new: bool,
    is_deleted: bool,
    modes: bool,
}

impl About {
    fn read(lines: &mut Lines<'_>) -> Result<Self, PatchError> {
        let mut about = Self { line: lines.number(), ..Self::default() };
        if let Some(both) = lines.peek().and_then(|line| line.strip_prefix("diff --git ")) {
            about.git = git_path::both(both);
            lines.next();
            while let Some(line) = lines.peek() {
                if begins_names(lines) || !about.take(line, lines.number())? {
                    break;
                }
                lines.next();
            }
        }
        if begins_names(lines) {
            let number = lines.number();
            let mut name = |sign: &str| {
                let text = lines.next().and_then(|line| line.strip_prefix(sign)).unwrap_or_default();
                git_path::one(text)
                    .ok_or_else(|| PatchError::new(number, "a path is missing or not readable"))
            };
            about.names = Some((name("--- ")?, name("+++ ")?));
        }
        Ok(about)
    }

    /// Takes a line of git's own; false when it is none.
    fn take(&mut self, line: &str, number: usize) -> Result<bool, PatchError> {
        let refused = |what: &str| Err(PatchError::new(number, what));
        let path =
            |text| git_path::one(text).ok_or_else(|| PatchError::new(number, "the path is not readable"));
        if let Some(text) = line.strip_prefix("rename from ") {
            self.renamed.0 = Some(path(text)?);
        } else if let Some(text) = line.strip_prefix("rename to ") {
            self.renamed.1 = Some(path(text)?);
        } else if let Some(mode) = line.strip_prefix("new file mode ") {
            self.is_new = true;
            self.take_mode(mode, number)?;
        } else if line.starts_with("deleted file mode ") {
            self.is_deleted = true;
        } else if let Some(mode) = line.strip_prefix("new mode ") {
            self.modes = true;
            self.take_mode(mode, number)?;
        } else if line.starts_with("copy from ") || line.starts_with("copy to ") {
            return refused("copies are not made; add the new file with its content");
        } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
            return refused("binary files are not patched");
        } else {
            let others = ["index ", "old mode ", "similarity index ", "dissimilarity index "];
            return Ok(others.iter().any(|start| line.starts_with(start)));
        }
        Ok(true)
    }

    fn take_mode(&mut self, mode: &str, number: usize) -> Result<(), PatchError> {
        match mode.trim() {
            "100644" => Ok(()),
            "100755" => {
                self.modes = true;
                Ok(())
            }
            _ => Err(PatchError::new(number, "only regular files are patched, no links and no submodules")),
        }
    }

    /// The file's old and new path; none on the side where there is no file.
    fn paths(&self) -> Result<(Option<String>, Option<String>), PatchError> {
        let wrong = |what: &str| PatchError::new(self.line, what);
        if let (Some(from), Some(to)) = &self.renamed {
            let agree = self.names.as_ref().is_none_or(|(old, new)| {
                stripped(old, new) == (Some(from.clone()), Some(to.clone())) || (old == from && new == to)
            });
            return if agree {
                Ok((Some(from.clone()), Some(to.clone())))
            } else {
                Err(wrong("`---` and `+++` name other files than `rename from` and `rename to`"))
            };
        }
        if self.renamed != (None, None) {
            return Err(wrong("`rename from` and `rename to` belong together"));
        }
        let (old, new) = match (&self.names, &self.git) {
            (Some((old, new)), _) => stripped(old, new),
            (None, Some((old, new))) => match stripped(old, new) {
                (_, new) if self.is_new => (None, new),
                (old, _) if self.is_deleted => (old, None),
                both => both,
            },
            (None, None) => {
                return Err(wrong(
                    "it cannot be read which file is meant; write `--- a/path` and `+++ b/path`",
                ));
            }
        };
        match (&old, &new) {
            (None, None) => Err(wrong("both sides are /dev/null")),
            (Some(old), Some(new)) if old != new => Err(wrong(
                "the two sides name different files; to rename, write `rename from` and `rename to`",
            )),
            _ => Ok((old, new)),
        }
    }
}

/// Both paths without the `a/` and `b/` that git puts in front; only where both have them.
fn stripped(old: &str, new: &str) -> (Option<String>, Option<String>) {
    let side = |path: &str, prefix: &str| match path {
        NO_FILE => Some(None),
        path => path.strip_prefix(prefix).filter(|rest| !rest.is_empty()).map(|rest| Some(rest.to_owned())),
    };
    let whole = |path: &str| (path != NO_FILE).then(|| path.to_owned());
    match (side(old, "a/"), side(new, "b/")) {
        (Some(old), Some(new)) => (old, new),
        _ => (whole(old), whole(new)),
    }
}

fn section(about: &About, lines: &mut Lines<'_>) -> Result<Section, PatchError> {
    let (old, new) = about.paths()?;
    let mut hunks = Vec::new();
    while let Some(header) = lines.peek().and_then(header) {
        hunks.push(hunk(header, lines)?);
        while lines.peek().is_some_and(str::is_empty) {
            lines.next();
        }
    }
    let wrong = |what: &str| PatchError::new(about.line, what);
    match (old, new) {
        (Some(path), None) => Ok(Section { path, action: Action::Delete(hunks) }),
        (None, Some(path)) => {
            let content =
                added(&hunks).ok_or_else(|| wrong("a new file has one hunk, and only lines with `+`"))?;
            Ok(Section { path, action: Action::Add(content) })
        }
        (Some(path), Some(to)) => {
            let move_to = (to != path).then_some(to);
            if hunks.is_empty() && move_to.is_none() {
                let text = if about.modes {
                    "file modes are not changed by patches; use Bash with chmod"
                } else {
                    "the file has no hunks"
                };
                return Err(wrong(text));
            }
            Ok(Section { path, action: Action::Update { move_to, hunks } })
        }
        (None, None) => Err(wrong("both sides are /dev/null")),
    }
}

/// The content of a new file.
fn added(hunks: &[Hunk]) -> Option<String> {
    let hunk = match hunks {
        [] => return Some(String::new()),
        [one] => one,
        _ => return None,
    };
    let mut content = String::new();
    for line in &hunk.lines {
        if line.kind != Kind::Add {
            return None;
        }
        content.push_str(&line.text);
        content.push('\n');
    }
    if hunk.new_unterminated {
        content.pop();
    }
    Some(content)
}

/// Reads a hunk by the numbers of its header, or, where it has none or they are wrong, as far as its lines go.
fn hunk(header: Header, lines: &mut Lines<'_>) -> Result<Hunk, PatchError> {
    let mut hunk = Hunk::at(lines.number());
    lines.next();
    hunk.anchors.extend(header.anchor);
    if let Some(counts) = header.counts {
        let mut ahead = lines.clone();
        let mut counted = Hunk { start: header.start, ..hunk.clone() };
        if take_counted(&mut counted, counts, &mut ahead) {
            *lines = ahead;
            return some_change(counted);
        }
    }
    let mut unsigned = 0;
    while let Some(line) = lines.peek() {
        let is_signature = line == SIGNATURE && lines.ahead(2).is_none();
        if begins_file(lines) || is_signature || !hunk.take(line) {
            break;
        }
        unsigned = if line.is_empty() { unsigned + 1 } else { 0 };
        lines.next();
    }
    hunk.drop_trailing(unsigned);
    some_change(hunk)
}

fn some_change(hunk: Hunk) -> Result<Hunk, PatchError> {
    if hunk.changes_something() {
        return Ok(hunk);
    }
    Err(PatchError::new(hunk.line, "the hunk has no line that begins with `-` or `+`"))
}

/// Whether exactly as many lines follow as the header says.
fn take_counted(hunk: &mut Hunk, (mut old, mut new): (usize, usize), lines: &mut Lines<'_>) -> bool {
    while old > 0 || new > 0 {
        let Some(line) = lines.peek() else { return false };
        let before = hunk.lines.len();
        if !hunk.take(line) {
            return false;
        }
        lines.next();
        if hunk.lines.len() == before {
            continue;
        }
        let left = match hunk.lines.last().map(|line| line.kind) {
            Some(Kind::Remove) => old.checked_sub(1).map(|old| (old, new)),
            Some(Kind::Add) => new.checked_sub(1).map(|new| (old, new)),
            _ => old.checked_sub(1).zip(new.checked_sub(1)),
        };
        let Some(left) = left else { return false };
        (old, new) = left;
    }
    if let Some(mark) = lines.peek().filter(|line| line.starts_with('\\')) {
        hunk.take(mark);
        lines.next();
    }
    let goes_on = |line: &str| line.starts_with([' ', '+', '-']);
    let is_signature = lines.peek() == Some(SIGNATURE) && lines.ahead(2).is_none();
    begins_file(lines) || is_signature || !lines.peek().is_some_and(goes_on)
}
