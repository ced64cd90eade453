//! What programs with subcommands are called, and what their subcommands are.
//!
//! Sources: npm 10 (docs.npmjs.com, "npm" and each command's "Alias"; names can be shortened to what tells them apart:
//! lib/utils/cmd-list.js); the Cargo book, "Cargo Commands"; docs.docker.com; kubernetes.io; helm.sh; cli.github.com; GNU
//! make's manual, "Goals"; Gradle's, "Command-Line Interface: Name Abbreviation"; the manuals of the others.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::super::super::commands::kind::{base_name, is_interpreter};
use super::super::super::commands::names::Names;
use super::super::super::lexical::file_name;

/// Programs that take options in front of a subcommand. Git's are known one by one.
static TAKE_OPTIONS: Names = Names::of(&[
    "git npm pnpm yarn bun deno cargo rustup docker docker-compose podman nerdctl kubectl oc helm gh glab hub terraform tofu",
    "terragrunt pip pipx poetry uv pdm hatch conda mamba gem bundle composer dotnet twine go make gmake just task rake systemctl",
    "apt apt-get aptitude dnf yum zypper apk pacman snap flatpak brew hg svn jj aws gcloud az heroku fly flyctl vercel",
    "netlify firebase wrangler supabase pulumi serverless sls railway doctl ansible-galaxy vagrant minikube kind argocd",
    "flux skopeo crane oras rails mix wp drush artisan psql redis-cli vault consul nomad op rclone restic borg zfs zpool",
    "ip nmcli virsh lxc incus machinectl loginctl journalctl launchctl yarnpkg podman-compose npm-cli",
    "mvn mvnw gradle gradlew ant sbt lein invoke inv doit scons ninja grunt gulp nx turbo tox nox",
]);

/// Those whose operands are targets, one beside the other.
static TAKE_TARGETS: Names = Names::of(&[
    "make just task rake rails mvn gradle ant sbt lein mix invoke doit scons ninja grunt gulp turbo nx",
]);

/// Subcommands that run another one of the same program (cargo-watch: `-x`; cargo-hack; `yarn workspace NAME`).
const PASS_ON: &[(&str, &str)] = &[
    ("cargo", "watch"),
    ("cargo", "hack"),
    ("cargo", "auditable"),
    ("cargo", "llvm-cov"),
    ("yarn", "workspace"),
];

/// Programs that run a project's script by its name alone as they do behind `run`; npm does so with some.
static RUN_BY_NAME: Names = Names::of(&["npm pnpm yarn bun turbo"]);
const BY_NAME_OF_NPM: [&str; 4] = ["test", "start", "stop", "restart"];

/// What runs the script that it is given, besides interpreters.
static RUN_SCRIPTS: Names = Names::of(&["source . yash posh deno bun uv poetry pdm hatch pipenv coverage"]);

/// What fetches a package and runs its program.
const RUNNERS: &[&[&str]] = &[
    &["npx"],
    &["pnpx"],
    &["bunx"],
    &["uvx"],
    &["npm", "exec"],
    &["npm", "x"],
    &["pnpm", "dlx"],
    &["pnpm", "exec"],
    &["yarn", "dlx"],
    &["yarn", "exec"],
    &["bun", "x"],
    &["pipx", "run"],
    &["uv", "tool", "run"],
];

/// Programs that most call otherwise, and the subcommand that stands in their name.
const PROGRAMS: &[(&str, &str, Option<&str>)] = &[
    ("yarnpkg", "yarn", None),
    ("gmake", "make", None),
    ("remake", "make", None),
    ("bmake", "make", None),
    ("mingw32-make", "make", None),
    ("mvnw", "mvn", None),
    ("mvnd", "mvn", None),
    ("mvnDebug", "mvn", None),
    ("rake", "rails", None),
    ("cargo-watch", "cargo", None),
    ("cargo-hack", "cargo", None),
    ("gradlew", "gradle", None),
    ("inv", "invoke", None),
    ("npm-cli", "npm", None),
    ("docker-compose", "docker", Some("compose")),
    ("podman-compose", "podman", Some("compose")),
];

/// Commands of npm, for what is shortened.
static OF_NPM: Names = Names::of(&[
    "access adduser approve-scripts audit bugs cache ci completion config dedupe deny-scripts deprecate diff dist-tag",
    "docs doctor edit exec explain explore find-dupes fund get help help-search hook init install install-ci-test",
    "install-scripts install-test link ll login logout ls org outdated owner pack ping pkg prefix profile prune publish",
    "query rebuild repo restart root run sbom search set shrinkwrap stage star stars start stop team test token trust",
    "undeprecate uninstall unpublish unstar update version view whoami",
]);

/// Every name that npm knows, in order, with the command that it stands for.
static ALL_OF_NPM: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let of_it = ALIASES.iter().filter(|(of, ..)| *of == "npm");
    let aliases = of_it.flat_map(|(_, names, whole)| names.split(' ').map(|alias| (alias, *whole)));
    let mut all: Vec<_> = OF_NPM.all().map(|name| (name, name)).chain(aliases).collect();
    all.sort_unstable();
    all
});

/// Other names of subcommands.
const ALIASES: &[(&str, &str, &str)] = &[
    ("npm", "add i in ins inst insta instal isnt isnta isntal isntall", "install"),
    ("npm", "un unlink remove rm r", "uninstall"),
    ("npm", "u up upgrade udpate", "update"),
    ("npm", "run-script rum urn", "run"),
    ("npm", "x", "exec"),
    ("npm", "create innit", "init"),
    ("npm", "c", "config"),
    ("npm", "t tst", "test"),
    ("npm", "author", "owner"),
    ("npm", "home", "docs"),
    ("npm", "issues", "bugs"),
    ("npm", "info show v", "view"),
    ("npm", "find s se", "search"),
    ("npm", "list la", "ls"),
    ("npm", "ln", "link"),
    ("npm", "rb", "rebuild"),
    ("npm", "it", "install-test"),
    ("npm", "cit sit clean-install-test", "install-ci-test"),
    ("npm", "ddp", "dedupe"),
    ("npm", "why", "explain"),
    ("npm", "verison", "version"),
    ("npm", "ogr", "org"),
    ("npm", "hlep", "help"),
    ("npm", "add-user", "adduser"),
    ("npm", "dist-tags", "dist-tag"),
    ("npm", "clean-install ic install-clean isntall-clean", "ci"),
    ("git", "stage", "add"),
    ("gh", "ext extensions", "extension"),
    ("gh", "cs", "codespace"),
    ("pnpm", "i", "install"),
    // With a package behind it.
    ("pnpm", "i install", "add"),
    ("bun", "i", "install"),
    ("bun", "i install", "add"),
    ("bun", "a", "add"),
    ("bun", "rm", "remove"),
    ("pnpm", "rm un uninstall", "remove"),
    ("pnpm", "up upgrade", "update"),
    ("pnpm", "run-script", "run"),
    ("cargo", "b", "build"),
    ("cargo", "c", "check"),
    ("cargo", "d", "doc"),
    ("cargo", "t", "test"),
    ("cargo", "r", "run"),
    ("cargo", "rm", "remove"),
    ("helm", "del delete un", "uninstall"),
    ("bundle", "e exe", "exec"),
    ("composer", "req r", "require"),
    ("composer", "rm uninstall", "remove"),
    ("composer", "i", "install"),
    ("composer", "u upgrade", "update"),
    ("rails", "d", "destroy"),
    ("rails", "g", "generate"),
    ("rails", "r", "runner"),
    ("rails", "c", "console"),
    ("rails", "s", "server"),
    ("pulumi", "update", "up"),
    ("pulumi", "down dn", "destroy"),
    ("pm2", "del", "delete"),
    ("dnf", "erase rm", "remove"),
    ("dnf", "in", "install"),
    ("yum", "erase", "remove"),
    ("zypper", "rm", "remove"),
    ("zypper", "in", "install"),
    ("apt", "purge autoremove", "remove"),
    ("apt-get", "purge autoremove", "remove"),
    ("brew", "rm remove", "uninstall"),
    ("hg", "ci", "commit"),
    ("svn", "ci", "commit"),
    ("svn", "del remove rm", "delete"),
];

/// What a rule speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::permission) enum Meant<'r> {
    /// A program, as most call it, and the subcommand that stands in its name.
    Program(&'r str, Option<&'static str>),
    /// A script, whose path is the first name.
    Script,
}

/// What the words of a rule may be meant for: each with the place of the first name behind it.
pub(in crate::permission) fn readings<'r>(words: &[&'r str]) -> Vec<(Meant<'r>, usize)> {
    let Some((program, rest)) = words.split_first() else { return Vec::new() };
    let mut found = Vec::new();
    let mut add =
        |(name, subcommand): (&'r str, _), behind| found.push((Meant::Program(name, subcommand), behind));
    if let Some(named) = self::program(program, |name| TAKE_OPTIONS.has(name)) {
        add(named, 1);
        let by_name = |script: &str| named.0 != "npm" || BY_NAME_OF_NPM.contains(&script);
        match rest {
            _ if !RUN_BY_NAME.has(named.0) || named.1.is_some() => {}
            ["run" | "run-script", script, ..] if by_name(script) => add((named.0, None), 2),
            [script, ..] if !script.starts_with('-') && by_name(script) => add((named.0, Some("run")), 1),
            _ => {}
        }
    } else if let [name, ..] = rest
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !runs_scripts(program)
        && !program.contains('/')
    {
        // What a rule says of it reads like a subcommand.
        add(usual(plain(program)), 1);
    }
    let runner = RUNNERS.iter().filter(|runner| words.starts_with(runner)).map(|runner| runner.len()).next();
    if let Some(behind) = runner {
        let skipped =
            words.iter().skip(behind).take_while(|word| matches!(**word, "-y" | "--yes" | "--")).count();
        let at = behind + skipped;
        // What is fetched as a package is the program of that name, however it is run.
        let is_package =
            |word: &&&str| !word.starts_with('-') && (word.starts_with('@') || !word.contains('/'));
        if let Some(package) = words.get(at).filter(is_package) {
            add(usual(plain(package)), at + 1);
        }
    }
    if let ["-m", module, ..] = rest
        && is_python(program)
        && TAKE_OPTIONS.has(module)
    {
        add(usual(module), 3);
    }
    if program.contains('/') {
        found.push((Meant::Script, 0));
    } else if runs_scripts(program) && rest.first().is_some_and(|script| !script.starts_with('-')) {
        found.push((Meant::Script, 1));
    }
    found
}

/// The program that a word names, of those that are known: as most call it and whatever its version (`npm@10`, `pip3.11`,
/// `twine==5`), with the subcommand that stands in its name.
pub(super) fn program(word: &str, known: impl Fn(&str) -> bool) -> Option<(&str, Option<&'static str>)> {
    let named = usual(base_name(word));
    if known(named.0) {
        return Some(named);
    }
    Some(usual(plain(word))).filter(|(name, _)| known(name))
}

/// The program's name as most call it, and the subcommand that stands in it.
fn usual(name: &str) -> (&str, Option<&'static str>) {
    let other = PROGRAMS.iter().find(|(other, ..)| *other == name);
    other.map_or((name, None), |(_, usual, subcommand)| (*usual, *subcommand))
}

/// The name of a program without its version, of a package or module without where it comes from.
fn plain(word: &str) -> &str {
    let word = word.strip_suffix("/__main__.py").unwrap_or(word);
    let name = base_name(word);
    let name = name.strip_prefix("npm:").or_else(|| name.strip_prefix("jsr:")).unwrap_or(name);
    let own = [".__main__", ".__pip-runner__"].iter().find_map(|module| name.strip_suffix(module));
    let name = without_ending(own.unwrap_or(name));
    let version = |byte: u8| matches!(byte, b'@' | b'=' | b'<' | b'>' | b'~' | b'!' | b'[');
    let name = name.bytes().skip(1).position(version).map_or(name, |at| name.get(..=at).unwrap_or(name));
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Whether the program runs a script that it is given.
pub(in super::super) fn runs_scripts(word: &str) -> bool {
    RUN_SCRIPTS.has(word) || is_interpreter(word)
}

pub(super) fn is_python(program: &str) -> bool {
    matches!(base_name(program), "python" | "pypy")
}

/// What a name is that stands at one place of rules, and so which words may stand for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// A subcommand of this program.
    Subcommand(String),
    /// A goal of this program, one of many.
    Goal(String),
    /// The path of a script.
    Script,
    /// Any other.
    Further,
}

impl Name {
    /// What stands first behind a program.
    pub(super) fn behind(program: &str) -> Self {
        let of_it = if TAKE_TARGETS.has(program) { Self::Goal } else { Self::Subcommand };
        of_it(program.to_owned())
    }

    /// Whether several may stand there, one beside the other.
    pub(super) fn are_many(&self) -> bool {
        matches!(self, Self::Goal(_))
    }

    /// Whether what is meant may stand behind the word, which is a subcommand itself.
    pub(super) fn passes_on(&self, word: &str) -> bool {
        match self {
            Self::Subcommand(program) => PASS_ON.contains(&(program, word)),
            // `uv run x.py`, `coverage run x.py`
            Self::Script => word == "run",
            Self::Goal(_) | Self::Further => false,
        }
    }

    /// By what a name, or a word, is found: those that have one in common may mean the same.
    pub(super) fn keys<'w>(&self, word: &'w str) -> Vec<Cow<'w, str>> {
        match self {
            Self::Subcommand(program) => {
                // `cargo watch -x 'publish --locked'`
                let word = word.split_whitespace().next().unwrap_or_default();
                let wholes = whole_names(program, word).into_iter().map(Cow::Borrowed);
                std::iter::once(Cow::Borrowed(word)).chain(wholes).collect()
            }
            Self::Goal(program) => {
                let set = set_by(word).filter(|(variable, _)| variable.starts_with(".DEFAULT_GOAL"));
                let goals = set.map_or(word, |(_, goal)| goal);
                // `sbt 'clean;publish'`, `mix do a, b`
                let parts = goals.split([';', ',', ' ']).filter(|part| *part != goals && !part.is_empty());
                std::iter::once(goals).chain(parts).flat_map(|goal| goal_keys(program, goal)).collect()
            }
            Self::Script => vec![without_ending(file_name(word)).into()],
            Self::Further => further_keys(word),
        }
    }

    /// Whether the word may stand for any name, by its keys or not.
    pub(super) fn may_be_any(&self, word: &str) -> bool {
        match self {
            Self::Goal(program) => {
                // Make puts a variable's name together as it does values.
                program == "gradle" || set_by(word).is_some_and(|(variable, _)| variable.contains('$'))
            }
            _ => false,
        }
    }

    /// Whether a word that is found may stand for the name.
    pub(super) fn fits(&self, name: &str, word: &str) -> bool {
        match self {
            Self::Script => may_be_the_same(name, word),
            Self::Goal(program) if program == "gradle" => is_short_for(word, name),
            _ => true,
        }
    }
}

/// What one goal may be called.
fn goal_keys<'w>(program: &str, goal: &'w str) -> Vec<Cow<'w, str>> {
    // A goal's arguments stand in brackets behind it; what a plugin of Maven's does bears the name of the phase.
    let bare = goal.split('[').next().filter(|bare| *bare != goal);
    let behind = |marks: &[char]| goal.rsplit_once(marks).map(|(_, goal)| goal);
    let other = match program {
        "mvn" => behind(&[':']).map(|goal| goal.split('@').next().unwrap_or(goal)),
        "just" | "task" | "sbt" => behind(&['/', ':', '+']),
        "grunt" | "gulp" | "nx" => goal.split_once(':').map(|(task, _)| task),
        _ => None,
    };
    let shortened = whole_names(program, goal).into_iter().map(Cow::Borrowed);
    [Some(goal), bare, other].into_iter().flatten().map(without_dots).chain(shortened).collect()
}

/// Words behind a subcommand that most programs take for one another: `gh pr new`, `docker image remove`, `kubectl delete ns/x`.
const FURTHER: &[&[&str]] = &[
    &["rm", "remove", "delete", "del", "destroy"],
    &["create", "new"],
    &["ls", "list"],
    &["ns", "namespace", "namespaces"],
];

fn further_keys(word: &str) -> Vec<Cow<'_, str>> {
    let kind = word.split('/').next().unwrap_or(word);
    let meant = FURTHER.iter().find(|names| names.contains(&kind)).and_then(|names| names.first());
    let meant = meant.filter(|meant| **meant != word).map(|meant| Cow::Borrowed(*meant));
    std::iter::once(Cow::Borrowed(word)).chain(meant).collect()
}

/// A variable that the word sets, and to what.
fn set_by(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').map(|(variable, value)| (variable.trim(), value.trim()))
}

/// A path without `.` and empty names, as make takes goals.
fn without_dots(word: &str) -> Cow<'_, str> {
    let is_idle = |part: &&str| matches!(*part, "" | ".");
    if !word.split('/').any(|part| is_idle(&part)) {
        return word.into();
    }
    word.split('/').filter(|part| !is_idle(part)).collect::<Vec<_>>().join("/").into()
}

/// A file's name without the ending that its interpreter may add (`node x`, `python3 -m x`).
fn without_ending(name: &str) -> &str {
    const ENDINGS: [&str; 6] = [".js", ".mjs", ".cjs", ".ts", ".json", ".py"];
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
}

/// Whether two paths may lead to one file: what one says of where it lies, and of its ending, the other one says as well.
fn may_be_the_same(one: &str, other: &str) -> bool {
    let folders = |path: &str| -> Vec<String> {
        let mut names = Vec::new();
        for name in path.split('/').filter(|name| !matches!(*name, "" | ".")) {
            if name == ".." {
                names.pop();
            } else {
                names.push(name.to_owned());
            }
        }
        names.pop();
        names
    };
    let names = (file_name(one), file_name(other));
    let same = names.0 == names.1 || without_ending(names.0) == names.1 || without_ending(names.1) == names.0;
    let (one, other) = (folders(one), folders(other));
    same && (one.ends_with(&other) || other.ends_with(&one))
}

/// Whether Gradle may take the word for a task of this name: in any project, and by beginnings of the words in it.
fn is_short_for(word: &str, name: &str) -> bool {
    let first = |path: &str| path.rsplit(':').next().and_then(|task| task.chars().next());
    // Asked of each word and each rule.
    if !first(word).zip(first(name)).is_some_and(|(word, name)| word.eq_ignore_ascii_case(&name)) {
        return false;
    }
    let task = |path: &str| -> Vec<String> {
        let mut words = vec![String::new()];
        for c in path.rsplit(':').next().unwrap_or_default().chars() {
            if c.is_ascii_uppercase() || c == '-' {
                words.push(String::new());
            }
            if let Some(last) = words.last_mut().filter(|_| c != '-') {
                last.push(c.to_ascii_lowercase());
            }
        }
        words
    };
    let (name, word) = (task(name), task(word));
    let mut left = name.iter();
    word.first().zip(name.first()).is_some_and(|(word, name)| name.starts_with(word.as_str()))
        && word.iter().all(|part| left.any(|whole| whole.starts_with(part.as_str())))
}

/// The names that the word stands for.
fn whole_names(program: &str, name: &str) -> Vec<&'static str> {
    if program == "npm" {
        return whole_names_of_npm(name);
    }
    let of_it = ALIASES.iter().filter(|(of, names, _)| *of == program && names.split(' ').any(|n| n == name));
    of_it.map(|(.., whole)| *whole).collect()
}

/// What npm takes a word for that is none of its names: `runScript` for `run-script`, and whatever a beginning may be
/// meant for.
fn whole_names_of_npm(name: &str) -> Vec<&'static str> {
    const LONGEST: usize = 24;
    if name.len() > LONGEST || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let mut dashed = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            dashed.push('-');
        }
        dashed.push(c.to_ascii_lowercase());
    }
    let from = ALL_OF_NPM.partition_point(|(long, _)| *long < dashed.as_str());
    let mut found = ALL_OF_NPM[from..].iter().take_while(|(long, _)| long.starts_with(&dashed)).peekable();
    if let Some((_, whole)) = found.next_if(|(long, _)| *long == dashed) {
        return if *whole == name { Vec::new() } else { vec![whole] };
    }
    let mut found: Vec<_> = found.map(|(_, whole)| *whole).collect();
    found.sort_unstable();
    found.dedup();
    found
}
