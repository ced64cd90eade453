//! Emphases, links and code within a line.

/// An open emphasis or link, and where it begins in the line.
pub(super) struct Mark {
    pub(super) tag: &'static str,
    pub(super) kind: MarkKind,
    pub(super) start: usize,
}

pub(super) enum MarkKind {
    Around(&'static str),
    Code,
    Link(Option<String>),
}

/// Puts a mark around what was written since it was opened; around nothing there is none.
pub(super) fn put(line: &mut String, mark: &mut Mark) {
    let inner = line.get(mark.start..).unwrap_or_default();
    let text = inner.trim();
    if text.is_empty() {
        return;
    }
    let marked = match &mut mark.kind {
        MarkKind::Around(sign) => format!("{sign}{text}{sign}"),
        MarkKind::Code => code(text),
        MarkKind::Link(target) => match target.take() {
            // A link over several blocks is told with the first.
            None => return,
            Some(url) if url == text => format!("<{url}>"),
            Some(url) => format!("[{}]({url})", text.replace('\n', " ")),
        },
    };
    let before = if inner.starts_with([' ', '\n']) { " " } else { "" };
    let after = if inner.ends_with([' ', '\n']) { " " } else { "" };
    let written = format!("{before}{marked}{after}");
    line.truncate(mark.start);
    line.push_str(&written);
}

/// A code span (CommonMark, section 6.1).
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`') + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{}{blank}{fence}", text.replace('\n', " "))
}

pub(super) fn longest_run(text: &str, of: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}
