//! The fallback floor: the argument prefix that starts a command inside bubblewrap.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::{FloorError, FloorPaths};

/// Where distributions install it. Looked for here only: `PATH` is not asked for a part of the floor.
const PLACES: [&str; 2] = ["/usr/bin/bwrap", "/usr/local/bin/bwrap"];
/// The most entries of a folder that holds a hidden file: each takes a mount for each command.
const LISTED_MAX: usize = 1_000;

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
/// hidden folders lie beneath empty read-only mounts. A mount over a file would fall off as soon as another file
/// is renamed over it outside: a folder that holds a hidden file is made anew, empty, and gets its other entries.
pub(super) fn prefix(
    program: &Path,
    mounting: Mounting,
    paths: &FloorPaths,
) -> Result<Vec<OsString>, FloorError> {
    let mut arguments = Arguments(vec![program.into()]);
    if mounting == Mounting::UserNamespace {
        arguments.push(&["--unshare-user"], &[]);
    }
    arguments.push(&["--unshare-pid", "--cap-drop", "ALL"], &[]);
    let listed = listed_folders(paths);
    if !listed.contains(Path::new("/")) {
        arguments.push(&["--bind", "/", "/"], &[]);
    }
    // What lies further down is mounted later: it would be covered otherwise.
    let mut places: Vec<&Path> =
        listed.iter().map(PathBuf::as_path).chain(paths.hidden.iter().map(PathBuf::as_path)).collect();
    places.sort_by_key(|path| path.components().count());
    let mut own_file_systems = Some(());
    for place in places {
        if listed.contains(place) {
            arguments.list(place, paths)?;
        }
        if place != Path::new("/") && own_file_systems.take().is_some() {
            arguments.system();
        }
        if !listed.contains(place) && place.is_dir() {
            arguments.push(&["--tmpfs"], &[place]);
            arguments.push(&["--remount-ro"], &[place]);
        }
    }
    if own_file_systems.is_some() {
        arguments.system();
    }
    for path in paths.read_only.iter().filter(|path| path.exists()) {
        arguments.push(&["--ro-bind"], &[path, path]);
    }
    for path in &paths.allowed {
        arguments.push(&["--bind"], &[path, path]);
    }
    for folder in &listed {
        arguments.push(&["--remount-ro"], &[folder]);
    }
    arguments.push(&["--"], &[]);
    Ok(arguments.0)
}

/// Folders that hold a hidden path that is no folder, or not there yet.
pub(super) fn listed_folders(paths: &FloorPaths) -> BTreeSet<PathBuf> {
    let files = paths.hidden.iter().filter(|path| !path.is_dir());
    files.filter_map(|path| path.parent().map(Path::to_path_buf)).collect()
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn push(&mut self, words: &[&str], operands: &[&Path]) {
        self.0.extend(words.iter().map(OsString::from));
        self.0.extend(operands.iter().map(|path| path.as_os_str().to_owned()));
    }

    /// File systems of the kernel's own. Root, even without capabilities, owns the settings beneath /proc/sys.
    fn system(&mut self) {
        self.push(&["--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"], &[]);
        self.push(&["--ro-bind", "/sys", "/sys"], &[]);
    }

    /// A folder with all of its entries but the hidden ones and their drafts.
    fn list(&mut self, folder: &Path, paths: &FloorPaths) -> Result<(), FloorError> {
        if folder != Path::new("/") {
            self.push(&["--tmpfs"], &[folder]);
        }
        let unlisted = |error: std::io::Error| FloorError::Path {
            path: folder.to_owned(),
            reason: format!("it cannot be listed: {error}"),
        };
        let mut count = 0;
        for entry in std::fs::read_dir(folder).map_err(unlisted)? {
            let Ok(entry) = entry else { continue };
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let system = super::SYSTEM.iter().any(|system| path == Path::new(system));
            if system || paths.hidden.contains(&path) || (!kind.is_dir() && paths.is_draft(&path)) {
                continue;
            }
            count += 1;
            if count > LISTED_MAX {
                let reason = format!(
                    "it holds a file of the server's beside more than {LISTED_MAX} others: give that file a folder \
                     of its own"
                );
                return Err(FloorError::Path { path: folder.to_owned(), reason });
            }
            match path.read_link() {
                Ok(target) => self.push(&["--symlink"], &[&target, &path]),
                Err(_) => self.push(&["--bind-try"], &[&path, &path]),
            }
        }
        Ok(())
    }
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
