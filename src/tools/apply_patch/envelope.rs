//! Reads the `*** Begin Patch` form.

use super::patch::{Action, Hunk, Lines, Patch, PatchError, Section, header};

/// The first line.
pub(super) const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const DELETE: &str = "*** Delete File: ";
const UPDATE: &str = "*** Update File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Reads a patch whose next line is [`BEGIN`].
pub(super) fn parse(mut lines: Lines<'_>) -> Result<Patch, PatchError> {
    lines.next();
    let mut sections = Vec::new();
    loop {
        let number = lines.number();
        let Some(line) = lines.next() else {
            let text = format!("it ends without `{END}`: it may have been cut off");
            return Err(PatchError::new(number, text));
        };
        if line.trim_end() == END {
            return rest_is_blank(lines).map(|()| Patch { sections, has_modes: false });
        }
        if let Some(path) = line.strip_prefix(ADD) {
            let action = Action::Add(added(&mut lines)?);
            sections.push(Section { path: named(path, number)?, action });
        } else if let Some(path) = line.strip_prefix(DELETE) {
            sections.push(Section { path: named(path, number)?, action: Action::Delete(Vec::new()) });
        } else if let Some(path) = line.strip_prefix(UPDATE) {
            let path = named(path, number)?;
            let action = updated(&mut lines, number)?;
            sections.push(Section { path, action });
        } else if !line.trim().is_empty() {
            let text = format!("expected `{ADD}…`, `{UPDATE}…`, `{DELETE}…` or `{END}`");
            return Err(PatchError::new(number, text));
        }
    }
}

fn rest_is_blank(mut lines: Lines<'_>) -> Result<(), PatchError> {
    let number = lines.number();
    while let Some(line) = lines.next() {
        if !line.trim().is_empty() {
            return Err(PatchError::new(number, format!("nothing may follow `{END}`")));
        }
    }
    Ok(())
}

fn named(path: &str, number: usize) -> Result<String, PatchError> {
    let path = path.trim();
    if path.is_empty() { Err(PatchError::new(number, "the path is missing")) } else { Ok(path.to_owned()) }
}

/// Whether the line begins something else than a line of a file: those have a sign in front.
fn is_directive(line: &str) -> bool {
    line.starts_with("*** ")
}

fn added(lines: &mut Lines<'_>) -> Result<String, PatchError> {
    let mut content = String::new();
    while let Some(line) = lines.peek() {
        if is_directive(line) {
            break;
        }
        let number = lines.number();
        lines.next();
        if let Some(text) = line.strip_prefix('+') {
            content.push_str(text);
            content.push('\n');
        } else if line.trim().is_empty() && only_blank_until_directive(lines) {
            break;
        } else {
            return Err(PatchError::new(number, "each line of a new file begins with `+`, an empty one too"));
        }
    }
    Ok(content)
}

fn only_blank_until_directive(lines: &mut Lines<'_>) -> bool {
    while lines.peek().is_some_and(|line| line.trim().is_empty()) {
        lines.next();
    }
    lines.peek().is_none_or(is_directive)
}

fn updated(lines: &mut Lines<'_>, section: usize) -> Result<Action, PatchError> {
    let mut move_to = None;
    if let Some(path) = lines.peek().and_then(|line| line.strip_prefix(MOVE)) {
        move_to = Some(named(path, lines.number())?);
        lines.next();
    }
    let mut hunks = Vec::new();
    while let Some(line) = lines.peek() {
        if line.is_empty() {
            lines.next();
            continue;
        }
        if is_directive(line) {
            break;
        }
        hunks.push(hunk(lines)?);
    }
    if hunks.is_empty() && move_to.is_none() {
        return Err(PatchError::new(section, "an update has hunks, or `*** Move to: ` in its next line"));
    }
    Ok(Action::Update { move_to, hunks })
}

fn hunk(lines: &mut Lines<'_>) -> Result<Hunk, PatchError> {
    let mut hunk = Hunk::at(lines.number());
    while let Some(header) = lines.peek().and_then(header) {
        lines.next();
        hunk.start = header.start.or(hunk.start);
        hunk.anchors.extend(header.anchor);
    }
    let mut unsigned = 0;
    while let Some(line) = lines.peek() {
        if line.trim_end() == END_OF_FILE {
            lines.next();
            hunk.at_end = true;
            break;
        }
        if is_directive(line) || header(line).is_some() {
            break;
        }
        if !hunk.take(line) {
            let text = "a line of a hunk begins with a space (it stays), `-` (it goes) or `+` (it comes)";
            return Err(PatchError::new(lines.number(), text));
        }
        unsigned = if line.is_empty() { unsigned + 1 } else { 0 };
        lines.next();
    }
    hunk.drop_trailing(unsigned);
    if !hunk.changes_something() {
        return Err(PatchError::new(hunk.line, "the hunk has no line that begins with `-` or `+`"));
    }
    Ok(hunk)
}
