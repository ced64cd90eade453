//! Names of which each part may be shortened. Source: Gradle's manual, "Command-Line Interface: Name Abbreviation"; Symfony's,
//! "Console Commands".

/// The words in the name of a task of Gradle's, without its project.
pub(super) fn task_parts(path: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for c in path.rsplit(':').next().unwrap_or_default().chars() {
        if c.is_ascii_uppercase() || c == '-' {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| c != '-') {
            last.push(c.to_ascii_lowercase());
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether the parts are beginnings of those of the whole name, the first one of its first.
pub(super) fn are_short_for(parts: &[String], whole: &[String]) -> bool {
    let mut left = whole.iter();
    parts.first().zip(whole.first()).is_some_and(|(part, whole)| whole.starts_with(part.as_str()))
        && parts.iter().all(|part| left.any(|whole| whole.starts_with(part.as_str())))
}
