//! What git runs because its words say so: aliases and settings on the command line, and subcommands that run.
//!
//! Source: git 2.47 manual, git(1), git-config(1) and the page of each subcommand.

use super::options::{Line, Order};
use super::{Carried, Told};
use crate::permission::commands::names::Names;

/// Subcommands that run nothing that their words name.
static QUIET: Names = Names::of(&[
    "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-ref-format",
    "checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree",
    "count-objects describe diff diff-files diff-index diff-tree difftool fast-export fast-import fetch",
    "for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object index-pack init interpret-trailers log",
    "ls-files ls-remote ls-tree mailinfo merge merge-base merge-file merge-tree mergetool mktag mktree",
    "mv name-rev notes pack-objects pack-refs patch-id prune pull push range-diff read-tree rebase reflog",
    "remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm shortlog",
    "show show-branch show-ref sparse-checkout stage stash status stripspace submodule switch symbolic-ref",
    "tag unpack-objects update-index update-ref var verify-commit verify-pack verify-tag version",
    "whatchanged worktree write-tree help config lfs",
]);

/// Options of subcommands whose value is a command, with the subcommands that take them (`*`: all).
const RUNNING: &[(&str, &str)] = &[
    ("rebase", "exec"),
    ("difftool", "extcmd"),
    ("mergetool", "tool"),
    ("grep", "open-files-in-pager"),
    ("*", "upload-pack"),
    ("*", "receive-pack"),
    ("archive", "exec"),
    ("push", "exec"),
    ("ls-remote", "exec"),
    ("filter-branch", "env-filter"),
    ("merge", "strategy"),
    ("rebase", "strategy"),
];

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    if name != "git" {
        return None;
    }
    let spec = "C: c: exec-path? git-dir: work-tree: namespace: super-prefix: bare no-replace-objects p,paginate \
                P,no-pager no-lazy-fetch no-optional-locks no-advice literal-pathspecs glob-pathspecs \
                noglob-pathspecs icase-pathspecs config-env: html-path man-path info-path list-cmds: \
                attr-source: h,help v,version";
    let Ok(line) = Line::read(words, spec, Order::Stops) else { return Some(Told::Anything) };
    for setting in line.values("c") {
        if !sets_nothing_run(setting) {
            out.untold = true;
            let value = setting.split_once('=').map_or("", |(_, value)| value);
            out.script(value.trim_start_matches('!'));
        }
    }
    // Another directory of subcommands, settings and hooks from elsewhere.
    out.untold |= line.values("exec-path").next().is_some() || line.has("config-env") || line.has("p");
    subcommand(line.from(0, words), out);
    Some(Told::All)
}

/// Settings that name no program.
fn sets_nothing_run(setting: &str) -> bool {
    let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
    let key = key.to_ascii_lowercase();
    if matches!((key.as_str(), value), ("core.pager", "cat") | ("core.fsmonitor", "false")) {
        return true;
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "@._-<> ".contains(c);
    let listed = [
        "user.name",
        "user.email",
        "commit.gpgsign",
        "tag.gpgsign",
        "advice.",
        "color.",
        "core.quotepath",
        "core.autocrlf",
        "core.eol",
        "core.filemode",
        "core.ignorecase",
        "core.abbrev",
        "init.defaultbranch",
        "pull.rebase",
        "pull.ff",
        "merge.ff",
        "push.default",
        "diff.renames",
        "diff.algorithm",
        "log.date",
        "gc.auto",
        "protocol.version",
    ];
    value.chars().all(plain)
        && listed
            .iter()
            .any(|known| if known.ends_with('.') { key.starts_with(known) } else { key == *known })
}

fn subcommand(words: &[String], out: &mut Carried) {
    let Some((sub, arguments)) = words.split_first() else { return };
    // An alias, or a program `git-…`.
    if !QUIET.has(sub) {
        out.untold = true;
    }
    match (sub.as_str(), arguments) {
        ("bisect", [run, rest @ ..]) if run == "run" => out.command(rest),
        ("submodule", [..]) => {
            if let Some(at) = arguments.iter().position(|w| w == "foreach") {
                let skip = arguments[at + 1..].iter().take_while(|w| w.starts_with("--")).count();
                out.script(arguments[at + 1 + skip..].join(" "));
            }
            out.untold |= arguments.iter().any(|w| w == "update" || w == "add");
        }
        ("config", _) => config(arguments, out),
        (
            "filter-branch" | "for-each-repo" | "hook" | "send-email" | "instaweb" | "web--browse"
            | "credential",
            _,
        ) => {
            out.untold = true;
            arguments.iter().filter(|w| !w.starts_with('-')).for_each(|word| out.script(word.as_str()));
            out.guess(arguments);
        }
        // The editor comes from the environment and the settings; `-i` with one that is a program runs it.
        ("rebase", _) => {
            out.untold |=
                arguments.iter().any(|w| w == "-i" || w.starts_with("--i") || w.starts_with("--ed"));
        }
        ("difftool" | "mergetool", _) => out.untold = true,
        (
            "log" | "show" | "diff" | "stash" | "whatchanged" | "diff-tree" | "diff-index" | "diff-files"
            | "reflog",
            _,
        ) => {
            out.untold |= arguments.iter().any(|w| w.starts_with("--ext") || w.starts_with("--textc"));
        }
        _ => {}
    }
    running_options(sub, arguments, out);
    for word in arguments {
        // gitremote-helpers(7): `ext::` runs a command.
        if let Some((_, command)) = word.split_once("ext::") {
            out.script(command);
            out.untold = true;
        }
    }
}

fn config(arguments: &[String], out: &mut Carried) {
    let operands: Vec<&String> = arguments.iter().filter(|w| !w.starts_with('-')).collect();
    let reads = arguments.iter().any(|w| {
        matches!(
            w.as_str(),
            "get" | "list" | "--get" | "--get-all" | "--get-regexp" | "--list" | "-l" | "--get-urlmatch"
        )
    });
    if reads || operands.len() < 2 {
        out.untold |= arguments.iter().any(|w| w == "edit" || w == "-e" || w.starts_with("--e"));
        return;
    }
    let pair = operands.iter().position(|w| w.contains('.')).map(|at| (operands[at], operands.get(at + 1)));
    if let Some((key, Some(value))) = pair {
        if !sets_nothing_run(&format!("{key}={value}")) {
            out.untold = true;
            out.script(value.trim_start_matches('!'));
        }
    } else {
        out.untold = true;
    }
}

/// `--exec=x`, `--exec x`, `-xx`, shortened or not.
fn running_options(sub: &str, arguments: &[String], out: &mut Carried) {
    let short = match sub {
        "rebase" | "difftool" => Some('x'),
        "grep" => Some('O'),
        "clone" | "ls-remote" | "fetch" => Some('u'),
        "merge" => Some('s'),
        _ => None,
    };
    for (at, word) in arguments.iter().enumerate() {
        let value = if let Some(long) = word.strip_prefix("--") {
            let (name, value) =
                long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let is_it = |(of, option): &&(&str, &str)| {
                (*of == "*" || *of == sub) && name.len() > 1 && option.starts_with(name)
            };
            let config = sub == "clone" && name.len() > 2 && "config".starts_with(name);
            if RUNNING.iter().find(is_it).is_none() && !config {
                continue;
            }
            value.or(arguments.get(at + 1).map(String::as_str))
        } else if let Some((_, attached)) =
            word.strip_prefix('-').zip(short).and_then(|(cluster, letter)| cluster.split_once(letter))
        {
            if attached.is_empty() { arguments.get(at + 1).map(String::as_str) } else { Some(attached) }
        } else if sub == "clone" && word.starts_with("-c") {
            let attached = &word[2..];
            if attached.is_empty() { arguments.get(at + 1).map(String::as_str) } else { Some(attached) }
        } else {
            continue;
        };
        if let Some(value) = value {
            // `fetch -u` (update-head-ok) has no value: then a branch's name is read as a command, no more.
            out.script(
                value.split_once('=').filter(|_| sub == "clone").map_or(value, |(_, command)| command),
            );
            let no_value = sub == "fetch" && !word.starts_with("--");
            out.untold |= sub != "rebase" && !no_value;
        }
    }
}
