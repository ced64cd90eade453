//! Programs one of whose subcommands runs the words behind it.
//!
//! Sources: npm-exec(1), npx(1), pnpm and yarn "exec" and "dlx", bun "x", uv "run" and "tool run", pipx(1),
//! poetry, pipenv, hatch "run", bundle-exec(1), rustup "run", docker-run(1), docker-exec(1), podman(1),
//! kubectl "exec", "run" and "debug", oc "rsh", conda "run", mise "exec", asdf "exec", cmake(1) "-E env", go "run", ip-netns(8),
//! ip-vrf(8), tox "exec", composer "exec", stack, cabal and dune "exec", opam "exec", rbenv(1) and its like, jj "util
//! exec", mix "cmd", meson "devenv", gem "exec", `dotnet exec`, gh "extension exec", pre-commit "try-repo".

use super::options::{Line, Order, Spec, Unknown};
use super::{Carried, Told};
use crate::permission::commands::names::{Index, Names, index};
use crate::permission::commands::programs::has;
use crate::permission::commands::{first_words, leading_out, operands};

struct Row {
    names: &'static str,
    /// Words behind which a command stands.
    runs: &'static str,
    /// The command stands right behind the program.
    at_once: bool,
    /// Words behind which code, a file or a package stands that is run: no star stands for what follows those either.
    code: &'static str,
    /// Operands in front of the command.
    skip: usize,
    /// The subcommand is the first operand: others may be called so too.
    first: bool,
    /// Options that may stand in front of the command and have no say in what it is, as [`Line::read`] takes them.
    options: Spec,
    /// Where there is a `--`, the command stands behind it, and options may stand anywhere before.
    dashes: bool,
}

const PLAIN: Row =
    Row { names: "", runs: "", at_once: false, code: "", skip: 0, first: false, options: "", dashes: false };

/// docs.docker.com, "docker container run", "docker container exec", "docker compose exec", "docker compose run";
/// podman-run(1), podman-exec(1). `--entrypoint` and `--health-cmd` run something of their own; `-l` and `--pull` have a value
/// in some of them alone.
const OF_CONTAINERS: Spec = "d,detach i,interactive t,tty T,no-TTY,no-tty rm init privileged P,publish-all,service-ports \
     read-only q,quiet quiet-pull quiet-build no-deps build remove-orphans use-aliases dry-run no-healthcheck replace \
     sig-proxy? a,attach: add-host: annotation: cap-add: cap-drop: cgroup-parent: cgroupns: cidfile: cpus: c,cpu-shares: \
     cpu-period: cpu-quota: cpuset-cpus: cpuset-mems: detach-keys: device: dns: dns-option: dns-search: domainname: \
     e,env: env-file: env-from-file: expose: gpus: group-add: h,hostname: index: ip: ip6: ipc: label: label-file: link: \
     log-driver: log-opt: mac-address: m,memory: memory-reservation: memory-swap: mount: name: network,net: \
     network-alias: oom-score-adj: pid: pids-limit: platform: pod: p,publish: restart: runtime: secret: \
     security-opt: shm-size: stop-signal: stop-timeout: sysctl: tmpfs: ulimit: u,user: userns: uts: v,volume: \
     volumes-from: w,workdir:";

/// kubernetes.io, "kubectl exec", "kubectl run" and their options for all commands. `--overrides` may name a command.
const OF_KUBECTL: Spec = "i,stdin t,tty q,quiet rm attach expose leave-stdin-open command privileged c,container: \
     n,namespace: context: cluster: user: s,server: request-timeout: pod-running-timeout: image: image-pull-policy: \
     restart: env: l,labels: annotations: port: dry-run? o,output: v:";

const TABLE: &[Row] = &[
    Row {
        names: "npx",
        at_once: true,
        options: "y,yes no q,quiet s,silent prefer-offline prefer-online p,package:",
        ..PLAIN
    },
    Row { names: "bunx", at_once: true, options: "bun silent p,package:", ..PLAIN },
    Row { names: "uvx", at_once: true, options: "q,quiet offline isolated from: with: p,python:", ..PLAIN },
    Row {
        names: "npm",
        runs: "exec x explore",
        options: "y,yes no q,quiet s,silent prefer-offline prefer-online package:",
        ..PLAIN
    },
    Row { names: "pnpm", runs: "exec dlx", options: "s,silent r,recursive package:", ..PLAIN },
    Row { names: "yarn", runs: "exec dlx", options: "q,quiet p,package:", ..PLAIN },
    Row { names: "bun", runs: "x exec", code: "-e --eval -p --print", ..PLAIN },
    Row { names: "deno", code: "eval run", ..PLAIN },
    // docs.astral.sh/uv, "CLI Reference". `--env-file` and `--directory` have a say.
    Row {
        names: "uv",
        runs: "run tool",
        options: "q,quiet v,verbose frozen locked no-sync offline isolated exact active no-project no-dev only-dev dev \
                  no-default-groups all-extras all-groups all-packages n,no-cache with: from: extra: no-extra: group: \
                  no-group: only-group: package: p,python:",
        ..PLAIN
    },
    Row { names: "pixi", runs: "run r", options: "q,quiet v,verbose frozen locked e,environment:", ..PLAIN },
    Row { names: "pipx", runs: "run", options: "q,quiet v,verbose no-cache spec: python:", ..PLAIN },
    Row { names: "poetry pipenv hatch pdm rye", runs: "run", ..PLAIN },
    // bundle's and tox's `e` are `exec`.
    Row { names: "bundle tox", runs: "exec e", ..PLAIN },
    Row { names: "composer cabal dune opam rbenv pyenv nodenv goenv jenv", runs: "exec", ..PLAIN },
    Row { names: "stack", runs: "exec", code: "eval ghc ghci runghc runhaskell script", ..PLAIN },
    Row { names: "gem dotnet gh", code: "exec", ..PLAIN },
    Row { names: "pre-commit", code: "try-repo", ..PLAIN },
    Row { names: "go", code: "run", ..PLAIN },
    Row { names: "rustup", runs: "run", skip: 1, ..PLAIN },
    Row {
        names: "docker",
        runs: "run exec create",
        code: "compose",
        skip: 1,
        options: OF_CONTAINERS,
        ..PLAIN
    },
    Row {
        names: "podman buildah",
        runs: "run exec create unshare",
        code: "compose",
        skip: 1,
        options: OF_CONTAINERS,
        ..PLAIN
    },
    Row {
        names: "docker-compose nerdctl",
        runs: "run exec create",
        skip: 1,
        options: OF_CONTAINERS,
        ..PLAIN
    },
    Row { names: "kubectl", runs: "exec run debug", skip: 1, options: OF_KUBECTL, dashes: true, ..PLAIN },
    Row { names: "oc", runs: "exec run debug rsh", skip: 1, options: OF_KUBECTL, dashes: true, ..PLAIN },
    // docs.conda.io, "conda run". `--cwd` runs it elsewhere.
    Row {
        names: "conda mamba micromamba",
        runs: "run",
        options: "n,name: p,prefix: s,no-capture-output,live-stream v,verbose",
        ..PLAIN
    },
    Row { names: "devbox", runs: "run", ..PLAIN },
    // direnv(1): the settings of that directory, which a person has to allow.
    Row { names: "direnv", runs: "exec", skip: 1, ..PLAIN },
    // nx.dev, "nx exec"; lerna.js.org, "lerna exec"; rushjs.io.
    Row { names: "nx lerna rush", runs: "exec", ..PLAIN },
    Row { names: "mise", runs: "exec x", dashes: true, ..PLAIN },
    Row { names: "asdf", runs: "exec", ..PLAIN },
    Row { names: "jj", runs: "exec", ..PLAIN },
    Row { names: "mix", runs: "cmd", code: "eval", ..PLAIN },
    Row { names: "meson", runs: "devenv", ..PLAIN },
    Row { names: "cmake", runs: "-E", skip: 1, ..PLAIN },
    // crates.io: cargo-watch, cargo-with, flamegraph, cargo-exec, cargo-bisect-rustc, cargo-foreach, cargo-workspaces,
    // cargo-eval.
    Row {
        names: "cargo",
        code: "watch with flamegraph exec bisect-rustc foreach workspaces ws eval",
        first: true,
        ..PLAIN
    },
    // Its words can be shortened.
    Row { names: "ip", runs: "exec exe ex e", skip: 1, ..PLAIN },
];

/// Programs that take a beginning of a subcommand for it: npm's lib/utils/cmd-list.js, Thor, Symfony's Console, cmdliner,
/// RubyGems' command manager.
static SHORTEN: Names = Names::of(&["npm bundle composer dune opam gem"]);

/// Whether the word is one of the subcommands, or so to say for the program. A beginning of several may be taken for any.
fn is_one_of(name: &str, subcommands: &[&str], word: &str) -> bool {
    let mut names = subcommands.iter().flat_map(|names| names.split_ascii_whitespace());
    let begins = |full: &str| word.len() > 1 && full.starts_with(word);
    has(subcommands, word) || SHORTEN.has(name) && names.any(begins)
}

/// Subcommands of pnpm and bun themselves (pnpm.io/cli, bun.sh/docs/cli), those of npm that pnpm hands on among them:
/// any other word is a script of the workspace, or a program that is found as a shell finds it.
static OWN: Names = Names::of(&[
    "access add adduser approve-builds audit bin bugs build c cache cat-file cat-index ci clean-install completion config",
    "create dedupe deploy deprecate dist-tag dlx docs doctor edit env exec explain fetch find-hash fund get help home i",
    "ignored-builds import info init install install-clean install-test it la ld licenses link list ll ln login logout",
    "ls m multi outdated owner pack patch patch-commit patch-remove ping pkg pm prefix profile prune publish rb rebuild",
    "recursive remove repl repo restart rm root run run-script s se search self-update server set set-script setup show",
    "star stars start stop store t team test token tst un uninstall unlink unpublish unstar up update upgrade v version",
    "view whoami why x xmas",
]);

/// Usual names of scripts that are those of programs, too.
static SCRIPTS: Names = Names::of(&["test start build install docs deploy watch format"]);

/// Tools of JavaScript that a workspace has in its `node_modules`: which `pnpm` and `yarn` are for.
static OF_NODE_MODULES: Names =
    Names::of(&["jest vitest tsc tsx ts-node eslint prettier vite webpack nodemon concurrently trunk"]);

/// Whether the program itself runs the operand as another one, with what follows: pnpm.io/cli ("pnpm exec", "in the
/// absence of a script"), bun.sh/docs/cli/run, classic.yarnpkg.com/cli/run, yarnpkg.com/cli/node.
fn is_run(name: &str, operand: &str) -> bool {
    match name {
        "pnpm" | "bun" => !OWN.has(operand),
        "yarn" => matches!(operand, "node" | "env"),
        _ => false,
    }
}

/// Where words stand that the program may run as another one by itself (`pnpm touch x`); behind `run`, where pnpm has
/// scripts alone, too.
fn run_at_once<'w>(name: &'w str, words: &'w [String]) -> impl Iterator<Item = usize> + 'w {
    let runs = move |at: usize| {
        let behind_run = name != "pnpm" && words[at] == "run";
        let at = at + usize::from(behind_run);
        let word = words.get(at)?;
        let run = if behind_run && name == "bun" { !SCRIPTS.has(word) } else { is_run(name, word) };
        run.then_some(at)
    };
    let is_value = |at: &usize| first_words::is_with_value(name, &words[at - 1]);
    first_words::places(words).into_iter().filter(move |at| !is_value(at)).filter_map(runs)
}

/// Whether a star may not stand for one of the words, since the program runs it, or what it is told: each word of which
/// `spelled` says no is one that the star stands for.
pub(in crate::permission::commands) fn runs_swallowed(
    name: &str,
    words: &[String],
    spelled: &dyn Fn(usize) -> bool,
) -> bool {
    let Some(row) = any_row(name) else { return false };
    if runs_a_starter(name, words, spelled) {
        return true;
    }
    // What the workspace has in it, scripts and tools, is what such a star is for; a system's program is not.
    let is_known = |word: &str| {
        word.contains('/') && (name != "bun" || leading_out::leads_out(word))
            || (super::runs_what_it_gets(word) || super::keeps_to_itself(word)) && !OF_NODE_MODULES.has(word)
    };
    if run_at_once(name, words)
        .any(|at| !spelled(at) && (words[at].contains('/') || at + 1 < words.len()) && is_known(&words[at]))
    {
        return true;
    }
    // `docker network create x`
    if operands::are_no_commands(words) {
        return false;
    }
    let is_runner = |word: &String| is_one_of(name, &[row.runs, row.code], word);
    let first = || {
        // `cargo +nightly watch`
        let skip = usize::from(words.get(1).is_some_and(|word| word.starts_with('+')));
        let places = first_words::places(words.get(skip..).unwrap_or_default());
        places.into_iter().map(|at| at + skip).find(|at| is_runner(&words[*at]))
    };
    let found = if row.first { first() } else { words.iter().skip(1).position(is_runner).map(|at| at + 1) };
    let Some(mut at) = found else { return false };
    // `docker compose` that is spelt out is docker-compose.
    if words[at] == "compose" && spelled(at) {
        return runs_swallowed("docker-compose", &words[at..], &|behind| spelled(at + behind));
    }
    // Behind the first such subcommand the arguments are those of what is run.
    while words.get(at + 1).is_some_and(is_runner) {
        at += 1;
    }
    !spelled(at) || !spelled(at + 1) || words.get(at + 1).is_some_and(|next| next.starts_with('-'))
}

/// Whether a star stands for the package of `npm init x` and its like, which runs `create-x` of the registry as `npm exec`
/// does: npm-init(1), pnpm.io/cli/create, yarnpkg.com/cli, bun.sh/docs/cli/bun-create.
fn runs_a_starter(name: &str, words: &[String], spelled: impl Fn(usize) -> bool) -> bool {
    if !matches!(name, "npm" | "pnpm" | "yarn" | "bun") {
        return false;
    }
    // npm's `in` is `install`.
    let starts = |word: &str| word != "in" && is_one_of(name, &["init innit create"], word);
    let Some(at) = first_words::places(words).into_iter().find(|at| starts(&words[*at])) else {
        return false;
    };
    let package = words.iter().skip(at + 1).position(|word| !word.starts_with('-')).map(|n| at + 1 + n);
    package.is_some_and(|package| !spelled(at) || !spelled(package))
}

/// Subcommands that begin a shell or a console, which runs what stands in its input (`poetry shell`, `bun repl`).
pub(super) static SHELLS: Names =
    Names::of(&["shell ssh enter console repl develop dbshell fsi utop ghci toplevel irb pry tinker"]);

/// Programs that run the words elsewhere than in the workspace: in a container, in a namespace.
static ELSEWHERE: Names = Names::of(&["docker podman buildah docker-compose nerdctl kubectl oc ip"]);

/// Places of the words that may be the program which a subcommand runs here (`uv run pytest`), for all that is known of
/// the options before it.
pub(in crate::permission::commands) fn run_by_subcommand(name: &str, words: &[String]) -> Vec<usize> {
    let Some(row) = any_row(name).filter(|_| !ELSEWHERE.has(name)) else { return Vec::new() };
    let is_runner = |word: &String| is_one_of(name, &[row.runs], word);
    let start = if row.at_once {
        0
    } else {
        let Some(mut at) = words.iter().skip(1).position(is_runner).map(|at| at + 1) else {
            return Vec::new();
        };
        while words.get(at + 1).is_some_and(is_runner) {
            at += 1;
        }
        at
    };
    first_words::places(&words[start..]).into_iter().map(|at| start + at + row.skip).collect()
}

/// Whether a command may stand among the words of the program.
pub(super) fn names(name: &str) -> bool {
    row(name).is_some()
}

fn row(name: &str) -> Option<&'static Row> {
    any_row(name).filter(|row| row.at_once || !row.runs.is_empty())
}

fn any_row(name: &str) -> Option<&'static Row> {
    static ROWS: Index<Row> = Index::new(|| index(TABLE, |row| row.names.split(' ')));
    ROWS.get(name).copied()
}

pub(super) fn look(name: &str, words: &[String], out: &mut Carried) -> Option<Told> {
    let row = row(name)?;
    super::by_option::look(name, words, out);
    // `npm install x`: a package of that name.
    if operands::are_no_commands(words) {
        return Some(Told::All);
    }
    run_at_once(name, words).for_each(|at| out.command(&words[at..]));
    let start = if row.at_once {
        1
    } else {
        let Some(at) = words.iter().skip(1).position(|w| is_one_of(name, &[row.runs], w)) else {
            out.untold |= words.iter().skip(1).any(|word| SHELLS.has(word));
            // A plug-in may run it (`kubectl node-shell x -- ls`).
            let behind = words.iter().position(|word| word == "--").filter(|_| row.dashes);
            out.command(behind.and_then(|at| words.get(at + 1..)).unwrap_or_default());
            return Some(Told::All);
        };
        at + 2
    };
    if let Some(at) = words.iter().skip(start).position(|w| w == "--") {
        out.command(&words[start + at + 1..]);
    }
    let Ok((own, command)) = behind_options(name, row, &words[start - 1..]) else {
        return Some(Told::Anything);
    };
    // Without a command many run a shell, or what stands in their input (npm-exec(1), npm-explore(1)).
    let explores = name == "npm" && is_one_of(name, &["explore"], &words[start - 1]);
    out.untold |= row.skip == 0 && command.len() <= usize::from(explores);
    if own.first().into_iter().chain(command.first()).any(|word| word.starts_with('-')) {
        return Some(Told::Anything);
    }
    out.command(command);
    if matches!(name, "ip" | "podman" | "buildah") {
        // `-all` stands in the place of a name; `podman unshare` has none.
        out.command(&[own, command].concat());
    }
    out.exact = !command.is_empty();
    Some(Told::All)
}

/// The operands of a runner and the command behind them, once its options are read.
fn behind_options<'w>(
    name: &str,
    row: &Row,
    words: &'w [String],
) -> Result<(&'w [String], &'w [String]), Unknown> {
    // `mise exec node@22 -- node x`, `kubectl exec pod -n x -- ls`
    if let Some(at) = words.iter().position(|word| word == "--").filter(|_| row.dashes) {
        let own = Line::read(&words[..at], row.options, Order::Permutes)?;
        // Of what mise is given there any number may be tools.
        let fits = row.skip == 0 || own.operands.len() == row.skip;
        return if fits { Ok((&[], &words[at + 1..])) } else { Err(Unknown) };
    }
    let line = Line::read(words, row.options, Order::Stops)?;
    let mut rest = line.from(0, words);
    // docs.npmjs.com, "config": an option that is on or off may be told so by the next word.
    let is_switch = |word: &String| matches!(word.as_str(), "true" | "false" | "null");
    if matches!(name, "npm" | "npx") && !line.options.is_empty() && rest.first().is_some_and(is_switch) {
        return Err(Unknown);
    }
    // `uv tool run x`: the runner is named twice.
    if row.skip == 0 && rest.first().is_some_and(|first| is_one_of(name, &[row.runs], first)) {
        rest = Line::read(rest, row.options, Order::Stops)?.from(0, rest);
    }
    Ok(rest.split_at(row.skip.min(rest.len())))
}
