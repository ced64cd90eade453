//! How the calls of a batch run: read-only neighbours together, everything else alone and in order.

use std::ops::Range;

use crate::domain::schema::ToolMutability;

/// Splits a batch into runs of its calls, by index: those of one run go side by side, runs go one
/// after another. Only a read-only, concurrency-safe call may share one; a mutating call is a
/// barrier, also while it waits for a person.
pub fn runs(classified: &[(ToolMutability, bool)]) -> Vec<Range<usize>> {
    let parallel = |index: usize| classified[index] == (ToolMutability::ReadOnly, true);
    let mut runs = Vec::new();
    let mut start = 0;
    while start < classified.len() {
        let mut end = start + 1;
        if parallel(start) {
            while end < classified.len() && parallel(end) {
                end += 1;
            }
        }
        runs.push(start..end);
        start = end;
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mutating_calls_are_barriers() {
        let read = (ToolMutability::ReadOnly, true);
        let alone = (ToolMutability::ReadOnly, false);
        let write = (ToolMutability::Mutating, false);
        assert!(runs(&[]).is_empty());
        for (calls, expected) in [
            (vec![read, read, write], vec![0..2, 2..3]),
            (vec![write, read, read, write, read], vec![0..1, 1..3, 3..4, 4..5]),
            (vec![read, alone, read], vec![0..1, 1..2, 2..3]),
            (vec![write, write], vec![0..1, 1..2]),
        ] {
            assert_eq!(runs(&calls), expected);
        }
    }
}
