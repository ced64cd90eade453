//! The reading forms of git, and what has to hold so that none of them runs a program of the workspace.
//!
//! Three things together make them harmless; without any of them the command asks:
//!
//! 1. its words are a form of [`known`];
//! 2. the repository that git will find from the working directory upwards lies in the workspace and is plain: its
//!    `.git` is a directory by itself (no file, no symlink) that git takes for a repository ([`head_is_valid`] of `HEAD`,
//!    with `objects` and `refs`), so that git looks no further; the working directory lies in none; it has no
//!    `commondir` and no `alternates`, and no file of it names another one elsewhere; [`config_is_plain`] of `config` and `config.worktree` in it, and
//!    [`directories_of`] its `index` (no file is fine for these three), which lead through no symlink;
//! 3. the command gets [`safe_environment`], with leave to read another user's repository.
//!
//! What the words cannot switch off is refused by the second (filters, `textconv` and diff drivers, which have
//! names of their own; includes; submodules, whose own settings hold in the git that looks into them), what comes
//! from elsewhere is switched off by the third (settings of user and system, hooks, fsmonitor, pager, lazy fetching,
//! repositories that lie bare among the files). Source: the manual of git 2.47, pages beside each line.

mod config;
mod environment;
mod index;
mod opened;
mod packs;
pub(in crate::permission) mod pathspec;
mod settings;

pub(crate) use config::{config_is_plain, object_name_bytes};
#[cfg(test)]
use environment::SAFE_ENVIRONMENT;
pub(crate) use environment::{Attributes, safe_environment};
#[cfg(test)]
use index::index_is_plain;
pub(crate) use index::{directories_of, names_of};
pub(crate) use opened::opens;
pub(crate) use packs::{MAX_MULTI_PACK, packs_lie_beside, tables_lie_beside};

use std::path::PathBuf;

use super::read_only::{Known, KnownUse, Line, Operand, Operands, PLAIN};
use super::setting_up;
use crate::permission::lexical::between_blanks;
use crate::permission::subject::Access;

/// Options of diff's output that `diff`, `log`, `show` and `stash show` share. Left out: `--ext-diff`, `--textconv`,
/// `--output`, `-O`, `--no-index`, `--submodule`, `--ignore-submodules`.
const DIFF_FLAGS: &str = "puswbRaWzD";
const DIFF_LONG: &str = "patch no-patch raw patch-with-raw stat numstat shortstat dirstat summary name-only name-status compact-summary \
                         color no-color word-diff color-words minimal patience histogram no-renames find-renames \
                         find-copies full-index binary abbrev text ignore-all-space ignore-space-change \
                         ignore-space-at-eol ignore-blank-lines function-context exit-code quiet no-ext-diff \
                         no-textconv check unified cached staged merge-base no-prefix relative cc patch-with-stat \
                         find-copies-harder irreversible-delete ignore-cr-at-eol color-moved no-color-moved \
                         indent-heuristic no-indent-heuristic pickaxe-all pickaxe-regex ita-visible-in-index";
const DIFF_VALUES: &str = "diff-filter diff-algorithm inter-hunk-context stat-width stat-name-width stat-count src-prefix \
                           dst-prefix line-prefix word-diff-regex";

/// Options that choose commits, git-rev-list(1). Left out: `--show-signature`, `--alternate-refs`.
const LOG_LONG: &str = "oneline graph decorate no-decorate all branches tags remotes no-merges merges first-parent reverse follow \
                        abbrev-commit no-abbrev-commit parents children left-right cherry-pick cherry-mark date-order \
                        topo-order author-date-order all-match invert-grep regexp-ignore-case extended-regexp \
                        fixed-strings perl-regexp walk-reflogs no-notes pretty format min-parents max-parents relative-date source \
                        simplify-by-decoration full-history dense no-color ancestry-path boundary not cherry no-mailmap mailmap use-mailmap \
                        right-only left-only no-walk full-diff remove-empty show-pulls show-linear-break log-size \
                        clear-decorations expand-tabs no-expand-tabs notes encoding";
const LOG_VALUES: &str = "max-count skip since until after before author committer grep date exclude glob";

/// The forms by subcommand. All operands are read as paths too: which are names of commits is not told by words,
/// and `git diff` of a path outside reads that file. Whatever prints content of files that it does not name is
/// `recursive`; of [`DIFF`] and [`LOG`] their options say so ([`prints_content`]).
const FORMS: &[Known] = &[
    Known {
        names: &["status"],
        // With the letters of `-uno`, `-uall` and `-unormal`; none of them is an option by itself.
        flags: "sbzunolamr",
        long: &[
            "short branch show-stash porcelain long untracked-files ignored column no-column ahead-behind \
               no-ahead-behind renames no-renames find-renames",
        ],
        takes: |option, value| option != "untracked-files" || matches!(value, "no" | "normal" | "all"),
        ..PLAIN
    },
    Known { names: &["diff"], ..DIFF },
    // Not `whatchanged`: where it is deprecated an alias of the repository may take its place.
    Known { names: &["log", "show"], ..LOG },
    Known {
        names: &["blame", "annotate"],
        flags: "bcltfnsewp",
        values: "L",
        attached: "MC",
        long: &[
            "root show-stats show-name show-number show-email porcelain line-porcelain incremental date abbrev first-parent",
        ],
        long_values: &["since"],
        takes: harmless_value,
        ..PLAIN
    },
    Known {
        names: &["shortlog"],
        flags: "nsec",
        long: &["numbered summary email committer no-merges all"],
        long_values: &["since until author group"],
        takes: harmless_value,
        ..PLAIN
    },
    // Without `--show-superproject-working-tree`, for which a second git looks into the repository around this one.
    Known {
        names: &["rev-parse"],
        flags: "q",
        long: &[
            "show-toplevel show-prefix show-cdup git-dir absolute-git-dir git-common-dir is-inside-work-tree \
               is-bare-repository is-inside-git-dir is-shallow-repository abbrev-ref short verify quiet symbolic \
               symbolic-full-name all branches tags remotes revs-only no-revs",
        ],
        ..PLAIN
    },
    Known {
        names: &["rev-list"],
        values: "n",
        numeric: true,
        own_way: true,
        long: &[
            "count all no-merges merges first-parent reverse oneline left-right branches tags remotes abbrev-commit \
               parents children min-parents max-parents cherry-pick cherry-mark right-only left-only not topo-order \
               date-order boundary ancestry-path no-walk",
        ],
        long_values: &["max-count since until author grep skip"],
        takes: harmless_value,
        ..PLAIN
    },
    Known {
        names: &["ls-files"],
        flags: "cdmosiuktzv",
        values: "x",
        long: &[
            "cached deleted modified others ignored stage unmerged killed exclude-standard full-name error-unmatch eol \
               deduplicate directory no-empty-directory",
        ],
        long_values: &["exclude format"],
        ..PLAIN
    },
    Known {
        names: &["ls-tree"],
        flags: "drtlz",
        long: &["name-only name-status long full-name full-tree abbrev"],
        long_values: &["format"],
        ..PLAIN
    },
    Known { names: &["cat-file"], flags: "tspe", recursive: Some('*'), ..PLAIN },
    Known {
        names: &["grep"],
        flags: "niIwvlLcqhHEFGPpWor",
        values: "eABCm",
        long: &[
            "line-number ignore-case word-regexp invert-match files-with-matches name-only files-without-match count \
               quiet extended-regexp fixed-strings basic-regexp perl-regexp cached untracked color no-color \
               heading break show-function function-context all-match and or not column only-matching full-name",
        ],
        long_values: &["max-depth max-count threads"],
        recursive: Some('*'),
        operands: Operands::Pattern(true),
        ..PLAIN
    },
    Known {
        names: &["describe"],
        // Without `--dirty`, which writes the index.
        long: &["all tags contains abbrev always long exact-match first-parent debug"],
        long_values: &["match exclude candidates"],
        ..PLAIN
    },
    Known { names: &["merge-base"], flags: "a", long: &["all is-ancestor octopus fork-point"], ..PLAIN },
    Known {
        names: &["show-ref"],
        flags: "qds",
        long: &["head heads tags branches dereference hash verify quiet exists abbrev"],
        ..PLAIN
    },
    Known {
        names: &["for-each-ref"],
        long: &["merged no-merged contains no-contains ignore-case"],
        long_values: &["sort format count points-at exclude"],
        takes: harmless_value,
        ..PLAIN
    },
    Known { names: &["name-rev"], long: &["tags name-only always all"], ..PLAIN },
    Known {
        names: &["count-objects"],
        flags: "vH",
        long: &["verbose human-readable"],
        operands: Operands::None,
        ..PLAIN
    },
    Known {
        names: &["check-ignore"],
        flags: "vqnz",
        long: &["verbose quiet non-matching no-index"],
        ..PLAIN
    },
    // The work tree is looked at, and the index is not written.
    Known { names: &["diff-index", "diff-files"], ..DIFF },
    Known {
        names: &["diff-tree"],
        flags: "puswbRaWzDrtcmv",
        long: &[DIFF_LONG, "no-commit-id root pretty format always oneline combined-all-paths"],
        long_values: &[DIFF_VALUES],
        ..DIFF
    },
    Known { names: &["cherry"], flags: "v", long: &["verbose abbrev"], ..PLAIN },
    // With a second operand it writes, with `-d` it removes.
    Known {
        names: &["symbolic-ref"],
        flags: "q",
        long: &["quiet short recurse no-recurse"],
        operands: Operands::Read(one_reference),
        ..PLAIN
    },
    Known { names: &["version"], long: &["build-options"], operands: Operands::None, ..PLAIN },
];

const DIFF: Known = Known {
    flags: DIFF_FLAGS,
    values: "SGl",
    attached: "UMCB",
    long: &[DIFF_LONG],
    long_values: &[DIFF_VALUES],
    numeric: false,
    // revision.c knows the options of a commit one by one: `-gn` is none, and the word behind it is an option again.
    own_way: true,
    takes: harmless_value,
    recursive: Some('*'),
    ..PLAIN
};

/// `git stash show` sorts words by their dashes before it reads them: what is no value of its own word goes to the stash,
/// and the next one is read in its place.
const STASH_SHOW: Known =
    Known { values: "", attached: "SGlUMCB", long: &[DIFF_LONG, DIFF_VALUES], long_values: &[], ..DIFF };

const LOG: Known = Known {
    flags: "puswbRaWzDgimcFEPt",
    values: "SGlnL",
    long: &[DIFF_LONG, LOG_LONG],
    long_values: &[DIFF_VALUES, LOG_VALUES],
    numeric: true,
    ..DIFF
};

/// Subcommands of subcommands, and forms that have to be asked for by an option.
const LISTING: &[(&str, &str, Known)] = &[
    ("stash", "list", Known { ..LOG }),
    ("stash", "show", STASH_SHOW),
    ("reflog", "show", Known { ..LOG }),
    ("reflog", "list", Known { operands: Operands::None, ..PLAIN }),
    ("remote", "-v", Known { operands: Operands::None, ..PLAIN }),
    ("remote", "--verbose", Known { operands: Operands::None, ..PLAIN }),
    ("remote", "get-url", Known { long: &["all push"], ..PLAIN }),
    (
        "worktree",
        "list",
        Known { flags: "vz", long: &["porcelain verbose"], operands: Operands::None, ..PLAIN },
    ),
    ("notes", "list", Known { operands: Operands::None, ..PLAIN }),
];

/// git-branch(1) and git-tag(1) list only when nothing is named, or when an option says so.
const LISTED_BRANCHES: Known = Known {
    flags: "arvlqi",
    // With the last four git takes the next word, which is an operand here: more is looked at, not less.
    long: &[
        "list all remotes verbose show-current no-color color column no-column ignore-case abbrev no-abbrev \
            merged no-merged contains no-contains",
    ],
    long_values: &["sort format points-at"],
    takes: harmless_value,
    ..PLAIN
};
const LISTED_TAGS: Known = Known { flags: "li", attached: "n", ..LISTED_BRANCHES };

/// The command, when it is a form of git that only reads.
pub(crate) fn known(words: &[String]) -> Option<KnownUse> {
    let (git, mut rest) = words.split_first()?;
    if git != "git" {
        return None;
    }
    let mut within = PathBuf::new();
    loop {
        rest = match rest {
            [option, after @ ..]
                if matches!(
                    option.as_str(),
                    "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs"
                ) =>
            {
                after
            }
            // Each counts from the one before.
            [option, directory, after @ ..]
                if option == "-C" && !directory.is_empty() && !directory.starts_with('-') =>
            {
                within.push(directory);
                after
            }
            [option, setting, after @ ..] if option == "-c" && is_harmless_setting(setting) => after,
            _ => break,
        };
    }
    let mut known = subcommand(rest)?;
    behind_colons(&mut known)?;
    Some(KnownUse { within, ..known })
}

/// Takes what stands behind a colon of an operand for a path of its own: `REV:PATH`, `:PATH` and `:N:PATH` tell whether
/// something lies there that is not in the commit (gitrevisions(7)). It counts from the top of the working tree, and with
/// a dot in front from where git is. A revision may have colons within braces, so each is looked at. None: an absolute path.
///
/// So with what stands behind a pattern's magic (`:/PATH`, `:(top)PATH`; gitglossary(7) "pathspec"), from both places:
/// `git diff BLOB PATTERN` opens it as a file, through links. `:/TEXT` of a message cannot be told from it.
///
/// None, too, where there are more than anybody writes: each is a path to be looked at.
fn behind_colons(known: &mut KnownUse) -> Option<()> {
    const MOST: usize = 64;
    let (mut paths, mut patterns) = (Vec::new(), Vec::new());
    for operand in &known.operands {
        let magic = |at: usize, rest: &str| at == 0 && rest.starts_with(['/', '(', '!', '^']);
        // One more than counts, behind the colon of a magic, which may be for none.
        for (at, _) in operand.path.match_indices(':').take(MOST + 2) {
            match &operand.path[at + 1..] {
                "" => {}
                rest if magic(at, rest) => patterns.extend(pathspec::without_magic(&operand.path)),
                rest => paths.push(rest),
            }
        }
    }
    patterns.retain(|pattern| !pattern.is_empty());
    let absolute = |path: &&str| path.starts_with('/');
    if paths.len() + patterns.len() > MOST || paths.iter().chain(&patterns).any(absolute) {
        return None;
    }
    let relative = |path: &str| path.starts_with("./") || path.starts_with("../");
    let from_top = paths.iter().filter(|path| !relative(path)).chain(&patterns);
    known.in_tree.extend(from_top.map(|path| (*path).to_owned()));
    let places: Vec<String> = paths.into_iter().chain(patterns).map(str::to_owned).collect();
    known.operands.extend(places.into_iter().map(|path| Operand { path, access: Access::Read }));
    Some(())
}

/// git-config(1): settings for one command, which hold over [`safe_environment`].
fn is_harmless_setting(setting: &str) -> bool {
    let Some((key, value)) = setting.split_once('=') else { return false };
    match key.to_ascii_lowercase().as_str() {
        "color.ui" => matches!(value, "never" | "false" | "auto" | "always"),
        "core.quotepath" => matches!(value, "true" | "false" | "on" | "off"),
        "core.pager" => value == "cat",
        "core.fsmonitor" => value == "false",
        _ => false,
    }
}

fn subcommand(words: &[String]) -> Option<KnownUse> {
    let (sub, arguments) = words.split_first()?;
    match (sub.as_str(), arguments) {
        ("branch", _) => listing(&LISTED_BRANCHES, arguments),
        ("tag", _) => listing(&LISTED_TAGS, arguments),
        ("reflog", _) if arguments.first().is_none_or(|word| word.starts_with('-')) => {
            differing(&LOG, false, arguments)
        }
        ("remote", []) => Some(KnownUse::default()),
        // Elsewhere than in the repository there are no settings where it runs unasked.
        ("config", _) => settings::read(arguments)
            .filter(|read| read.of_repository)
            .map(|_| KnownUse { recursive: true, ..KnownUse::default() }),
        (_, [second, more @ ..])
            if let Some((_, _, form)) = LISTING.iter().find(|(of, name, _)| of == sub && name == second) =>
        {
            match (sub.as_str(), second.as_str()) {
                ("stash", "show") => differing(form, true, more),
                ("stash" | "reflog", _) => differing(form, false, more),
                _ => form.read(more),
            }
        }
        _ => {
            let form = FORMS.iter().find(|form| form.names.contains(&sub.as_str()))?;
            match sub.as_str() {
                "diff" => differing(form, true, arguments),
                // Its type, its size or whether it is there, without its content.
                "cat-file" if matches!(arguments, [option, _] if matches!(option.as_str(), "-t" | "-s" | "-e")) => {
                    Some(KnownUse { recursive: false, ..form.read(arguments)? })
                }
                "log" | "diff-tree" | "diff-index" | "diff-files" => differing(form, false, arguments),
                // Of a file it prints the lines, however it is told to show commits.
                "show" if shows_commits_alone(&form.options(arguments)?) => differing(form, true, arguments),
                _ => form.read(arguments),
            }
        }
    }
}

/// A form whose options choose what it prints of differences; without one, by itself, a patch or not.
fn differing(form: &Known, patch: bool, arguments: &[String]) -> Option<KnownUse> {
    let line = form.options(arguments)?;
    Some(KnownUse { recursive: prints_content(patch, &line), ..form.read_line(&line)? })
}

/// Whether `git show` is told of nothing but commits: no operand may be something else, and no option brings
/// revisions of its own, of which a tag may be of a file (git-rev-list(1), "Commit Limiting").
fn shows_commits_alone(line: &Line<'_>) -> bool {
    const OF_REVISIONS: &[&str] = &[
        "all",
        "branches",
        "tags",
        "remotes",
        "glob",
        "exclude",
        "exclude-hidden",
        "walk-reflogs",
        "reflog",
        "alternate-refs",
        "indexed-objects",
        "bisect",
        "stdin",
    ];
    let mut options = line.long.iter().chain(line.values.iter().map(|(name, _)| name));
    !line.letters.contains('g')
        && !options.any(|name| OF_REVISIONS.contains(name))
        && line.operands.iter().all(|name| is_commit_for_sure(name))
}

/// Whether the name can only be one of a commit: `HEAD~2`. A hash or a tag may name a file.
fn is_commit_for_sure(name: &str) -> bool {
    let behind = name.strip_prefix("HEAD").or_else(|| name.strip_prefix('@'));
    // `HEAD1` is some other name.
    let goes_back = |c: char| c.is_ascii_digit() || matches!(c, '~' | '^');
    behind.is_some_and(|rest| rest.is_empty() || rest.starts_with(['~', '^']) && rest.chars().all(goes_back))
}

/// Long options that print lines of files, or search in them: git-diff(1), git-log(1).
pub(super) const OF_LINES: &[&str] = &[
    "patch",
    "patch-with-raw",
    "patch-with-stat",
    "unified",
    "cc",
    "word-diff",
    "word-diff-regex",
    "color-words",
    "function-context",
    "binary",
    "check",
    "dd",
    "remerge-diff",
    // All but two of its values print.
    "diff-merges",
];

/// Whether lines of files are printed, or searched for. Source: git-diff(1), git-log(1).
fn prints_content(patch: bool, line: &Line<'_>) -> bool {
    const NAMES_ONLY: &[&str] = &[
        "stat",
        "numstat",
        "shortstat",
        "dirstat",
        "summary",
        "name-only",
        "name-status",
        "raw",
        "compact-summary",
        "no-patch",
        "quiet",
    ];
    let long = |names: &[&str]| line.long.iter().any(|name| names.contains(name));
    let value =
        line.values.iter().any(|(name, _)| OF_LINES.contains(name) || matches!(*name, "S" | "G" | "L" | "U"));
    long(OF_LINES)
        || value
        || line.letters.contains(['p', 'u', 'W', 'c', 'U'])
        || patch && !long(NAMES_ONLY) && !line.letters.contains('s')
}

/// Whether the command, its words joined by blanks, makes a repository or changes the settings of one when it is run, be
/// it by git or by a tool of [`setting_up`]. `told`: it gets no words but these. Sources: git-init(1), git-clone(1),
/// git-worktree(1), git-submodule(1), git-config(1), git-maintenance(1), git-svn(1), git-lfs(1).
pub(crate) fn sets_up(command: &str, told: bool) -> bool {
    let mut words = between_blanks(command).filter(|word| !word.starts_with('-'));
    if words.next() != Some("git") {
        return setting_up::sets_up(command, told);
    }
    match words.next() {
        Some("init" | "init-db" | "clone") => true,
        Some("worktree") => words.next() == Some("add"),
        Some("submodule") => matches!(words.next(), Some("add" | "update" | "set-url" | "sync")),
        Some("maintenance") => matches!(words.next(), Some("start" | "stop" | "register" | "unregister")),
        Some("svn") => matches!(words.next(), Some("init" | "clone")),
        // Hooks and settings; `.gitattributes`.
        Some("lfs") => matches!(words.next(), Some("install" | "uninstall" | "update" | "track" | "untrack")),
        Some("config") => {
            let all: Vec<&str> = command.split(' ').collect();
            let arguments =
                all.iter().position(|word| *word == "config").map_or(&[][..], |at| &all[at + 1..]);
            settings::read(arguments).is_none_or(|read| read.by_a_name && !told)
        }
        _ => false,
    }
}

/// Whether git takes a directory with this `HEAD` for a repository: a branch, or the name of an object.
pub(crate) fn head_is_valid(text: &str) -> bool {
    const SHORTEST_NAME: usize = 40;
    let name = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    text.starts_with("ref: refs/") || name >= SHORTEST_NAME
}

/// A form that lists when it has no operands, or one of these options; operands are patterns then, no paths.
fn listing(form: &Known, arguments: &[String]) -> Option<KnownUse> {
    let line = form.options(arguments)?;
    let asks = |name: &&str| matches!(*name, "list" | "merged" | "no-merged" | "contains" | "no-contains");
    let lists = line.letters.contains('l') || line.long.iter().any(asks);
    let known = form.read_line(&line)?;
    (lists || line.operands.is_empty()).then_some(KnownUse { operands: Vec::new(), ..known })
}

/// `%G?` and its like, spelt in any way, run the program that checks signatures; `%(describe)`, `%(trailers)` and
/// `%(signature)` look further than the commit.
fn harmless_value(option: &str, value: &str) -> bool {
    match option {
        "format" | "pretty" | "sort" | "group" => {
            let signs = |behind: &str| behind.trim_start_matches(['+', '-', ' ']).starts_with('G');
            !value.split('%').skip(1).any(signs)
                && !["signature", "describe", "trailers", "raw", "ahead-behind", "is-base"]
                    .iter()
                    .any(|part| value.contains(part))
        }
        _ => true,
    }
}

/// The one reference that is looked at.
fn one_reference<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    (line.operands.len() == 1).then(|| line.operands.clone())
}

#[cfg(test)]
mod tests;
