//! Starts one program with plain words by itself: what bash would do in the end, without loading bash for it first.
//!
//! Only where bash has nothing to add: words of characters that mean nothing to it, none of its own commands, no
//! variable that changes how it reads or looks. Whatever then cannot be executed (not there, no program, hidden) goes to bash
//! all the same, which says so in its own words.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD};

use crate::permission::shell;
use crate::process::Direct;

/// Means nothing in a word, wherever it stands (bash 5.2, 3.1.1, 3.5): no quote, expansion, operator, or comment.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_./:@%+,=-".contains(&byte)
}

/// What bash would start for this text, with the variables that it would set for it.
pub(super) fn of(text: &str, start: &Path, environment: &mut Vec<(OsString, OsString)>) -> Option<Direct> {
    let text = text.trim_matches([' ', '\t', '\n']);
    if !text.bytes().all(|byte| is_plain(byte) || matches!(byte, b' ' | b'\t'))
        || environment.iter().any(changes_bash)
    {
        return None;
    }
    let words: Vec<OsString> =
        text.split([' ', '\t']).filter(|word| !word.is_empty()).map(Into::into).collect();
    // `x=y` in front is an assignment, `%1` a job.
    let name =
        words.first()?.to_str().filter(|name| !name.contains(['=', '%']) && !shell::is_own_word(name))?;
    // Of a process another one is meant: the one that looks.
    let program = match name {
        name if name.starts_with("/proc/") || name.starts_with("/dev/") => return None,
        name if name.contains('/') => PathBuf::from(name),
        name => found(name, environment)?,
    };
    // Bash 5.2, 5.2 and 5.1; a shell that becomes its last program has counted itself out again.
    for (variable, value) in
        [("PWD", start.as_os_str()), ("SHLVL", OsStr::new("0")), ("_", program.as_os_str())]
    {
        environment.retain(|(present, _)| present != variable);
        environment.push((variable.into(), value.to_owned()));
    }
    Some(Direct { program, words })
}

/// Functions, options and switches of bash come by these (bash 5.2, 5.2 and 6.11).
fn changes_bash((name, _): &(OsString, OsString)) -> bool {
    let others = ["SHELLOPTS", "SHLVL", "POSIXLY_CORRECT", "EXECIGNORE"];
    name.as_bytes().starts_with(b"BASH") || others.iter().any(|other| name == *other)
}

/// The first file in `PATH` that can be executed, as bash looks for it (3.7.2); none where an entry is relative.
fn found(name: &str, environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let (_, path) = environment.iter().find(|(name, _)| name == "PATH")?;
    for entry in std::env::split_paths(path) {
        if !entry.is_absolute() {
            return None;
        }
        let candidate = entry.join(name);
        let can = rustix::fs::accessat(CWD, &candidate, Access::EXEC_OK, AtFlags::EACCESS).is_ok();
        if can && candidate.is_file() {
            return Some(candidate);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_text(text: &str, more: &[(&str, &str)]) -> Option<Direct> {
        let given = [("PATH", "/nowhere:/usr/bin:/bin")];
        let mut environment: Vec<(OsString, OsString)> =
            given.iter().chain(more).map(|(name, value)| (name.into(), value.into())).collect();
        of(text, Path::new("/"), &mut environment)
    }

    #[test]
    fn one_program_with_plain_words_needs_no_shell() {
        for (text, program, words) in [
            (" env\n", "/usr/bin/env", &["env"][..]),
            ("sort  -k1,2\t./a=b -x:%", "/usr/bin/sort", &["sort", "-k1,2", "./a=b", "-x:%"]),
            ("./x 1", "./x", &["./x", "1"]),
            ("/bin/true", "/bin/true", &["/bin/true"]),
        ] {
            let direct = of_text(text, &[]).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (direct.program.as_path(), direct.words),
                (Path::new(program), words.iter().map(Into::into).collect()),
                "{text}"
            );
        }
    }

    #[test]
    fn all_else_is_for_bash() {
        for text in [
            "",
            " ",
            "true",
            "echo x",
            "cd x",
            "if",
            "time ls",
            "! ls",
            "A=b ls",
            "%1",
            "ls *",
            "ls ~",
            "ls $x",
            "ls 'x'",
            "ls \"x\"",
            "ls \\x",
            "ls {a,b}",
            "ls; ls",
            "ls\nls",
            "ls & ",
            "ls | cat",
            "ls > x",
            "ls # x",
            "ls [a]",
            "ls a?",
            "ls a^b",
            "ls `x`",
            "(ls)",
            "ls \u{a0}x",
            "ls é",
            "ls\rx",
            "no-such-program-anywhere",
            "/proc/self/exe",
            "/dev/fd/0",
        ] {
            assert_eq!(of_text(text, &[]).map(|direct| direct.program), None, "{text:?}");
        }
        for name in ["BASH_FUNC_ls%%", "BASHOPTS", "SHELLOPTS", "POSIXLY_CORRECT", "EXECIGNORE", "BASH_ENV"] {
            assert!(of_text("ls", &[(name, "x")]).is_none(), "{name}");
        }
        let mut relative = vec![("PATH".into(), ".:/usr/bin".into())];
        assert!(of("ls", Path::new("/"), &mut relative).is_none());
    }
}
