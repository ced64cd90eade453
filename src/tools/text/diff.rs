//! The difference between two texts as a unified diff, in bounded time and size.

use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use crate::domain::visible;

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// The most bytes of a diff.
const DIFF_BYTES_MAX: usize = 64 * 1024;
/// The most pairs of lines (old times new, common beginning and end aside) that are compared to find what moved
/// where; beyond it the whole middle shows as replaced, which is as true and only longer.
const PAIRS_MAX: usize = 4_000_000;

/// A unified diff of a file's text. `None` stands for a file that is not there. Empty when nothing differs.
pub(in crate::tools) fn unified(path: &str, old: Option<&str>, new: Option<&str>) -> String {
    between((path, old), (path, new))
}

/// The same for a file that moves, as git writes it: the move shows where nothing else differs, too.
pub(in crate::tools) fn unified_move((from, old): (&str, &str), (to, new): (&str, &str)) -> String {
    let (shown_from, shown_to) = (visible::one_line(from), visible::one_line(to));
    let lines = between((from, Some(old)), (to, Some(new)));
    format!("diff --git a/{shown_from} b/{shown_to}\nrename from {shown_from}\nrename to {shown_to}\n{lines}")
}

fn between((from, old): (&str, Option<&str>), (to, new): (&str, Option<&str>)) -> String {
    let old_lines: Vec<&str> = old.unwrap_or_default().split_inclusive('\n').collect();
    let new_lines: Vec<&str> = new.unwrap_or_default().split_inclusive('\n').collect();
    let groups = group_diff_ops(operations(&old_lines, &new_lines), CONTEXT_LINES);
    if old == new {
        return String::new();
    }
    let side = |text: Option<&str>, side: &str, path: &str| {
        text.map_or("/dev/null".to_owned(), |_| format!("{side}/{}", visible::one_line(path)))
    };
    let mut out = format!("--- {}\n+++ {}\n", side(old, "a", from), side(new, "b", to));
    let mut left_out = 0_usize;
    for group in groups.iter().filter(|group| !group.is_empty()) {
        left_out += write_group(&mut out, group, &old_lines, &new_lines);
    }
    if left_out > 0 {
        let _ = writeln!(out, "[{left_out} more lines of this diff are not shown]");
    }
    out
}

fn operations(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
    let suffix = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(a, b)| a == b).count();
    let old_middle = &old_rest[..old_rest.len() - suffix];
    let new_middle = &new_rest[..new_rest.len() - suffix];
    let mut operations = vec![DiffOp::Equal { old_index: 0, new_index: 0, len: prefix }];
    if old_middle.len().saturating_mul(new_middle.len()) > PAIRS_MAX {
        let (old_len, new_len) = (old_middle.len(), new_middle.len());
        operations.push(DiffOp::Replace { old_index: prefix, old_len, new_index: prefix, new_len });
    } else {
        let middle = capture_diff_slices(Algorithm::Myers, old_middle, new_middle);
        operations.extend(middle.into_iter().map(|operation| shifted(operation, prefix)));
    }
    let (old_index, new_index) = (old.len() - suffix, new.len() - suffix);
    operations.push(DiffOp::Equal { old_index, new_index, len: suffix });
    operations.retain(|operation| !operation.old_range().is_empty() || !operation.new_range().is_empty());
    operations
}

fn shifted(operation: DiffOp, by: usize) -> DiffOp {
    match operation {
        DiffOp::Equal { old_index, new_index, len } => {
            DiffOp::Equal { old_index: old_index + by, new_index: new_index + by, len }
        }
        DiffOp::Delete { old_index, old_len, new_index } => {
            DiffOp::Delete { old_index: old_index + by, old_len, new_index: new_index + by }
        }
        DiffOp::Insert { old_index, new_index, new_len } => {
            DiffOp::Insert { old_index: old_index + by, new_index: new_index + by, new_len }
        }
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            DiffOp::Replace { old_index: old_index + by, old_len, new_index: new_index + by, new_len }
        }
    }
}

/// Appends one hunk; gives the number of lines that no longer fit.
fn write_group(out: &mut String, group: &[DiffOp], old: &[&str], new: &[&str]) -> usize {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return 0 };
    let old_range = first.old_range().start..last.old_range().end;
    let new_range = first.new_range().start..last.new_range().end;
    let _ = writeln!(out, "@@ -{} +{} @@", span(&old_range), span(&new_range));
    let mut left_out = 0;
    for operation in group {
        let equal = matches!(operation, DiffOp::Equal { .. });
        for line in &old[operation.old_range()] {
            left_out += write_line(out, if equal { ' ' } else { '-' }, line);
        }
        for line in new[operation.new_range()].iter().filter(|_| !equal) {
            left_out += write_line(out, '+', line);
        }
    }
    left_out
}

fn write_line(out: &mut String, sign: char, line: &str) -> usize {
    if out.len() + line.len() + 2 > DIFF_BYTES_MAX {
        return 1;
    }
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
    0
}

/// A range of lines as hunk headers write it: an empty one names the line before it.
fn span(range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", range.start),
        1 => format!("{}", range.start + 1),
        length => format!("{},{length}", range.start + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_diff_u_writes_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        let new = "1\n2\n3\n4\nfive\n6\n7\n8\n9\n";
        assert_eq!(
            unified("f", Some(old), Some(new)),
            "--- a/f\n+++ b/f\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n"
        );
        assert_eq!(unified("f", None, Some("a\n")), "--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+a\n");
        assert_eq!(
            unified("f", Some("a\n"), Some("a")),
            "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("f", Some("a\n"), Some("a\n")), "");
        let moved = "diff --git a/f b/g\nrename from f\nrename to g\n";
        assert_eq!(unified_move(("f", "a\n"), ("g", "a\n")), moved);
        let changed = format!("{moved}--- a/f\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(unified_move(("f", "a\n"), ("g", "b\n")), changed);
        let far = unified("f", Some(&"x\n".repeat(20)), Some(&format!("y\n{}z\n", "x\n".repeat(19))));
        assert_eq!(far.matches("@@ -").count(), 2, "{far}");
    }

    #[test]
    fn totally_different_huge_texts_cost_little_and_say_what_is_left_out() {
        let numbered =
            |word: &str| (0..100_000).fold(String::new(), |text, n| text + word + &n.to_string() + "\n");
        let (old, new) = (numbered("old "), numbered("new "));
        let diff = unified("f", Some(&old), Some(&new));
        assert!(diff.len() < DIFF_BYTES_MAX + 200);
        let shown = diff.lines().filter(|line| line.starts_with(['-', '+'])).count() - 2;
        assert!(diff.ends_with(&format!("[{} more lines of this diff are not shown]\n", 200_000 - shown)));
    }
}
