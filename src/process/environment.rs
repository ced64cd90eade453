//! A command's environment: built from a list, never inherited whole.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::config;

/// Variables that every command gets as the server has them.
const PASSED: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TZ", "HOSTNAME"];
/// Passed by their beginning.
const PASSED_PREFIX: &[u8] = b"LC_";
/// The server's own variables, which may carry tokens: never passed, not even by name.
const OWN_PREFIX: &[u8] = b"TOOLGATE_";
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Git's settings by variables begin with this: where the server passes some of its own, they stay as they are.
const GIT_SETTINGS: &[u8] = b"GIT_CONFIG_";
/// git-config(1): a directory that only looks like a repository (four files of a workspace are enough) is one only
/// to a command that names it so, by `--git-dir`.
const PLAIN_REPOSITORIES: [(&str, &str); 3] = [
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
];

/// Builds the environment of a command from the server's own; `extra` are the names that the configuration
/// passes on; `temporary` becomes `TMPDIR`.
pub fn build(
    server: impl IntoIterator<Item = (OsString, OsString)>,
    extra: &[String],
    temporary: &Path,
) -> Vec<(OsString, OsString)> {
    let mut environment: Vec<(OsString, OsString)> =
        server.into_iter().filter(|(name, _)| is_passed(name, extra)).collect();
    let mut set = |name: &str, value: &OsStr, replace: bool| {
        let there = environment.iter_mut().find(|(present, _)| present == name);
        match there {
            Some((_, present)) if replace => value.clone_into(present),
            Some(_) => {}
            None => environment.push((name.into(), value.to_owned())),
        }
    };
    set("PATH", OsStr::new(DEFAULT_PATH), false);
    set("LANG", OsStr::new("C.UTF-8"), false);
    set("TERM", OsStr::new("dumb"), true);
    set("TMPDIR", temporary.as_os_str(), true);
    if !environment.iter().any(|(name, _)| name.as_bytes().starts_with(GIT_SETTINGS)) {
        environment.extend(PLAIN_REPOSITORIES.map(|(name, value)| (name.into(), value.into())));
    }
    environment
}

/// The `PATH` that [`build`] gives a command.
pub fn search_path(server: &[(OsString, OsString)]) -> &OsStr {
    let own = server.iter().find(|(name, _)| name == "PATH");
    own.map_or(OsStr::new(DEFAULT_PATH), |(_, path)| path)
}

/// The server's environment with a `PATH` in which no command of a workspace can take the place of a program: only
/// absolute entries that do not lie, nor lead, beneath one of `never`. Touches the disk.
pub fn with_safe_path(
    environment: Vec<(OsString, OsString)>,
    never: &[PathBuf],
) -> Vec<(OsString, OsString)> {
    let never: Vec<PathBuf> =
        never.iter().flat_map(|path| [Some(path.clone()), path.canonicalize().ok()]).flatten().collect();
    let beneath = |path: &Path| never.iter().any(|root| path.starts_with(root));
    let is_safe = |entry: &PathBuf| {
        let dotted = entry.components().any(|part| part == Component::ParentDir);
        let leads = entry.canonicalize();
        // What is not there may come: then its spelling has to say where.
        entry.is_absolute() && !beneath(entry) && leads.map_or(!dotted, |real| !beneath(&real))
    };
    let safe = |(name, value): (OsString, OsString)| {
        if name != "PATH" {
            return Some((name, value));
        }
        let entries = std::env::split_paths(&value).filter(is_safe);
        // Without any entry left it is as if the server had none.
        std::env::join_paths(entries).ok().filter(|path| !path.is_empty()).map(|path| (name, path))
    };
    environment.into_iter().filter_map(safe).collect()
}

fn is_passed(name: &OsStr, extra: &[String]) -> bool {
    let bytes = name.as_bytes();
    let own = bytes.to_ascii_uppercase().starts_with(OWN_PREFIX);
    if own || name.to_str().is_none_or(config::changes_the_shell) {
        return false;
    }
    PASSED.iter().any(|passed| name == *passed)
        || bytes.starts_with(PASSED_PREFIX)
        || extra.iter().any(|passed| name == passed.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn built(server: &[(&str, &str)], extra: &[&str]) -> Vec<(String, String)> {
        let extra: Vec<String> = extra.iter().map(ToString::to_string).collect();
        let server = server.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut environment: Vec<_> = build(server, &extra, Path::new("/t"))
            .into_iter()
            .map(|(name, value)| (name.into_string().unwrap(), value.into_string().unwrap()))
            .collect();
        for (name, value) in PLAIN_REPOSITORIES {
            environment.retain(|(there, set)| (there.as_str(), set.as_str()) != (name, value));
        }
        environment.sort();
        environment
    }

    #[test]
    fn git_takes_no_directory_for_a_repository_by_its_looks() {
        let of = |extra: &[&str], server: &[(&str, &str)]| -> Vec<String> {
            let extra: Vec<String> = extra.iter().map(ToString::to_string).collect();
            let server = server.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
            let all = build(server, &extra, Path::new("/t")).into_iter();
            let git = all.filter(|(name, _)| name.as_bytes().starts_with(b"GIT_"));
            git.map(|(name, value)| format!("{}={}", name.display(), value.display())).collect()
        };
        let ours =
            ["GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.bareRepository", "GIT_CONFIG_VALUE_0=explicit"];
        assert_eq!(of(&[], &[("GIT_CONFIG_COUNT", "0")]), ours);
        assert_eq!(of(&["GIT_CONFIG_COUNT"], &[("GIT_CONFIG_COUNT", "0")]), ["GIT_CONFIG_COUNT=0"]);
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn only_listed_names_come_through() {
        let server = [
            ("HOME", "/h"),
            ("PATH", "/b"),
            ("LC_ALL", "C"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("LD_PRELOAD", "/x"),
            ("BASH_ENV", "/x"),
            ("TERM", "xterm"),
            ("TMPDIR", "/other"),
            ("GOPATH", "/go"),
        ];
        let expected = [
            ("GOPATH", "/go"),
            ("HOME", "/h"),
            ("LANG", "C.UTF-8"),
            ("LC_ALL", "C"),
            ("PATH", "/b"),
            ("TERM", "dumb"),
            ("TMPDIR", "/t"),
        ];
        assert_eq!(built(&server, &["GOPATH", "NOT_SET"]), pairs(&expected));
    }

    #[test]
    fn no_program_is_found_in_a_workspace() {
        let place = tempfile::tempdir().unwrap();
        let here = place.path().canonicalize().unwrap();
        for name in ["held/bin", "bin"] {
            std::fs::create_dir_all(here.join(name)).unwrap();
        }
        std::os::unix::fs::symlink(here.join("held/bin"), here.join("link")).unwrap();
        let entry = |name: &str| here.join(name).display().to_string();
        let path = |value: String| {
            let server = vec![("PATH".into(), value.into()), ("HOME".into(), "/h".into())];
            let safe = with_safe_path(server, &[here.join("held")]);
            assert!(safe.iter().any(|(name, _)| name == "HOME"));
            safe.into_iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.into_string().unwrap())
        };
        for (given, want) in [
            (format!("{}:", entry("bin")), Some(entry("bin"))),
            (format!(":{}::bin:.:./x", entry("bin")), Some(entry("bin"))),
            (format!("{}:{}:{}", entry("held/bin"), entry("bin"), entry("held")), Some(entry("bin"))),
            (format!("{}:{}", entry("link"), entry("bin")), Some(entry("bin"))),
            (format!("{}:{}", entry("bin/../held/bin"), entry("bin")), Some(entry("bin"))),
            (format!("{}:{}", entry("none/../held/x"), entry("bin")), Some(entry("bin"))),
            (format!("{}:/none-there", entry("bin")), Some(format!("{}:/none-there", entry("bin")))),
            (entry("held-2"), Some(entry("held-2"))),
            (":".to_owned(), None),
        ] {
            assert_eq!(path(given.clone()), want, "{given}");
        }
    }

    #[test]
    fn the_servers_own_names_never_come_through() {
        let server = [("TOOLGATE_TOKEN", "s"), ("toolgate_x", "s")];
        let names: Vec<String> =
            built(&server, &["TOOLGATE_TOKEN", "toolgate_x"]).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["LANG", "PATH", "TERM", "TMPDIR"]);
    }

    #[test]
    fn what_changes_the_shell_never_comes_through() {
        for name in ["BASH_ENV", "CDPATH", "SHELLOPTS", "POSIXLY_CORRECT", "BASH_FUNC_ls%%"] {
            let names: Vec<String> =
                built(&[(name, "x")], &[name]).into_iter().map(|(name, _)| name).collect();
            assert_eq!(names, ["LANG", "PATH", "TERM", "TMPDIR"], "{name}");
        }
    }
}
