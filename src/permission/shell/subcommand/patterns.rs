//! Patterns of scripts' names. Sources: npm-run-all's and concurrently's manuals (`build:*`); pnpm.io, "pnpm run", "Running
//! multiple scripts" (`/^build:.*/`).

/// What the names that a pattern may stand for begin with; none for a word that is no pattern.
pub(super) fn beginnings(word: &str) -> Option<Vec<&str>> {
    if let Some(regex) = word.strip_prefix('/').filter(|rest| rest.contains('/') && rest.len() > 1) {
        return Some(of_regex(regex).unwrap_or_else(|| vec![""]));
    }
    // Signs of minimatch, by which npm-run-all looks: one that says what is not meant may mean anything.
    let start = word.find(['*', '?', '[', '{', '(', '!']).and_then(|at| word.get(..at))?;
    Some(vec![start.trim_end_matches(['+', '@'])])
}

/// The same for a regular expression with the slash that ends it, where it says with what names begin.
fn of_regex(regex: &str) -> Option<Vec<&str>> {
    // Flags behind the slash may have it take other cases.
    let rest = regex.strip_suffix('/')?.strip_prefix('^')?;
    let all = match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((within, behind))
            if !within.contains('(') && !behind.starts_with(['?', '*', '{']) && !behind.contains('|') =>
        {
            within
        }
        _ if rest.contains('|') => return None,
        _ => rest,
    };
    Some(all.split('|').map(literal).collect())
}

/// The letters that it begins with for sure: what may be there several times or not at all is none of them.
fn literal(regex: &str) -> &str {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, ':' | '-' | '_');
    let end = regex.find(|c| !is_letter(c)).unwrap_or(regex.len());
    let (letters, rest) = regex.split_at(end);
    if rest.starts_with(['?', '*', '{', '+']) { &letters[..end.saturating_sub(1)] } else { letters }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_says_what_names_begin_with() {
        for (pattern, want) in [
            ("build", None),
            ("build:*", Some(vec!["build:"])),
            ("*", Some(vec![""])),
            ("d?ploy", Some(vec!["d"])),
            ("[d]eploy", Some(vec![""])),
            ("{lint,deploy}", Some(vec![""])),
            ("de+(p)loy", Some(vec!["de"])),
            ("!(lint)", Some(vec![""])),
            ("/build/", Some(vec![""])),
            ("/^build:.*/", Some(vec!["build:"])),
            ("/^build:?/", Some(vec!["build"])),
            ("/^(lint|test)$/", Some(vec!["lint", "test"])),
            ("/^(lint|te*st)/", Some(vec!["lint", "t"])),
            ("/^(lint|test)?/", Some(vec![""])),
            ("/^(lint|test)|x/", Some(vec![""])),
            ("/^(?:lint|test)/", Some(vec!["", "test"])),
            ("/^(a(b|c)|d)/", Some(vec![""])),
            ("/^lint|test/", Some(vec![""])),
            ("/^LINT/i", Some(vec![""])),
            ("/^[a-z]/", Some(vec![""])),
        ] {
            assert_eq!(beginnings(pattern), want, "{pattern}");
        }
    }
}
