//! Ids as people type them: whole, or their last characters.
//!
//! The first characters of an id are a time: those of one that was seen may by now be another's, which an agent has asked
//! for meanwhile. The last ones are random (RFC 9562, section 5.7).

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

#[cfg(test)]
mod tests {
    use super::*;

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
