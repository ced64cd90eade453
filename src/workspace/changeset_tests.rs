//! Sets of changes: all of them, or everything as it was.

use super::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
}

fn place(files: &[(&str, &str)]) -> Place {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for (name, content) in files {
        fs::write(root.join(name), content).unwrap();
    }
    let workspace = Workspace::open(&root).unwrap();
    Place { _dir: dir, root, workspace }
}

impl Place {
    fn at(&self, name: &str) -> Located {
        self.workspace.resolve(&self.root, name).unwrap()
    }

    /// Every file beneath with its content, mode and inode; every directory.
    fn all(&self) -> Vec<(String, String, u32, u64)> {
        let mut found = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&self.root).unwrap().to_str().unwrap().to_owned();
                let facts = fs::metadata(&path).unwrap();
                let content =
                    if facts.is_dir() { "/".to_owned() } else { fs::read_to_string(&path).unwrap() };
                if facts.is_dir() {
                    folders.push(path);
                }
                found.push((name, content, facts.mode() & 0o7777, facts.ino()));
            }
        }
        found.sort();
        found
    }

    fn contents(&self) -> Vec<(String, String)> {
        self.all().into_iter().map(|(name, content, ..)| (name, content)).collect()
    }
}

fn hash(text: &str) -> ContentHash {
    ContentHash::of(text.as_bytes())
}

fn pairs(all: &[(&str, &str)]) -> Vec<(String, String)> {
    all.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect()
}

#[test]
fn all_of_a_set_is_done_and_nothing_else_is_left() {
    let here = place(&[("r", "old"), ("d", "gone"), ("m", "moved"), ("h", "linked")]);
    fs::set_permissions(here.root.join("m"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::set_permissions(here.root.join("r"), fs::Permissions::from_mode(0o604)).unwrap();
    fs::hard_link(here.root.join("h"), here.root.join("h2")).unwrap();
    let inode = fs::metadata(here.root.join("m")).unwrap().ino();
    let (new, file, gone, from, to, linked) =
        (here.at("a/b/n"), here.at("r"), here.at("d"), here.at("m"), here.at("x/m2"), here.at("h"));
    let in_place = here.workspace.apply(&[
        FileChange::Create { at: &new, bytes: b"new" },
        FileChange::Replace { at: &file, old: b"old", new: b"NEW" },
        FileChange::Remove { at: &gone, old: hash("gone") },
        FileChange::Move { from: &from, to: &to, content: hash("moved") },
        FileChange::Replace { at: &linked, old: b"linked", new: b"both" },
    ]);
    assert_eq!(in_place.unwrap(), [false, false, false, false, true]);
    let expected = [
        ("a", "/"),
        ("a/b", "/"),
        ("a/b/n", "new"),
        ("h", "both"),
        ("h2", "both"),
        ("r", "NEW"),
        ("x", "/"),
        ("x/m2", "moved"),
    ];
    assert_eq!(here.contents(), pairs(&expected));
    let facts = fs::metadata(here.root.join("x/m2")).unwrap();
    assert_eq!((facts.mode() & 0o7777, facts.ino()), (0o751, inode), "it is the same file");
    assert_eq!(fs::metadata(here.root.join("r")).unwrap().mode() & 0o7777, 0o604);
}

#[test]
fn a_file_is_changed_and_moved_in_one_set() {
    let here = place(&[("f", "old")]);
    fs::set_permissions(here.root.join("f"), fs::Permissions::from_mode(0o755)).unwrap();
    let (from, to) = (here.at("f"), here.at("g"));
    let set = [
        FileChange::Replace { at: &from, old: b"old", new: b"new" },
        FileChange::Move { from: &from, to: &to, content: hash("new") },
    ];
    here.workspace.apply(&set).unwrap();
    assert_eq!(here.contents(), pairs(&[("g", "new")]));
    assert_eq!(fs::metadata(here.root.join("g")).unwrap().mode() & 0o7777, 0o755);
}

/// Whatever comes before the change that fails at its very last step is as it was: content, mode, inode.
#[test]
fn what_was_done_is_undone_when_a_later_step_fails() {
    let here = place(&[("r", "old"), ("d", "gone"), ("m", "moved"), ("h", "linked"), ("c", "both")]);
    fs::set_permissions(here.root.join("r"), fs::Permissions::from_mode(0o751)).unwrap();
    fs::hard_link(here.root.join("h"), here.root.join("h2")).unwrap();
    let before = here.all();
    let (new, file, gone, from, to, linked) =
        (here.at("a/b/n"), here.at("r"), here.at("d"), here.at("m"), here.at("x/m2"), here.at("h"));
    let (both, both2) = (here.at("c"), here.at("c2"));
    let error = here.workspace.apply(&[
        FileChange::Create { at: &new, bytes: b"new" },
        FileChange::Replace { at: &file, old: b"old", new: b"NEW" },
        FileChange::Remove { at: &gone, old: hash("gone") },
        FileChange::Move { from: &from, to: &to, content: hash("moved") },
        FileChange::Replace { at: &linked, old: b"linked", new: b"a longer text" },
        FileChange::Replace { at: &both, old: b"both", new: b"BOTH" },
        FileChange::Move { from: &both, to: &both2, content: hash("BOTH") },
        // Nothing is there while the set is prepared; when its turn comes, the first one is.
        FileChange::Create { at: &new, bytes: b"again" },
    ]);
    let error = error.unwrap_err();
    assert_eq!(error.index, 7);
    assert!(matches!(error.cause, WorkspaceError::AlreadyExists { .. }), "{error}");
    assert!(error.left_changed.is_empty(), "{error}");
    assert_eq!(here.all(), before);
}

#[test]
fn what_can_be_refused_is_refused_before_anything_is_done() {
    let here = place(&[("r", "old"), ("taken", "x")]);
    fs::create_dir(here.root.join("folder")).unwrap();
    let before = here.all();
    let (file, new, taken, folder, gone) =
        (here.at("r"), here.at("n/n"), here.at("taken"), here.at("folder"), here.at("gone"));
    for (last, says) in [
        (FileChange::Create { at: &taken, bytes: b"" }, "exists already"),
        (FileChange::Create { at: &folder, bytes: b"" }, "a directory"),
        (FileChange::Replace { at: &taken, old: b"y", new: b"z" }, "changed since it was read"),
        (FileChange::Replace { at: &folder, old: b"y", new: b"z" }, "a directory"),
        (FileChange::Remove { at: &taken, old: hash("y") }, "changed since it was read"),
        (FileChange::Remove { at: &gone, old: hash("y") }, "changed since it was read"),
        (FileChange::Move { from: &file, to: &taken, content: hash("NEW") }, "exists already"),
        (FileChange::Move { from: &taken, to: &gone, content: hash("y") }, "changed since it was read"),
    ] {
        let first = FileChange::Create { at: &new, bytes: b"n" };
        let second = FileChange::Replace { at: &file, old: b"old", new: b"NEW" };
        let error = here.workspace.apply(&[first, second, last]).unwrap_err();
        assert!(error.index == 2 && error.to_string().contains(says), "{says}: {error}");
        assert_eq!(here.all(), before, "{says}");
    }
}

#[test]
fn undoing_leaves_what_somebody_else_put_there_and_says_so() {
    let here = place(&[("f", "old")]);
    let at = here.at("f");
    let change = FileChange::Replace { at: &at, old: b"old", new: b"new" };
    let done = here.workspace.prepare_one(&change, &[], &mut Vec::new()).unwrap().commit().unwrap();
    fs::remove_file(here.root.join("f")).unwrap();
    fs::write(here.root.join("f"), "theirs").unwrap();
    assert!(matches!(done.undo(), Err(WorkspaceError::Changed { .. })));
    let contents = here.contents();
    assert_eq!(contents.len(), 2, "the old content is kept under its temporary name: {contents:?}");
    assert_eq!(fs::read_to_string(here.root.join("f")).unwrap(), "theirs");
    assert!(contents[0].0.starts_with(".toolgate-") && contents[0].1 == "old", "{contents:?}");
}

#[test]
fn a_file_cannot_be_moved_to_another_file_system() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let here = place(&[("f", "x"), ("r", "old")]);
    let before = here.all();
    if fs::metadata(elsewhere.path()).unwrap().dev() == fs::metadata(&here.root).unwrap().dev() {
        return; // the machine has but one
    }
    let (from, file) = (here.at("f"), here.at("r"));
    let to = here.workspace.locate(&here.root, &elsewhere.path().join("f")).unwrap();
    let error = here.workspace.apply(&[
        FileChange::Replace { at: &file, old: b"old", new: b"new" },
        FileChange::Move { from: &from, to: &to, content: hash("x") },
    ]);
    assert!(matches!(error.unwrap_err().cause, WorkspaceError::OtherFileSystem { .. }));
    assert_eq!(here.all(), before);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}
