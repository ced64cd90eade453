//! Spans of time as people write them: `90s`, `15m`, `2h`, `7d`.

const UNITS: [(char, u64, &str); 4] =
    [('d', 24 * 60 * 60, "day"), ('h', 60 * 60, "hour"), ('m', 60, "minute"), ('s', 1, "second")];

/// The seconds of a span; none where it is none.
pub(super) fn seconds(text: &str) -> Option<u64> {
    let unit = text.chars().last()?;
    let (_, seconds, _) = UNITS.iter().find(|(name, ..)| *name == unit)?;
    let number = text.strip_suffix(unit)?;
    if !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(*seconds)
}

/// So many seconds in words, in the largest unit that says them exactly.
pub(super) fn in_words(seconds: u64) -> String {
    let exact = UNITS.iter().find(|(_, unit, _)| seconds >= *unit && seconds.is_multiple_of(*unit));
    let (_, unit, name) = exact.unwrap_or(&UNITS[3]);
    let number = seconds / unit;
    format!("{number} {name}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_and_said() {
        for (text, want) in [("90s", 90), ("15m", 900), ("2h", 7_200), ("7d", 604_800), ("0s", 0)] {
            assert_eq!(seconds(text), Some(want), "{text}");
        }
        for wrong in ["", "h", "-1h", "+1h", "2w", "2 h", "99999999999999999999d", "yesterday", "1ü"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
        for (number, want) in [
            (1, "1 second"),
            (90, "90 seconds"),
            (3_600, "1 hour"),
            (5_400, "90 minutes"),
            (2_592_000, "30 days"),
        ] {
            assert_eq!(in_words(number), want);
        }
    }
}
