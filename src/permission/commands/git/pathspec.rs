//! What git changes in a working tree without its name being spelt: by patterns of its own, and by itself.
//!
//! Sources: git 2.47, gitglossary(7) "pathspec"; git-clean(1), git-stash(1), git-reset(1), git-checkout(1),
//! git-switch(1), git-read-tree(1), git-checkout-index(1), git-sparse-checkout(1).

use super::super::super::lexical::file_name;
use super::super::super::name_pattern::NamePattern;
use super::super::super::protected;
use super::super::super::shell::scan::{Role, Segment};
use super::super::kind::git_subcommand;
use super::super::names::{Names, has_option};

/// Where a program takes what it is not told by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::permission) enum Untold {
    /// In a directory and beneath it, as it is spelt.
    Beneath(String),
    /// Anywhere in the working tree.
    Tree,
}

/// Subcommands that take no pathspec, or change no file that one stands for. Whatever else there is may.
static BY_NO_PATTERN: Names = Names::of(&[
    "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-ref-format cherry",
    "cherry-pick clone commit config count-objects describe diff diff-files diff-index diff-tree fast-export fetch",
    "for-each-ref format-patch fsck gc grep hash-object help init log ls-files ls-remote ls-tree maintenance merge",
    "merge-base mv name-rev notes pack-refs prune pull push range-diff rebase reflog remote repack replace rev-list",
    "rev-parse revert shortlog show show-branch show-ref sparse-checkout status switch symbolic-ref tag update-index",
    "update-ref var version whatchanged worktree",
]);

/// Most places that are told apart; where there are more, it is anywhere.
const MAX_PLACES: usize = 64;
/// Most words in front of a subcommand that are looked at.
const LOOKED_AT: usize = 64;

/// The subcommands of git that the segment may run. Behind other options they stand in a segment of their own.
fn subcommands(segment: &Segment) -> impl Iterator<Item = &str> {
    // Asked of each segment of a text, most of which have no such word.
    let most = if segment.text().contains("git") { usize::MAX } else { 0 };
    segment.starts().take(most).filter_map(|at| {
        let mut words = segment.text()[at..].split(' ').filter(|word| !word.is_empty()).take(LOOKED_AT);
        let sub = words.next().filter(|word| *word == "git").and_then(|_| git_subcommand(&mut words))?;
        (!sub.starts_with('-')).then_some(sub)
    })
}

/// Where the git of a segment changes what its words do not spell.
pub(in crate::permission) fn untold(segment: &Segment) -> Vec<Untold> {
    let mut found = Vec::new();
    if segment.role() != Role::Runs {
        return found;
    }
    let (mut cleans, mut stashes, mut by_pattern) = (false, false, false);
    for sub in subcommands(segment) {
        cleans |= sub == "clean";
        stashes |= sub == "stash";
        by_pattern |= !BY_NO_PATTERN.has(sub);
    }
    if cleans && cleans_here(segment) {
        found.push(Untold::Beneath(".".to_owned()));
    }
    if stashes && segment.words().any(|word| has_option(word, "ua", &["include-untracked", "all"])) {
        found.push(Untold::Tree);
    }
    if by_pattern {
        found.extend(segment.words().filter_map(reach).take(MAX_PLACES + 1));
        if found.len() > MAX_PLACES {
            found = vec![Untold::Tree, Untold::Beneath("/".to_owned())];
        }
    }
    // Every word may stand for other names.
    if segment.words().any(|word| word == "--icase-pathspecs")
        && (by_pattern || subcommands(segment).next().is_none())
    {
        found.push(Untold::Tree);
    }
    found
}

/// Where what the word stands for lies, if it is a pattern.
fn reach(word: &str) -> Option<Untold> {
    if word.starts_with(':') {
        return Some(Untold::Tree);
    }
    let wild = |part: &&str| part.contains(['*', '?', '[', '\\']);
    let parts: Vec<&str> = word.split('/').collect();
    let at = parts.iter().position(wild).filter(|_| !word.starts_with('-'))?;
    let fixed = parts[..at].join("/");
    Some(Untold::Beneath(match (fixed.is_empty(), at) {
        (true, 0) => ".".to_owned(),
        (true, _) => "/".to_owned(),
        (false, _) => fixed,
    }))
}

/// Whether `git clean` is told no paths. What it would do is only shown with `-n`.
fn cleans_here(segment: &Segment) -> bool {
    let mut words = segment.words().skip_while(|word| *word != "clean").skip(1);
    let shows = |word: &str| {
        word == "--dry-run"
            || word.strip_prefix('-').is_some_and(|letters| {
                letters.contains('n') && letters.chars().all(|letter| "dfinqxX".contains(letter))
            })
    };
    let operands_from = segment.words().any(|word| word == "--");
    let excludes = segment.words().any(|word| has_option(word, "e", &["exclude"]));
    let dry = segment.words().take_while(|word| *word != "--").any(shows);
    // A word behind `-e` is no path.
    !dry && (excludes && !operands_from || !words.any(|word| !word.starts_with('-')))
}

/// Most names between slashes of patterns that are looked at in one text.
const MAX_PARTS: usize = 128;

/// The protected name that a pattern of git's in one of the segments may stand for, where git changes what it stands for.
/// Where there are more patterns than are looked at, it may be any.
pub(in crate::permission) fn protected_name(segments: &[Segment]) -> Option<&'static str> {
    let changes = |segment: &&Segment| {
        segment.role() == Role::Runs
            && !segment.repeats()
            && subcommands(segment).any(|sub| !BY_NO_PATTERN.has(sub))
    };
    let patterns = segments.iter().filter(changes).flat_map(Segment::words);
    let mut patterns: Vec<&str> = patterns.filter(|word| reach(word).is_some()).collect();
    // A text that is not understood is read several times.
    patterns.sort_unstable();
    patterns.dedup();
    let mut room = MAX_PARTS;
    patterns.into_iter().find_map(|word| {
        let rest = without_magic(word)?;
        let Some(left) = room.checked_sub(rest.split('/').count()) else { return Some("a protected file") };
        room = left;
        let folds = word.starts_with(':');
        let parts: Vec<NamePattern> = rest.split('/').map(|part| NamePattern::read(part, folds)).collect();
        protected::may_be_among(&parts)
    })
}

/// The pattern behind `:(top,icase)`, `:/` and their like; none for what leaves names out.
pub(super) fn without_magic(word: &str) -> Option<&str> {
    let Some(rest) = word.strip_prefix(':') else { return Some(word) };
    if let Some(long) = rest.strip_prefix('(') {
        let (magic, pattern) = long.split_once(')')?;
        return (!magic.split(',').any(|name| name == "exclude")).then_some(pattern);
    }
    let pattern = rest.trim_start_matches(['/', '!', '^']);
    let magic = &rest[..rest.len() - pattern.len()];
    (!magic.contains(['!', '^'])).then(|| pattern.strip_prefix(':').unwrap_or(pattern))
}

/// Subcommands that may throw away what was changed.
const DISCARD: &[&str] = &[
    "reset",
    "checkout",
    "switch",
    "stash",
    "read-tree",
    "checkout-index",
    "sparse-checkout",
    "rebase",
    "am",
    "merge",
    "cherry-pick",
    "revert",
];

/// Whether the command throws away what was changed in tracked files that it does not name. `Some(false)`: in another
/// place than where it starts.
pub(in crate::permission) fn discards(words: &[String]) -> Option<bool> {
    if words.first().is_none_or(|word| file_name(word) != "git") {
        return None;
    }
    let at = words.iter().position(|word| DISCARD.contains(&word.as_str()))?;
    let arguments = &words[at + 1..];
    let any = |letters: &str, longs: &[&str]| arguments.iter().any(|word| has_option(word, letters, longs));
    let discards = match words[at].as_str() {
        "reset" => any("", &["hard", "merge"]),
        "checkout" => any("f", &["force"]),
        "switch" => any("f", &["force", "discard-changes"]),
        "checkout-index" => any("f", &["force"]) && any("a", &["all"]),
        "rebase" | "am" | "merge" | "cherry-pick" | "revert" => any("", &["abort", "skip"]),
        "read-tree" => any("u", &["reset"]),
        "sparse-checkout" => arguments.first().is_some_and(|word| word != "list" && word != "disable"),
        _ => arguments
            .first()
            .is_none_or(|word| word.starts_with('-') || matches!(word.as_str(), "push" | "save")),
    };
    discards.then_some(at == 1)
}

#[cfg(test)]
mod tests {
    use super::super::super::super::shell::scan::{Begins, Segment};
    use super::*;

    fn segment(command: &str) -> Segment {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        Segment::runs(&words, Begins::First)
    }

    #[test]
    fn what_is_not_spelt_lies_somewhere() {
        for (command, want) in [
            ("git rm lock*/f", "."),
            ("git rm locke[d]/f", "."),
            ("git rm locke\\d/f", "."),
            ("git checkout HEAD -- src/a/*.rs", "src/a"),
            ("git restore /w/*.rs", "/w"),
            ("git restore /*", "/"),
            ("git rm :/locked/f", "tree"),
            ("git rm -r :!a.txt", "tree"),
            ("git --icase-pathspecs rm LOCKED/F", "tree"),
            ("git -C d co x*", "."),
            ("git clean -fdx", "."),
            ("git clean -fdx -e x", "."),
            ("git clean -fdxe x", "."),
            ("git clean -fd --exclude=n", "."),
            ("git clean -- -n", "."),
            ("git clean -fdx sub", ""),
            ("git clean -fdx -e x -- sub", ""),
            ("git clean -nfd", ""),
            ("git clean --dry-run -d", ""),
            ("git stash -uq", "tree"),
            ("git stash push --all", "tree"),
            ("git stash push --inc", "tree"),
            ("git stash", ""),
            ("git add *.rs", ""),
            ("git diff -- :!Cargo.lock", ""),
            ("git log -- *.rs", ""),
            ("git tag -l v*", ""),
            ("git push origin :x", ""),
            ("git checkout main", ""),
            ("echo git *", ""),
        ] {
            let shown: Vec<String> = untold(&segment(command))
                .into_iter()
                .map(|place| match place {
                    Untold::Beneath(path) => path,
                    Untold::Tree => "tree".to_owned(),
                })
                .collect();
            assert_eq!(shown.join(" "), want, "{command}");
        }
    }

    #[test]
    fn protected_names_are_found_behind_patterns() {
        for (command, want) in [
            ("git checkout HEAD~1 -- .husk*", true),
            ("git rm -rq .husk?/pre-commit", true),
            ("git rm :(icase).HUSKY/x", true),
            ("git rm :(top,glob)**/.husky/**", true),
            ("git rm :/:AGENTS.m?", true),
            ("git restore .cargo/*", true),
            ("git restore .carg*", true),
            ("git restore .github/work*/x", true),
            ("git rm .*", true),
            ("git restore *.yml", true),
            ("git restore mise.c*", true),
            ("git restore .github/*.yml", true),
            ("git restore .github/ISSUE*", false),
            ("git rm -r . :!.husky", false),
            ("git rm -r . :(exclude).husky", false),
            ("git rm *.rs", false),
            ("git rm src/*", false),
            ("git add .husk*", false),
            ("git log -- .husk*", false),
        ] {
            assert_eq!(protected_name(&[segment(command)]).is_some(), want, "{command}");
        }
        let many = |count: usize| format!("git rm {}", "a/*/b/".repeat(count));
        assert!(protected_name(&[segment(&many(40))]).is_none());
        assert!(protected_name(&[segment(&many(50))]).is_some(), "more than are looked at");
    }

    #[test]
    fn what_throws_changes_away_is_told_by_its_options() {
        for (command, want) in [
            ("git reset --hard", Some(true)),
            ("git reset --har HEAD~1", Some(true)),
            ("git -C d reset --hard", Some(false)),
            ("git checkout -f", Some(true)),
            ("git checkout -qf main", Some(true)),
            ("git switch --discard x", Some(true)),
            ("git stash", Some(true)),
            ("git stash push -m x", Some(true)),
            ("git stash -k", Some(true)),
            ("git read-tree --reset -u HEAD", Some(true)),
            ("git checkout-index -af", Some(true)),
            ("git sparse-checkout set a", Some(true)),
            ("git rebase --abort", Some(true)),
            ("git am --skip", Some(true)),
            ("git merge --abort", Some(true)),
            ("git rebase --continue", None),
            ("git stash pop", None),
            ("git stash list", None),
            ("git reset --soft HEAD~1", None),
            ("git reset HEAD a", None),
            ("git checkout main", None),
            ("git switch -c x", None),
            ("git pull", None),
            ("echo git reset --hard", None),
        ] {
            let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            assert_eq!(discards(&words), want, "{command}");
        }
    }
}
