//! Which files git opens by a path among its words, following links, and not by its index or its objects.

use super::super::kind::git_subcommand;
use super::super::names::{Names, has_option};

/// Subcommands whose words are names of branches, messages, or paths that git looks for in its index and follows through no
/// link: gitfaq(7), git-add(1). Not `mv`, which renames by path, nor what reads the files of the working tree that it tracks
/// (`blame`, `grep`, `ls-files`).
static OF_INDEX: Names = Names::of(&[
    "add bisect branch checkout cherry cherry-pick clean commit config count-objects describe diff diff-tree for-each-ref gc log",
    "ls-tree merge merge-base name-rev range-diff rebase reflog remote reset restore rev-list rev-parse revert rm shortlog show",
    "show-branch show-ref sparse-checkout stash status switch symbolic-ref tag version",
]);
/// Options of fetch, pull and push without a value of its own word.
static PLAIN: Names = Names::of(&[
    "-u --set-upstream -f --force --force-with-lease --force-if-includes --tags --no-tags --all --branches --prune -p --rebase -r",
    "--no-rebase --ff-only --no-ff --ff --quiet -q --verbose -v --dry-run -n --no-verify --delete -d --follow-tags --atomic",
    "--heads --symref --exit-code --get-url --refs --autostash --no-autostash --progress --unshallow --porcelain --no-edit --mirror -t -a --append --update-shallow",
]);
/// Options of theirs whose value is the next word, and no repository.
static VALUED: Names = Names::of(&[
    "-o --push-option --server-option --depth --deepen --shallow-since --shallow-exclude --refmap --negotiation-tip -j --jobs -s",
    "--strategy -X --strategy-option --sort",
]);
/// Long options with a file, a directory, a repository, or two paths to compare, all of them git-*(1).
const LONG: &[&str] = &[
    "file",
    "output",
    "template",
    "pathspec-from-file",
    "no-index",
    "contents",
    "ignore-revs-file",
    "git-dir",
    "work-tree",
    "exec-path",
    "exclude-from",
    "exclude-per-directory",
    "repo",
    "reference",
];

/// Whether git, told the words behind its name, may open a file, a directory or a repository that one of them names.
/// `may_be`: whether a word may be a path, where the subcommand takes paths for what they are.
pub(crate) fn opens(words: &[String], may_be: impl Fn(&str) -> bool) -> bool {
    // git(1): a setting for one command.
    let settings = words.chunks(2).take_while(|pair| pair[0] == "-c").count();
    let words = words.get(settings * 2..).unwrap_or_default();
    let mut rest = words.iter().map(String::as_str);
    let sub = git_subcommand(&mut rest).unwrap_or_default();
    let rest: Vec<&str> = rest.collect();
    let letters = match sub {
        "blame" | "annotate" => "CFS",
        "ls-files" => "CFX",
        "config" => "CFf",
        "commit" => "Ft",
        "diff" | "log" | "show" => "O",
        "switch" | "branch" => "",
        _ => "CFO",
    };
    let own = words.len() - rest.len();
    let before = || words.iter().take(own).any(|word| has_option(word, "C", LONG));
    before()
        || rest.iter().any(|word| has_option(word, letters, LONG))
        || match sub {
            "fetch" | "pull" | "push" | "ls-remote" => names_repository(&rest),
            "remote" => adds_repository(&rest),
            _ => !OF_INDEX.has(sub) && rest.iter().any(|word| may_be(word)),
        }
}

/// Whether the repository of fetch, pull, push or ls-remote may be a path. It is their first operand; what is an operand is
/// only told where each option before it is known.
fn names_repository(words: &[&str]) -> bool {
    let mut words = words.iter().copied();
    // A name that is no remote's is a path.
    let is_path = |word: &str| !matches!(word, "origin" | "upstream") && !word.contains("://");
    while let Some(word) = words.next() {
        if VALUED.has(word) {
            words.next();
        } else if !word.starts_with('-') {
            return is_path(word);
        } else if !(PLAIN.has(word) || word.starts_with("--") && word.contains('=')) {
            return words.any(|word| is_path(word) && !word.starts_with('-'));
        }
    }
    false
}

/// Whether what `git remote` is told as a repository may be a path: git-remote(1).
fn adds_repository(words: &[&str]) -> bool {
    let adds = words.iter().any(|word| matches!(*word, "add" | "set-url"));
    let fetches = words.iter().any(|word| matches!(*word, "update" | "show" | "prune" | "set-head"));
    let is_address = |word: &&&str| word.contains("://");
    adds && !words.iter().any(|word| is_address(&word)) || fetches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_opens_by_a_path_is_told_from_names_of_its_own() {
        for (command, want) in [
            ("push -u origin feature/x", false),
            ("push --force-with-lease=a/b origin a/b", false),
            ("pull origin main", false),
            ("pull --rebase https://h/x/y main", false),
            ("fetch --all --prune", false),
            ("fetch --depth 1 origin feature/x", false),
            ("fetch --new 1 origin feature/x", true),
            ("ls-remote --heads origin", false),
            ("ls-remote new/a", true),
            ("blame k/f", true),
            ("ls-files", false),
            ("add src/lib.rs", false),
            ("commit -am a/b", false),
            ("checkout -b feat/x", false),
            ("checkout -- src/a", false),
            ("diff -C HEAD~1 -- src/a", false),
            ("log -F --grep a/b", false),
            ("commit -C HEAD~1", false),
            ("diff -Onew/f", true),
            ("rebase origin/main", false),
            ("merge -X theirs origin/main", false),
            ("push new/a main", true),
            ("push new main", true),
            ("push --all new", true),
            ("push upstream a:b", false),
            ("ls-remote new", true),
            ("remote -v", false),
            ("remote get-url origin", false),
            ("remote add x new", true),
            ("remote add -f x new/a", true),
            ("remote add x https://h/x/y", false),
            ("remote set-url x new", true),
            ("remote remove x", false),
            ("remote update", true),
            ("push -o ci.skip new/a main", true),
            ("push --repo=new/a", true),
            ("push --repo new/a", true),
            ("fetch --depth 1 new/a", true),
            ("mv f new/f", true),
            ("-C new/f status", true),
            ("-c color.ui=never log -1", false),
            ("-c a.b=c -c d.e=f commit -F new/f", true),
            ("--git-dir=new/f log", true),
            ("commit -F new/f", true),
            ("commit --file=f", true),
            ("tag -aF f v1", true),
            ("blame --cont f g", true),
            ("blame -S f g", true),
            ("ls-files -o -X new/f", true),
            ("ls-files --exclude-from=new/f", true),
            ("config -f b -l", true),
            ("log --outp=new/f", true),
            ("diff --no-index new/a b", true),
            ("apply new/p", true),
            ("hash-object -w new/b", true),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(opens(&words, |word| word.contains('/')), want, "git {command}");
        }
    }
}
