//! Keeps a key from deciding what its finger did not mean: the approval must have stood there, whole.

use std::time::Duration;

/// How long an approval must have been on the screen before a key decides it: longer than it takes to
/// press a key that was meant for what stood there before.
pub(super) const MOMENT: Duration = Duration::from_millis(700);
/// A program that saw nothing for so long was stopped: keys from that time were not typed at this screen.
pub(super) const GAP: Duration = Duration::from_secs(2);

/// Why a key does not decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotYet {
    /// It has just come to the screen, or is not on it.
    TooSoon,
    /// Its end was not shown.
    Unread,
}

/// What was seen of the approval that is shown.
#[derive(Debug, Default)]
pub(super) struct Guard {
    generation: u64,
    /// Since when it has been on the screen without a break.
    since: Option<Duration>,
    seen_end: bool,
}

impl Guard {
    /// The number of what is shown: another approval has another one.
    pub(super) fn generation(&self) -> u64 {
        self.generation
    }

    /// Something else is shown from now on.
    pub(super) fn change(&mut self) {
        *self = Self { generation: self.generation + 1, since: None, seen_end: false };
    }

    /// The screen was drawn: with the approval of that number, and whether its last line is on it.
    pub(super) fn drawn(&mut self, drawn: Option<(u64, bool)>, at: Duration) {
        match drawn {
            Some((generation, end)) if generation == self.generation => {
                self.since.get_or_insert(at);
                self.seen_end |= end;
            }
            _ => self.since = None,
        }
    }

    /// Nobody saw the screen for a while.
    pub(super) fn looked_away(&mut self) {
        self.since = None;
    }

    /// Whether a key may refuse.
    pub(super) fn may_deny(&self, at: Duration) -> Result<(), NotYet> {
        match self.since {
            Some(since) if at >= since + MOMENT => Ok(()),
            _ => Err(NotYet::TooSoon),
        }
    }

    /// Whether a key may allow: what was not read to its end was not reviewed.
    pub(super) fn may_allow(&self, at: Duration) -> Result<(), NotYet> {
        self.may_deny(at)?;
        if self.seen_end { Ok(()) } else { Err(NotYet::Unread) }
    }

    /// Whether its end was shown.
    pub(super) fn seen_end(&self) -> bool {
        self.seen_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn only_what_has_stood_there_for_a_moment_can_be_decided() {
        let mut guard = Guard::default();
        guard.change();
        assert_eq!(guard.may_deny(ms(5000)), Err(NotYet::TooSoon), "it was never drawn");
        guard.drawn(Some((guard.generation(), true)), ms(5000));
        assert_eq!(guard.may_allow(ms(5699)), Err(NotYet::TooSoon));
        assert_eq!(guard.may_allow(ms(5700)), Ok(()));
        // Another draw does not begin the moment again.
        guard.drawn(Some((guard.generation(), true)), ms(5690));
        assert_eq!(guard.may_allow(ms(5700)), Ok(()));
        guard.change();
        assert_eq!(guard.may_allow(ms(9000)), Err(NotYet::TooSoon), "another one took its place");
        // A late report about what stood there before counts for nothing.
        guard.drawn(Some((guard.generation() - 1, true)), ms(9000));
        assert_eq!(guard.may_deny(ms(20_000)), Err(NotYet::TooSoon));
    }

    #[test]
    fn allowing_needs_the_end_and_refusing_does_not() {
        let mut guard = Guard::default();
        guard.drawn(Some((0, false)), ms(0));
        assert_eq!(guard.may_deny(ms(700)), Ok(()));
        assert_eq!(guard.may_allow(ms(700)), Err(NotYet::Unread));
        guard.drawn(Some((0, true)), ms(800));
        guard.drawn(Some((0, false)), ms(900));
        assert_eq!(guard.may_allow(ms(900)), Ok(()), "it was read to the end before");
    }

    #[test]
    fn a_break_begins_the_moment_again() {
        let mut guard = Guard::default();
        guard.drawn(Some((0, true)), ms(0));
        guard.drawn(None, ms(1000));
        assert_eq!(guard.may_deny(ms(2000)), Err(NotYet::TooSoon), "it was covered");
        guard.drawn(Some((0, false)), ms(2000));
        assert_eq!(guard.may_allow(ms(2700)), Ok(()));
        guard.looked_away();
        assert_eq!(guard.may_deny(ms(9000)), Err(NotYet::TooSoon));
    }
}
