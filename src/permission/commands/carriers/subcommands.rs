//! Programs one of whose subcommands runs the words behind it.
//!
//! Sources: npm-exec(1), npx(1), pnpm and yarn "exec" and "dlx", bun "x", uv "run" and "tool run", pipx(1),
//! poetry, pipenv, hatch "run", bundle-exec(1), rustup "run", docker-run(1), docker-exec(1), podman(1),
//! kubectl "exec" and "run", conda "run", mise "exec", asdf "exec", cmake(1) "-E env", go "run", ip-netns(8),
//! ip-vrf(8).

use super::{Carried, Told};
use crate::permission::commands::names::{Index, index};
use crate::permission::commands::operands;
use crate::permission::commands::programs::has;

struct Row {
    name: &'static str,
    /// Words behind which a command stands; empty: it stands right behind the program.
    runs: &'static str,
    /// Operands in front of the command.
    skip: usize,
}

const TABLE: &[Row] = &[
    Row { name: "npx", runs: "", skip: 0 },
    Row { name: "bunx", runs: "", skip: 0 },
    Row { name: "uvx", runs: "", skip: 0 },
    Row { name: "npm", runs: "exec x explore", skip: 0 },
    Row { name: "pnpm", runs: "exec dlx", skip: 0 },
    Row { name: "yarn", runs: "exec dlx", skip: 0 },
    Row { name: "bun", runs: "x exec", skip: 0 },
    Row { name: "uv", runs: "run tool", skip: 0 },
    Row { name: "pipx", runs: "run", skip: 0 },
    Row { name: "poetry", runs: "run", skip: 0 },
    Row { name: "pipenv", runs: "run", skip: 0 },
    Row { name: "hatch", runs: "run", skip: 0 },
    Row { name: "bundle", runs: "exec", skip: 0 },
    Row { name: "rustup", runs: "run", skip: 1 },
    Row { name: "docker", runs: "run exec", skip: 1 },
    Row { name: "podman", runs: "run exec", skip: 1 },
    Row { name: "docker-compose", runs: "run exec", skip: 1 },
    Row { name: "kubectl", runs: "exec run", skip: 1 },
    Row { name: "conda", runs: "run", skip: 0 },
    Row { name: "mamba", runs: "run", skip: 0 },
    Row { name: "mise", runs: "exec x", skip: 0 },
    Row { name: "asdf", runs: "exec", skip: 0 },
    Row { name: "devbox", runs: "run", skip: 0 },
    Row { name: "cmake", runs: "-E", skip: 1 },
    // Its words can be shortened.
    Row { name: "ip", runs: "exec exe ex e", skip: 1 },
];

/// Whether the table speaks of the program.
pub(super) fn names(name: &str) -> bool {
    row(name).is_some()
}

fn row(name: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| [row.name]));
    ROWS.get(name).copied()
}

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let row = row(name)?;
    super::by_option::look(name, words, out);
    // `npm install x`: a package of that name.
    if operands::are_no_commands(words) {
        return Some(Told::All);
    }
    let start = if row.runs.is_empty() {
        1
    } else {
        match words.iter().skip(1).position(|w| has(&[row.runs], w)) {
            Some(at) => at + 2,
            None => return Some(Told::All),
        }
    };
    let rest = words.get(start..).unwrap_or_default();
    if let Some(at) = rest.iter().position(|w| w == "--") {
        out.command(&rest[at + 1..]);
    }
    // `uv tool run x`: the runner is named twice.
    let rest = match rest {
        [first, after @ ..] if has(&[row.runs], first) => after,
        _ => rest,
    };
    match rest {
        [] => Some(Told::All),
        [first, ..] if first.starts_with('-') => Some(Told::Anything),
        _ => {
            let command = rest.get(row.skip..).unwrap_or_default();
            if command.first().is_some_and(|w| w.starts_with('-')) {
                return Some(Told::Anything);
            }
            out.command(command);
            if name == "ip" {
                // `-all` stands in the place of a name.
                out.command(rest);
            }
            out.exact = !command.is_empty();
            Some(Told::All)
        }
    }
}
