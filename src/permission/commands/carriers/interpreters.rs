//! Interpreters: code on the command line or from the input is not told; a script file is the workspace's code.
//!
//! Sources: the manuals of each language's program; gawk(1) 5.2, mawk(1); GNU sed 4.9; vim(1), less(1), man(1),
//! sqlite3(1), psql(1), mysql(1), m4(1), dc(1), ed(1), gdb(1).

use super::options::{Line, Order};
use super::{Carried, Told, sed};
use crate::permission::commands::{operands, programs};

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let told = match name {
        "psql" | "mysql" | "mariadb" | "vi" | "vim" | "nvim" | "emacs" | "nano" if only_informs(words) => {
            Told::All
        }
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => awk(words, out),
        "sed" | "gsed" => of_sed(words, out),
        "less" | "more" | "most" => pager(words, out),
        "man" => man(words, out),
        "sqlite3" => sqlite(words, out),
        "psql" | "mysql" | "mariadb" => database(words, out),
        // Commands of theirs come from the input, and those include `!command`.
        "m4" | "dc" | "ed" | "red" | "ex" | "vi" | "vim" | "vimdiff" | "view" | "nvim" | "emacs"
        | "emacsclient" | "nano" | "pico" | "joe" | "micro" | "info" | "gdb" | "lldb" | "expect" | "at"
        | "batch" | "ftp" | "lftp" | "telnet" | "mail" | "mailx" | "gnuplot" | "octave" | "bc" => {
            out.untold = true;
            words.iter().skip(1).for_each(|word| out.code(word));
            words.iter().skip(1).filter(|w| w.contains(' ')).for_each(|word| out.script(word.as_str()));
            Told::All
        }
        "rename" | "prename" | "file-rename" => renaming(words, out),
        "crontab" => {
            out.untold |= words.get(1..) != Some(&["-l".to_owned()]);
            Told::All
        }
        name if programs::INTERPRETERS.has(name.to_ascii_lowercase().as_str()) => interpreter(words, out),
        "wish" | "tclsh" | "osascript" => interpreter(words, out),
        _ => return None,
    };
    Some(told)
}

/// Options that only print: nothing is run with them.
const INFORMS: &[&str] = &["--version", "-V", "--help", "-VV", "-vV", "-version"];

/// Whether the program is only asked for its version or its options.
fn only_informs(words: &[String]) -> bool {
    matches!(words, [_, only] if only == "--version" || only == "--help")
}

fn interpreter(words: &[String], out: &mut Carried) -> Told {
    match words.get(1..).unwrap_or_default() {
        [only] if INFORMS.contains(&only.as_str()) || only == "-v" => {}
        [first, ..] if !first.starts_with(['-', '+', '@']) => {}
        [option, ..] if option != "-m" && operands::only_checks(words) => {}
        // `python3 -m pytest …`: a module, which is the workspace's code or an installed one.
        [option, module, rest @ ..] if option == "-m" && is_plain_module(module) => {
            let code = rest
                .iter()
                .zip(rest.iter().skip(1))
                .filter(|(option, _)| matches!(option.as_str(), "-c" | "-e"));
            // A file for most modules.
            let is_code = |text: &&String| text.contains(|c: char| c.is_whitespace() || "()'\";".contains(c));
            for text in code.map(|(_, text)| text).filter(is_code) {
                out.code(text);
            }
            out.untold |= super::by_option::takes_words_of_a_file(module, &words[1..]);
        }
        arguments => {
            out.untold = true;
            for word in arguments {
                out.code(word);
            }
        }
    }
    Told::All
}

/// Modules of Python's that take no code, but for what stands behind `-c`; a part of a package counts as the package.
pub(crate) fn is_plain_module(name: &str) -> bool {
    const EVALUATE: &[&str] = &[
        "timeit",
        "pdb",
        "trace",
        "profile",
        "cProfile",
        "runpy",
        "code",
        "doctest",
        "asyncio",
        "idlelib",
        "bdb",
        "pyrepl",
        "_pyrepl",
        "IPython",
        "ipython",
        "ipdb",
        "pudb",
        "bpython",
        "ptpython",
        "debugpy",
        "test",
        "turtledemo",
        "webbrowser",
        "antigravity",
    ];
    let package = name.split('.').next().unwrap_or(name);
    !package.is_empty() && !EVALUATE.contains(&package)
}

fn awk(words: &[String], out: &mut Carried) -> Told {
    let spec = "F,field-separator: v,assign: f,file: e,source: E,exec: i,include: l,load: b,characters-as-bytes \
                c,traditional C,copyright d,dump-variables? D,debug? g,gen-pot h,help I,trace L,lint? M,bignum \
                N,use-lc-numeric n,non-decimal-data o,pretty-print? O,optimize p,profile? P,posix r,re-interval \
                s,no-optimize S,sandbox t,lint-old V,version W:";
    let Ok(line) = Line::read(words, spec, Order::Stops) else { return Told::Anything };
    let from_files = ["f", "E", "i", "l", "D", "W"].iter().any(|o| line.has(o));
    out.untold |= from_files;
    let given: Vec<&str> = line.values("e").collect();
    let first = line.operands.first().map(|at| words[*at].as_str());
    let program = if given.is_empty() && !from_files { first } else { None };
    for text in given.into_iter().chain(program) {
        // `system()`, `print | "x"`, `"x" | getline`, `|&`, `@include`, and a call through a variable.
        // `||` is an operator wherever it stands.
        let rest = text.replace("||", " ");
        if ["system", "|", "getline", "@"].iter().any(|part| rest.contains(part)) {
            out.code(text);
        }
    }
    Told::All
}

fn of_sed(words: &[String], out: &mut Carried) -> Told {
    let spec = "n,quiet,silent debug e,expression: f,file: E,r,regexp-extended i,in-place? l,line-length: posix \
                s,separate sandbox u,unbuffered z,null-data b,binary follow-symlinks help version";
    let Ok(line) = Line::read(words, spec, Order::Permutes) else { return Told::Anything };
    out.untold |= line.has("f");
    let mut parts: Vec<&str> = line.values("e").collect();
    if parts.is_empty() && !line.has("f") {
        parts.extend(line.operands.first().map(|at| words[*at].as_str()));
    }
    let text = parts.join("\n");
    match sed::script(&text) {
        Some(does) if !does.runs => {}
        _ => {
            out.untold = true;
            // `e command`, on a line of its own or behind other commands.
            for part in text.split(['\n', ';', '{']) {
                let command =
                    part.trim_start_matches(|c: char| c != 'e').strip_prefix('e').unwrap_or_default();
                out.script(command.trim());
            }
            out.code(&text);
        }
    }
    Told::All
}

/// rename(1) of Perl takes code, and a replacement in it can hold some; that of util-linux takes two plain words.
fn renaming(words: &[String], out: &mut Carried) -> Told {
    let arguments = words.get(1..).unwrap_or_default();
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || "_-. ".contains(c));
    let edits =
        |word: &str| sed::script(word) == Some(sed::Does::default()) && !word.contains(['$', '@', '(', '`']);
    let code = arguments.iter().find(|word| !word.starts_with('-'));
    if arguments.iter().any(|word| word.starts_with('-') && word.contains(['e', 'E', 'f']))
        || code.is_some_and(|word| !plain(word) && !edits(word))
    {
        for word in arguments {
            out.code(word);
        }
    }
    Told::All
}

fn pager(words: &[String], out: &mut Carried) -> Told {
    // `+!command`, a file of keys, a prompt.
    for word in words.iter().skip(1).filter(|w| w.starts_with(['+', '-'])) {
        let plain = word.strip_prefix('-').is_some_and(|cluster| {
            !cluster.is_empty() && cluster.chars().all(|c| "eEFgGiIJKmMnNqQrRsSuUwWXx~0123456789".contains(c))
        });
        if !plain {
            out.untold = true;
            out.script(word.trim_start_matches(['+', '-', '!']));
        }
    }
    Told::All
}

fn man(words: &[String], out: &mut Carried) -> Told {
    for (at, word) in words.iter().enumerate().skip(1).filter(|(_, w)| w.starts_with('-')) {
        let plain = matches!(
            word.as_str(),
            "-f" | "-k"
                | "-w"
                | "-W"
                | "-a"
                | "-K"
                | "--where"
                | "--path"
                | "--whatis"
                | "--apropos"
                | "--all"
        );
        if !plain {
            // A pager, browser or preprocessor, attached or in the next word.
            out.untold = true;
            out.script(word.split_once('=').map_or(word.get(2..).unwrap_or_default(), |(_, value)| value));
            words.get(at + 1).into_iter().for_each(|next| out.script(next.as_str()));
        }
    }
    Told::All
}

fn sqlite(words: &[String], out: &mut Carried) -> Told {
    let plain = |w: &String| {
        matches!(
            w.as_str(),
            "-readonly"
                | "-json"
                | "-csv"
                | "-header"
                | "-noheader"
                | "-line"
                | "-list"
                | "-column"
                | "-table"
                | "-box"
                | "-markdown"
                | "-batch"
                | "-safe"
                | "-bail"
        )
    };
    let operands: Vec<&String> = words.iter().skip(1).filter(|w| !plain(w)).collect();
    // Without SQL it reads its input; a line with a dot can run a program, and so can an extension.
    let quiet =
        |w: &&&String| !w.starts_with(['.', '-']) && !w.contains("\n.") && !w.contains("load_extension");
    if operands.len() < 2 || operands.iter().filter(quiet).count() < operands.len() {
        out.untold = true;
        for word in operands {
            out.script(word.trim_start_matches(".shell").trim_start_matches(".system").trim());
            out.code(word);
        }
    }
    Told::All
}

fn database(words: &[String], out: &mut Carried) -> Told {
    let told = words
        .iter()
        .any(|w| ["-c", "-e", "-l", "--command", "--execute", "--list"].iter().any(|o| w.starts_with(o)));
    let escapes =
        |w: &String| w.contains('\\') || w.to_ascii_lowercase().contains("program") || w.starts_with("-f");
    if !told || words.iter().skip(1).any(escapes) {
        out.untold = true;
        for word in words.iter().skip(1) {
            out.code(word);
            out.script(word.trim_start_matches("\\!").trim());
        }
    }
    Told::All
}
