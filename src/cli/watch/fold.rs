//! Approvals that ask exactly the same: one place on the screen, each decided by itself.

use super::pending::Pending;

/// The places of those that no earlier one asks the same as.
pub(super) fn firsts(pending: &[Pending]) -> Vec<usize> {
    let first = |index: &usize| {
        let own = &pending[*index].approval;
        !pending[..*index].iter().any(|earlier| earlier.approval.asks_the_same(own))
    };
    (0..pending.len()).filter(first).collect()
}

/// Those that ask the same as the one at this place, itself among them.
pub(super) fn group(pending: &[Pending], index: usize) -> impl Iterator<Item = &Pending> {
    let own = pending.get(index);
    pending.iter().filter(move |other| own.is_some_and(|own| own.approval.asks_the_same(&other.approval)))
}

/// The number of the group that the one at this place belongs to, from 0, and how many groups there are.
pub(super) fn place(pending: &[Pending], index: usize) -> (usize, usize) {
    let firsts = firsts(pending);
    let own = pending.get(index).map(|own| &own.approval);
    let of_own = |first: &usize| own.is_some_and(|own| pending[*first].approval.asks_the_same(own));
    (firsts.iter().position(of_own).unwrap_or(0), firsts.len())
}
