//! Programs that run a command elsewhere, or in a terminal of their own.
//!
//! Sources: OpenSSH 9.2 ssh(1), scp(1), sftp(1), ssh_config(5); sshpass(1); tmux(1) 3.3; screen(1).

use super::options::{Line, Order};
use super::{Carried, Told};

/// Subcommands of tmux that run nothing.
const TMUX_QUIET: &[&str] = &[
    "ls",
    "list-sessions",
    "lsw",
    "list-windows",
    "lsp",
    "list-panes",
    "lsc",
    "list-clients",
    "has",
    "has-session",
    "kill-session",
    "kill-server",
    "kill-window",
    "killw",
    "kill-pane",
    "killp",
    "capture-pane",
    "capturep",
    "display-message",
    "show-options",
    "show-environment",
    "list-keys",
    "lsk",
    "info",
    "-V",
];

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let told = match name {
        "ssh" | "slogin" => ssh(words, out),
        "scp" | "sftp" => copy(name, words, out),
        "tmux" => tmux(words, out),
        _ => return None,
    };
    Some(told)
}

fn ssh(words: &[String], out: &mut Carried) -> Told {
    let spec = "4 6 A a C f G g K k M N n q s T t V v X x Y y B: b: c: D: E: e: F: I: i: J: L: l: m: O: o: p: P: Q: R: S: \
                W: w:";
    let Ok(first) = Line::read(words, spec, Order::Stops) else { return Told::Anything };
    configured(&first, out);
    if first.has("V") || first.has("Q") || first.has("G") || first.has("O") {
        return Told::All;
    }
    // ssh reads options behind the host as well.
    let behind = first.from(0, words);
    let Ok(second) = Line::read(behind, spec, Order::Stops) else { return Told::Anything };
    configured(&second, out);
    let command = second.from(0, behind);
    if command.is_empty() {
        // A shell over there that reads what comes in.
        out.untold |= !first.has("N") && !second.has("N");
    } else {
        out.script(command.join(" "));
    }
    Told::All
}

/// Options of OpenSSH that name files to obey, or commands (ssh_config(5)).
fn configured(line: &Line<'_>, out: &mut Carried) {
    out.untold |= ["F", "I", "S", "P"].iter().any(|o| line.values(o).any(|value| value != "none"));
    for option in line.values("o") {
        let (key, value) = option.split_once(['=', ' ']).unwrap_or((option, ""));
        let key = key.trim().to_ascii_lowercase();
        let names_a_program =
            ["command", "program", "helper", "include", "match", "provider", "xauthlocation"];
        if names_a_program.iter().any(|part| key.contains(part)) {
            out.untold = true;
            out.script(value.trim());
        }
    }
}

fn copy(name: &str, words: &[String], out: &mut Carried) -> Told {
    let spec = if name == "scp" {
        "3 4 6 A B C O p q R r s T v c: D: F: i: J: l: o: P: S: X:"
    } else {
        "4 6 A a C f N p q r v B: b: c: D: F: i: J: l: o: P: R: S: s: X:"
    };
    let Ok(line) = Line::read(words, spec, Order::Permutes) else { return Told::Anything };
    for program in line.values("S").chain(line.values("D")) {
        out.script(program);
        out.untold = true;
    }
    // sftp obeys what it reads, `!command` too.
    out.untold |= name == "sftp" || line.has("F");
    for option in line.values("o") {
        let given = ["-o".to_owned(), option.to_owned()];
        let words: Vec<String> = std::iter::once("ssh".to_owned()).chain(given).collect();
        if let Ok(line) = Line::read(&words, "o:", Order::Stops) {
            configured(&line, out);
        }
    }
    Told::All
}

fn tmux(words: &[String], out: &mut Carried) -> Told {
    let spec = "2 C D l N u v V c: f: L: S: T:";
    let Ok(line) = Line::read(words, spec, Order::Stops) else { return Told::Anything };
    out.untold |= line.has("f");
    line.values("c").for_each(|text| out.script(text));
    let subcommand = line.from(0, words);
    let quiet = subcommand.first().is_some_and(|sub| TMUX_QUIET.contains(&sub.as_str()));
    // Several commands may follow, with `;` between them.
    if line.has("V") || (quiet && !subcommand.iter().any(|w| w.contains([';', '#']))) {
        return Told::All;
    }
    // A shell is started, or keys and text go to one.
    subcommand.iter().skip(1).for_each(|word| out.script(word.as_str()));
    Told::Anything
}
