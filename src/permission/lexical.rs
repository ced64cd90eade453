//! Paths as text: an absolute normal form without touching the file system.

use std::path::{Component, Path, PathBuf};

/// `path` joined to `base` with `.`, `..` and doubled slashes resolved by spelling alone. `..` above the root
/// stays at the root, as in the kernel.
pub(crate) fn normal(base: &Path, path: &Path) -> PathBuf {
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

#[cfg(test)]
mod tests {
    use super::*;

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
