//! Programs that put together commands of their arguments and of what they find or read.
//!
//! Sources: findutils 4.9 find(1), xargs(1); fd(1) 8.6; GNU parallel(1); moreutils parallel(1); entr(1).

use super::options::{Line, Order};
use super::{Carried, Told, file_name, runs_arguments, takes_any_words};

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let told = match name {
        "find" => find(words, out),
        "fd" | "fdfind" => fd(words, out),
        "xargs" => xargs(words, out),
        "parallel" => parallel(words, out),
        _ => return None,
    };
    Some(told)
}

fn find(words: &[String], out: &mut Carried) -> Told {
    let mut rest = words;
    while let Some(at) =
        rest.iter().position(|w| matches!(w.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir"))
    {
        // Where it finds something, and that is not told.
        out.untold |= rest[at].ends_with("dir");
        rest = &rest[at + 1..];
        // `+` ends a command only behind `{}`.
        let ends = |at: &usize| {
            rest[*at] == ";"
                || (rest[*at] == "+" && at.checked_sub(1).is_some_and(|before| rest[before] == "{}"))
        };
        let end = (0..rest.len()).find(ends).unwrap_or(rest.len());
        template(&rest[..end], "{}", Values::Paths, out);
        rest = &rest[end..];
    }
    Told::All
}

fn fd(words: &[String], out: &mut Carried) -> Told {
    let starts = |word: &String| match word.strip_prefix("--") {
        Some(long) => long.starts_with("exec"),
        None => word.strip_prefix('-').is_some_and(|cluster| cluster.contains(['x', 'X'])),
    };
    if let Some(at) = words.iter().skip(1).position(starts).map(|at| at + 1) {
        if let Some((_, program)) = words[at].split_once('=') {
            out.open(&[program.to_owned()]);
            out.untold = true;
        }
        let rest = &words[at + 1..];
        let end = rest.iter().position(|w| w == ";").unwrap_or(rest.len());
        template(&rest[..end], "{", Values::Paths, out);
        // fd(1): the path is put behind a command without a placeholder.
        out.open(&rest[..end]);
        if words[at].starts_with('-') && !words[at].starts_with("--") {
            let attached = words[at].split_once(['x', 'X']).map_or("", |(_, program)| program);
            if !attached.is_empty() {
                out.open(&[attached.to_owned()]);
                out.untold = true;
            }
        }
    }
    Told::All
}

/// What comes in the place of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    /// Paths beneath those that are searched, so no option.
    Paths,
    /// Whatever is read.
    Any,
}

/// A command in which a mark stands for words that are not told.
fn template(words: &[String], mark: &str, values: Values, out: &mut Carried) {
    let first = words.iter().position(|w| w.contains(mark));
    match first {
        None => out.command(words),
        Some(0) => {
            out.untold = true;
            out.add(words, true);
        }
        Some(at) => {
            out.add(words, true);
            out.add(&words[..at], true);
            // What comes in the place of the mark is code, if the word is, or the name of a program.
            let name = file_name(&words[0]);
            let script = name == "sed" && words[1..at].iter().all(|word| word.starts_with('-'));
            let option = values == Values::Any && !takes_any_words(&words[..at]);
            out.untold |= words[at] != mark || runs_arguments(name) || script || option;
        }
    }
}

fn xargs(words: &[String], out: &mut Carried) -> Told {
    let spec = "0,null a,arg-file: d,delimiter: E: e,eof? I: i,replace? L: l,max-lines? n,max-args: P,max-procs: \
                o,open-tty p,interactive process-slot-var: r,no-run-if-empty s,max-chars: t,verbose x,exit \
                show-limits help version";
    let Ok(line) = Line::read(words, spec, Order::Stops) else { return Told::Anything };
    let command = line.from(0, words);
    let given = line.options.iter().rev().find(|o| o.name == "I" || o.name == "i");
    match given.map(|o| o.value.unwrap_or("{}")) {
        Some(mark) => template(command, mark, Values::Any, out),
        None => out.open(command),
    }
    out.exact = !command.is_empty();
    // The name of a variable for the slot.
    out.untold |= line.has("process-slot-var");
    Told::All
}

/// The words are joined and handed to a shell; without them, each line of the input is a command.
fn parallel(words: &[String], out: &mut Carried) -> Told {
    out.untold = true;
    let is_source = |w: &String| w.starts_with(":::") || w == "--";
    let end = words.iter().position(is_source).unwrap_or(words.len());
    let spec = "j,jobs: k,keep-order I: X m n,N,max-args: L: q,quote v t,verbose bar dry-run halt: eta P: will-cite 0,null \
                a,arg-file: C,colsep: u,ungroup line-buffer,lb tag timeout: retries: joblog: results: d,delimiter:";
    let Ok(line) = Line::read(&words[..end], spec, Order::Stops) else { return Told::Anything };
    let command = line.from(0, &words[..end]);
    out.script(command.join(" "));
    out.open(command);
    for word in words[end..].iter().filter(|w| !is_source(w)) {
        out.script(word.as_str());
        if !command.is_empty() {
            out.script(format!("{} {word}", command.join(" ")));
        }
    }
    Told::All
}
