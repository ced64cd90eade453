//! The forms of `git config` that read.
//!
//! Source: git 2.47, git-config(1), and the older manuals: options end at the first operand, and a name has a dot in it.

use super::super::read_only::{Known, Line, Operands, PLAIN};

/// What a form of `git config` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reads {
    /// No other settings than those of the repository, in their usual files.
    pub(super) of_repository: bool,
    /// A name alone says that it reads: with one word more it would write.
    pub(super) by_a_name: bool,
}

/// Options that choose where to look; then those that choose how to show it.
const FORM: Known = Known {
    flags: "lz",
    values: "f",
    long: &[
        "local worktree",
        "global system",
        "get get-all get-regexp get-urlmatch get-color get-colorbool list",
        "show-origin show-scope name-only null bool int bool-or-int path expiry-date no-type includes no-includes",
        "all",
    ],
    long_values: &["file blob type default regexp value url"],
    stops: true,
    operands: Operands::Text,
    ..PLAIN
};

/// What the form reads, its words behind `config` given; nothing where it may write, or is not known.
pub(super) fn read<W: AsRef<str>>(arguments: &[W]) -> Option<Reads> {
    let words: Vec<String> = arguments.iter().map(|word| word.as_ref().to_owned()).collect();
    let (new, rest) = match words.split_first() {
        Some((sub, rest)) if matches!(sub.as_str(), "get" | "list") => (Some(sub.as_str()), rest),
        _ => (None, words.as_slice()),
    };
    let line = FORM.options(rest)?;
    let has = |names: &[&str]| {
        line.long.iter().any(|name| names.contains(name))
            || line.values.iter().any(|(name, _)| names.contains(name))
    };
    let elsewhere = has(&["global", "system", "file", "f", "blob", "includes"]);
    let lists = new == Some("list") || line.letters.contains('l') || has(&["list"]);
    let gets = new == Some("get")
        || has(&["get", "get-all", "get-regexp", "get-urlmatch", "get-color", "get-colorbool"]);
    let by_a_name = !lists && !gets;
    let asks = |operands: &[&str]| {
        matches!(operands.len(), 1 | 2) && operands.iter().all(|word| !word.starts_with('-'))
    };
    let fits = match (by_a_name, lists) {
        (true, _) => names_one(&line),
        (false, true) => line.operands.is_empty(),
        (false, false) => asks(&line.operands),
    };
    fits.then_some(Reads { of_repository: !elsewhere, by_a_name })
}

/// The name of one setting, and no value for it. Words without a dot are subcommands (`edit`).
fn names_one(line: &Line<'_>) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '/' | '@' | ':');
    matches!(line.operands.as_slice(), [name] if name.contains('.') && name.chars().all(plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_reads_is_told_from_what_writes() {
        for (text, want) in [
            ("user.email", Some((true, true))),
            ("--local user.email", Some((true, true))),
            ("--bool core.bare", Some((true, true))),
            ("remote.origin.url", Some((true, true))),
            ("--get user.email", Some((true, false))),
            ("--get-all remote.origin.fetch", Some((true, false))),
            ("--get-regexp ^remote", Some((true, false))),
            ("--show-origin --list", Some((true, false))),
            ("--name-only -l -z", Some((true, false))),
            ("--list", Some((true, false))),
            ("list --show-scope", Some((true, false))),
            ("get --all user.email", Some((true, false))),
            ("--global --list", Some((false, false))),
            ("--global user.email", Some((false, true))),
            ("-f x --get a.b", Some((false, false))),
            ("get --file x a.b", Some((false, false))),
            ("--list --includes", Some((false, false))),
            ("", None),
            ("edit", None),
            ("get", None),
            ("--get a.b x", Some((true, false))),
            ("--get a.b x --unset z", None),
            ("--get a.b x y", None),
            ("user.email x", None),
            ("user.email ", None),
            (" user.email", None),
            ("user.email --get", None),
            ("--add user.email x", None),
            ("--unset user.email", None),
            ("--unse user.email", None),
            ("--replace-all a.b x", None),
            ("--rename-section a.b c.d", None),
            ("--remove-section a.b", None),
            ("-e", None),
            ("--edit", None),
            ("--list --edit", None),
            ("--list x", None),
            ("set user.email x", None),
            ("unset user.email", None),
            ("--global user.email x", None),
            ("--file x a.b c", None),
            ("--type bool a.b c", None),
            ("$X", None),
            ("a.b=$X", None),
            ("-- a.b", Some((true, true))),
        ] {
            let words: Vec<&str> = if text.is_empty() { Vec::new() } else { text.split(' ').collect() };
            let got = read(&words).map(|read| (read.of_repository, read.by_a_name));
            assert_eq!(got, want, "{text:?}");
        }
    }
}
