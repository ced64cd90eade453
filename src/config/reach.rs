//! The way to a file: every name that is looked up until it is found, and where links lead.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// As many links as the kernel follows in one path.
const LINKS_MAX: usize = 40;

/// One name on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The folder in which it is looked up, absolute and without links.
    pub folder: PathBuf,
    /// The name.
    pub name: OsString,
    /// What is there.
    pub kind: HopKind,
}

/// What is found under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HopKind {
    /// A folder that the way goes on in.
    Folder,
    /// A link, with its target as it is written.
    Link(PathBuf),
    /// The end of the way.
    End,
    /// Nothing: here the way is broken off.
    Missing,
}

impl Hop {
    /// The name in its folder.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.name)
    }
}

/// The way to an absolute path, as far as there is one. Its last hop is an end or what is missing.
pub fn way_to(path: &Path) -> Vec<Hop> {
    let (mut hops, mut links) = (Vec::new(), 0);
    let mut folder = PathBuf::from("/");
    let mut ahead: VecDeque<OsString> = parts(path);
    while let Some(name) = ahead.pop_front() {
        if name == OsStr::new("..") {
            folder.pop();
            continue;
        }
        let entry = folder.join(&name);
        let found = entry.symlink_metadata().map(|meta| meta.file_type());
        let kind = match found {
            Ok(kind) if kind.is_symlink() && links < LINKS_MAX => match entry.read_link() {
                Ok(target) => HopKind::Link(target),
                Err(_) => HopKind::Missing,
            },
            Ok(kind) if kind.is_dir() && !ahead.is_empty() => HopKind::Folder,
            Ok(_) if ahead.is_empty() => HopKind::End,
            Ok(_) | Err(_) => HopKind::Missing,
        };
        hops.push(Hop { folder: folder.clone(), name, kind: kind.clone() });
        match kind {
            HopKind::Folder => folder = entry,
            HopKind::Link(target) => {
                links += 1;
                if target.is_absolute() {
                    folder = PathBuf::from("/");
                }
                for part in parts(&target).into_iter().rev() {
                    ahead.push_front(part);
                }
            }
            HopKind::End | HopKind::Missing => return hops,
        }
    }
    hops
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let part = |component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn each_link_and_folder_on_the_way_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("m/..v1")).unwrap();
        std::fs::write(root.join("m/..v1/config.json"), "{}").unwrap();
        symlink("..v1", root.join("m/..data")).unwrap();
        symlink("..data/config.json", root.join("m/config.json")).unwrap();
        symlink(root.join("m/../m/config.json"), root.join("link")).unwrap();
        let way = |path: &str| -> Vec<(PathBuf, HopKind)> {
            let all = way_to(&root.join(path)).into_iter();
            all.filter(|hop| hop.folder.starts_with(&root)).map(|hop| (hop.path(), hop.kind)).collect()
        };
        let data = (root.join("m/..data"), HopKind::Link("..v1".into()));
        let expected = [
            (root.join("link"), HopKind::Link(root.join("m/../m/config.json"))),
            (root.join("m"), HopKind::Folder),
            (root.join("m"), HopKind::Folder),
            (root.join("m/config.json"), HopKind::Link("..data/config.json".into())),
            data,
            (root.join("m/..v1"), HopKind::Folder),
            (root.join("m/..v1/config.json"), HopKind::End),
        ];
        assert_eq!(way("link"), expected);
        assert_eq!(
            way("m/gone/x"),
            [(root.join("m"), HopKind::Folder), (root.join("m/gone"), HopKind::Missing)]
        );
        symlink("loop", root.join("loop")).unwrap();
        assert_eq!(way("loop").last().unwrap().1, HopKind::End, "the link beyond the last that is followed");
    }
}
