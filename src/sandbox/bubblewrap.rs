//! The fallback floor: the argument prefix that starts a command inside bubblewrap.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::FloorPaths;

/// Where distributions install it. Looked for here only: `PATH` is not asked for a part of the floor.
const PLACES: [&str; 2] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];

/// How bubblewrap gets its right to mount.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mounting {
    /// As it comes: root's own capability, or a user namespace where the user is not root.
    Own,
    /// A user namespace although the user is root, for a root without capabilities (a container's).
    UserNamespace,
}

/// The installed program, if there is one.
pub(super) fn find() -> Option<PathBuf> {
    PLACES.iter().map(PathBuf::from).find(|place| place.is_file())
}

/// Everything up to and including `--`; the command's own arguments follow.
///
/// The process namespace keeps the server out of sight of signals and tracing; a private `/dev` has no disks;
/// the hidden paths lie beneath empty read-only mounts.
pub(super) fn prefix(program: &Path, mounting: Mounting, paths: &FloorPaths) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = vec![program.into()];
    let mut push = |words: &[&str], operands: &[&Path]| {
        arguments.extend(words.iter().map(OsString::from));
        arguments.extend(operands.iter().map(|path| path.as_os_str().to_owned()));
    };
    if mounting == Mounting::UserNamespace {
        push(&["--unshare-user"], &[]);
    }
    push(&["--unshare-pid", "--cap-drop", "ALL", "--bind", "/", "/"], &[]);
    // Root, even without capabilities, owns the settings beneath /proc/sys.
    push(&["--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc", "--ro-bind", "/sys", "/sys"], &[]);
    for path in &paths.hidden {
        if path.is_dir() {
            push(&["--tmpfs"], &[path]);
            push(&["--remount-ro"], &[path]);
        } else if path.exists() {
            push(&["--ro-bind", "/dev/null"], &[path]);
        }
    }
    for path in paths.read_only.iter().filter(|path| path.exists()) {
        push(&["--ro-bind"], &[path, path]);
    }
    for path in &paths.allowed {
        push(&["--bind"], &[path, path]);
    }
    push(&["--"], &[]);
    arguments
}

/// Whether a program can be run behind `prefix` here; else what bubblewrap said. Blocks for some milliseconds.
#[expect(clippy::disallowed_methods, reason = "a probe at start, before there is a launcher")]
pub(super) fn works(prefix: &[OsString]) -> Result<(), String> {
    let (program, arguments) = prefix.split_first().ok_or("no program")?;
    let output = std::process::Command::new(program)
        .args(arguments)
        .arg("/bin/true")
        .env_clear()
        .stdin(std::process::Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.lines().next().unwrap_or("it failed without a word").chars().take(200).collect())
}
