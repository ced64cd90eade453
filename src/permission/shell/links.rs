//! Which programs leave what a path means as it is, and which open what their words name.

use super::super::commands::git;
use super::super::commands::kind::{self, ProgramKind};
use super::super::commands::names::{Names, has_option};
use super::super::commands::read_only::known_use;
use super::scan::{Role, Segment, is_assignment};
use super::script::{Leaf, Script};

/// Programs that make, change or remove files and directories, but no links, and that move nothing.
static PLAIN: Names = Names::of(&[
    "mkdir touch rmdir rm chmod chown chgrp echo printf true false test [ : exit return export unset set trap shift",
    "wait kill pkill killall sleep date which whoami id uname hostname cat head tail wc ls pwd stat file du df cut tr",
    "uniq nl tac paste join comm basename dirname realpath readlink grep egrep fgrep rg sort sed jq tee truncate diff",
    "cmp cd ps top pgrep free uptime lsof ss netstat ping dig host nslookup sha256sum sha1sum md5sum cksum strings",
    "base64 xxd hexdump od tree seq curl find",
]);
/// Programs that run code of the workspace and also put links there by themselves. What else runs such code could
/// read whatever a link could lead to, without one.
static CHECKS_OUT: Names = Names::of(&["git gh hg jj svn"]);
/// Programs that obey files of the workspace, but run no code of it: what they are told to open counts.
static RUN_NO_CODE: Names =
    Names::of(&["rustc gh hg jj svn kubectl helm gcc g++ cc c++ clang clang++ cpp c89 c99 gfortran"]);
/// Subcommands of git that leave the working tree as it is, but for files that they remove.
static LEAVES_TREE: Names = Names::of(&[
    "add blame branch cat-file commit config describe diff fetch grep log ls-files ls-remote ls-tree merge-base push",
    "reflog remote rev-list rev-parse rm shortlog show show-ref status tag version",
]);
/// Programs that run another one with the words behind their own, and touch no file themselves.
static PASS_ON: Names = Names::of(&[
    "env sudo doas timeout nice ionice nohup stdbuf time command builtin xargs setsid taskset npx",
]);
/// Programs that put links where they are told to, or move what may be one.
static MAKE_LINKS: Names =
    Names::of(&["ln link mv tar bsdtar unzip 7z 7za cpio rsync patch git gh hg jj svn mount cp"]);
/// Programs that open no file which they are given by name.
static OPEN_NOTHING: Names = Names::of(&[
    "echo printf true false : cd exit return break continue shift export unset set trap wait kill pkill killall pgrep",
    "sleep basename dirname seq expr which whoami id uname ps free uptime ping nslookup test [",
]);
/// Programs beyond those that open what they are given by name.
static OPEN: Names = Names::of(&[
    "awk gawk mawk less more nano vi vim install dd gzip gunzip zcat bzip2 bunzip2 xz unxz scp bat",
]);

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
    let name = program.rsplit('/').next().unwrap_or(program);
    match kind::kind(program) {
        ProgramKind::Interpreter => true,
        ProgramKind::RunsWorkspace if name == "git" => leaves_tree(rest.iter().map(String::as_str)),
        ProgramKind::RunsWorkspace => !CHECKS_OUT.has(name),
        _ if name == "cp" => !rest.iter().any(|word| keeps_links(word)),
        _ => PLAIN.has(program),
    }
}

fn leaves_tree<'w>(mut words: impl Iterator<Item = &'w str>) -> bool {
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

/// Options of [`PASS_ON`] that name a file or a directory: env(1), sudo(8), time(1), xargs(1).
const OF_PATHS: &[&str] = &["-a", "-o", "-C", "-D", "--arg", "--out", "--chd"];

/// Whether the command only runs another one of the script, with the words behind its own.
fn passes_on(script: &Script, leaf: &Leaf) -> bool {
    let Some((program, rest)) = leaf.words.split_first() else { return false };
    let is_run = |other: &Leaf| {
        let own = rest.len().saturating_sub(other.words.len());
        !other.guessed
            && script.runs(leaf, other)
            && rest.ends_with(&other.words)
            && !rest[..own].iter().any(|word| OF_PATHS.iter().any(|option| word.starts_with(option)))
    };
    PASS_ON.has(kind::base_name(program)) && script.leaves.iter().any(is_run)
}

/// Whether the command may leave something that goes on when the next one starts, without a mark of the shell. setsid(1) waits
/// for its program where it did not fork alone, timeout(1) ends what it started but not what that put into groups of its own,
/// sudo(8) has an option for it.
pub(super) fn goes_on(script: &Script, leaf: &Leaf) -> bool {
    let Some((program, rest)) = leaf.words.split_first() else { return false };
    let first = || rest.iter().take_while(|word| word.starts_with('-'));
    match kind::base_name(program) {
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

/// Whether the command may open a file that one of its words names: then it matters where that leads. Programs that
/// run code of the workspace are left out, since that code opens what it likes; of git what it does not look for in its index
/// counts.
pub(super) fn opens_named(script: &Script, leaf: &Leaf) -> bool {
    let Some((program, rest)) = leaf.words.split_first() else { return false };
    if !leaf.guessed && kind::base_name(program) == "git" {
        return git::opens(rest, |word| may_be_path("git", word));
    }
    let runs_code = matches!(kind::kind(program), ProgramKind::Interpreter | ProgramKind::RunsWorkspace)
        && !RUN_NO_CODE.has(kind::base_name(program));
    if leaf.guessed || runs_code || OPEN_NOTHING.has(kind::base_name(program)) || passes_on(script, leaf) {
        return false;
    }
    if leaf.open {
        return true;
    }
    match leaf.known.clone().or_else(|| known_use(&leaf.words)) {
        Some(known) => {
            // Nothing takes the place of the directory that the text starts in.
            let here = leaf.directories.iter().all(|directory| directory.as_os_str().is_empty());
            known.operands.iter().any(|operand| !here || operand.path != ".")
        }
        None if BY_OPTION.has(kind::base_name(program)) => rest.iter().any(|word| names_file(word)),
        None => rest.iter().any(|word| may_be_path(kind::base_name(program), word)),
    }
}

/// Programs whose words are subcommands, names and numbers, but for options with a file: cli.github.com/manual; kubernetes.io,
/// "kubectl"; helm.sh/docs.
static BY_OPTION: Names = Names::of(&["gh hg jj svn kubectl helm"]);

/// Whether the word is an option of those with a file, or a path by its looks.
fn names_file(word: &str) -> bool {
    const OPTIONS: &[&str] = &[
        "-F",
        "-f",
        "-k",
        "-o",
        "-T",
        "-O",
        "--body-f",
        "--notes-f",
        "--file",
        "--val",
        "--kubec",
        "--kus",
        "--inp",
        "--out",
        "--set-f",
        "--dir",
        "--log",
    ];
    word.contains('/') && !is_address(word) || OPTIONS.iter().any(|option| word.starts_with(option))
}

fn is_address(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Letters of programs that are flags for sure, however many stand together: curl(1), coreutils 9.1, sed(1), procps.
const FLAGS: &[(&str, &str)] = &[
    ("curl", "fgiIkLsSv"),
    ("rm", "dfirRv"),
    ("mkdir", "pv"),
    ("chmod", "cfRv"),
    ("chown", "cfhRv"),
    ("cp", "fiLnTuvp"),
    ("mv", "finTuv"),
    ("sed", "nErsuz"),
    ("ls", "alhtrRSFdi1A"),
    ("ln", "sfnrTv"),
    ("tar", "xzvjJkmp"),
];

/// Whether a word is no mere flag, and no text of the program's. What follows a letter may be its value.
fn may_be_path(program: &str, word: &str) -> bool {
    let fetches = || matches!(program, "curl" | "wget" | "http" | "ping" | "dig" | "nslookup" | "git");
    match word.strip_prefix('-') {
        None => {
            // `date +%s` gives a format.
            let is_text = is_address(word) && fetches() || program == "date" && word.starts_with('+');
            !word.is_empty() && !is_text
        }
        Some(long) if long.starts_with('-') => {
            long.contains(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        }
        Some(cluster) => {
            let flags = FLAGS.iter().find(|(name, _)| *name == program).map_or("", |(_, letters)| letters);
            let number = cluster.bytes().all(|b| b.is_ascii_digit());
            cluster.chars().count() > 1 && !number && !cluster.chars().all(|c| flags.contains(c))
        }
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
        Some(program) => MAKE_LINKS.has(program),
        None => false,
    }
}

fn may_open(segment: &Segment) -> bool {
    if segment.role() != Role::Runs {
        return !is_device(segment.text());
    }
    let mut words = command(segment);
    let opens = |program: &str| {
        let name = kind::base_name(program);
        (PLAIN.has(name) || OPEN.has(name) || MAKE_LINKS.has(name))
            && !OPEN_NOTHING.has(name)
            && !CHECKS_OUT.has(name)
    };
    words.next().is_some_and(|program| {
        opens(program) && words.any(|word| may_be_path(kind::base_name(program), word))
    })
}

/// Whether a redirection goes to what nothing can replace.
fn is_device(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
}
