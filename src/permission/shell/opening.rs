//! Which commands open what their words name, and so go where a link leads.

use super::super::commands::compilers;
use super::super::commands::git;
use super::super::commands::kind::{self, ProgramKind};
use super::super::commands::names::Names;
use super::super::commands::read_only::known_use;
use super::links::{CHECKS_OUT, MAKE_LINKS, PLAIN, command};
use super::passing::passes_on;
use super::scan::{Role, Segment};
use super::script::{Leaf, Script};

/// Programs that obey files of the workspace, but run no code of it: what they are told to open counts.
static RUN_NO_CODE: Names = Names::of(&["gh hg jj svn kubectl helm"]);
/// Programs that open no file which they are given by name.
static OPEN_NOTHING: Names = Names::of(&[
    "echo printf true false : cd exit return break continue shift export unset set trap wait kill pkill killall pgrep",
    "sleep basename dirname seq expr which whoami id uname ps free uptime ping nslookup test [",
]);
/// Programs beyond those that open what they are given by name.
static OPEN: Names = Names::of(&[
    "awk gawk mawk less more nano vi vim install dd gzip gunzip zcat bzip2 bunzip2 xz unxz scp bat",
]);

/// Whether the command may open a file that one of its words names: then it matters where that leads. Programs that
/// run code of the workspace are left out, since that code opens what it likes; of git what it does not look for in its index
/// counts.
pub(super) fn opens_named(script: &Script, leaf: &Leaf) -> bool {
    let Some((program, rest)) = leaf.words.split_first() else { return false };
    if !leaf.guessed && kind::base_name(program) == "git" {
        return git::opens(rest, |word| may_be_path("git", word));
    }
    let runs_code = matches!(kind::kind(program), ProgramKind::Interpreter | ProgramKind::RunsWorkspace)
        && !RUN_NO_CODE.has(kind::base_name(program))
        && !compilers::opens_named(kind::base_name(program));
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
        None => told_by_option(kind::base_name(program), rest)
            .unwrap_or_else(|| rest.iter().any(|word| may_be_path(kind::base_name(program), word))),
    }
}

/// Subcommands whose words are names, numbers and messages, but for options with a file, and the letters of those:
/// cli.github.com/manual; kubernetes.io, "kubectl"; helm.sh/docs; hg(1); docs.jj-vcs.dev.
const OF_NAMES: &[(&str, &[&str], &str)] = &[
    (
        "gh",
        &[
            "pr view",
            "pr list",
            "pr status",
            "pr diff",
            "pr checks",
            "pr checkout",
            "pr close",
            "pr reopen",
            "pr ready",
        ],
        "",
    ),
    ("gh", &["pr create", "pr edit", "pr comment", "pr review", "pr merge"], "FTf"),
    ("gh", &["issue view", "issue list", "issue status", "issue close", "issue reopen"], ""),
    ("gh", &["issue create", "issue edit", "issue comment"], "FTf"),
    (
        "gh",
        &["run list", "run view", "run watch", "run cancel", "run rerun", "workflow list", "workflow view"],
        "",
    ),
    (
        "gh",
        &[
            "repo view",
            "repo list",
            "release view",
            "release list",
            "auth status",
            "label list",
            "status",
            "search",
        ],
        "",
    ),
    ("kubectl", &["get", "describe", "delete", "wait", "scale", "rollout"], "fk"),
    ("kubectl", &["logs", "top", "explain", "version", "api-resources", "config"], ""),
    (
        "helm",
        &[
            "list",
            "ls",
            "status",
            "history",
            "version",
            "get",
            "repo list",
            "repo update",
            "search",
            "rollback",
            "uninstall",
        ],
        "",
    ),
    ("hg", &["status", "st", "branch", "summary", "heads"], "XIR"),
    (
        "jj",
        &[
            "status",
            "st",
            "log",
            "new",
            "describe",
            "git push",
            "git fetch",
            "bookmark",
            "rebase",
            "squash",
            "edit",
        ],
        "R",
    ),
];

/// Whether such a program is told a file: by an option of those with one, by a word that looks like a path, or by a
/// subcommand that takes files. None where it is another program.
fn told_by_option(program: &str, words: &[String]) -> Option<bool> {
    if !RUN_NO_CODE.has(program) {
        return None;
    }
    let begins = |sub: &str| {
        let count = sub.split(' ').count();
        sub.split(' ').eq(words.iter().take(count).map(String::as_str))
    };
    let row = OF_NAMES.iter().find(|row| row.0 == program && row.1.iter().any(|sub| begins(sub)));
    Some(row.is_none_or(|(_, _, letters)| words.iter().any(|word| names_file(word, letters))))
}

/// Whether the word is an option of those with a file, or a path by its looks.
fn names_file(word: &str, letters: &str) -> bool {
    const LONG: &[&str] = &[
        "body-f",
        "notes-f",
        "file",
        "val",
        "kubec",
        "kus",
        "inp",
        "out",
        "set-f",
        "dir",
        "log",
        "from-",
        "targ",
        "cert",
        "client-",
        "recover",
        "template",
        "rep",
        "cw",
        "attach",
        "env-f",
        "profile",
        "cache",
        "ca-",
        "key-",
        "kube-",
        "registry-",
        "style",
        "config",
    ];
    let of_option = match word.strip_prefix("--") {
        // `-o yaml` is a format, and `--output` as well.
        Some(long) => {
            long.split('=').next() != Some("output") && LONG.iter().any(|option| long.starts_with(option))
        }
        None => word.starts_with('-') && word.contains(|letter| letters.contains(letter)),
    };
    // `@file` gives what is in it, `@me` is one's own name; `jsonpath-file=x` is a format.
    let of_value = word.contains('@') && word != "@me" || word.contains("file=");
    of_option || of_value || word.contains('/') && !is_address(word)
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

/// The same of a command of a text that is not understood, by its first words.
pub(super) fn may_open(segment: &Segment) -> bool {
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
