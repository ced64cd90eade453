//! Shells, and programs that hand one text to a shell.
//!
//! Sources: bash 5.2 manual, 6.1 "Invoking Bash"; dash(1); zshmisc(1); fish(1); util-linux 2.38 su(1), runuser(1),
//! script(1), flock(1); procps watch(1).

use super::options::{Line, Order};
use super::{Carried, Told};

/// Options of shells that take the next word as their value.
const VALUES: &[&str] =
    &["--rcfile", "--init-file", "--init-command", "--features", "--debug-output", "--profile"];
/// Long options of shells that have none.
const FLAGS: &[&str] = &[
    "--login",
    "--norc",
    "--noprofile",
    "--posix",
    "--restricted",
    "--verbose",
    "--noediting",
    "--debugger",
    "--interactive",
    "--no-config",
    "--private",
    "--no-rcs",
    "--emulate",
];

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let told = match name {
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "ksh93" | "mksh" | "fish" | "ash" | "hush" | "csh"
        | "tcsh" | "rbash" | "yash" | "posh" | "git-shell" => shell(words, out),
        "su" | "runuser" => su(name, words, out),
        "sg" => sg(words, out),
        // A shell that reads its input.
        "newgrp" => {
            out.untold = true;
            Told::All
        }
        "dpkg-architecture" => dpkg_architecture(words, out),
        "watch" => watch(words, out),
        "script" => script(words, out),
        "flock" => flock(words, out),
        _ => return None,
    };
    Some(told)
}

fn shell(words: &[String], out: &mut Carried) -> Told {
    let (mut at, mut runs_text, mut reads_input) = (1, false, false);
    while let Some(word) = words.get(at) {
        if matches!(word.as_str(), "--version" | "--help" | "--dump-strings" | "--dump-po-strings") {
            return Told::All;
        }
        if word == "--" || word == "-" {
            at += 1;
            break;
        }
        if word.starts_with("--") {
            let name = word.split('=').next().unwrap_or(word);
            if matches!(name, "--command") {
                if let Some((_, text)) = word.split_once('=') {
                    out.script(text);
                    return Told::All;
                }
                runs_text = true;
            } else if VALUES.contains(&name) {
                // A file or text that is run before all else.
                out.untold = true;
                at += usize::from(!word.contains('='));
            } else if !FLAGS.contains(&name) {
                return Told::Anything;
            }
        } else if let Some(letters) = word.strip_prefix(['-', '+']) {
            if !letters.chars().all(|c| c.is_ascii_alphabetic()) {
                // fish takes the text attached.
                if let Some((_, text)) = letters.split_once(['c', 'C']) {
                    out.script(text);
                }
                return Told::Anything;
            }
            runs_text |= word.starts_with('-') && letters.contains('c');
            // Interactive shells obey more files; `-C` is fish's text to run first.
            reads_input |= letters.contains(['s', 'i', 'C']);
            at += letters.chars().filter(|c| matches!(c, 'o' | 'O')).count();
        } else {
            break;
        }
        at += 1;
    }
    let operands = words.get(at..).unwrap_or_default();
    out.untold |= reads_input;
    match operands {
        [] => out.untold = true,
        [text, arguments @ ..] if runs_text => {
            out.script(text.as_str());
            // `sh -c '"$@"' sh rm x`.
            if text.contains('$') && !arguments.is_empty() {
                out.untold = true;
                out.guess(arguments);
            }
            out.exact = !out.untold;
        }
        // A script file: what it does with its arguments is not told here, as with any other program.
        [_, arguments @ ..] if !reads_input => out.guess(arguments),
        [..] => out.guess(operands),
    }
    Told::All
}

fn su(name: &str, words: &[String], out: &mut Carried) -> Told {
    let spec = "c,command: session-command: f,fast g,group: G,supp-group: l,login m,p,preserve-environment P,pty \
                s,shell: u,user: w,whitelist-environment: h,help V,version T,no-pty";
    let Ok(line) = Line::read(words, spec, Order::Permutes) else { return Told::Anything };
    if line.has("h") || line.has("V") {
        return Told::All;
    }
    let mut told = false;
    for text in line.values("c").chain(line.values("session-command")) {
        told = true;
        out.script(text);
    }
    for shell in line.values("s") {
        out.open(&[shell.to_owned()]);
    }
    // `runuser -u user [--] command`.
    if name == "runuser" && line.has("u") {
        told = true;
        out.command(line.from(0, words));
    }
    // Otherwise a shell that reads its input, and gets the operands behind the user.
    out.untold |= !told;
    // Options behind the user are the shell's: `su user -- -c 'x'`.
    let operands = line.operand_words(words);
    if let Some(at) = operands.iter().position(|w| w.starts_with("-c")) {
        operands[at..].iter().for_each(|w| out.script(w.as_str()));
        out.untold = true;
    }
    Told::All
}

/// sg(1) of shadow 4.13: what stands behind the group is one text for a shell.
fn sg(words: &[String], out: &mut Carried) -> Told {
    let behind = words.get(1..).unwrap_or_default();
    let behind = behind.strip_prefix(&["-".to_owned()]).unwrap_or(behind);
    match behind.get(1..).unwrap_or_default() {
        [option, text, ..] if option == "-c" => out.script(text.as_str()),
        [text, ..] if !text.starts_with('-') => out.script(text.as_str()),
        // A shell that reads its input.
        _ => out.untold = true,
    }
    Told::All
}

/// dpkg-architecture(1) of dpkg 1.21.
fn dpkg_architecture(words: &[String], out: &mut Carried) -> Told {
    let spec = "a,host-arch: t,host-type: A,target-arch: T,target-type: W,match-wildcard: B,match-bits: E,match-endian: \
                l,list e,equal: i,is: q,query: s,print-set u,print-unset c,command: f,force L,list-known print-format: \
                version ?,help";
    let Ok(line) = Line::read(words, spec, Order::Permutes) else { return Told::Anything };
    line.values("c").for_each(|text| out.script(text));
    Told::All
}

fn watch(words: &[String], out: &mut Carried) -> Told {
    let spec = "b,beep d,differences? e,errexit g,chgexit c,color C,no-color n,interval: p,precise q,equexit: \
                r,no-rerun t,no-title x,exec w,no-wrap h,help v,version";
    let Ok(line) = Line::read(words, spec, Order::Stops) else { return Told::Anything };
    let command = line.from(0, words);
    out.exact = !command.is_empty();
    if line.has("x") {
        out.command(command);
    } else {
        out.script(command.join(" "));
    }
    Told::All
}

fn script(words: &[String], out: &mut Carried) -> Told {
    let spec = "a,append c,command: E,echo: e,return f,flush force I,log-in: O,log-out: B,log-io: T,log-timing: \
                m,logging-format: o,output-limit: q,quiet t,timing? h,help V,version";
    let Ok(line) = Line::read(words, spec, Order::Permutes) else { return Told::Anything };
    line.values("c").for_each(|text| out.script(text));
    out.untold |= !line.has("c") && !line.has("h") && !line.has("V");
    Told::All
}

fn flock(words: &[String], out: &mut Carried) -> Told {
    let spec = "s,shared x,e,exclusive u,unlock n,nb,nonblock w,wait,timeout: E,conflict-exit-code: o,close \
                F,no-fork c,command: verbose h,help V,version";
    let Ok(line) = Line::read(words, spec, Order::Stops) else { return Told::Anything };
    line.values("c").for_each(|text| out.script(text));
    match line.from(1, words) {
        [option, text, ..] if option == "-c" || option == "--command" => out.script(text.as_str()),
        [first, ..] if first.starts_with('-') => return Told::Anything,
        command => out.command(command),
    }
    Told::All
}
