//! Makes a text that shows a fault as short as it can be made while it still shows it.

use crate::oracle::{Kind, Oracle};
use crate::sandbox;

/// Rounds of dropping parts; each runs all its candidates in few sandboxes.
const ROUNDS: usize = 60;

/// A shorter text with a fault of the same kind.
pub(crate) fn shortened(text: &str, kind: Kind) -> String {
    let mut best = text.to_owned();
    let mut size = best.chars().count().div_ceil(2);
    for _ in 0..ROUNDS {
        let candidates = without_parts(&best, size);
        let outcomes = sandbox::run(&candidates);
        let mut oracle = Oracle::default();
        let still = candidates.iter().zip(&outcomes).find(|(candidate, outcome)| {
            oracle.faults(candidate, outcome).iter().any(|fault| fault.kind == kind)
        });
        match still {
            Some((shorter, _)) => {
                best.clone_from(shorter);
                size = size.min(best.chars().count().div_ceil(2));
            }
            None if size <= 1 => break,
            None => size = size.div_ceil(2),
        }
    }
    best
}

/// The text without each stretch of `size` characters.
fn without_parts(text: &str, size: usize) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let step = size.div_ceil(2).max(1);
    let cut = |at: usize| {
        let end = (at + size).min(chars.len());
        chars[..at].iter().chain(&chars[end..]).collect()
    };
    (0..chars.len()).step_by(step).map(cut).collect()
}
