//! The read-only commands that agents run most: which flags of theirs are harmless, and which operands are paths.
//!
//! Only what is listed counts. Long options must be spelt in full; whatever is not listed makes the whole
//! command unknown. The flags come from the manuals of GNU coreutils 9, grep 3, findutils 4, file 5, sed 4 and
//! ripgrep 14. Left out on purpose: whatever writes, runs a program, reads a list of files from a file, follows
//! symlinks while it descends (`diff` of two directories does), or never ends (`tail -f`); git, whose hooks, filters and pager are programs of
//! the workspace; `cargo --version` and its like, since a rustup proxy obeys `rust-toolchain.toml`.

use crate::permission::subject::Access;

/// What is known about one command.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownUse {
    /// Paths among its operands; relative ones count from the working directory.
    pub operands: Vec<Operand>,
    /// It descends into directories: a file that a rule hides may lie beneath an operand.
    pub recursive: bool,
}

/// A path operand of a known command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operand {
    /// As the command gets it.
    pub path: String,
    /// What the command does with it.
    pub access: Access,
}

/// What the operands of a command are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// There are none.
    None,
    /// Text that is only printed or compared.
    Text,
    /// At most this many paths to read.
    Paths(usize),
    /// Paths, and the working directory when there is none.
    PathsOrHere,
    /// A pattern, unless `-e` gave one, then paths; `true`: the working directory when there is none.
    Pattern(bool),
    /// A line range to print, then paths.
    SedPrint,
    /// At most one, starting with `+`.
    DateFormat,
}

struct Known {
    names: &'static [&'static str],
    /// Letters of short options without a value.
    flags: &'static str,
    /// Letters of short options with a value.
    values: &'static str,
    /// Long options without a value, or with one only behind `=`.
    long: &'static [&'static str],
    /// Long options that need a value, behind `=` or as the next word.
    long_values: &'static [&'static str],
    /// `-20` is a count.
    numeric: bool,
    /// The letter that makes it descend; `*`: it always does.
    recursive: Option<char>,
    operands: Operands,
}

const PLAIN: Known = Known {
    names: &[],
    flags: "",
    values: "",
    long: &[],
    long_values: &[],
    numeric: false,
    recursive: None,
    operands: Operands::Paths(usize::MAX),
};

const TABLE: &[Known] = &[
    Known {
        names: &["ls"],
        flags: "aAbBcdfFghGiklmnNopqQrRsStuUvxX1Z",
        values: "Iw",
        long: &[
            "all",
            "almost-all",
            "human-readable",
            "size",
            "reverse",
            "directory",
            "classify",
            "color",
            "inode",
            "full-time",
        ],
        long_values: &["sort", "time", "time-style", "format", "ignore"],
        recursive: Some('R'),
        operands: Operands::PathsOrHere,
        ..PLAIN
    },
    Known { names: &["pwd"], flags: "LP", operands: Operands::None, ..PLAIN },
    Known {
        names: &["cat"],
        flags: "AbeEnstTuv",
        long: &["number", "number-nonblank", "show-all", "show-ends", "show-tabs", "squeeze-blank"],
        ..PLAIN
    },
    Known {
        names: &["head", "tail"],
        flags: "qvz",
        values: "nc",
        long: &["quiet", "silent", "verbose"],
        long_values: &["lines", "bytes"],
        numeric: true,
        ..PLAIN
    },
    Known {
        names: &["wc"],
        flags: "clmLw",
        long: &["bytes", "chars", "lines", "words", "max-line-length"],
        ..PLAIN
    },
    Known {
        names: &["stat"],
        flags: "ft",
        values: "c",
        long: &["terse"],
        long_values: &["format", "printf"],
        ..PLAIN
    },
    Known {
        names: &["file"],
        flags: "bihkLN0",
        long: &["brief", "mime", "mime-type", "mime-encoding"],
        ..PLAIN
    },
    Known {
        names: &["du"],
        flags: "0abchkmsSx",
        values: "dt",
        long: &["all", "bytes", "summarize", "human-readable", "total", "apparent-size"],
        long_values: &["max-depth", "threshold", "block-size"],
        recursive: Some('*'),
        operands: Operands::PathsOrHere,
        ..PLAIN
    },
    Known {
        names: &["df"],
        flags: "ahHiklPT",
        long: &["human-readable", "inodes", "total"],
        operands: Operands::PathsOrHere,
        ..PLAIN
    },
    Known {
        names: &["sort"],
        flags: "bdfgiMhnRrVcCmsuz",
        values: "kt",
        long: &[
            "numeric-sort",
            "reverse",
            "unique",
            "human-numeric-sort",
            "version-sort",
            "ignore-case",
            "stable",
        ],
        long_values: &["key", "field-separator"],
        ..PLAIN
    },
    Known {
        names: &["uniq"],
        flags: "cdDiuz",
        values: "fsw",
        long: &["count", "repeated", "unique", "ignore-case"],
        long_values: &["skip-fields", "skip-chars", "check-chars"],
        operands: Operands::Paths(1),
        ..PLAIN
    },
    Known {
        names: &["cut"],
        flags: "nsz",
        values: "bcdf",
        long: &["complement", "only-delimited"],
        long_values: &["bytes", "characters", "delimiter", "fields", "output-delimiter"],
        ..PLAIN
    },
    Known {
        names: &["tr"],
        flags: "cCdst",
        long: &["delete", "squeeze-repeats", "complement"],
        operands: Operands::Text,
        ..PLAIN
    },
    Known {
        names: &["cmp"],
        flags: "bls",
        values: "n",
        long: &["silent", "quiet", "verbose"],
        operands: Operands::Paths(2),
        ..PLAIN
    },
    Known { names: &["nl"], flags: "p", values: "bdfhilnsvw", ..PLAIN },
    Known { names: &["tac", "rev"], ..PLAIN },
    Known { names: &["od"], flags: "abcdfiloxv", values: "AjNtSw", ..PLAIN },
    Known { names: &["sha256sum", "sha1sum", "sha512sum", "md5sum", "cksum"], flags: "bt", ..PLAIN },
    Known { names: &["realpath", "readlink"], flags: "efmqsz", ..PLAIN },
    Known { names: &["basename", "dirname"], flags: "az", values: "s", operands: Operands::Text, ..PLAIN },
    Known { names: &["echo"], flags: "neE", operands: Operands::Text, ..PLAIN },
    Known { names: &["true", "false", "whoami", "nproc", "arch"], operands: Operands::None, ..PLAIN },
    Known { names: &["uname"], flags: "asnrvmpio", operands: Operands::None, ..PLAIN },
    Known { names: &["id"], flags: "ugGnr", operands: Operands::None, ..PLAIN },
    Known { names: &["sleep", "which"], operands: Operands::Text, ..PLAIN },
    Known {
        names: &["date"],
        flags: "uRI",
        long: &["utc", "iso-8601", "rfc-3339"],
        operands: Operands::DateFormat,
        ..PLAIN
    },
    Known {
        names: &["grep"],
        flags: "EFGiynwxvcLloqshHrIZzabU",
        values: "eABCm",
        long: &[
            "extended-regexp",
            "fixed-strings",
            "ignore-case",
            "line-number",
            "word-regexp",
            "line-regexp",
            "invert-match",
            "count",
            "files-with-matches",
            "files-without-match",
            "only-matching",
            "quiet",
            "no-messages",
            "with-filename",
            "no-filename",
            "color",
            "colour",
        ],
        long_values: &[
            "regexp",
            "include",
            "exclude",
            "exclude-dir",
            "max-count",
            "context",
            "after-context",
            "before-context",
        ],
        recursive: Some('r'),
        operands: Operands::Pattern(false),
        ..PLAIN
    },
    Known {
        names: &["rg"],
        flags: "FilcnNoqsSvwxUHI0a",
        values: "egtTABCmMd",
        long: &[
            "fixed-strings",
            "ignore-case",
            "files-with-matches",
            "count",
            "count-matches",
            "line-number",
            "no-line-number",
            "only-matching",
            "quiet",
            "case-sensitive",
            "smart-case",
            "invert-match",
            "word-regexp",
            "line-regexp",
            "multiline",
            "with-filename",
            "no-filename",
            "hidden",
            "no-ignore",
            "no-heading",
            "heading",
            "json",
            "column",
            "trim",
            "no-config",
            "vimgrep",
        ],
        long_values: &[
            "regexp",
            "glob",
            "iglob",
            "type",
            "type-not",
            "after-context",
            "before-context",
            "context",
            "max-count",
            "max-columns",
            "max-depth",
            "sort",
            "color",
        ],
        recursive: Some('*'),
        operands: Operands::Pattern(true),
        ..PLAIN
    },
    Known {
        names: &["sed"],
        flags: "nErsz",
        long: &["quiet", "silent", "regexp-extended"],
        operands: Operands::SedPrint,
        ..PLAIN
    },
];

/// What is known about the command, when every flag and operand of it is known to be harmless.
pub(crate) fn known_use(words: &[String]) -> Option<KnownUse> {
    let (program, arguments) = words.split_first()?;
    if program == "find" {
        return find(arguments);
    }
    TABLE.iter().find(|k| k.names.contains(&program.as_str()))?.read(arguments)
}

/// Whether the table speaks of this program at all: then only what it lists is harmless.
pub(crate) fn is_listed(program: &str) -> bool {
    program == "find" || TABLE.iter().any(|k| k.names.contains(&program))
}

/// What a command line says, once its options are read.
#[derive(Default)]
struct Line<'w> {
    operands: Vec<&'w str>,
    letters: String,
    pattern_given: bool,
}

impl Known {
    fn read(&self, arguments: &[String]) -> Option<KnownUse> {
        if self.names.contains(&"echo") {
            // `echo` prints what it does not know, options too.
            return Some(KnownUse::default());
        }
        let line = self.options(arguments)?;
        let recursive = match self.recursive {
            Some('*') => true,
            Some(letter) => line.letters.contains(letter),
            None => false,
        };
        let operands = self.paths(&line, recursive)?;
        let operands = operands
            .into_iter()
            .filter(|p| *p != "-")
            .map(|p| Operand { path: p.to_owned(), access: Access::Read })
            .collect();
        Some(KnownUse { operands, recursive })
    }

    fn options<'w>(&self, arguments: &'w [String]) -> Option<Line<'w>> {
        let mut line = Line::default();
        let mut words = arguments.iter().map(String::as_str);
        while let Some(word) = words.next() {
            if word == "--" {
                line.operands.extend(words.by_ref());
            } else if let Some(long) = word.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(value)),
                    None => (long, None),
                };
                if self.long_values.contains(&name) {
                    if value.is_none() {
                        words.next()?;
                    }
                } else if !self.long.contains(&name) {
                    return None;
                }
                line.pattern_given |= name == "regexp";
            } else if let Some(cluster) = word.strip_prefix('-').filter(|c| !c.is_empty()) {
                if self.numeric && cluster.bytes().all(|b| b.is_ascii_digit()) {
                    continue;
                }
                if self.cluster(cluster, &mut line)? {
                    words.next()?;
                }
            } else {
                line.operands.push(word);
            }
        }
        Some(line)
    }

    /// Reads `-abc`; whether its last letter takes the next word as its value.
    fn cluster(&self, cluster: &str, line: &mut Line<'_>) -> Option<bool> {
        for (at, letter) in cluster.char_indices() {
            if self.values.contains(letter) {
                line.pattern_given |= letter == 'e';
                return Some(at + letter.len_utf8() == cluster.len());
            }
            if !self.flags.contains(letter) {
                return None;
            }
            line.letters.push(letter);
            if letter == 'I' && self.names.contains(&"date") {
                // An optional value may follow.
                return Some(false);
            }
        }
        Some(false)
    }

    fn paths<'w>(&self, line: &Line<'w>, recursive: bool) -> Option<Vec<&'w str>> {
        let all = line.operands.as_slice();
        match self.operands {
            Operands::None => all.is_empty().then(Vec::new),
            Operands::Text => Some(Vec::new()),
            Operands::Paths(most) => (all.len() <= most).then(|| all.to_vec()),
            Operands::PathsOrHere => Some(if all.is_empty() { vec!["."] } else { all.to_vec() }),
            Operands::DateFormat => match all {
                [] => Some(Vec::new()),
                [format] if format.starts_with('+') => Some(Vec::new()),
                _ => None,
            },
            Operands::Pattern(here) => {
                let paths = if line.pattern_given { all } else { all.get(1..)? };
                let here = paths.is_empty() && (here || recursive);
                Some(if here { vec!["."] } else { paths.to_vec() })
            }
            Operands::SedPrint => {
                let (script, paths) = all.split_first()?;
                (line.letters.contains('n') && prints_lines(script)).then(|| paths.to_vec())
            }
        }
    }
}

/// Whether a sed script does nothing but print lines by number: `5p`, `1,80p`, `10,$p`.
fn prints_lines(script: &str) -> bool {
    let Some(range) = script.strip_suffix('p') else { return false };
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match range.split_once(',') {
        Some((from, to)) => number(from) && (to == "$" || number(to)),
        None => range == "$" || number(range),
    }
}

fn find(arguments: &[String]) -> Option<KnownUse> {
    let paths =
        arguments.iter().take_while(|w| !w.starts_with('-') && !matches!(w.as_str(), "(" | ")" | "!" | ","));
    let mut operands: Vec<Operand> =
        paths.map(|p| Operand { path: p.clone(), access: Access::Read }).collect();
    let mut words = arguments[operands.len()..].iter().map(String::as_str);
    while let Some(word) = words.next() {
        match word {
            "(" | ")" | "!" | "-not" | "-a" | "-and" | "-o" | "-or" | "-print" | "-print0" | "-empty"
            | "-prune" | "-true" | "-false" | "-readable" | "-executable" | "-xdev" | "-mount" => {}
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-regex" | "-iregex" | "-type"
            | "-maxdepth" | "-mindepth" | "-size" | "-mtime" | "-mmin" | "-ctime" | "-cmin" | "-atime"
            | "-amin" | "-perm" | "-user" | "-group" | "-links" => {
                words.next()?;
            }
            _ => return None,
        }
    }
    if operands.is_empty() {
        operands.push(Operand { path: ".".to_owned(), access: Access::Read });
    }
    Some(KnownUse { operands, recursive: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(command: &str) -> Option<(Vec<String>, bool)> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        let found = known_use(&words)?;
        Some((found.operands.into_iter().map(|o| o.path).collect(), found.recursive))
    }

    #[test]
    fn harmless_commands_give_their_paths() {
        for (command, paths, recursive) in [
            ("ls", &["."][..], false),
            ("ls -la src", &["src"], false),
            ("ls -R", &["."], true),
            ("pwd", &[], false),
            ("cat a b", &["a", "b"], false),
            ("cat -- -x", &["-x"], false),
            ("cat -", &[], false),
            ("head -20 f", &["f"], false),
            ("head -n 5 f", &["f"], false),
            ("head -n5 f", &["f"], false),
            ("tail --lines=5 f", &["f"], false),
            ("tail --lines 5 f", &["f"], false),
            ("wc -l a", &["a"], false),
            ("sort -k 2 -n f", &["f"], false),
            ("uniq -c f", &["f"], false),
            ("grep -n x f", &["f"], false),
            ("grep -rn x", &["."], true),
            ("grep -e x f", &["f"], false),
            ("grep -A 3 x f", &["f"], false),
            ("rg -n x src", &["src"], true),
            ("rg x", &["."], true),
            ("sed -n 1,80p f", &["f"], false),
            ("find . -name *.rs -type f", &["."], true),
            ("find -maxdepth 1", &["."], true),
            ("date +%s", &[], false),
            ("echo -x anything", &[], false),
            ("du -sh .", &["."], true),
        ] {
            let want = (paths.iter().map(|s| (*s).to_owned()).collect(), recursive);
            assert_eq!(read(command), Some(want), "{command}");
        }
    }

    #[test]
    fn whatever_is_not_listed_is_unknown() {
        for command in [
            "sort --compress-prog=./h f",
            "sort --compress-program=./h f",
            "sort -o out f",
            "sort -T d f",
            "sort --files0-from=x",
            "rg --pre=sh x",
            "rg --pre sh x",
            "rg -z x",
            "rg -L x",
            "rg --hostname-bin=x y",
            "rg --regex=x",
            "rg -f x",
            "grep -f list x",
            "grep -R x",
            "grep --recursive x",
            "sed w f",
            "sed -n wf",
            "sed -n 1e f",
            "sed -i s/a/b/ f",
            "sed -n -f s f",
            "sed -n -e 1p f",
            "sed 1p f",
            "find -fprintf f x",
            "find . -exec sh -c id ;",
            "find . -delete",
            "find -L .",
            "find . -ok x ;",
            "find . -fls f",
            "find . -newer f",
            "find . -files0-from f",
            "uniq in out",
            "tail -f x",
            "tail --follow x",
            "date -s x",
            "date 010203",
            "file -m x y",
            "file -C",
            "file -z x",
            "du --files0-from=x",
            "wc --files0-from=x",
            "diff a b",
            "pwd x",
            "head -n",
            "cargo --version",
            "git status",
            "cat --nu x",
            "ls --dired",
            "tree",
        ] {
            assert_eq!(read(command), None, "{command}");
        }
    }
}
