//! What the builtins and keywords of bash run, evaluate or change (bash 5.2 manual; sections beside each).

use super::options::{Line, Order};
use super::{Carried, Told, is_harmless_variable, variables};

/// What the builtin `name` carries; `None` when it is none of those that carry.
pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let arguments = words.get(1..).unwrap_or_default();
    names(name, arguments, out)
        .or_else(|| runs(name, words, out))
        .or_else(|| assigns(name, words, out))
        .or_else(|| settings(name, arguments, out))
}

/// Those that give names another meaning, or take text.
fn names(name: &str, arguments: &[String], out: &mut Carried) -> Option<Told> {
    let told = match name {
        // 4.1 `.`; 4.2 `source`, `unalias` (which takes a meaning back), `enable`; 8.4, 8.7: keys and completions run.
        "." | "source" | "unalias" | "bind" | "complete" | "compopt" | "enable" => {
            out.untold |= !arguments.is_empty();
            Told::All
        }
        // 4.1.
        "eval" => {
            out.script(skip_dashes(arguments).join(" "));
            Told::All
        }
        "trap" => trap(arguments, out),
        "hash" => {
            out.untold |= arguments.iter().any(|w| cluster(w).contains('p'));
            Told::All
        }
        // 4.2.
        "alias" => {
            for word in arguments {
                if let Some((_, value)) = word.split_once('=') {
                    out.script(value);
                    out.untold = true;
                }
            }
            Told::All
        }
        _ => return None,
    };
    Some(told)
}

/// Those that run their words.
fn runs(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let arguments = words.get(1..).unwrap_or_default();
    let told = match name {
        // 4.1, 4.2.
        "exec" => options(words, "c l a:", out),
        "command" => match Line::read(words, "p v V", Order::Stops) {
            Ok(line) if line.has("v") || line.has("V") => Told::All,
            Ok(line) => run(line.from(0, words), out),
            Err(_) => Told::Anything,
        },
        "builtin" => run(skip_dashes(arguments), out),
        // 7.2: `jobs -x command`.
        "jobs" => match arguments.iter().position(|w| cluster(w).contains('x')) {
            Some(at) => run(&arguments[at + 1..], out),
            None => Told::All,
        },
        // 3.2: pipelines and compound commands.
        "time" => {
            options(words, "p,portability a,append f,format: o,output: q,quiet v,verbose V,version help", out)
        }
        "coproc" => {
            out.command(arguments);
            // `coproc NAME command`.
            out.command(arguments.get(1..).unwrap_or_default());
            Told::All
        }
        "!" | "{" | "(" | "if" | "then" | "elif" | "else" | "while" | "until" | "do" => run(arguments, out),
        "[[" | "((" | "for" | "case" | "select" | "function" => Told::Anything,
        _ => return None,
    };
    Some(told)
}

/// Those that assign, or evaluate a subscript or an expression.
fn assigns(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let arguments = words.get(1..).unwrap_or_default();
    let told = match name {
        // 4.1, 4.2.
        "export" | "readonly" | "declare" | "typeset" | "local" => declares(name, arguments, out),
        "unset" => subscripts(arguments, out),
        "getopts" => targets(arguments.iter().skip(1).take(1), out),
        // 4.1, `test`; 6.4: `-v` and `-R` take a variable, whose subscript is evaluated.
        "test" | "[" => {
            let asks = arguments.iter().any(|w| w == "-v" || w == "-R");
            if asks { subscripts(arguments, out) } else { Told::All }
        }
        "let" => {
            // A name in an expression is evaluated in its turn.
            out.untold |=
                arguments.iter().any(|w| w.contains(|c: char| c.is_alphabetic() || "_$`[".contains(c)));
            subscripts(arguments, out)
        }
        "printf" => match arguments {
            [option, ..] if option.starts_with("-v") => {
                let name = if option == "-v" { arguments.get(1) } else { Some(option) };
                targets(name.into_iter(), out)
            }
            _ => Told::All,
        },
        "read" => read(words, "a: d: e i: n: N: p: r s t: u:", "a", out),
        "mapfile" | "readarray" => read(words, "d: n: O: s: t u: C: c:", "C", out),
        // 7.2.
        "wait" => read(words, "f n p:", "p", out),
        _ => return None,
    };
    Some(told)
}

/// Those that set how the shell reads, completes or remembers.
fn settings(name: &str, arguments: &[String], out: &mut Carried) -> Option<Told> {
    let told = match name {
        // 4.3 Modifying Shell Behavior.
        "set" => {
            out.untold |= !sets_only_checks(arguments);
            Told::All
        }
        "shopt" => {
            out.untold |= arguments.iter().any(|w| cluster(w).contains(['s', 'u']));
            Told::All
        }
        // 8.7, 9.2: programmable completion, history.
        "compgen" => {
            let lists = matches!(arguments, [] | [_])
                && arguments.iter().all(|w| !cluster(w).contains(['C', 'F', 'W']));
            out.untold |= !lists;
            for word in arguments {
                out.script(word.as_str());
            }
            Told::All
        }
        "fc" => {
            out.untold |= !arguments.iter().any(|w| cluster(w).contains('l'));
            Told::All
        }
        "history" => {
            out.untold |= arguments.iter().any(|w| cluster(w).contains(['s', 'p', 'r', 'n']));
            Told::All
        }
        _ => return None,
    };
    Some(told)
}

fn run(words: &[String], out: &mut Carried) -> Told {
    out.command(words);
    out.exact = !words.is_empty();
    Told::All
}

fn options(words: &[String], spec: &'static str, out: &mut Carried) -> Told {
    match Line::read(words, spec, Order::Stops) {
        Ok(line) => run(line.from(0, words), out),
        Err(_) => Told::Anything,
    }
}

fn skip_dashes(words: &[String]) -> &[String] {
    words.strip_prefix(&["--".to_owned()]).unwrap_or(words)
}

/// The letters of a cluster of short options; empty for other words.
fn cluster(word: &str) -> &str {
    word.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default()
}

fn trap(arguments: &[String], out: &mut Carried) -> Told {
    match skip_dashes(arguments) {
        [first, ..] if matches!(first.as_str(), "-" | "-l" | "-p" | "-lp" | "-pl") => {}
        [action, ..] => out.script(action.as_str()),
        [] => {}
    }
    Told::All
}

/// `name=value` sets what later words and programs mean; a subscript is evaluated.
fn declares(builtin: &str, arguments: &[String], out: &mut Carried) -> Told {
    let exports = builtin == "export" || arguments.iter().any(|w| cluster(w).contains(['x', 'n', 'i']));
    for word in arguments.iter().filter(|w| !w.starts_with(['-', '+'])) {
        let Some((name, value)) = word.split_once('=') else {
            if word.contains('[') {
                subscripts(std::slice::from_ref(word), out);
            }
            continue;
        };
        let name = name.strip_suffix('+').unwrap_or(name);
        let own = !exports && variables::is_own_name(name);
        out.untold |= !own && !is_harmless_variable(name, value);
        if word.contains(['$', '`']) {
            out.script(word.as_str());
        }
    }
    Told::All
}

/// Words that name variables to be set or looked up: `a[$(x)]` runs x.
fn subscripts(words: &[String], out: &mut Carried) -> Told {
    for word in words.iter().filter(|w| w.contains(['[', '$', '`'])) {
        out.untold = true;
        out.script(word.as_str());
    }
    Told::All
}

/// Names that are assigned to.
fn targets<'w>(names: impl Iterator<Item = &'w String>, out: &mut Carried) -> Told {
    for name in names {
        out.untold |= !variables::is_own_name(name);
        if name.contains(['$', '`']) {
            out.script(name.as_str());
        }
    }
    Told::All
}

/// A builtin that reads into variables: its operands, and the value of the option `into`.
fn read(words: &[String], spec: &'static str, into: &str, out: &mut Carried) -> Told {
    let Ok(line) = Line::read(words, spec, Order::Stops) else {
        out.untold = true;
        return subscripts(words.get(1..).unwrap_or_default(), out);
    };
    if into == "C" {
        // The callback of mapfile is evaluated, with more words behind it.
        for callback in line.values("C") {
            out.untold = true;
            out.script(callback);
        }
    } else {
        let named: Vec<String> = line.values(into).map(str::to_owned).collect();
        targets(named.iter(), out);
        if into == "p" {
            return Told::All;
        }
    }
    targets(line.operand_words(words).iter(), out)
}

/// `set -euo pipefail`: it only decides when the shell stops, and what it shows.
fn sets_only_checks(arguments: &[String]) -> bool {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(letters) = word.strip_prefix(['-', '+']) else { return false };
        let checks = !letters.is_empty() && letters.chars().all(|c| "euxvEo".contains(c));
        if !checks {
            return false;
        }
        if letters.contains('o') {
            let name = words.next().map(String::as_str);
            if !matches!(name, None | Some("pipefail" | "errexit" | "nounset" | "xtrace" | "verbose")) {
                return false;
            }
        }
    }
    true
}
