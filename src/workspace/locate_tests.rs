//! Where paths lead: links, parents, what lies beside the workspace.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;

struct Place {
    _dir: tempfile::TempDir,
    base: PathBuf,
    workspace: Workspace,
}

/// `base/ws` is the workspace; `base/ws-evil` and `base/out` lie beside it.
fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let base = dir.path().canonicalize().unwrap();
    for name in ["ws/src", "ws-evil", "out/deep"] {
        fs::create_dir_all(base.join(name)).unwrap();
    }
    fs::write(base.join("ws/src/a.rs"), "a").unwrap();
    fs::write(base.join("ws-evil/x"), "evil").unwrap();
    fs::write(base.join("out/secret"), "secret").unwrap();
    let workspace = Workspace::open(&base.join("ws")).unwrap();
    Place { _dir: dir, base, workspace }
}

impl Place {
    fn resolve(&self, requested: &str) -> Result<Located, WorkspaceError> {
        self.workspace.resolve(&self.base.join("ws"), requested)
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }
}

#[test]
fn plain_paths() {
    let p = place();
    let cases: &[(&str, &str, &str, bool, Option<FileKind>)] = &[
        ("src/a.rs", "ws/src/a.rs", "ws/src/a.rs", true, Some(FileKind::File)),
        ("./src//./a.rs", "ws/src/a.rs", "ws/src/a.rs", true, Some(FileKind::File)),
        ("src/../src", "ws/src", "ws/src", true, Some(FileKind::Directory)),
        (".", "ws", "ws", true, Some(FileKind::Directory)),
        ("new/deep/file", "ws/new/deep/file", "ws/new/deep/file", true, None),
        ("../out/secret", "out/secret", "out/secret", false, Some(FileKind::File)),
        ("~/x", "ws/~/x", "ws/~/x", true, None),
        ("new/../src/a.rs", "ws/src/a.rs", "ws/src/a.rs", true, Some(FileKind::File)),
    ];
    for (asked, requested, real, inside, kind) in cases {
        let located = p.resolve(asked).unwrap();
        assert_eq!(located.requested, p.at(requested), "{asked}");
        assert_eq!(located.real, p.at(real), "{asked}");
        assert_eq!((located.inside, located.kind), (*inside, *kind), "{asked}");
    }
    let absolute = p.resolve("/../../etc/./hostname-that-is-not-there").unwrap();
    assert_eq!(absolute.real, Path::new("/etc/hostname-that-is-not-there"));
    assert!(!absolute.inside);
}

#[test]
fn f1_a_sibling_with_the_same_beginning_is_outside() {
    let p = place();
    let absolute = p.at("ws-evil/x");
    for asked in ["../ws-evil/x", absolute.to_str().unwrap()] {
        let located = p.resolve(asked).unwrap();
        assert_eq!((located.inside, located.kind), (false, Some(FileKind::File)), "{asked}");
    }
}

#[test]
fn f2_symlinks_are_followed_before_inside_is_decided() {
    let p = place();
    symlink(p.at("out/secret"), p.at("ws/link")).unwrap();
    symlink("../out", p.at("ws/dir")).unwrap();
    symlink("../out/not-yet", p.at("ws/dangling")).unwrap();
    symlink("src", p.at("ws/within")).unwrap();
    symlink("link", p.at("ws/twice")).unwrap();
    let cases = [
        ("link", "out/secret", false, Some(FileKind::File)),
        ("twice", "out/secret", false, Some(FileKind::File)),
        ("dir/new", "out/new", false, None),
        ("dir/a/b/c", "out/a/b/c", false, None),
        ("dangling", "out/not-yet", false, None),
        ("within/a.rs", "ws/src/a.rs", true, Some(FileKind::File)),
    ];
    for (asked, real, inside, kind) in cases {
        let located = p.resolve(asked).unwrap();
        assert_eq!(located.requested, p.at("ws").join(asked), "{asked}");
        assert_eq!((located.real, located.inside, located.kind), (p.at(real), inside, kind), "{asked}");
    }
}

#[test]
fn p9_dot_dot_goes_where_the_kernel_goes_and_the_text_is_kept_too() {
    let p = place();
    symlink("../out/deep", p.at("ws/x")).unwrap();
    let through_link = p.resolve("x/../secret").unwrap();
    assert_eq!(through_link.requested, p.at("ws/secret"));
    assert_eq!((through_link.real, through_link.inside), (p.at("out/secret"), false));
    // The missing part is taken back by `..`, and what follows is walked again, links and all.
    let back = p.resolve("missing/../x/file").unwrap();
    assert_eq!((back.requested, back.real), (p.at("ws/x/file"), p.at("out/deep/file")));
}

#[test]
fn a_way_out_and_back_is_outside() {
    let p = place();
    symlink(p.at("ws/src"), p.at("out/in")).unwrap();
    symlink("../out/in", p.at("ws/round")).unwrap();
    for (asked, inside) in [
        ("../ws/src/a.rs", true),
        ("../../ws/src/a.rs", false),
        ("../out/../ws/src/a.rs", false),
        ("../out/nope/../../ws/src/a.rs", false),
        ("../nope/../ws/src/a.rs", false),
        ("src/../../ws/src/a.rs", true),
        ("nope/../src/a.rs", true),
        ("round/a.rs", true),
        ("round/../src/a.rs", true),
    ] {
        assert_eq!(p.resolve(asked).unwrap().inside, inside, "{asked}");
    }
}

#[test]
fn paths_that_cannot_be() {
    let p = place();
    symlink("loop-b", p.at("ws/loop-a")).unwrap();
    symlink("loop-a", p.at("ws/loop-b")).unwrap();
    assert!(matches!(p.resolve(""), Err(WorkspaceError::EmptyPath)));
    assert!(matches!(p.resolve("a\0b"), Err(WorkspaceError::NulInPath)));
    assert!(matches!(p.resolve(&"n".repeat(256)), Err(WorkspaceError::PathTooLong)));
    assert!(matches!(p.resolve(&"n/".repeat(3000)), Err(WorkspaceError::PathTooLong)));
    assert!(matches!(p.resolve("loop-a"), Err(WorkspaceError::SymlinkLoop { .. })));
    for through_a_file in ["src/a.rs/b", "src/a.rs/..", "src/a.rs/.", "src/a.rs/"] {
        let error = p.resolve(through_a_file).unwrap_err();
        assert!(matches!(error, WorkspaceError::NotADirectory { .. }), "{through_a_file}: {error}");
    }
    let relative = p.workspace.resolve(Path::new("ws"), "a").unwrap_err();
    assert!(matches!(relative, WorkspaceError::RelativeDirectory { .. }));
}

#[test]
fn the_kinds_of_things() {
    let p = place();
    rustix::fs::mkfifoat(CWD, p.at("ws/fifo"), Mode::from_raw_mode(0o600)).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(p.at("ws/sock")).unwrap();
    let kind = |asked: &str| p.resolve(asked).unwrap().kind;
    assert_eq!(kind("fifo"), Some(FileKind::Fifo));
    assert_eq!(kind("sock"), Some(FileKind::Socket));
    assert_eq!(kind("/dev/zero"), Some(FileKind::Device));
}

#[test]
fn a_root_must_be_a_resolved_directory_and_stay_there() {
    let p = place();
    symlink("ws", p.at("alias")).unwrap();
    for (root, why) in [
        (PathBuf::from("ws"), "not absolute"),
        (p.at("ws/../ws"), "not a resolved"),
        (p.at("alias"), "symbolic link"),
        (p.at("alias/src"), "symbolic link"),
        (p.at("ws/src/a.rs"), "not a directory"),
        (p.at("nowhere"), "does not exist"),
    ] {
        let error = Workspace::open(&root).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    fs::rename(p.at("ws"), p.at("moved")).unwrap();
    fs::create_dir(p.at("ws")).unwrap();
    assert!(matches!(p.resolve("src/a.rs"), Err(WorkspaceError::RootReplaced { .. })));
}

#[test]
fn the_whole_system_as_a_workspace() {
    let p = place();
    let all = Workspace::open(Path::new("/")).unwrap();
    let located = all.resolve(&p.at("ws"), "src/a.rs").unwrap();
    assert!(located.inside);
    assert_eq!(all.read_whole(&located, 10).unwrap(), b"a");
    assert_eq!(all.resolve(Path::new("/"), "..").unwrap().real, Path::new("/"));
}
