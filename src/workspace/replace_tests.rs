//! Writing: whole or not at all, and what stays as it was.

use super::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

struct Place {
    _dir: tempfile::TempDir,
    root: PathBuf,
    workspace: Workspace,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let workspace = Workspace::open(&root).unwrap();
    Place { _dir: dir, root, workspace }
}

impl Place {
    fn locate(&self, name: &str) -> Located {
        self.workspace.resolve(&self.root, name).unwrap()
    }

    fn write(&self, name: &str, old: &str, new: &str) -> Result<WriteReport, WorkspaceError> {
        let expected = Expected::Content(ContentHash::of(old.as_bytes()));
        self.workspace.replace(&self.locate(name), expected, new.as_bytes())
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap()
    }

    /// Nothing but what should be there: no temporary file is left.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_new_file_with_its_directories() {
    let p = place();
    let report = p.workspace.replace(&p.locate("a/b/new"), Expected::Absent, b"hi").unwrap();
    assert_eq!(report, WriteReport { created: true, hard_linked: false, hash: ContentHash::of(b"hi") });
    assert_eq!(p.text("a/b/new"), "hi");
    fs::write(p.root.join("plain"), "").unwrap();
    let mode = |name: &str| fs::metadata(p.root.join(name)).unwrap().mode() & 0o7777;
    assert_eq!(mode("a/b/new"), mode("plain"), "as any program would make it");
    assert_eq!(fs::read_dir(p.root.join("a/b")).unwrap().count(), 1);
}

#[test]
fn f6_mode_and_link_stay() {
    let p = place();
    fs::write(p.root.join("run.sh"), "old").unwrap();
    fs::set_permissions(p.root.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("run.sh", p.root.join("link")).unwrap();
    let before = fs::metadata(p.root.join("run.sh")).unwrap();
    let report = p.write("link", "old", "new").unwrap();
    assert!(!report.created && !report.hard_linked);
    let after = fs::metadata(p.root.join("run.sh")).unwrap();
    assert_eq!(after.mode() & 0o7777, 0o755);
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_ne!(after.ino(), before.ino(), "renamed over, not written into");
    assert_eq!(fs::read_link(p.root.join("link")).unwrap(), PathBuf::from("run.sh"));
    assert_eq!((p.text("run.sh"), p.names()), ("new".into(), vec!["link".into(), "run.sh".into()]));
}

#[test]
fn owner_stays_where_the_system_lets_us() {
    let p = place();
    fs::write(p.root.join("f"), "old").unwrap();
    if std::os::unix::fs::chown(p.root.join("f"), Some(1234), Some(2345)).is_err() {
        return; // only root may give files away
    }
    fs::set_permissions(p.root.join("f"), fs::Permissions::from_mode(0o4750)).unwrap();
    p.write("f", "old", "new").unwrap();
    let after = fs::metadata(p.root.join("f")).unwrap();
    assert_eq!((after.uid(), after.gid(), after.mode() & 0o7777), (1234, 2345, 0o4750));
}

#[test]
fn extended_attributes_of_the_user_move_along() {
    let p = place();
    fs::write(p.root.join("f"), "old").unwrap();
    let file = File::open(p.root.join("f")).unwrap();
    if fsetxattr(&file, "user.note", b"kept", XattrFlags::empty()).is_err() {
        return; // this file system has none
    }
    p.write("f", "old", "new").unwrap();
    let mut value = [0_u8; 16];
    let after = File::open(p.root.join("f")).unwrap();
    let length = fgetxattr(&after, "user.note", &mut value).unwrap();
    assert_eq!(&value[..length], b"kept");
}

#[test]
fn a_hard_linked_file_is_written_in_place_and_said() {
    let p = place();
    fs::write(p.root.join("one"), "a long old text").unwrap();
    fs::hard_link(p.root.join("one"), p.root.join("two")).unwrap();
    assert!(p.write("one", "a long old text", "new").unwrap().hard_linked);
    assert_eq!((p.text("one"), p.text("two")), ("new".into(), "new".into()));
    assert_eq!(p.names(), ["one", "two"]);
}

#[test]
fn p16_another_content_than_expected_is_never_overwritten() {
    let p = place();
    fs::write(p.root.join("f"), "theirs").unwrap();
    assert!(matches!(p.write("f", "old", "new"), Err(WorkspaceError::Stale { .. })));
    assert!(matches!(p.write("gone", "old", "new"), Err(WorkspaceError::Stale { .. })));
    let absent = p.workspace.replace(&p.locate("f"), Expected::Absent, b"new");
    assert!(matches!(absent, Err(WorkspaceError::AlreadyExists { .. })));
    fs::hard_link(p.root.join("f"), p.root.join("g")).unwrap();
    assert!(matches!(p.write("f", "old", "new"), Err(WorkspaceError::Stale { .. })));
    assert_eq!((p.text("f"), p.names()), ("theirs".into(), vec!["f".into(), "g".into()]));
}

#[test]
fn p16_the_content_is_compared_again_right_before_the_rename() {
    let p = place();
    fs::write(p.root.join("f"), "changed while the new content was being written").unwrap();
    let located = p.locate("f");
    let (directory, name) = p.workspace.parent(&located, false).unwrap();
    let target = Target { workspace: &p.workspace, directory, name, path: &located.real };
    let seen_before = ContentHash::of(b"old");
    for late in [target.exchange(&seen_before, b"new"), target.write_in_place(&seen_before, b"new")] {
        assert!(matches!(late, Err(WorkspaceError::Stale { .. })), "{late:?}");
    }
    fs::hard_link(p.root.join("f"), p.root.join("g")).unwrap();
    let now = ContentHash::of(&fs::read(p.root.join("f")).unwrap());
    assert!(matches!(target.exchange(&now, b"new"), Err(WorkspaceError::Changed { .. })));
    assert!(p.text("f").starts_with("changed"));
    assert_eq!(p.names(), ["f", "g"]);
}

#[test]
fn a_path_that_changed_after_judgement_is_not_written() {
    let p = place();
    fs::create_dir_all(p.root.join("d")).unwrap();
    fs::create_dir_all(p.root.join("other")).unwrap();
    let judged = p.locate("d/new");
    fs::rename(p.root.join("d"), p.root.join("moved")).unwrap();
    symlink("other", p.root.join("d")).unwrap();
    let written = p.workspace.replace(&judged, Expected::Absent, b"x");
    assert!(matches!(written, Err(WorkspaceError::Changed { .. })), "{written:?}");
    assert_eq!(fs::read_dir(p.root.join("other")).unwrap().count(), 0);

    fs::write(p.root.join("f"), "old").unwrap();
    let judged = p.locate("f");
    fs::rename(p.root.join("f"), p.root.join("g")).unwrap();
    symlink("g", p.root.join("f")).unwrap();
    let old = Expected::Content(ContentHash::of(b"old"));
    let written = p.workspace.replace(&judged, old, b"x");
    assert!(matches!(written, Err(WorkspaceError::Changed { .. })), "{written:?}");
    assert_eq!(p.text("g"), "old");
}

#[test]
fn only_files_are_written() {
    let p = place();
    fs::create_dir(p.root.join("d")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, p.root.join("fifo"), Mode::from_raw_mode(0o600)).unwrap();
    for name in ["d", "fifo", ".", "new/"] {
        let written = p.workspace.replace(&p.locate(name), Expected::Absent, b"x");
        assert!(matches!(written, Err(WorkspaceError::NotAFile { .. })), "{name}: {written:?}");
    }
    assert_eq!(p.names(), ["d", "fifo"]);
}

#[test]
fn of_many_writers_with_the_same_expectation_one_wins() {
    let p = place();
    let new = p.locate("new");
    let wins = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..8)
            .map(|n| {
                let (p, new) = (&p, &new);
                scope.spawn(move || {
                    p.workspace.replace(new, Expected::Absent, format!("{n}").as_bytes()).is_ok()
                })
            })
            .collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).filter(|won| *won).count()
    });
    assert_eq!((wins, p.names()), (1, vec!["new".to_owned()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writers_under_the_lock_lose_no_update() {
    let p = std::sync::Arc::new(place());
    fs::write(p.root.join("count"), "0").unwrap();
    let locks = super::super::FileLocks::new();
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let (p, locks) = (std::sync::Arc::clone(&p), locks.clone());
            tokio::spawn(async move {
                let located = p.locate("count");
                let _guard = locks.lock(&located.real).await;
                tokio::task::spawn_blocking(move || {
                    let old = p.text("count");
                    let new = (old.parse::<u32>().unwrap() + 1).to_string();
                    p.write("count", &old, &new).unwrap();
                })
                .await
                .unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(p.text("count"), "20");
}
