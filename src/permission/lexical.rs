//! Paths as text: an absolute normal form without touching the file system.

use std::borrow::Cow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

/// `path` joined to `base` with `.`, `..` and doubled slashes resolved by spelling alone. `..` above the root
/// stays at the root, as in the kernel.
pub(crate) fn normal(base: &Path, path: &Path) -> PathBuf {
    if is_normal(path) {
        return path.to_path_buf();
    }
    let mut out = PathBuf::from("/");
    let base_parts = if path.is_absolute() { None } else { Some(base.components()) };
    for part in base_parts.into_iter().flatten().chain(path.components()) {
        match part {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

/// Whether it is absolute and spelt as [`normal`] spells it: verdicts ask that of each word, and most are.
fn is_normal(path: &Path) -> bool {
    let below = path.as_os_str().as_bytes().strip_prefix(b"/");
    let is_name = |part: &[u8]| !matches!(part, b"" | b"." | b"..");
    below.is_some_and(|below| below.split(|byte| *byte == b'/').all(is_name))
}

/// What stands in a normal path behind another one that it is or lies beneath, without the slash between them. Verdicts ask it
/// of each word: bytes are compared, not names.
pub(crate) fn within<'p>(path: &'p Path, above: &Path) -> Option<&'p [u8]> {
    let above = above.as_os_str().as_bytes();
    let rest = path.as_os_str().as_bytes().strip_prefix(above.strip_suffix(b"/").unwrap_or(above))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(b"/") }
}

/// What stands behind the last slash. Verdicts ask it of each word of each command, mostly short ones: counting bytes from the
/// end is sooner done than preparing a search.
pub(crate) fn file_name(path: &str) -> &str {
    path.bytes().rposition(|byte| byte == b'/').map_or(path, |slash| &path[slash + 1..])
}

/// What stands between single blanks, for the same reason by counting bytes.
pub(crate) fn between_blanks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let (word, behind) = match text.bytes().position(|byte| byte == b' ') {
            Some(blank) => (&text[..blank], Some(&text[blank + 1..])),
            None => (text, None),
        };
        rest = behind;
        Some(word)
    })
}

/// The path with each name and the `..` behind it taken out, as programs do that shorten a path before they open it; none
/// where no `..` stands behind a name. It begins where `path` does.
pub(crate) fn shortened(path: &Path) -> Option<PathBuf> {
    let (mut out, mut differs) = (PathBuf::new(), false);
    for part in path.components() {
        let behind_name = matches!(out.components().next_back(), Some(Component::Normal(_)));
        match part {
            Component::ParentDir if behind_name => {
                out.pop();
                differs = true;
            }
            Component::CurDir => {}
            part => out.push(part),
        }
    }
    differs.then(|| if out.as_os_str().is_empty() { PathBuf::from(".") } else { out })
}

/// The pattern with `?*` for each range in braces (`{a..f}`, `{1..9}`), which stands for letters and numbers.
pub(crate) fn without_ranges(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains("..") || !pattern.contains('{') {
        return Cow::Borrowed(pattern);
    }
    let mut out = String::with_capacity(pattern.len());
    for part in pattern.split_inclusive('}') {
        let range = part.rfind('{').filter(|at| part.ends_with('}') && part[*at..].contains(".."));
        match range {
            Some(at) => {
                out.push_str(&part[..at]);
                out.push_str("?*");
            }
            None => out.push_str(part),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_stand_for_some_name() {
        for (pattern, want) in [
            (".e{n..n}v", ".e?*v"),
            ("{a..f}{1..9..2}", "?*?*"),
            ("{{a..b},c}", "{?*,c}"),
            ("a..b", "a..b"),
            ("{a,b}/..", "{a,b}/.."),
            ("../{x", "../{x"),
            ("}..{", "}..{"),
        ] {
            assert_eq!(without_ranges(pattern), want, "{pattern}");
        }
    }

    #[test]
    fn words_and_names_are_cut_out_where_the_library_cuts_them() {
        for text in ["", " ", "a", "/", "a/b", "a/", "//", "é/ü ö", " a  b ", "a b/c d"] {
            assert_eq!(file_name(text), text.rsplit('/').next().unwrap(), "{text:?}");
            assert!(between_blanks(text).eq(text.split(' ')), "{text:?}");
        }
    }

    #[test]
    fn a_path_lies_within_those_above_it() {
        for (path, above, want) in [
            ("/ws/a/b", "/ws", Some("a/b")),
            ("/ws", "/ws", Some("")),
            ("/ws", "/", Some("ws")),
            ("/", "/", Some("")),
            ("/", "/ws", None),
            ("/wsx", "/ws", None),
            ("/w", "/ws", None),
        ] {
            assert_eq!(within(Path::new(path), Path::new(above)), want.map(str::as_bytes), "{path} {above}");
            let by_names = Path::new(path).strip_prefix(above).ok();
            assert_eq!(by_names, want.map(Path::new), "{path} {above}");
        }
    }

    #[test]
    fn a_name_and_what_leaves_it_are_taken_out() {
        for (path, want) in [
            ("a", None),
            ("../../a", None),
            ("./a/./b", None),
            ("/../a", None),
            ("a/../b", Some("b")),
            ("a/..", Some(".")),
            ("a/b/../../../c", Some("../c")),
            ("../a/./../b/", Some("../b")),
            ("/a/../b", Some("/b")),
            ("/a/../..", Some("/..")),
        ] {
            assert_eq!(shortened(Path::new(path)), want.map(PathBuf::from), "{path}");
        }
    }

    #[test]
    fn dots_and_slashes_are_resolved_by_spelling() {
        for (base, path, want) in [
            ("/ws", "a/../b", "/ws/b"),
            ("/ws", "../../../x", "/x"),
            ("/ws", "//etc/./passwd", "/etc/passwd"),
            ("/ws/sub", "", "/ws/sub"),
            ("/ws", "x/../secret/p", "/ws/secret/p"),
        ] {
            assert_eq!(normal(Path::new(base), Path::new(path)), Path::new(want), "{base} {path}");
        }
    }
}
