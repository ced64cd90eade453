//! Which commands read what lies beneath the directories that they are given.

use super::super::shell::scan::{Role, Segment};
use super::git;
use super::kind::git_subcommand;
use super::names::{Names, has_option};

/// Programs that descend, the working directory's when they are given none.
static ALWAYS: Names = Names::of(&["rg rga ug find fd fdfind tree ag ack du rgrep 7z 7za 7zr gtags"]);
/// Programs that descend when a flag says so.
const BY_FLAG: &[(&str, &str)] = &[
    ("grep", "rR"),
    ("egrep", "rR"),
    ("fgrep", "rR"),
    ("zgrep", "rR"),
    ("ugrep", "rR"),
    ("pcre2grep", "r"),
    ("pcregrep", "r"),
    ("bzgrep", "rR"),
    ("xzgrep", "rR"),
    ("zstdgrep", "rR"),
    ("diff", "r"),
    ("ls", "R"),
    ("dir", "R"),
    ("vdir", "R"),
    // ctags(1), cscope(1)
    ("ctags", "R"),
    ("cscope", "R"),
];
/// Programs that do not look into a directory, or only at the names in it.
static STAY: Names = Names::of(&[
    "cd pushd pwd mkdir rmdir touch stat echo printf basename dirname realpath readlink test true false",
    "[ which date sleep kill wc head tail cat sort uniq cut tr nl tac file ls exit export df",
]);
/// Subcommands of git that print no lines of files which they are not given by name, but for options in
/// [`BY_FLAG_GIT`]. Whatever else there is may.
static NO_LINES_GIT: Names = Names::of(&[
    "add am annotate apply blame branch check-attr check-ignore check-ref-format checkout checkout-index cherry",
    "cherry-pick clean clone commit commit-tree config count-objects describe fetch for-each-ref fsck gc get-tar-commit-id",
    "hash-object help index-pack init lfs ls-files ls-remote ls-tree maintenance merge merge-base mktree mv name-rev",
    "notes pack-objects pack-refs prune pull push read-tree rebase remote repack replace reset restore rev-parse revert rm",
    "send-pack shortlog show-branch show-index show-ref sparse-checkout status submodule switch symbolic-ref tag",
    "unpack-objects update-index update-ref update-server-info var verify-commit verify-pack verify-tag version worktree",
    "write-tree",
]);
/// Those that print lines, or hand them to somebody.
static LINES_GIT: Names = Names::of(&[
    "archive bundle cat-file citool cvsexportcommit daemon diff diff-pairs difftool fast-export filter-branch format-patch",
    "gui imap-send instaweb merge-file merge-one-file merge-tree mergetool p4 range-diff replay request-pull rerere",
    "send-email show svn unpack-file upload-archive upload-pack whatchanged",
]);
/// Options by which they print some: git-add(1), "Interactive Mode", git-commit(1), git-status(1).
const BY_FLAG_GIT: &[(&str, &str, &[&str])] = &[
    ("add", "pie", &["patch", "interactive", "edit"]),
    ("checkout", "p", &["patch"]),
    ("restore", "p", &["patch"]),
    ("reset", "p", &["patch"]),
    ("commit", "pv", &["patch", "interactive", "verbose"]),
    ("status", "v", &["verbose"]),
    ("shortlog", "p", &["patch"]),
    // git-am(1), git-rebase(1)
    ("am", "", &["show-current-patch"]),
    ("rebase", "", &["show-current-patch"]),
    // git-checkout-index(1): what is in files goes to others.
    ("checkout-index", "a", &["all", "stdin", "temp"]),
    // git-config(1): settings out of an object.
    ("config", "", &["blob"]),
];
/// git-notes(1): a note is made of what an object has in it, a file too.
const REUSED_NOTE: (&str, &str, &[&str]) = ("notes", "cC", &["reuse-message", "reedit-message"]);
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
    // A format can name what is in an object (git-for-each-ref(1)).
    let raw = segment.words().any(|word| word.contains("%(raw"));
    let mut rows = [false; BY_FLAG_GIT.len()];
    let mut flags: Vec<&str> = Vec::new();
    for at in segment.starts() {
        let program = segment.text()[at..].split(' ').next().unwrap_or_default();
        if ALWAYS.has(program) {
            return true;
        }
        if program == "git"
            && (greps || raw || prints_content(&segment.text()[at..], at == 0, patches, &mut rows))
        {
            return true;
        }
        let of_program = BY_FLAG.iter().find(|(name, _)| *name == program);
        flags.extend(of_program.map(|(_, letters)| *letters).filter(|l| !flags.contains(l)));
    }
    let mut rows = BY_FLAG_GIT.iter().zip(rows).filter_map(|(row, found)| found.then_some(row));
    rows.any(|row| segment.words().any(|word| has_option(word, row.1, row.2)))
        || !flags.is_empty() && segment.words().any(|word| makes_descend(word, &flags))
}

/// Whether git, told this, prints lines of files that it does not name, for all that its first words say; `sure`: it is
/// git for sure, and no word of a message; `patches`: an option of it may ask for them. Of `rows` those are marked by whose
/// options it may.
fn prints_content(command: &str, sure: bool, patches: bool, rows: &mut [bool; BY_FLAG_GIT.len()]) -> bool {
    const LOOKED_AT: usize = 64;
    let words: Vec<&str> = command.split(' ').skip(1).take(LOOKED_AT).collect();
    let mut rest = words.iter().copied();
    match git_subcommand(&mut rest) {
        // git-bisect(1): with the options of `git log`.
        Some("bisect") => patches && rest.next().is_none_or(|sub| matches!(sub, "view" | "visualize")),
        Some("notes") => {
            words.len() == LOOKED_AT
                || rest.any(|word| word == "show" || has_option(word, REUSED_NOTE.1, REUSED_NOTE.2))
        }
        Some("log" | "reflog" | "stash" | "diff-tree" | "diff-index" | "diff-files" | "rev-list") => patches,
        Some(sub) if LINES_GIT.has(sub) || sure && !NO_LINES_GIT.has(sub) => true,
        Some(sub) => {
            rows.iter_mut().zip(BY_FLAG_GIT).for_each(|(found, row)| *found |= row.0 == sub);
            false
        }
        None => words.len() == LOOKED_AT,
    }
}

/// Whether the word asks git for patches, or for what is in files (git-log(1)).
fn is_patch_option(word: &str) -> bool {
    has_option(word, "puUWcLGS", git::OF_LINES)
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
        assert!(!scan(&"git status ".repeat(30_000)).iter().any(descends));
    }

    #[test]
    fn options_count_behind_however_many_words() {
        let padded = format!("git status {} -v", "x ".repeat(100));
        assert!(scan(&padded).iter().any(descends));
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
            ("git status -sb", false),
            ("git status -v", true),
            ("git add -p", true),
            ("git add --pat", true),
            ("git add --e", true),
            ("git status --v", true),
            ("git add -A", false),
            ("git add -u", false),
            ("git checkout -p", true),
            ("git checkout -b x", false),
            ("git commit -qm x", false),
            ("git commit -v --dry-run", true),
            ("git push -u origin x", false),
            ("git fetch -p", false),
            ("git remote -v", false),
            ("git stash -p", true),
            ("git merge-file -p --object-id a b c", true),
            ("git range-diff a b", true),
            ("git rerere diff", true),
            ("git unpack-file a", true),
            ("git rebase --show-current-patch", true),
            ("git rebase --show", true),
            ("git am --show-cur=diff", true),
            ("git am --show", true),
            ("git am x.mbox", false),
            ("git rebase --continue", false),
            ("git bisect view -p", true),
            ("git bisect visualize -U3", true),
            ("git bisect view --stat", false),
            ("git bisect start", false),
            ("git checkout-index --temp --all", true),
            ("git checkout-index -a --prefix=x/", true),
            ("git checkout-index -f a", false),
            ("git log --p", true),
            ("git notes show HEAD", true),
            ("git notes --ref x show", true),
            ("git notes add -C 0123456 HEAD", true),
            ("git notes append -fc0123456", true),
            ("git notes add --reu=0123456", true),
            ("git -C sub notes add -m x", false),
            ("git notes list", false),
            ("git config --blob=0123456 -l", true),
            ("git config --bool a.b", false),
            ("ug x", true),
            ("pcre2grep -r x", true),
            ("cscope -Rb", true),
            ("git for-each-ref '--format=%(raw)'", true),
            ("git for-each-ref '--format=%(refname)'", false),
            ("git branch -vv", false),
            ("git commit -m 'git is slow'", false),
            ("env git merge-file -p a b c", true),
            ("git frobnicate", true),
            ("ctags -R -f -", true),
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
