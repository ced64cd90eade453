//! Commands that only run another one: which words of theirs are no more than that.

use super::super::commands::kind;
use super::super::commands::names::Names;
use super::scan::is_assignment;
use super::script::{Leaf, Script};

/// Programs that run another one with the words behind their own, and touch no file themselves.
static PASS_ON: Names = Names::of(&[
    "env sudo doas timeout nice ionice nohup stdbuf time command builtin xargs setsid taskset npx",
]);
/// Options of [`PASS_ON`] that name no file and no directory, the letters of those with a value apart: env(1), sudo(8), doas(1),
/// timeout(1), nice(1), ionice(1), stdbuf(1), time(1), xargs(1), setsid(1), taskset(1), npx(1).
const OWN_OPTIONS: &[(&str, &str, &str)] = &[
    ("env", "i0v", "u"),
    ("sudo", "EHnSkb", "ug"),
    ("doas", "n", "u"),
    ("timeout", "v", "ks"),
    ("nice", "", "n"),
    ("ionice", "t", "cn"),
    ("stdbuf", "", "ioe"),
    ("time", "pvV", "f"),
    ("command", "p", ""),
    ("xargs", "0rtpx", "nPILds"),
    ("setsid", "cfw", ""),
    ("taskset", "a", "c"),
    ("npx", "y", ""),
];
/// The long ones, which are not shortened here.
static OWN_LONG: Names = Names::of(&[
    "ignore-environment null unset verbose foreground preserve-status kill-after signal adjustment class classdata input",
    "error no-run-if-empty max-args max-procs max-lines delimiter replace exit wait fork ctty portability format yes no-install user group",
    "non-interactive preserve-env set-home",
]);

/// Whether the command only runs another one of the script, with the words behind its own.
pub(super) fn passes_on(script: &Script, leaf: &Leaf) -> bool {
    let Some((program, rest)) = leaf.words.split_first() else { return false };
    let name = kind::base_name(program);
    let is_run = |other: &Leaf| {
        let own = rest.len().saturating_sub(other.words.len());
        !other.guessed
            && script.runs(leaf, other)
            && rest.ends_with(&other.words)
            && names_no_file(name, &rest[..own])
    };
    PASS_ON.has(name) && script.leaves.iter().any(is_run)
}

/// Whether none of the words between such a program and what it runs is a file's or a directory's name.
fn names_no_file(name: &str, own: &[String]) -> bool {
    let (flags, valued) =
        OWN_OPTIONS.iter().find(|row| row.0 == name).map_or(("", ""), |(_, flags, valued)| (*flags, *valued));
    let mut own = own.iter().map(String::as_str);
    while let Some(word) = own.next() {
        let plain = match word.strip_prefix('-') {
            None => is_assignment(word) || word.starts_with(|c: char| c.is_ascii_digit()),
            Some("" | "-") => true,
            Some(long) if long.starts_with('-') => {
                OWN_LONG.has(long[1..].split('=').next().unwrap_or_default())
            }
            // `nice -5`
            Some(number) if number.bytes().all(|b| b.is_ascii_digit()) => true,
            Some(cluster) => match cluster.trim_start_matches(|letter| flags.contains(letter)) {
                "" => true,
                behind => {
                    let is_valued = behind.starts_with(|letter| valued.contains(letter));
                    if behind.len() == 1 && is_valued {
                        own.next();
                    }
                    is_valued
                }
            },
        };
        if !plain {
            return false;
        }
    }
    true
}
