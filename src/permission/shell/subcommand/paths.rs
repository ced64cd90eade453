//! Which paths may lead to the file that a rule names.

use super::names::{STAR, is_starred};
use crate::permission::lexical::file_name;

/// A file's name without the ending that its interpreter may add (`node x`, `python3 -m x`).
pub(super) fn without_ending(name: &str) -> &str {
    const ENDINGS: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".json", ".py"];
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// The names on the way that a path leads, without those that `..` takes back.
pub(super) fn steps(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
        if name == ".." {
            names.pop();
        } else {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether two paths may lead to one file: what one says of where it lies, and of its ending, the other one says as well.
pub(super) fn may_be_the_same(one: &str, other: &str) -> bool {
    let folders = |path: &str| {
        let mut names = steps(path);
        names.pop();
        names
    };
    let names = (file_name(one), file_name(other));
    let same = names.0 == names.1 || without_ending(names.0) == names.1 || without_ending(names.1) == names.0;
    let (one, other) = (folders(one), folders(other));
    same && (one.ends_with(&other) || other.ends_with(&one))
}

/// Whether a path may lead to one of the files that a pattern means. Where the path says less of where it lies, the name of
/// the file has to begin as the pattern says: nearly any file would be `scripts/*` else.
pub(super) fn may_be_one_of(pattern: &str, path: &str) -> bool {
    let (pattern, mut path) = (steps(pattern).join("/"), steps(path).join("/"));
    let ending =
        pattern.rfind('.').map(|at| &pattern[at..]).filter(|ending| !without_ending(ending).contains('.'));
    if let Some(ending) = ending.filter(|_| !file_name(&path).contains('.')) {
        // `node tools/x`
        path.push_str(ending);
    }
    let beginnings = |path: &str| -> Vec<usize> {
        std::iter::once(0).chain(path.match_indices('/').map(|(at, _)| at + 1)).collect()
    };
    let start = pattern.split(STAR).next().unwrap_or_default();
    // A later place leaves it only less room.
    let deepest = beginnings(&path).into_iter().find(|at| path[*at..].starts_with(start));
    let tells = |at: &usize| {
        let rest = &pattern[*at..];
        *at > 0 && (!rest.starts_with(STAR) || !is_starred(file_name(rest)))
    };
    deepest.is_some_and(|at| is_like(&pattern, &path[at..]))
        || beginnings(&pattern).iter().filter(|at| tells(at)).any(|at| is_like(&pattern[*at..], &path))
}

/// Whether a text is what a name with stars may stand for.
pub(super) fn is_like(name: &str, text: &str) -> bool {
    let mut parts = name.split(STAR);
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}
