//! Programs that may be shims: managers of versions (asdf, mise, aqua, proto, …) put one in the place of each program,
//! and what it runs a file of the workspace may choose.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::commands::read_only::Proxy;

/// Where the system's own programs lie, and `cargo install` puts what it built: who wrote there wrote the program.
const OWN: &[&str] = &[
    "/usr/local/sbin",
    "/usr/local/bin",
    "/usr/sbin",
    "/usr/bin",
    "/sbin",
    "/bin",
    "/run/current-system/sw/bin",
];
const OWN_OF_A_USER: &str = ".cargo/bin";
/// What the links of package managers lead to.
const PACKAGES: &[&str] =
    &["/nix/store", "/opt/homebrew/Cellar", "/home/linuxbrew/.linuxbrew/Cellar", "/usr/local/Cellar"];
/// Managers themselves, which links may lead to from anywhere.
const MANAGERS: &[(&str, Proxy)] = &[
    ("mise", Proxy::Any),
    ("rtx", Proxy::Any),
    ("asdf", Proxy::Any),
    ("proto", Proxy::Any),
    ("proto-shim", Proxy::Any),
    ("vfox", Proxy::Any),
    ("aqua", Proxy::Aqua),
    ("aqua-proxy", Proxy::Aqua),
    ("rustup", Proxy::Rust),
    ("volta-shim", Proxy::Volta),
];

/// Whose shim it may be what `PATH` finds by this name; none where it is that program itself. Touches the disk.
fn shim_of(name: &str, path: &OsStr) -> Option<Proxy> {
    // A path is no name that is looked for; what is not found is not run, or built into the shell.
    if name.is_empty() || name.contains('/') {
        return None;
    }
    let found =
        std::env::split_paths(path).map(|directory| directory.join(name)).find(|file| is_program(file))?;
    (!is_own(&found, name)).then(|| manager(&found).unwrap_or(Proxy::Any))
}

/// The manager that the file leads to.
fn manager(file: &Path) -> Option<Proxy> {
    let real = file.canonicalize().ok()?;
    let name = real.file_name()?.to_str()?;
    MANAGERS.iter().find(|(manager, _)| *manager == name).map(|(_, proxy)| *proxy)
}

fn is_program(file: &Path) -> bool {
    const ANY_MAY_RUN: u32 = 0o111;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & ANY_MAY_RUN != 0)
}

/// Whether the file lies with the system's programs or leads to a package, and is no manager.
fn is_own(file: &Path, name: &str) -> bool {
    let Ok(real) = file.canonicalize() else { return false };
    let real_name = real.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let lies_in_own = |path: &Path| {
        path.parent().is_some_and(|directory| {
            OWN.iter().any(|own| directory == Path::new(own)) || directory.ends_with(OWN_OF_A_USER)
        })
    };
    let packaged = PACKAGES.iter().any(|packages| real.starts_with(packages));
    // A link of the system's own may lead to another name there (`awk`), and by its own name anywhere.
    let leads_well = real_name == name || lies_in_own(&real);
    manager(file).is_none() && leads_well && (lies_in_own(file) || packaged)
}

/// The names of which `PATH` finds what may be a shim, and whose.
pub(super) fn among<'n>(names: impl Iterator<Item = &'n str>, path: &OsStr) -> HashMap<&'n str, Proxy> {
    let distinct: HashSet<&str> = names.collect();
    distinct.into_iter().filter_map(|name| Some((name, shim_of(name, path)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::os::unix::fs::symlink;
    use std::path::PathBuf;

    #[test]
    fn a_program_is_its_own_where_only_its_makers_write() {
        let disk = tempfile::tempdir().unwrap();
        let at = |name: &str| disk.path().join(name);
        for directory in ["shims", ".cargo/bin", "data", "empty"] {
            std::fs::create_dir_all(at(directory)).unwrap();
        }
        for (file, mode) in [
            ("shims/jq", 0o755),
            ("shims/plain", 0o644),
            (".cargo/bin/rg", 0o755),
            ("data/mise", 0o755),
            ("data/rustup", 0o755),
            ("data/volta-shim", 0o755),
            ("data/aqua-proxy", 0o755),
        ] {
            std::fs::write(at(file), "").unwrap();
            std::fs::set_permissions(at(file), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        for (target, link) in [
            ("data/mise", ".cargo/bin/fd"),
            ("data/rustup", ".cargo/bin/cargo"),
            ("data/volta-shim", "shims/node"),
            ("data/aqua-proxy", "shims/gh"),
        ] {
            symlink(at(target), at(link)).unwrap();
        }
        symlink("/bin/sh", at("shims/sh")).unwrap();
        std::fs::create_dir(at("shims/directory")).unwrap();
        let path = |entries: &[PathBuf]| std::env::join_paths(entries).unwrap();
        let [shims, cargo, system] = [at("shims"), at(".cargo/bin"), PathBuf::from("/bin")];
        for (name, entries, want) in [
            ("jq", vec![shims.clone(), system.clone()], Some(Proxy::Any)),
            ("sh", vec![shims.clone(), system.clone()], Some(Proxy::Any)),
            ("sh", vec![at("empty"), system.clone(), shims.clone()], None),
            ("awk", vec![PathBuf::from("/usr/bin")], None),
            ("rg", vec![cargo.clone()], None),
            ("fd", vec![cargo.clone()], Some(Proxy::Any)),
            ("plain", vec![shims.clone()], None),
            ("directory", vec![shims.clone()], None),
            ("nowhere", vec![shims.clone(), system.clone()], None),
            ("./jq", vec![shims.clone()], None),
            ("", vec![shims.clone()], None),
            ("cargo", vec![cargo.clone()], Some(Proxy::Rust)),
            ("node", vec![shims.clone()], Some(Proxy::Volta)),
            ("gh", vec![shims.clone()], Some(Proxy::Aqua)),
        ] {
            assert_eq!(shim_of(name, &path(&entries)), want, "{name} in {entries:?}");
        }
        assert_eq!(
            among(["jq", "sh", "jq", "cat"].into_iter(), &path(&[shims, system])),
            HashMap::from([("jq", Proxy::Any), ("sh", Proxy::Any)])
        );
    }
}
