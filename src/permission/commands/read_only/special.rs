//! Known commands whose operands are a language of their own.

use super::line::{Line, NOTHING};
use super::{KnownUse, Operand, Targets, find, table};
use crate::permission::commands::carriers::sed as sed_script;
use crate::permission::commands::names::Names;
use crate::permission::subject::Access;

/// Whether the text is a number as strtol(3) reads one: with a sign, decimal or hexadecimal.
pub(super) fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    let (digits, hexadecimal) = digits.strip_prefix("0x").map_or((digits, false), |digits| (digits, true));
    let is_digit = |b: u8| if hexadecimal { b.is_ascii_hexdigit() } else { b.is_ascii_digit() };
    !digits.is_empty() && digits.bytes().all(is_digit)
}

/// Whether `program` is one of those that [`of`] reads.
pub(super) fn is_listed(program: &str) -> bool {
    matches!(program, "find" | "test" | "[" | "printf" | "command" | "set" | "date")
}

/// What is known about a command that does not fit the table.
pub(super) fn of(program: &str, arguments: &[String]) -> Option<KnownUse> {
    match program {
        "find" => find::read(arguments),
        "test" => test(arguments),
        "[" => test(arguments.split_last().filter(|(last, _)| *last == "]")?.1),
        "printf" => printf(arguments),
        "command" => match arguments {
            // It prints where a program is found.
            [option, names @ ..] if matches!(option.as_str(), "-v" | "-V") && !names.is_empty() => {
                let by_path = names.iter().filter(|name| name.contains('/'));
                names.iter().all(|name| !name.starts_with('-')).then(|| reads(by_path))
            }
            _ => None,
        },
        "set" => set(arguments),
        "jq" => jq_with_values(arguments),
        "diff" if arguments.iter().any(|word| word == "--no-dereference") => {
            table::DIFF_OF_TREES.read(arguments)
        }
        // Where there are symlinks, it follows them.
        "diff" => table::entry("diff")?.read(arguments).or_else(|| {
            let known = table::DIFF_OF_TREES.read(arguments)?;
            Some(KnownUse { follows_beneath: true, ..known })
        }),
        "tee" => table::TEE.read(arguments),
        "mkdir" => makes(arguments),
        // coreutils 9.1, 16.4: it prints what comes of its words.
        "expr" => (!arguments.iter().any(|word| word.starts_with("--"))).then(KnownUse::default),
        "ps" => lists_processes(arguments),
        // locale(1): what the system has, by names of its own.
        "locale" => table::LOCALE.read(arguments),
        _ => None,
    }
}

pub(super) fn reads<'p>(paths: impl IntoIterator<Item = &'p String>) -> KnownUse {
    let operands = paths
        .into_iter()
        .filter(|p| *p != NOTHING)
        .map(|p| Operand { path: p.clone(), access: Access::Read })
        .collect();
    KnownUse { operands, ..KnownUse::default() }
}

/// procps ps(1): the usual lists, without `e`, which tells the variables of other processes.
fn lists_processes(arguments: &[String]) -> Option<KnownUse> {
    let usual = |word: &str| {
        matches!(
            word,
            "aux" | "auxw" | "auxww" | "ax" | "x" | "-e" | "-A" | "-ef" | "-eF" | "-f" | "-ely" | "-aux"
        )
    };
    match arguments {
        [] => Some(KnownUse::default()),
        [only] if usual(only) => Some(KnownUse::default()),
        [option, id] if option == "-p" && id.bytes().all(|b| b.is_ascii_digit() || b == b',') => {
            Some(KnownUse::default())
        }
        _ => None,
    }
}

/// What is made where it says: an edit of each. `mkdir -p` makes what stands before a `..` too.
fn makes(arguments: &[String]) -> Option<KnownUse> {
    let line = table::MKDIR.options(arguments)?;
    let plain = |path: &&str| !path.is_empty() && path.split('/').all(|part| part != "..");
    let operands: Vec<Operand> = line
        .operands
        .iter()
        .map(|path| plain(path).then(|| Operand { path: (*path).to_owned(), access: Access::Edit }))
        .collect::<Option<_>>()?;
    (!operands.is_empty()).then(|| KnownUse { operands, ..KnownUse::default() })
}

/// No file is written.
pub(super) fn nowhere<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    line.operands.iter().all(|path| *path == NOTHING).then(Vec::new)
}

/// bash 5.2 manual, 6.4: one test, which looks at no variable and no option of the shell.
fn test(arguments: &[String]) -> Option<KnownUse> {
    let is_compared = |word: &str| {
        matches!(word, "=" | "==" | "!=" | "<" | ">" | "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")
    };
    match arguments {
        [] | [_] => Some(KnownUse::default()),
        [_, operator, _] if is_compared(operator) => Some(KnownUse::default()),
        [left, operator, right] if matches!(operator.as_str(), "-nt" | "-ot" | "-ef") => {
            Some(reads([left, right]))
        }
        [operator, _] if matches!(operator.as_str(), "-n" | "-z") => Some(KnownUse::default()),
        [operator, path]
            if operator.len() == 2
                && operator.starts_with('-')
                && "abcdefgGhkLNOprsSuwx".contains(&operator[1..]) =>
        {
            Some(reads([path]))
        }
        [not, rest @ ..] if not == "!" && rest.len() < 4 => test(rest),
        several => all_tests(several),
    }
}

/// Several tests of one file each, joined by `-a` and `-o`; none of the files is called as an operator is, so that there is
/// one way to read them.
fn all_tests(arguments: &[String]) -> Option<KnownUse> {
    const LEAST: usize = 5;
    let is_file = |word: &&String| !word.starts_with(['-', '!', '(', ')', '=', '<', '>']);
    let mut found = KnownUse::default();
    let mut rest = arguments.get(..).filter(|all| all.len() >= LEAST)?;
    loop {
        let [operator, file, after @ ..] = rest else { return None };
        Some(file).filter(is_file)?;
        let tested =
            operator.len() == 2 && operator.starts_with('-') && "bcdefghkLprsSuwx".contains(&operator[1..]);
        if !tested {
            return None;
        }
        found.operands.extend(reads([file]).operands);
        rest = match after {
            [] => return Some(found),
            [join, more @ ..] if matches!(join.as_str(), "-a" | "-o") => more,
            _ => return None,
        };
    }
}

/// bash 5.2 manual, 4.2: without `-v` and `%n`, which assign, and `%(…)T`.
fn printf(arguments: &[String]) -> Option<KnownUse> {
    let (format, _) = arguments.strip_prefix(&["--".to_owned()]).unwrap_or(arguments).split_first()?;
    if format.starts_with('-') && arguments.first() == Some(format) {
        return None;
    }
    let mut rest = format.as_str();
    while let Some((_, behind)) = rest.split_once('%') {
        let conversion = behind.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #0.*'".contains(c));
        // For numbers a length is allowed, and means nothing.
        let conversion = conversion
            .strip_prefix("ll")
            .or_else(|| conversion.strip_prefix('l'))
            .filter(|rest| rest.starts_with(['d', 'i', 'o', 'u', 'x', 'X']))
            .unwrap_or(conversion);
        if !conversion
            .starts_with(['%', 'b', 'c', 'd', 'e', 'f', 'g', 'i', 'o', 'q', 's', 'u', 'x', 'X', 'E', 'G'])
        {
            return None;
        }
        rest = &conversion[1..];
    }
    Some(KnownUse::default())
}

/// bash 5.2 manual, 4.3.1: when the shell stops, and what it shows.
fn set(arguments: &[String]) -> Option<KnownUse> {
    let mut words = arguments.iter().map(String::as_str);
    let first = words.next()?;
    let letters = first.strip_prefix(['-', '+'])?;
    if letters.is_empty() || !letters.chars().all(|c| "euxo".contains(c)) {
        return None;
    }
    if letters.contains('o') && !matches!(words.next(), Some("pipefail" | "errexit" | "nounset" | "xtrace")) {
        return None;
    }
    words.next().is_none().then(KnownUse::default)
}

/// `ls` looks where a symlink leads for its mark or its colour, or to list directories first: coreutils 9.1, 10.1.
pub(super) fn targets_of_ls(line: &Line<'_>) -> Targets {
    let uncolored = line.of(&["color"]).filter(|value| matches!(*value, "never" | "no" | "none")).count();
    let looks = line.letters.contains('F')
        || line.long.iter().filter(|name| **name == "color").count() > uncolored
        || line.long.iter().any(|name| matches!(*name, "classify" | "group-directories-first"));
    let descends = line.letters.contains('R') || line.long.contains(&"recursive");
    let levels = match (looks, descends) {
        (false, _) => 0,
        (true, false) => 1,
        (true, true) => usize::MAX,
    };
    Targets { levels, ..Targets::default() }
}

/// `tree` does so for every symlink that it lists, since it counts directories and files.
pub(super) fn targets_of_tree(line: &Line<'_>) -> Targets {
    let levels = line.of(&["L"]).map(|value| value.parse().unwrap_or(usize::MAX)).max();
    let names = line.of(&["I"]).flat_map(|pattern| pattern.split('|'));
    let plain = |name: &&str| !name.contains(['*', '?', '[', '\\', '/']);
    let passed_over = names.filter(plain).map(str::to_owned).collect();
    Targets { levels: levels.unwrap_or(usize::MAX), passed_over }
}

/// Names of programs: those with a slash are looked for where they say.
#[expect(clippy::unnecessary_wraps, reason = "a reader of operands, as the table has them")]
pub(super) fn programs<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    Some(line.operands.iter().copied().filter(|name| name.contains('/')).collect())
}

/// Nothing, or one operand that starts with `+`.
pub(super) fn date_format<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    match line.operands.as_slice() {
        [] => Some(Vec::new()),
        [format] if format.starts_with('+') => Some(Vec::new()),
        _ => None,
    }
}

/// Paths, none of which the program takes for a file with more words of its line.
pub(super) fn no_response_files<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    (!line.operands.iter().any(|path| path.starts_with('@'))).then(|| line.operands.clone())
}

/// The operands of `tail`, of which the first may be an option of old, `+3` or `+3f`: the latter never ends.
pub(super) fn tail<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    let counts = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let of_old = line.operands.first().and_then(|word| word.strip_prefix('+'));
    of_old.is_none_or(counts).then(|| line.operands.clone())
}

/// Exactly two paths.
pub(super) fn two<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    (line.operands.len() == 2).then(|| line.operands.clone())
}

/// One directory that is named, and not the one before (`-`).
pub(super) fn one_directory<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    match line.operands.as_slice() {
        [directory] if *directory != "-" && !directory.is_empty() => Some(vec![directory]),
        _ => None,
    }
}

/// A filter of sockets: of any other word than a state, an address or a port in digits, a name server may be asked.
pub(super) fn sockets<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    static WORDS: Names = Names::of(&[
        "state exclude all connected synchronized bucket big established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait",
        "closed close-wait last-ack listening closing sport dport src dst and or not = == != eq ne neq ge le gt lt >= <= > <",
    ]);
    let is_port = |port: &str| port == "*" || port.len() <= 5 && port.bytes().all(|b| b.is_ascii_digit());
    let is_host = |host: &str| {
        let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        matches!(host, "" | "*" | "[::]")
            || host.parse::<std::net::Ipv4Addr>().is_ok()
            || v6.is_some_and(|host| host.parse::<std::net::Ipv6Addr>().is_ok())
    };
    let is_number = |word: &str| match word.rsplit_once(':') {
        Some((host, port)) => is_host(host) && is_port(port),
        None => is_host(word) && !word.is_empty() || is_port(word),
    };
    line.operands.iter().all(|word| WORDS.has(word) || is_number(word)).then(Vec::new)
}

/// A number for the shell's own end.
pub(super) fn status<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    match line.operands.as_slice() {
        // Or how the command before ended.
        [] | ["$?"] => Some(Vec::new()),
        [number] if number.len() < 4 && number.bytes().all(|b| b.is_ascii_digit()) => Some(Vec::new()),
        _ => None,
    }
}

/// A pattern, unless one was given or only files or types are listed, then paths; the working directory when there is none.
pub(super) fn ripgrep<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    let lists = line.long.iter().any(|option| matches!(*option, "files" | "type-list"));
    let no_pattern = lists || line.of(&["e", "regexp"]).next().is_some();
    let paths = if no_pattern { line.operands.as_slice() } else { line.operands.get(1..)? };
    Some(if paths.is_empty() { vec!["."] } else { paths.to_vec() })
}

/// A script that only prints and edits the stream.
pub(super) fn sed<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    let given: Vec<&str> = line.of(&["e", "expression"]).collect();
    let (script, paths) = if given.is_empty() {
        let (script, paths) = line.operands.split_first()?;
        ((*script).to_owned(), paths)
    } else {
        (given.join("\n"), line.operands.as_slice())
    };
    (sed_script::script(&script)? == sed_script::Does::default()).then(|| paths.to_vec())
}

/// A program that opens nothing and runs nothing. Its operands can be assignments: those are not known. Nor are those of
/// `-v` to what awk itself goes by.
pub(super) fn awk<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    let (program, paths) = line.operands.split_first()?;
    if !line.of(&["v"]).all(assigns_plainly) {
        return None;
    }
    // `getline`, `system()`, `@include`, calls through a variable, the list of files, and files of translations.
    let opens = [
        "system",
        "getline",
        "@",
        "ARGV",
        "ARGC",
        "SYMTAB",
        "FUNCTAB",
        "extension",
        "textdomain",
        "gettext",
        "TEXTDOMAIN",
    ];
    // Times are told by `ENVIRON["TZ"]`, which can be set, to a file of a time zone.
    let zones =
        program.contains("ENVIRON") && ["strftime", "mktime"].iter().any(|part| program.contains(part));
    let quiet = !opens.iter().any(|part| program.contains(part)) && !zones && !redirects(program);
    (quiet && !paths.iter().any(|path| path.contains('='))).then(|| paths.to_vec())
}

/// Whether a variable is given a value that is the program's own, or one of those that say how text is split and joined:
/// gawk(1), "Built-in Variables". `TEXTDOMAIN` is a file of translations, and a name with `::` may be that, too.
fn assigns_plainly(assignment: &str) -> bool {
    const OF_TEXT: &[&str] = &[
        "FS",
        "OFS",
        "RS",
        "ORS",
        "NR",
        "NF",
        "FNR",
        "FPAT",
        "FIELDWIDTHS",
        "IGNORECASE",
        "SUBSEP",
        "CONVFMT",
        "OFMT",
    ];
    const BUILT_IN: &[&str] = &[
        "ARGC",
        "ARGIND",
        "ARGV",
        "BINMODE",
        "ENVIRON",
        "ERRNO",
        "FILENAME",
        "FUNCTAB",
        "LINT",
        "PREC",
        "PROCINFO",
        "RLENGTH",
        "ROUNDMODE",
        "RSTART",
        "RT",
        "SYMTAB",
        "TEXTDOMAIN",
    ];
    let Some((name, _)) = assignment.split_once('=') else { return false };
    let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name && (OF_TEXT.contains(&name) || !BUILT_IN.contains(&name))
}

/// Whether something in the program may be a pipe, or what `print` and `printf` are redirected with: a `>` that comes
/// after one of them. `>=` and `||` are operators wherever they stand, since the longest token counts (POSIX awk,
/// "Lexical Conventions" and "Output Statements").
fn redirects(program: &str) -> bool {
    let rest = program.replace("||", " ").replace(">=", " ");
    let prints = rest.find("print").map(|at| &rest[at..]);
    rest.contains('|') || prints.is_some_and(|behind| behind.contains('>'))
}

/// The same as the table says, once `--arg NAME VALUE` and `--argjson NAME VALUE` are taken out: jq 1.6 manual,
/// "Invoking jq". They only name text.
fn jq_with_values(arguments: &[String]) -> Option<KnownUse> {
    let mut kept = Vec::with_capacity(arguments.len());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--arg" | "--argjson" => {
                words.next()?;
                words.next()?;
            }
            "--indent" => kept.extend([word.clone(), words.next()?.clone()]),
            "--" => {
                kept.push(word.clone());
                kept.extend(words.by_ref().cloned());
            }
            _ => kept.push(word.clone()),
        }
    }
    table::entry("jq")?.read(&kept)
}

/// A filter that loads no modules.
pub(super) fn jq<'w>(line: &Line<'w>) -> Option<Vec<&'w str>> {
    let (filter, paths) = line.operands.split_first()?;
    let loads = ["import", "include", "modulemeta"];
    // As whole words: `.imports` and `.importance` are names.
    let mut words = filter.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    (!words.any(|word| loads.contains(&word))).then(|| paths.to_vec())
}
