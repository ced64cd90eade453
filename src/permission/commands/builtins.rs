//! Every builtin and keyword of bash 5.2, one by one, and what it does with its words.
//!
//! Source: the manual of bash 5.2; the section stands behind each.

/// What a builtin or keyword does, the worst of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// It changes at most when the shell ends, waits, or where a loop goes on.
    Harmless,
    /// It prints.
    Prints,
    /// It changes the directory that later words count from.
    Moves,
    /// It changes what later words mean or what later programs obey.
    ChangesMeaning,
    /// It evaluates words of its own: a subscript, an expression, a callback.
    Evaluates,
    /// It runs its words as a command.
    Runs,
    /// It runs the text of a file.
    Sources,
    /// It sets variables from its input.
    ReadsInput,
    /// It is part of a compound command, which only a parser can read.
    Structure,
}

use super::names::{Index, index};

use Does::{ChangesMeaning, Evaluates, Harmless, Moves, Prints, ReadsInput, Runs, Sources, Structure};

type Row = (&'static str, Does, &'static str);

const TABLE: &[Row] = &[
    (".", Sources, "4.1"),
    (":", Harmless, "4.1"),
    ("[", Evaluates, "4.1, 6.4: the subscript behind `-v`"),
    ("alias", ChangesMeaning, "4.2"),
    ("bg", Harmless, "7.2"),
    ("bind", Evaluates, "4.2: `-x`"),
    ("break", Harmless, "4.1"),
    ("builtin", Runs, "4.2"),
    ("caller", Prints, "4.2"),
    ("cd", Moves, "4.1"),
    ("command", Runs, "4.2"),
    ("compgen", Evaluates, "8.7: `-C`, `-F`, `-W`"),
    ("complete", ChangesMeaning, "8.7"),
    ("compopt", ChangesMeaning, "8.7"),
    ("continue", Harmless, "4.1"),
    ("declare", Evaluates, "4.2: subscripts, `-i`"),
    ("dirs", Prints, "6.8.1"),
    ("disown", Harmless, "7.2"),
    ("echo", Prints, "4.2"),
    ("enable", ChangesMeaning, "4.2: `-f` loads a library"),
    ("eval", Evaluates, "4.1"),
    ("exec", Runs, "4.1"),
    ("exit", Harmless, "4.1"),
    ("export", ChangesMeaning, "4.1"),
    ("false", Harmless, "4.1"),
    ("fc", Runs, "9.2"),
    ("fg", Harmless, "7.2"),
    ("getopts", Evaluates, "4.1: the name is assigned to"),
    ("hash", ChangesMeaning, "4.1: `-p`"),
    ("help", Prints, "4.2"),
    ("history", ChangesMeaning, "9.2: `-s`, `-p` expands"),
    ("jobs", Runs, "7.2: `-x`"),
    ("kill", Harmless, "7.2"),
    ("let", Evaluates, "4.2"),
    ("local", Evaluates, "4.2: subscripts, `-i`"),
    ("logout", Harmless, "4.2"),
    ("mapfile", Evaluates, "4.2: `-C`, subscripts"),
    ("popd", Moves, "6.8.1"),
    ("printf", Evaluates, "4.2: `-v`, `%n`"),
    ("pushd", Moves, "6.8.1"),
    ("pwd", Prints, "4.1"),
    ("read", ReadsInput, "4.2; a subscript is evaluated"),
    ("readarray", Evaluates, "4.2: as mapfile"),
    ("readonly", Evaluates, "4.1: subscripts"),
    ("return", Harmless, "4.1"),
    ("set", ChangesMeaning, "4.3.1"),
    ("shift", ChangesMeaning, "4.1: `$1` is another word then"),
    ("shopt", ChangesMeaning, "4.3.2"),
    ("source", Sources, "4.2"),
    ("suspend", Harmless, "7.2"),
    ("test", Evaluates, "4.1, 6.4: the subscript behind `-v`"),
    ("times", Prints, "4.1"),
    ("trap", Evaluates, "4.1"),
    ("true", Harmless, "4.1"),
    ("type", Prints, "4.2"),
    ("typeset", Evaluates, "4.2: as declare"),
    ("ulimit", Harmless, "4.2"),
    ("umask", Harmless, "4.1"),
    ("unalias", ChangesMeaning, "4.2"),
    ("unset", Evaluates, "4.1: subscripts"),
    ("wait", Evaluates, "7.2: `-p` assigns"),
    // Keywords: 3.2.3 to 3.2.6, 3.3.
    ("!", Structure, "3.2.3"),
    ("time", Runs, "3.2.3"),
    ("until", Structure, "3.2.5.1"),
    ("while", Structure, "3.2.5.1"),
    ("for", Structure, "3.2.5.1"),
    ("do", Structure, "3.2.5.1"),
    ("done", Structure, "3.2.5.1"),
    ("if", Structure, "3.2.5.2"),
    ("then", Structure, "3.2.5.2"),
    ("elif", Structure, "3.2.5.2"),
    ("else", Structure, "3.2.5.2"),
    ("fi", Structure, "3.2.5.2"),
    ("case", Structure, "3.2.5.2"),
    ("esac", Structure, "3.2.5.2"),
    ("in", Structure, "3.2.5.2"),
    ("select", Structure, "3.2.5.2"),
    ("[[", Evaluates, "3.2.5.2: arithmetic in `-eq`, and `-v`"),
    ("]]", Structure, "3.2.5.2"),
    ("{", Structure, "3.2.5.3"),
    ("}", Structure, "3.2.5.3"),
    ("coproc", Runs, "3.2.6"),
    ("function", ChangesMeaning, "3.3: a name means something else then"),
];

/// What the builtin or keyword does; `None` for other words.
pub(crate) fn does(word: &str) -> Option<Does> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |(name, ..)| [*name]));
    ROWS.get(word).map(|(_, does, _)| *does)
}

/// Whether the shell may be in another directory after this command: a program cannot move it.
pub(crate) fn may_move(name: &str) -> bool {
    !matches!(does(name), None | Some(Harmless | Prints))
}

impl Does {
    /// Whether no rule with a star may allow it, and deny has to look into its words.
    pub(crate) fn carries(self) -> bool {
        !matches!(self, Harmless | Prints | Moves)
    }
}

#[cfg(test)]
mod tests {
    use super::super::carriers::carried;
    use super::super::kind::{ProgramKind, kind};
    use super::*;

    /// What bash says of itself.
    #[expect(clippy::disallowed_methods, reason = "bash itself is what the table is held against")]
    fn of_bash(what: &str) -> Vec<String> {
        let script = format!("echo $BASH_VERSION; compgen {what}");
        let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (version, names) = text.split_once('\n').unwrap();
        assert!(version.starts_with("5."), "the table is that of bash 5.2, here is {version}");
        names.lines().map(str::to_owned).collect()
    }

    #[test]
    fn bash_has_no_builtin_or_keyword_that_the_table_lacks() {
        for name in of_bash("-b").iter().chain(&of_bash("-k")) {
            assert!(does(name).is_some(), "{name}");
        }
    }

    #[test]
    fn the_table_has_each_once_and_no_other() {
        let known: Vec<String> = of_bash("-b").into_iter().chain(of_bash("-k")).collect();
        for (at, (name, _, section)) in TABLE.iter().enumerate() {
            assert!(known.contains(&(*name).to_owned()), "{name}");
            assert!(!TABLE[..at].iter().any(|(other, ..)| other == name), "{name} twice");
            assert!(section.starts_with(|c: char| c.is_ascii_digit()), "{name}");
        }
    }

    #[test]
    fn what_carries_is_a_carrier_for_rules() {
        for (name, does, _) in TABLE {
            assert_eq!(kind(name) == ProgramKind::Carrier, does.carries(), "{name}");
        }
    }

    /// Each that runs, evaluates or sources is looked into: the command is found, or it is said that it is not told.
    #[test]
    fn each_that_carries_is_looked_into() {
        for (name, does, _) in TABLE.iter().filter(|(_, does, _)| does.carries()) {
            let line = |text: &str| {
                let words: Vec<String> =
                    std::iter::once(*name).chain(text.split(' ')).map(str::to_owned).collect();
                carried(&words)
            };
            let found = match *does {
                Runs if *name == "jobs" => line("-x rm"),
                Runs | Structure => line("rm x"),
                Sources => line("f"),
                _ => match *name {
                    "eval" | "trap" => line("rm x"),
                    "test" | "[" | "wait" | "printf" => {
                        line(&format!("-{} a[$(rm)]", if *name == "wait" { 'p' } else { 'v' }))
                    }
                    "getopts" => line("x a[$(rm)]"),
                    "alias" => line("ls=rm"),
                    "export" | "declare" | "typeset" | "local" | "readonly" => line("PATH=rm"),
                    "hash" => line("-p rm ls"),
                    "set" => line("-- rm"),
                    "shopt" => line("-s extglob"),
                    "history" => line("-s rm"),
                    "compgen" => line("-C rm"),
                    _ => line("a[$(rm)]"),
                },
            };
            let quiet = matches!(*name, "done" | "fi" | "esac" | "in" | "]]" | "}" | "shift");
            let looked_into =
                found.untold || found.guessed || !found.commands.is_empty() || !found.scripts.is_empty();
            assert!(looked_into || quiet, "{name}: {found:?}");
        }
    }

    #[test]
    fn what_carries_nothing_carries_nothing() {
        for (name, does, _) in TABLE.iter().filter(|(_, does, _)| !does.carries()) {
            let found = carried(&[(*name).to_owned(), "rm".to_owned()]);
            assert!(
                !found.untold && found.commands.is_empty() && found.scripts.is_empty(),
                "{name}: {does:?} {found:?}"
            );
        }
    }
}
