//! Ids as people type them: whole, or their last characters.
//!
//! The first characters of an id are a time: those of one that was seen may by now be another's, which an agent has asked
//! for meanwhile. The last ones are random (RFC 9562, section 5.7).

use serde_json::Value;

use crate::domain::visible;

/// So many of the last characters tell an id.
pub(super) const ENDING: usize = 8;

/// Whether an id is meant by its end.
pub(super) fn is_meant(id: &str, ending: &str) -> bool {
    ending.len() >= ENDING && id.ends_with(ending)
}

/// What to type, where what was typed is no id.
pub(super) fn hint(list: &str) -> String {
    format!("give the whole id, or at least its last {ENDING} characters; `{list}` lists them")
}

/// An id that its client chose, escaped; in quotes where it could be read as more of the line than that.
pub(super) fn shown(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:/@#+=".contains(c);
    let is_name = !id.is_empty() && id.chars().all(is_plain);
    if is_name { id.to_owned() } else { visible::json(&Value::from(id).to_string()) }
}

/// The same, cut after `max` characters with a count of what was left out.
pub(super) fn clipped(id: &str, max: usize) -> String {
    visible::clipped_again(&shown(id), max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_other_part_of_a_line() {
        for (id, want) in [
            ("call_1:x/2", "call_1:x/2"),
            ("c] done: ok", r#""c] done: ok""#),
            (r#"a"b\c"#, r#""a\"b\\c""#),
            ("", r#""""#),
            ("\u{202e}\n", r#""\u{202e}\n""#),
        ] {
            assert_eq!(shown(id), want, "{id}");
        }
        assert_eq!(clipped("a b c", 4), "\"a b… (3 more characters)");
    }

    #[test]
    fn an_id_is_told_by_its_end_alone() {
        let id = "apr_01a23661c0de7000800012345678abcd";
        for (typed, want) in
            [("5678abcd", true), (id, true), ("678abcd", false), ("apr_01a23661", false), ("", false)]
        {
            assert_eq!(is_meant(id, typed), want, "{typed}");
        }
    }
}
