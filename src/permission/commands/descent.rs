//! Which commands read what lies beneath the directories that they are given.

use super::super::shell::scan::{Role, Segment};
use super::git;
use super::kind::git_subcommand;
use super::names::Names;

/// Programs that descend, the working directory's when they are given none.
static ALWAYS: Names = Names::of(&["rg find fd fdfind tree ag ack du rgrep"]);
/// Programs that descend when a flag says so.
const BY_FLAG: &[(&str, &str)] = &[
    ("grep", "rR"),
    ("egrep", "rR"),
    ("fgrep", "rR"),
    ("zgrep", "rR"),
    ("diff", "r"),
    ("ls", "R"),
    ("dir", "R"),
    ("vdir", "R"),
];
/// Programs that do not look into a directory, or only at the names in it.
static STAY: Names = Names::of(&[
    "cd pushd pwd mkdir rmdir touch stat echo printf basename dirname realpath readlink test true false",
    "[ which date sleep kill wc head tail cat sort uniq cut tr nl tac file ls exit export df",
]);
/// Subcommands of git that print no content.
static STAY_GIT: Names =
    Names::of(&["add commit status branch tag switch push pull fetch init remote config"]);

/// Whether the segment may run a program that descends, with what makes it do so.
pub(in crate::permission) fn descends(segment: &Segment) -> bool {
    if segment.role() != Role::Runs {
        return false;
    }
    let greps = segment.words().any(|word| word == "grep");
    let patches = segment.words().any(is_patch_option);
    let mut flags: Vec<&str> = Vec::new();
    for at in segment.starts() {
        let program = segment.text()[at..].split(' ').next().unwrap_or_default();
        if ALWAYS.has(program) {
            return true;
        }
        if program == "git" && (greps || prints_content(&segment.text()[at..], patches)) {
            return true;
        }
        let of_program = BY_FLAG.iter().find(|(name, _)| *name == program);
        flags.extend(of_program.map(|(_, letters)| *letters).filter(|l| !flags.contains(l)));
    }
    !flags.is_empty() && segment.words().any(|word| makes_descend(word, &flags))
}

/// Whether git, told this, prints lines of files that it does not name, for all that its first words say; `patches`: an
/// option of it may ask for them.
fn prints_content(command: &str, patches: bool) -> bool {
    const LOOKED_AT: usize = 64;
    let words: Vec<&str> = command.split(' ').skip(1).take(LOOKED_AT).collect();
    match git_subcommand(&mut words.iter().copied()) {
        Some(
            "diff" | "show" | "difftool" | "format-patch" | "archive" | "cat-file" | "whatchanged"
            | "fast-export" | "bundle",
        ) => true,
        Some("log" | "reflog" | "stash" | "diff-tree" | "diff-index" | "diff-files" | "rev-list") => patches,
        Some(_) => false,
        None => words.len() == LOOKED_AT,
    }
}

/// Whether the word asks git for patches, or for what is in files (git-log(1)).
fn is_patch_option(word: &str) -> bool {
    match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            // Long options can be shortened.
            let name = long.trim_start_matches('-').split('=').next().unwrap_or_default();
            name.len() >= 2 && git::OF_LINES.iter().any(|option| option.starts_with(name))
        }
        Some(cluster) => cluster.contains(['p', 'u', 'U', 'W', 'c', 'L', 'G', 'S']),
        None => false,
    }
}

fn makes_descend(word: &str, flags: &[&str]) -> bool {
    if word.contains("recurs") {
        return true;
    }
    match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => {
            // Long options can be shortened.
            let name = long.trim_start_matches('-');
            name.len() >= 3 && ("recursive".starts_with(name) || "dereference-recursive".starts_with(name))
        }
        Some(cluster) => flags.iter().any(|letters| cluster.contains(|c| letters.contains(c))),
        None => false,
    }
}

/// Whether the segment's program leaves what lies beneath a directory alone.
pub(in crate::permission) fn stays(segment: &Segment) -> bool {
    let mut words = segment.words();
    match words.next() {
        Some("git") => git_subcommand(&mut words).is_some_and(|sub| STAY_GIT.has(sub)),
        Some("ls") => !descends(segment),
        Some(program) => STAY.has(program),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::shell::scan::scan;
    use super::*;

    #[test]
    fn many_programs_cost_linear_time() {
        assert!(!scan(&"git ".repeat(60_000)).iter().any(descends));
    }

    #[test]
    fn what_descends_is_told_by_program_and_flag() {
        for (command, want) in [
            ("grep -r x .", true),
            ("true; grep -rn x", true),
            ("true; grep --recursive x", true),
            ("true; grep --rec x", true),
            ("true; grep -d recurse x", true),
            ("a | xargs rg x", true),
            ("cd x && /usr/bin/find . -name y", true),
            ("git grep x; true", true),
            ("true; git diff", true),
            ("true; git -C a --no-pager show HEAD", true),
            ("true; git log -3 -p", true),
            ("true; git log --patch", true),
            ("true; git stash show -p", true),
            ("true; git log --unif=1", true),
            ("true; git log --oneline --pretty=%h -20", false),
            ("true; git commit -m 'show the diff'", false),
            ("true; git status", false),
            ("true; ls -R", true),
            ("true; ls -lart", false),
            ("true; grep -v x", false),
            ("cargo build 2>&1 | grep -c warning", false),
            ("echo rg", false),
        ] {
            assert_eq!(scan(command).iter().any(descends), want, "{command}");
        }
    }
}
