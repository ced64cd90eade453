//! Programs that may be shims: managers of versions (asdf, mise, aqua, proto, …) put one in the place of each program,
//! and what it runs a file of the workspace may choose.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

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
const MANAGERS: &[&str] =
    &["mise", "rtx", "asdf", "aqua", "aqua-proxy", "proto", "proto-shim", "vfox", "rustup", "volta-shim"];

/// Whether what `PATH` finds by this name may stand for another program. Touches the disk.
pub(super) fn may_be_shim(name: &str, path: &OsStr) -> bool {
    // A path is no name that is looked for; what is not found is not run, or built into the shell.
    if name.is_empty() || name.contains('/') {
        return false;
    }
    let found =
        std::env::split_paths(path).map(|directory| directory.join(name)).find(|file| is_program(file));
    found.is_some_and(|file| !is_own(&file, name))
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
    !MANAGERS.contains(&real_name) && leads_well && (lies_in_own(file) || packaged)
}

/// The names, each once, of which `PATH` finds what may be a shim.
pub(super) fn among<'n>(names: impl Iterator<Item = &'n String>, path: &OsStr) -> Vec<&'n str> {
    let mut distinct: Vec<&str> = names.map(String::as_str).collect();
    distinct.sort_unstable();
    distinct.dedup();
    distinct.retain(|name| may_be_shim(name, path));
    distinct
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
        for (file, mode) in
            [("shims/jq", 0o755), ("shims/plain", 0o644), (".cargo/bin/rg", 0o755), ("data/mise", 0o755)]
        {
            std::fs::write(at(file), "").unwrap();
            std::fs::set_permissions(at(file), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink(at("data/mise"), at(".cargo/bin/fd")).unwrap();
        symlink("/bin/sh", at("shims/sh")).unwrap();
        std::fs::create_dir(at("shims/directory")).unwrap();
        let path = |entries: &[PathBuf]| std::env::join_paths(entries).unwrap();
        let [shims, cargo, system] = [at("shims"), at(".cargo/bin"), PathBuf::from("/bin")];
        for (name, entries, want) in [
            ("jq", vec![shims.clone(), system.clone()], true),
            ("sh", vec![shims.clone(), system.clone()], true),
            ("sh", vec![at("empty"), system.clone(), shims.clone()], false),
            ("awk", vec![PathBuf::from("/usr/bin")], false),
            ("rg", vec![cargo.clone()], false),
            ("fd", vec![cargo.clone()], true),
            ("plain", vec![shims.clone()], false),
            ("directory", vec![shims.clone()], false),
            ("nowhere", vec![shims.clone(), system.clone()], false),
            ("./jq", vec![shims.clone()], false),
            ("", vec![shims.clone()], false),
        ] {
            assert_eq!(may_be_shim(name, &path(&entries)), want, "{name} in {entries:?}");
        }
        assert_eq!(
            among(["jq", "sh", "jq", "cat"].map(str::to_owned).iter(), &path(&[shims, system])),
            ["jq", "sh"]
        );
    }
}
