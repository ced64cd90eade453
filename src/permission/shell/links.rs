//! Which commands leave what a path means as it is: they make no link, and nothing of theirs goes on beside the next one.

use super::super::commands::git;
use super::super::commands::kind::{self, ProgramKind};
use super::super::commands::names::{Names, has_option};
use super::super::commands::read_only::known_use;
use super::super::lexical::file_name;
use super::opening::may_open;
use super::passing::passes_on;
use super::scan::{Role, Segment, is_assignment};
use super::script::{Leaf, Script};

/// Programs that make, change or remove files and directories, but no links, and that move nothing.
pub(super) static PLAIN: Names = Names::of(&[
    "mkdir touch rmdir rm chmod chown chgrp echo printf true false test [ : exit return export unset set trap shift",
    "wait kill pkill killall sleep date which whoami id uname hostname cat head tail wc ls pwd stat file du df cut tr",
    "uniq nl tac paste join comm basename dirname realpath readlink grep egrep fgrep rg sort sed jq tee truncate diff",
    "cmp cd ps top pgrep free uptime lsof ss netstat ping dig host nslookup sha256sum sha1sum md5sum cksum strings",
    "base64 xxd hexdump od tree seq curl find",
]);
/// Programs that run code of the workspace and also put links there by themselves. What else runs such code could
/// read whatever a link could lead to, without one.
pub(super) static CHECKS_OUT: Names = Names::of(&["git gh hg jj svn"]);
/// Subcommands of programs that run no code of the workspace, which bring files from elsewhere: docker-cp(1), kubernetes.io,
/// "kubectl cp", helm.sh/docs, "helm pull", gem(1).
const BRING: &[(&str, &str)] = &[
    ("docker", "cp"),
    ("podman", "cp"),
    ("kubectl", "cp"),
    ("helm", "pull"),
    ("helm", "fetch"),
    ("gem", "unpack"),
];
/// Subcommands of git that leave the working tree as it is, but for files that they remove.
static LEAVES_TREE: Names = Names::of(&[
    "add blame branch cat-file commit config describe diff fetch grep log ls-files ls-remote ls-tree merge-base push",
    "reflog remote rev-list rev-parse rm shortlog show show-ref status tag version",
]);
/// Programs that put links where they are told to, or move what may be one.
pub(super) static MAKE_LINKS: Names =
    Names::of(&["ln link mv tar bsdtar unzip 7z 7za cpio rsync patch git gh hg jj svn mount cp"]);

/// Whether the command makes no symbolic link and moves none. What it runs in turn counts by itself.
pub(super) fn makes_none(script: &Script, leaf: &Leaf) -> bool {
    // What a command runs in turn is not looked up when the text is read.
    let known = || leaf.carried && (known_use(&leaf.words).is_some() || git::known(&leaf.words).is_some());
    leaf.known.is_some()
        || leaf.git.is_some()
        || words_make_none(&leaf.words)
        || passes_on(script, leaf)
        || known()
}

/// Whether the command is known to make links, or to move what may be one.
pub(super) fn makes_some(leaf: &Leaf) -> bool {
    let program = leaf.words.first().map(|program| kind::base_name(program)).unwrap_or_default();
    MAKE_LINKS.has(program) && !words_make_none(&leaf.words)
}

fn words_make_none(words: &[String]) -> bool {
    let Some((program, rest)) = words.split_first() else { return true };
    let name = file_name(program);
    match kind::kind(program) {
        ProgramKind::Interpreter => true,
        ProgramKind::RunsWorkspace if name == "git" => leaves_tree(rest.iter().map(String::as_str)),
        _ if brings(name, rest.iter().map(String::as_str)) => false,
        ProgramKind::RunsWorkspace => !CHECKS_OUT.has(name),
        _ if name == "cp" => !rest.iter().any(|word| keeps_links(word)),
        _ => PLAIN.has(program),
    }
}

fn brings<'w>(program: &str, mut words: impl Iterator<Item = &'w str>) -> bool {
    let subcommands = BRING.iter().filter(|row| row.0 == program);
    let subcommands: Vec<&str> = subcommands.map(|(_, subcommand)| *subcommand).collect();
    words.any(|word| subcommands.contains(&word))
}

/// Whether the words behind `git` are of a subcommand that leaves the working tree as it is, but for files that it removes.
pub(in crate::permission) fn leaves_tree<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
    kind::git_subcommand(&mut words).is_some_and(|sub| LEAVES_TREE.has(sub))
}

/// Whether an option of cp makes links, or copies what is one as a link.
fn keeps_links(word: &str) -> bool {
    match word.strip_prefix('-') {
        Some(long) if long.starts_with('-') => long.len() > 1,
        Some(cluster) => cluster.contains(['a', 'd', 'l', 'P', 'r', 'R', 's']),
        None => false,
    }
}

/// Whether the command may leave something that goes on when the next one starts, without a mark of the shell. setsid(1) waits
/// for its program where it did not fork alone, timeout(1) ends what it started but not what that put into groups of its own,
/// sudo(8) has an option for it.
pub(super) fn goes_on(script: &Script, leaf: &Leaf) -> bool {
    let Some((program, rest)) = leaf.words.split_first() else { return false };
    let first = || rest.iter().take_while(|word| word.starts_with('-'));
    match kind::base_name(program) {
        "dtach" | "abduco" | "daemonize" => true,
        "setsid" => !first().any(|word| has_option(word, "w", &["wait"])),
        "sudo" => rest.iter().any(|word| has_option(word, "b", &["background"])),
        "timeout" => {
            let run = |by: &Leaf| script.leaves.iter().any(|other| other.by == Some(by.at));
            first().any(|word| has_option(word, "", &["foreground"]))
                || script.leaves.iter().any(|other| other.by == Some(leaf.at) && run(other))
        }
        _ => false,
    }
}

/// The same of texts that are not understood: whether a command in it may make a link, for all that its first words say,
/// and another one, or a redirection, may open what is named.
pub(super) fn may_lead_elsewhere(segments: &[Segment]) -> bool {
    let mut makers =
        segments.iter().filter(|segment| may_make_link(segment)).map(|maker| maker.text().trim());
    let Some(first) = makers.next() else { return false };
    // Of two that differ, each command has one that is not itself.
    let several = makers.any(|maker| maker != first);
    segments.iter().any(|segment| may_open(segment) && (several || segment.text().trim() != first))
}

/// Words of the shell before which a command is still to come.
static BEFORE: Names = Names::of(&["if then elif else while until do ! { ( time"]);

/// The words of a segment from its program on.
pub(super) fn command(segment: &Segment) -> impl Iterator<Item = &str> {
    segment.words().skip_while(|word| BEFORE.has(word) || is_assignment(word))
}

fn may_make_link(segment: &Segment) -> bool {
    if segment.role() != Role::Runs {
        return false;
    }
    let mut words = command(segment);
    match words.next().map(kind::base_name) {
        Some("git") => !leaves_tree(words),
        Some("cp") => words.any(keeps_links),
        Some(program) => MAKE_LINKS.has(program) || brings(program, words),
        None => false,
    }
}
