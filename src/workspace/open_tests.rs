//! Opening: what is refused, and that it is the file that was judged.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, mkfifoat};

struct Place {
    _dir: tempfile::TempDir,
    base: PathBuf,
    workspace: Workspace,
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for name in ["ws/src", "out/src"] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    fs::write(base.join("ws/src/f"), "mine").unwrap();
    fs::write(base.join("out/src/f"), "not yours").unwrap();
    let workspace = Workspace::open(&base.join("ws")).unwrap();
    Place { _dir: dir, base, workspace }
}

impl Place {
    fn locate(&self, requested: &str) -> Located {
        self.workspace.resolve(&self.base.join("ws"), requested).unwrap()
    }

    fn read(&self, located: &Located) -> Result<String, WorkspaceError> {
        self.workspace.read_whole(located, 100).map(|bytes| String::from_utf8(bytes).unwrap())
    }
}

#[test]
fn what_was_judged_is_read_inside_outside_and_through_links() {
    let p = place();
    symlink("../../out/src/f", p.base.join("ws/src/link")).unwrap();
    assert_eq!(p.read(&p.locate("src/f")).unwrap(), "mine");
    assert_eq!(p.read(&p.locate("../out/src/f")).unwrap(), "not yours");
    assert_eq!(p.read(&p.locate("src/link")).unwrap(), "not yours");
}

#[test]
fn a_directory_swapped_for_a_symlink_after_judgement_leads_nowhere() {
    let p = place();
    let judged = p.locate("src/f");
    let new = p.locate("src/sub/new");
    fs::rename(p.base.join("ws/src"), p.base.join("ws/old")).unwrap();
    symlink("../out/src", p.base.join("ws/src")).unwrap();
    assert!(matches!(p.read(&judged), Err(WorkspaceError::Changed { .. })));
    assert!(matches!(p.workspace.open_dir(&judged), Err(WorkspaceError::Changed { .. })));
    let made = p.workspace.create_dirs(new.real.parent().unwrap());
    assert!(matches!(made, Err(WorkspaceError::Changed { .. })));
    assert!(!p.base.join("out/src/sub").exists());
}

#[test]
fn a_swap_for_a_symlink_within_the_workspace_is_not_followed_either() {
    let p = place();
    fs::create_dir(p.base.join("ws/secret")).unwrap();
    fs::write(p.base.join("ws/secret/f"), "denied by a rule").unwrap();
    let judged = p.locate("src/f");
    fs::rename(p.base.join("ws/src"), p.base.join("ws/old")).unwrap();
    symlink("secret", p.base.join("ws/src")).unwrap();
    assert!(matches!(p.read(&judged), Err(WorkspaceError::Changed { .. })));
}

#[test]
fn a_file_swapped_for_a_symlink_after_judgement_is_not_followed() {
    let p = place();
    let judged = p.locate("src/f");
    fs::remove_file(p.base.join("ws/src/f")).unwrap();
    symlink("../../out/src/f", p.base.join("ws/src/f")).unwrap();
    assert!(matches!(p.read(&judged), Err(WorkspaceError::Changed { .. })));
}

#[test]
fn a_swap_in_a_tight_race_never_shows_the_other_file() {
    let p = place();
    let judged = p.locate("src/f");
    let (base, stop) = (p.base.clone(), std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false)));
    let swapper = std::thread::spawn({
        let stop = std::sync::Arc::clone(&stop);
        move || {
            let (src, aside) = (base.join("ws/src"), base.join("ws/aside"));
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&src, &aside).unwrap();
                symlink("../out/src", &src).unwrap();
                fs::remove_file(&src).unwrap();
                fs::rename(&aside, &src).unwrap();
            }
        }
    });
    for _ in 0..3000 {
        if let Ok(text) = p.read(&judged) {
            assert_eq!(text, "mine");
        }
    }
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    swapper.join().unwrap();
}

#[test]
fn f9_only_regular_files_are_opened_and_nothing_blocks() {
    let p = place();
    mkfifoat(CWD, p.base.join("ws/fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(p.base.join("ws/sock")).unwrap();
    for (asked, kind) in [
        ("fifo", FileKind::Fifo),
        ("sock", FileKind::Socket),
        ("src", FileKind::Directory),
        (".", FileKind::Directory),
        ("/dev/zero", FileKind::Device),
        ("/dev/tty", FileKind::Device),
    ] {
        match p.workspace.open_read(&p.locate(asked)) {
            Err(WorkspaceError::NotAFile { kind: found, .. }) => assert_eq!(found, kind, "{asked}"),
            other => panic!("{asked}: {other:?}"),
        }
    }
    // A FIFO that takes a file's place after judgement.
    let judged = p.locate("src/f");
    fs::rename(p.base.join("ws/fifo"), p.base.join("ws/src/f")).unwrap();
    assert!(matches!(p.read(&judged), Err(WorkspaceError::NotAFile { kind: FileKind::Fifo, .. })));
}

#[test]
fn loading_whole_is_bounded_also_where_the_size_is_not_told() {
    let p = place();
    let sparse = File::create(p.base.join("ws/big")).unwrap();
    sparse.set_len(5 << 30).unwrap();
    let big = p.workspace.read_whole(&p.locate("big"), 100);
    assert!(matches!(big, Err(WorkspaceError::TooLarge { size: 5_368_709_120, limit: 100, .. })));
    let proc = p.workspace.read_whole(&p.locate("/proc/self/status"), 100);
    assert!(matches!(proc, Err(WorkspaceError::TooLarge { size: 101, .. })), "{proc:?}");
}

#[test]
fn missing_directories_are_made_beneath_the_root() {
    let p = place();
    let new = p.locate("a/b/c/file");
    p.workspace.create_dirs(new.real.parent().unwrap()).unwrap();
    assert!(p.base.join("ws/a/b/c").is_dir());
    p.workspace.create_dirs(p.workspace.root()).unwrap();
    let blocked = p.base.join("ws/src/f/below");
    assert!(matches!(p.workspace.create_dirs(&blocked), Err(WorkspaceError::Changed { .. })));
}

#[test]
fn stepping_name_by_name_is_as_strict_as_openat2() {
    let p = place();
    symlink("../out/src", p.base.join("ws/link")).unwrap();
    let (base, _) = p.workspace.anchor(p.workspace.root());
    for open in [open_beneath, step_beneath] {
        let read = |path: &str| open(base, Path::new(path), READ).map(drop);
        let path_only = |path: &str| open(base, Path::new(path), OFlags::PATH).map(drop);
        assert_eq!(read("src/f"), Ok(()));
        assert_eq!(path_only("."), Ok(()));
        assert!(read("link/f").is_err());
        assert!(read("link").is_err());
        assert!(path_only("link").is_err());
        assert!(path_only("../out/src/f").is_err());
        assert!(path_only("/etc/passwd").is_err());
    }
}
