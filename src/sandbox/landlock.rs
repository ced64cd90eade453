//! The Landlock floor: a ruleset that allows everything but the protected paths, by listing their siblings.
//!
//! Landlock can only allow, and a right on a directory reaches everything beneath it. So a directory that has
//! a hidden path somewhere beneath gets no right itself: each of its other entries gets them instead.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, Scope, make_bitflags,
};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};

use super::{FloorError, FloorPaths, confine};

/// The first ABI that scopes signals and abstract sockets; below it the server could be signalled.
pub(super) const LEAST_ABI: u32 = 6;
const ABI_IN_USE: ABI = ABI::V6;

/// A listing younger than this when it was read may miss a later entry with the same time stamp.
const RACY_NANOSECONDS: i64 = 20_000_000;

/// Devices that every program may use. Anything else under `/dev` (disks above all) is out of reach.
const DEVICES: [&str; 7] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx"];
/// Directories under `/dev` that are plain memory or terminals.
const DEVICE_DIRECTORIES: [&str; 3] = ["pts", "shm", "mqueue"];

/// A ruleset and the directories whose entries it lists.
#[derive(Debug)]
pub(super) struct Built {
    pub(super) ruleset: Arc<OwnedFd>,
    /// False where an entry may have been missed, so that the next command needs a new one.
    settled: bool,
    listed: Vec<Listed>,
    paths: FloorPaths,
}

#[derive(Debug)]
struct Listed {
    path: PathBuf,
    stamp: Stamp,
}

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Stamp {
    device: u64,
    inode: u64,
    seconds: i64,
    nanoseconds: i64,
}

impl Stamp {
    fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
            seconds: stat.st_mtime,
            nanoseconds: i64::try_from(stat.st_mtime_nsec).unwrap_or(0),
        }
    }

    fn is_racy(self, (seconds, nanoseconds): (i64, i64)) -> bool {
        let age = seconds
            .saturating_sub(self.seconds)
            .saturating_mul(1_000_000_000)
            .saturating_add(nanoseconds.saturating_sub(self.nanoseconds));
        age < RACY_NANOSECONDS
    }
}

impl Built {
    /// Whether it is for these paths, and every listed directory still has the entries that it had.
    pub(super) fn is_current(&self, paths: &FloorPaths) -> bool {
        self.settled
            && self.paths == *paths
            && self.listed.iter().all(|listed| {
                rustix::fs::stat(&listed.path).is_ok_and(|stat| Stamp::of(&stat) == listed.stamp)
            })
    }
}

/// Builds the ruleset.
pub(super) fn build(paths: &FloorPaths) -> Result<Built, FloorError> {
    let created = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI_IN_USE))?
        .scope(Scope::from_all(ABI_IN_USE))?
        .create()?;
    let mut builder = Builder { paths, created: Some(created), listed: Vec::new(), settled: true };
    let root = open(rustix::fs::CWD, Path::new("/"))?;
    builder.list(&root, Path::new("/"))?;
    for allowed in &paths.allowed {
        let directory = open(rustix::fs::CWD, allowed)?;
        builder.allow(directory.as_fd(), everything())?;
    }
    let ruleset: Option<OwnedFd> = builder.created.take().and_then(Into::into);
    let ruleset = ruleset.ok_or(FloorError::NoRuleset)?;
    let (settled, listed) = (builder.settled, builder.listed);
    Ok(Built { ruleset: Arc::new(ruleset), settled, listed, paths: paths.clone() })
}

struct Builder<'a> {
    paths: &'a FloorPaths,
    created: Option<RulesetCreated>,
    listed: Vec<Listed>,
    settled: bool,
}

impl Builder<'_> {
    fn list(&mut self, directory: &OwnedFd, path: &Path) -> Result<(), FloorError> {
        let stamp = Stamp::of(&rustix::fs::fstat(directory)?);
        if stamp.is_racy(confine::file_clock()) {
            self.settled = false;
        }
        self.listed.push(Listed { path: path.to_owned(), stamp });
        for name in names(directory)? {
            let entry = path.join(&name);
            if self.paths.hidden.contains(&entry) {
                continue;
            }
            // An entry that went away meanwhile needs no right.
            let Ok(descriptor) = open(directory.as_fd(), Path::new(&name)) else { continue };
            self.judge(&descriptor, &entry)?;
        }
        Ok(())
    }

    fn judge(&mut self, descriptor: &OwnedFd, entry: &Path) -> Result<(), FloorError> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(descriptor)?.st_mode);
        if self.paths.read_only.iter().any(|path| path == entry)
            || entry == Path::new("/proc")
            || entry == Path::new("/sys")
        {
            return self.allow(descriptor.as_fd(), AccessFs::from_read(ABI_IN_USE));
        }
        if entry == Path::new("/dev") {
            return self.devices(descriptor);
        }
        match kind {
            FileType::Directory if self.paths.is_above_protected(entry) => {
                // Above what may be read all may be read, so such a directory can be listed itself.
                if !self.paths.is_above_hidden(entry) {
                    self.allow(descriptor.as_fd(), AccessFs::from_read(ABI_IN_USE))?;
                }
                self.list(descriptor, entry)
            }
            // It may be renamed over the hidden file while the command runs: a right stays with its inode.
            FileType::RegularFile if self.paths.is_draft(entry) => Ok(()),
            // A link itself needs no right, and following it could lead to a hidden path.
            FileType::Symlink | FileType::BlockDevice | FileType::CharacterDevice => Ok(()),
            _ => self.allow(descriptor.as_fd(), everything()),
        }
    }

    fn devices(&mut self, dev: &OwnedFd) -> Result<(), FloorError> {
        self.allow(dev.as_fd(), make_bitflags!(AccessFs::{ReadDir}))?;
        for name in DEVICES {
            if let Ok(device) = open(dev.as_fd(), Path::new(name)) {
                self.allow(device.as_fd(), make_bitflags!(AccessFs::{ReadFile | WriteFile | IoctlDev}))?;
            }
        }
        for name in DEVICE_DIRECTORIES {
            if let Ok(directory) = open(dev.as_fd(), Path::new(name)) {
                self.allow(directory.as_fd(), everything())?;
            }
        }
        Ok(())
    }

    fn allow(&mut self, descriptor: BorrowedFd<'_>, access: BitFlags<AccessFs>) -> Result<(), FloorError> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(descriptor)?.st_mode);
        let access = match kind {
            FileType::Directory => access,
            _ => access & AccessFs::from_file(ABI_IN_USE),
        };
        if access.is_empty() {
            return Ok(());
        }
        let created = self.created.take().ok_or(FloorError::NoRuleset)?;
        self.created = Some(created.add_rule(PathBeneath::new(descriptor, access))?);
        Ok(())
    }
}

/// All rights but those to make device nodes.
fn everything() -> BitFlags<AccessFs> {
    AccessFs::from_all(ABI_IN_USE) & !make_bitflags!(AccessFs::{MakeBlock | MakeChar})
}

fn open(directory: impl AsFd, path: &Path) -> Result<OwnedFd, FloorError> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(directory, path, flags, Mode::empty())?)
}

fn names(directory: &OwnedFd) -> Result<Vec<std::ffi::OsString>, FloorError> {
    use std::os::unix::ffi::OsStringExt;
    let readable = rustix::fs::openat(
        directory,
        ".",
        OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::new(readable)? {
        let name = entry?.file_name().to_bytes().to_vec();
        if name != b"." && name != b".." {
            names.push(std::ffi::OsString::from_vec(name));
        }
    }
    Ok(names)
}

/// Whether the path can be looked up at all; a symlink counts.
pub(super) fn exists(path: &Path) -> bool {
    rustix::fs::statat(rustix::fs::CWD, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
}
